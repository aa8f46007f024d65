#include "runtime/toolchain/AssemblerMessages.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"

#include <map>

namespace tile::jit {
namespace {

/// Takes an integer off the start of a text, 0 if none is there.
int64_t takeNumber(llvm::StringRef &text) {
  int64_t number = 0;
  return text.consumeInteger(10, number) ? 0 : number;
}

/// The integer before some words of a line: "12 bytes spill stores".
int64_t numberBefore(llvm::StringRef line, llvm::StringRef words) {
  size_t at = line.find(words);
  if (at == line.npos)
    return 0;
  llvm::StringRef before = line.take_front(at);
  llvm::StringRef digits =
      before.take_back(before.size() - (before.find_last_not_of("0123456789") + 1));
  return takeNumber(digits);
}

/// The integer after some words of a line.
int64_t numberAfter(llvm::StringRef line, llvm::StringRef words) {
  size_t at = line.find(words);
  if (at == line.npos)
    return 0;
  llvm::StringRef rest = line.drop_front(at + words.size()).ltrim();
  return takeNumber(rest);
}

/// Gives a message the line of the user's source that a line of the PTX comes from. Files may be named after their uses.
void locate(AssemblerMessage &message, llvm::StringRef ptx, int64_t ptxLine) {
  std::map<int64_t, llvm::StringRef> files;
  int64_t file = 0, line = 0, number = 0;
  for (llvm::StringRef text : llvm::split(ptx, '\n')) {
    bool isAbove = ++number <= ptxLine;
    llvm::StringRef statement = text.trim();
    if (statement.consume_front(".file")) {
      statement = statement.ltrim();
      int64_t name = takeNumber(statement);
      files[name] = statement.split('"').second.split('"').first;
    } else if (isAbove && statement.consume_front(".loc")) {
      statement = statement.ltrim();
      file = takeNumber(statement);
      statement = statement.ltrim();
      line = takeNumber(statement);
    }
  }
  if (auto named = files.find(file); named != files.end() && line > 0) {
    message.file = named->second.str();
    message.line = static_cast<int>(line);
  }
}

/// Where a line has a code such as "(C7514)", its first character; npos if there is none.
size_t findCode(llvm::StringRef line) {
  constexpr size_t kDigits = 4;
  for (size_t at = line.find("(C"); at != line.npos; at = line.find("(C", at + 1)) {
    llvm::StringRef digits = line.substr(at + 2, kDigits);
    if (digits.size() == kDigits && llvm::all_of(digits, llvm::isDigit) &&
        line.substr(at + 2 + kDigits).starts_with(")"))
      return at + 1;
  }
  return line.npos;
}

} // namespace

AssemblerLog readAssemblerLog(std::string_view log, std::string_view ptx) {
  AssemblerLog result;
  for (llvm::StringRef line : llvm::split(llvm::StringRef(log), '\n')) {
    if (size_t code = findCode(line); code != line.npos) {
      auto [name, text] = line.substr(code).split(')');
      AssemblerMessage message{name.str(), text.trim().str(), {}, 0};
      if (int64_t ptxLine = numberAfter(text, " line "))
        locate(message, ptx, ptxLine);
      if (!llvm::is_contained(result.messages, message))
        result.messages.push_back(std::move(message));
      continue; // its words may be those of a resource: "reading accumulator registers"
    }
    // Functions that the kernel calls have lines of their own for spills, the kernel alone has one for registers.
    result.spillStoreBytes += numberBefore(line, " bytes spill stores");
    result.spillLoadBytes += numberBefore(line, " bytes spill loads");
    if (int64_t registers = numberBefore(line, " registers"))
      result.registers = static_cast<int>(registers);
    if (int64_t barriers = numberAfter(line, "used "))
      result.barriers = static_cast<int>(barriers);
  }
  return result;
}

} // namespace tile::jit
