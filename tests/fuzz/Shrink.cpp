// Smaller programs with the same fault, and programs as text.
#include "tests/fuzz/Program.h"

#include <set>

namespace tile::fuzz {
namespace {

using Statements = std::vector<Statement>;

/// Drops what uses values that are not made any more.
void prune(Statements &statements, std::set<int> defined) {
  Statements kept;
  for (Statement &statement : statements) {
    bool isWhole = true;
    for (int operand : statement.operands)
      isWhole &= defined.count(operand) > 0;
    if (!isWhole)
      continue;
    std::set<int> inner = defined;
    inner.insert(statement.result);
    for (Statements &region : statement.regions)
      prune(region, inner);
    if (statement.result >= 0 && statement.kind != Statement::For)
      defined.insert(statement.result);
    kept.push_back(std::move(statement));
  }
  statements = std::move(kept);
}

/// Removes the statement that is number `target` in depth-first order; whether there was one.
bool removeAt(Statements &statements, int &target) {
  for (size_t i = 0; i < statements.size(); ++i) {
    if (target-- == 0) {
      statements.erase(statements.begin() + int64_t(i));
      return true;
    }
    for (Statements &region : statements[i].regions)
      if (removeAt(region, target))
        return true;
  }
  return false;
}

int countOf(const Statements &statements) {
  int count = 0;
  for (const Statement &statement : statements) {
    ++count;
    for (const Statements &region : statement.regions)
      count += countOf(region);
  }
  return count;
}

std::string text(const Type &type) {
  return std::string(nameOf(type.dtype)) + "[" + type.shape.str() + "]";
}

template <class List> std::string joined(const List &list, const char *prefix) {
  std::string text;
  for (auto item : list)
    text += (text.empty() ? "" : ", ") + (prefix + std::to_string(item));
  return text;
}

void print(const Statements &statements, const std::string &indent, std::string &out) {
  constexpr const char *kNames[] = {"", "var", "assign", "for", "if", "while", "output"};
  for (const Statement &statement : statements) {
    out += indent;
    if (statement.result >= 0)
      out += "v" + std::to_string(statement.result) + " = ";
    out += statement.operation ? statement.operation->name : kNames[statement.kind];
    out += "(" + joined(statement.operands, "v") + ")";
    if (!statement.attributes.empty())
      out += " {" + joined(statement.attributes, "") + "}";
    if (statement.result >= 0)
      out += " : " + text(statement.type);
    out += "\n";
    for (const Statements &region : statement.regions) {
      out += indent + "{\n";
      print(region, indent + "  ", out);
      out += indent + "}\n";
    }
  }
}

} // namespace

Program shrink(Program program, const std::function<bool(const Program &)> &fails) {
  bool isSmaller = true;
  while (isSmaller) {
    isSmaller = false;
    for (int place = countOf(program.statements) - 1; place >= 0; --place) {
      Program candidate = program;
      int target = place;
      if (!removeAt(candidate.statements, target))
        continue;
      prune(candidate.statements, {0, 1});
      if (fails(candidate))
        program = std::move(candidate), isSmaller = true;
    }
  }
  return program;
}

std::string Program::str() const {
  std::string out = "seed " + std::to_string(seed) + ": " + std::to_string(programs) +
                    " programs, v0 = program_id, v1 = " + std::to_string(argument) + "\n";
  for (int i = 0; i < kInputs; ++i)
    out += "input " + std::to_string(i) + ": " + nameOf(inputs[i].dtype) + " {" +
           joined(inputs[i].extents, "") + "}\n";
  print(statements, "", out);
  return out;
}

} // namespace tile::fuzz
