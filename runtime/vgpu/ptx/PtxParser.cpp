// Function bodies: statements, operands, scopes, labels.
#include "runtime/vgpu/ptx/PtxParser.h"

#include <algorithm>
#include <charconv>

namespace tile::vgpu {

// Real code nests vectors in addresses at most three deep; beyond that the text is not PTX.
static constexpr int kMaxOperandDepth = 8;
static constexpr int kMaxScopeDepth = 256;
static constexpr uint64_t kMaxRegisters = 1 << 20;

PtxParser::PtxParser(Module &module) : module_(module), lexer_(module.text, module.name) {
  advance();
}

void PtxParser::advance() { token_ = lexer_.next(); }

void PtxParser::fail(const std::string &message) const { lexer_.fail(token_.line, message); }

bool PtxParser::accept(std::string_view text) {
  if (!token_.is(text) || token_.kind == Token::Kind::End)
    return false;
  advance();
  return true;
}

static std::string describe(const Token &token) {
  return token.kind == Token::Kind::End ? "the end of the text"
                                        : "'" + std::string(token.text) + "'";
}

void PtxParser::expect(std::string_view text, const char *context) {
  if (!accept(text))
    fail("expected '" + std::string(text) + "' " + context + ", found " + describe(token_));
}

std::string_view PtxParser::expectWord(const char *what) {
  if (!token_.isWord())
    fail(std::string("expected ") + what + ", found " + describe(token_));
  std::string_view text = token_.text;
  advance();
  return text;
}

uint64_t PtxParser::expectInteger(const char *what) {
  if (token_.kind != Token::Kind::Integer)
    fail(std::string("expected ") + what + ", found " + describe(token_));
  uint64_t value = token_.value;
  advance();
  return value;
}

void PtxParser::skipToSemicolon() {
  while (!token_.is(";")) {
    if (token_.kind == Token::Kind::End)
      fail("expected ';', found the end of the text");
    advance();
  }
  advance();
}

void PtxParser::skipLine() {
  for (int line = token_.line; token_.line == line && token_.kind != Token::Kind::End;)
    advance();
}

void PtxParser::body() {
  scopes_.assign(1, Scope());
  scope_ = 0;
  branches_.clear();
  source_ = {};
  lastAt_.clear();
  siteNumbers_.clear();
  for (const auto *list : {&function_->results, &function_->params})
    for (const Variable *variable : *list) {
      if (variable->reg < 0) {
        scopes_[0].variables[variable->name] = variable;
        continue;
      }
      scopes_[0].registers[variable->name] = variable->reg;
      addRegister(variable->name, ~0u, {static_cast<uint8_t>(variable->bytes)});
    }
  int depth = 1;
  while (depth > 0) {
    if (token_.kind == Token::Kind::End)
      fail("function '" + std::string(function_->name) +
           "' is not closed: the text ends before its '}'");
    if (accept("{")) {
      if (++depth > kMaxScopeDepth)
        fail("blocks are nested more than 256 deep");
      scopes_.emplace_back().parent = scope_;
      scope_ = static_cast<int>(scopes_.size()) - 1;
    } else if (accept("}")) {
      --depth;
      scope_ = scopes_[scope_].parent;
    } else {
      statement();
    }
  }
  resolveBranches();
}

void PtxParser::statement() {
  if (accept(";"))
    return;
  if (accept("@")) {
    bool negated = accept("!");
    std::string_view name = expectWord("a predicate register after '@'");
    int32_t guard = findRegister(name);
    if (guard < 0 || !function_->registers[guard].isPredicate())
      fail("guard '" + std::string(name) + "' is not a predicate register");
    instruction(guard, negated);
    return;
  }
  if (!token_.isWord())
    fail("expected an instruction, found " + describe(token_));
  if (token_.is(".reg")) {
    advance();
    registerDeclaration();
    return;
  }
  if (token_.text[0] == '.') {
    directive();
    return;
  }
  instruction(-1, false);
}

void PtxParser::registerDeclaration() {
  uint32_t width = token_.is(".v2") ? 2 : token_.is(".v4") ? 4 : 1;
  if (width > 1)
    advance();
  std::string_view typeName = expectWord("a type after .reg");
  static const std::pair<std::string_view, uint8_t> types[] = {
      {".pred", 0}, {".b8", 1},  {".u8", 1},    {".s8", 1},     {".b16", 2},
      {".u16", 2},  {".s16", 2}, {".f16", 2},   {".b32", 4},    {".u32", 4},
      {".s32", 4},  {".f32", 4}, {".f16x2", 4}, {".b64", 8},    {".u64", 8},
      {".s64", 8},  {".f64", 8}, {".bf16", 2},  {".bf16x2", 4}, {".b128", 16}};
  auto type = std::ranges::find(types, typeName, &std::pair<std::string_view, uint8_t>::first);
  if (type == std::end(types))
    fail("registers of type '" + std::string(typeName) + "' are not supported");
  constexpr uint32_t kMaxVectorBytes = 16;
  if (width > 1 && (type->second == 0 || width * type->second > kMaxVectorBytes))
    fail("a vector register has at most 128 bits, and no predicates");
  PtxType declared{type->second, typeName == ".f32" || typeName == ".f64"};
  do {
    std::string_view name = expectWord("a register name");
    if (!accept("<")) {
      if (width > 1) {
        addVector(name, width, declared);
        continue;
      }
      scopes_[scope_].registers[name] = static_cast<int32_t>(function_->registers.size());
      addRegister(name, ~0u, declared);
      continue;
    }
    uint64_t count = expectInteger("a register count");
    expect(">", "after the register count");
    if (count > (kMaxRegisters - function_->registers.size()) / width)
      failForRegisters();
    if (width > 1) {
      for (uint64_t i = 0; i < count; ++i)
        addVector(keep(std::string(name) + std::to_string(i)), width, declared);
      continue;
    }
    scopes_[scope_].ranges[name] = {static_cast<int32_t>(function_->registers.size()),
                                    static_cast<uint32_t>(count)};
    for (uint64_t i = 0; i < count; ++i)
      addRegister(name, static_cast<uint32_t>(i), declared);
  } while (accept(","));
  expect(";", "after .reg");
}

void PtxParser::failForRegisters() const { fail("more than 1048576 registers in one function"); }

void PtxParser::addRegister(std::string_view name, uint32_t number, PtxType type) {
  if (function_->registers.size() == kMaxRegisters)
    failForRegisters();
  function_->registers.push_back(type);
  function_->registerNames.push_back(name);
  function_->registerNumbers.push_back(number);
}

std::string_view PtxParser::keep(std::string text) {
  return module_.names.emplace_back(std::move(text));
}

// The elements are registers of their own, under both of their names.
void PtxParser::addVector(std::string_view name, uint32_t width, PtxType type) {
  Scope &scope = scopes_[scope_];
  scope.vectors[name] = width;
  for (uint32_t i = 0; i < width; ++i) {
    auto index = static_cast<int32_t>(function_->registers.size());
    std::string_view element = keep(std::string(name) + "." + "xyzw"[i]);
    scope.registers[element] = index;
    scope.registers[keep(std::string(name) + "." + "rgba"[i])] = index;
    addRegister(element, ~0u, type);
  }
}

int32_t PtxParser::findRegister(std::string_view name) const {
  size_t prefixLength = name.find_last_not_of("0123456789") + 1;
  std::string_view prefix = name.substr(0, prefixLength);
  uint32_t number = 0;
  bool hasNumber =
      prefixLength < name.size() &&
      std::from_chars(name.data() + prefixLength, name.data() + name.size(), number).ec ==
          std::errc();
  for (int scope = scope_; scope >= 0; scope = scopes_[scope].parent) {
    const Scope &names = scopes_[scope];
    if (auto found = names.registers.find(name); found != names.registers.end())
      return found->second;
    if (!hasNumber)
      continue;
    if (auto found = names.ranges.find(prefix);
        found != names.ranges.end() && number < found->second.count)
      return found->second.first + static_cast<int32_t>(number);
  }
  return -1;
}

const Variable *PtxParser::findVariable(std::string_view name) const {
  for (int scope = scope_; scope >= 0; scope = scopes_[scope].parent)
    if (auto found = scopes_[scope].variables.find(name); found != scopes_[scope].variables.end())
      return found->second;
  auto found = module_.globals.find(name);
  return found == module_.globals.end() ? nullptr : found->second;
}

void PtxParser::label(std::string_view name) {
  // `name: .branchtargets a, b;` and `name: .callprototype ...;` name a list, not a place.
  if (accept(".branchtargets")) {
    std::vector<std::string_view> &targets = scopes_[scope_].targetLists[name];
    do
      targets.push_back(expectWord("a label"));
    while (accept(","));
    expect(";", "after .branchtargets");
    return;
  }
  if (token_.is(".callprototype") || token_.is(".calltargets")) {
    scopes_[scope_].prototypes[name] = static_cast<int32_t>(function_->prototypes.size());
    function_->prototypes.push_back(prototype());
    return;
  }
  if (!scopes_[scope_].labels.try_emplace(name, function_->body.size()).second)
    fail("label '" + std::string(name) + "' is defined twice");
}

// `.callprototype (results) _ (params) ...;` or `.calltargets a, b;`
Prototype PtxParser::prototype() {
  Prototype result;
  if (accept(".calltargets")) {
    result.isTargetList = true;
    do
      result.targets.push_back(expectWord("a function"));
    while (accept(","));
    expect(";", "after .calltargets");
    return result;
  }
  advance();
  if (accept("("))
    parameterList(result.results);
  expect("_", "in place of the function's name");
  if (accept("("))
    parameterList(result.params);
  skipToSemicolon();
  return result;
}

void PtxParser::resolveCall(Instruction &call) const {
  for (const Operand &operand : call.operands) {
    if (operand.kind != Operand::Kind::Symbol)
      continue;
    for (int scope = scope_; scope >= 0 && call.prototype < 0; scope = scopes_[scope].parent)
      if (auto found = scopes_[scope].prototypes.find(operand.name);
          found != scopes_[scope].prototypes.end())
        call.prototype = found->second;
  }
}

static Flow flowOf(std::string_view opcode) {
  constexpr std::pair<std::string_view, Flow> kFlows[] = {{"bra", Flow::Branch},
                                                          {"brx", Flow::IndexedBranch},
                                                          {"call", Flow::Call},
                                                          {"ret", Flow::Leave},
                                                          {"exit", Flow::Leave}};
  for (auto [name, flow] : kFlows)
    if (opcode == name)
      return flow;
  return Flow::Next;
}

void PtxParser::instruction(int32_t guard, bool negated) {
  Instruction result;
  result.line = token_.line;
  result.source = source_;
  result.guard = guard;
  result.guardNegated = negated;
  result.spelling = expectWord("an instruction");
  if (accept(":")) {
    label(result.spelling);
    return;
  }
  std::string_view rest = result.spelling;
  size_t dot = rest.find('.');
  result.opcode = rest.substr(0, dot);
  while (dot != std::string_view::npos) {
    rest.remove_prefix(dot + 1);
    dot = rest.find('.');
    result.suffix.push_back(rest.substr(0, dot));
  }
  result.flow = flowOf(result.opcode);
  isCall_ = result.flow == Flow::Call;
  isVideo_ = result.opcode.starts_with('v') && result.opcode != "vote";
  if (!token_.is(";")) {
    do
      result.operands.push_back(operand(0));
    while (accept(","));
  }
  if (!accept(";"))
    fail("expected ';' after '" + std::string(result.spelling) + "', found " + describe(token_));
  bool isBranch = result.flow == Flow::Branch || result.flow == Flow::IndexedBranch;
  if (isBranch && !result.operands.empty())
    branches_.push_back(
        {static_cast<uint32_t>(function_->body.size()), scope_, result.operands.back().name});
  if (isCall_)
    resolveCall(result);
  else
    for (const Operand &operand : result.operands)
      if (operand.kind == Operand::Kind::Symbol && !operand.variable)
        module_.addressTaken.insert(operand.name);
  function_->body.push_back(std::move(result));
}

Operand PtxParser::operand(int depth) {
  if (depth > kMaxOperandDepth)
    fail("operand is nested too deeply");
  if (token_.is("!"))
    return negatedOperand(depth);
  if (accept("["))
    return address(depth);
  if (accept("{"))
    return list(Operand::Kind::Vector, "}", depth);
  if (isCall_ && accept("("))
    return list(Operand::Kind::List, ")", depth);
  if (isVideo_ && token_.is("-"))
    return minusOperand();
  if (startsConstant())
    return constantOperand(constantExpression());
  Operand result = word(expectWord("an operand"));
  if (accept("|")) {
    Operand pair;
    pair.kind = Operand::Kind::Pair;
    pair.parts.push_back(std::move(result));
    pair.parts.push_back(operand(depth + 1));
    return pair;
  }
  if (result.kind == Operand::Kind::Symbol && (token_.is("+") || token_.is("-"))) {
    accept("+");
    result.value = static_cast<uint64_t>(integerExpression());
  }
  return result;
}

Operand PtxParser::constantOperand(const Constant &value) const {
  Operand result;
  result.kind = value.isFloat() ? Operand::Kind::Float : Operand::Kind::Immediate;
  result.value = value.value;
  result.floatBytes = value.type == Constant::Type::Double ? 8 : value.floatBytes;
  return result;
}

// `-%r` of vmad, or a constant expression that begins with `-`.
Operand PtxParser::minusOperand() {
  advance();
  if (startsConstant()) {
    Constant value = unary(0);
    needIntegers(value);
    value.value = 0 - value.value;
    return constantOperand(conditional(binary(value, 0, 0), 0));
  }
  Operand result = word(expectWord("an operand"));
  result.minus = true;
  return result;
}

// `!%p`, or a constant expression that begins with `!`.
Operand PtxParser::negatedOperand(int depth) {
  bool negates = false;
  for (int count = 0; accept("!"); negates = !negates)
    if (++count > kMaxOperandDepth)
      fail("operand is nested too deeply");
  if (startsConstant()) {
    Constant value = unary(0);
    needIntegers(value);
    value = {Constant::Type::Signed, uint64_t{(value.value != 0) != negates}};
    return constantOperand(conditional(binary(value, 0, 0), 0));
  }
  Operand result = operand(depth + 1);
  result.negated ^= negates;
  return result;
}

Operand PtxParser::word(std::string_view name) {
  Operand result;
  result.name = name;
  if (name == "_")
    return result;
  result.reg = findRegister(name);
  if (result.reg >= 0) {
    result.kind = Operand::Kind::Register;
    return result;
  }
  if (size_t dot = name.rfind('.'); isVideo_ && dot != name.npos) {
    result.reg = findRegister(name.substr(0, dot));
    if (result.reg >= 0) {
      result.kind = Operand::Kind::Register;
      result.part = name.substr(dot + 1);
      return result;
    }
  }
  for (int scope = scope_; scope >= 0; scope = scopes_[scope].parent)
    if (auto vector = scopes_[scope].vectors.find(name); vector != scopes_[scope].vectors.end()) {
      result.kind = Operand::Kind::Vector;
      for (uint32_t i = 0; i < vector->second; ++i)
        result.parts.push_back(word(keep(std::string(name) + "." + "xyzw"[i])));
      return result;
    }
  result.kind =
      name[0] == '%' || name == "WARP_SZ" ? Operand::Kind::Special : Operand::Kind::Symbol;
  result.variable = findVariable(name);
  if (result.variable)
    result.kind = Operand::Kind::Symbol;
  return result;
}

Operand PtxParser::address(int depth) {
  Operand result;
  result.kind = Operand::Kind::Address;
  result.parts.push_back(operand(depth + 1));
  Operand &base = result.parts[0];
  if (base.kind == Operand::Kind::Symbol) {
    result.value = base.value;
    base.value = 0;
  }
  if (token_.is("+") || token_.is("-")) {
    accept("+");
    result.value += static_cast<uint64_t>(integerExpression());
  }
  while (accept(","))
    result.parts.push_back(operand(depth + 1));
  expect("]", "after an address");
  return result;
}

Operand PtxParser::list(Operand::Kind kind, std::string_view close, int depth) {
  Operand result;
  result.kind = kind;
  if (accept(close))
    return result;
  do
    result.parts.push_back(operand(depth + 1));
  while (accept(","));
  if (!accept(close))
    fail("expected '" + std::string(close) + "' after a list, found " + describe(token_));
  return result;
}

void PtxParser::resolveBranches() {
  for (const PendingBranch &branch : branches_) {
    Instruction &instruction = function_->body[branch.instruction];
    auto find = [&](auto Scope::*table, std::string_view name) {
      for (int scope = branch.scope; scope >= 0; scope = scopes_[scope].parent)
        if (auto found = (scopes_[scope].*table).find(name); found != (scopes_[scope].*table).end())
          return &found->second;
      using Result = decltype(&(scopes_[0].*table).begin()->second);
      return Result(nullptr);
    };
    auto resolve = [&](std::string_view name) {
      const uint32_t *target = find(&Scope::labels, name);
      if (!target)
        lexer_.fail(instruction.line, "label '" + std::string(name) +
                                          "' is not defined in function '" +
                                          std::string(function_->name) + "'");
      instruction.targets.push_back(*target);
    };
    if (instruction.flow == Flow::Branch) {
      resolve(branch.label);
      continue;
    }
    const auto *targets = find(&Scope::targetLists, branch.label);
    if (!targets)
      lexer_.fail(instruction.line,
                  "'" + std::string(branch.label) + "' is not a .branchtargets list");
    for (std::string_view name : *targets)
      resolve(name);
  }
}

} // namespace tile::vgpu
