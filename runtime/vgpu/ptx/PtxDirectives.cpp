// Everything in PTX that is not an instruction: module directives, functions and their limits, variables, line tables.
#include "runtime/vgpu/ptx/PtxParser.h"

#include <algorithm>
#include <charconv>
#include <cstring>

namespace tile::vgpu {

static constexpr uint64_t kMaxVariableBytes = uint64_t{1} << 32;
static constexpr uint64_t kMaxInitialisedBytes = uint64_t{1} << 28;

static Space spaceOf(std::string_view directive) {
  if (directive == ".shared")
    return Space::Shared;
  if (directive == ".local")
    return Space::Local;
  if (directive == ".const")
    return Space::Const;
  if (directive == ".param")
    return Space::Param;
  return Space::Global;
}

void PtxParser::parse() {
  while (token_.kind != Token::Kind::End) {
    if (!token_.isWord() || token_.text[0] != '.')
      fail("expected a directive such as .version or .entry, found '" + std::string(token_.text) +
           "'");
    directive();
  }
  if (module_.version == 0)
    fail("the text has no .version directive: it is not PTX");
}

// 83 for "8.3"; 0 if it is no version of at most two digits and one.
static int versionNumber(std::string_view text) {
  int major = 0, minor = 0;
  const char *end = text.data() + text.size();
  std::from_chars_result read = std::from_chars(text.data(), end, major);
  if (read.ec == std::errc() && read.ptr != end && *read.ptr == '.')
    read = std::from_chars(read.ptr + 1, end, minor);
  bool isVersion = read.ec == std::errc() && read.ptr == end && major >= 0 && major < 100 &&
                   minor >= 0 && minor < 10;
  return isVersion ? major * 10 + minor : 0;
}

void PtxParser::directive() {
  std::string_view name = token_.text;
  if (name == ".loc" || name == ".file") {
    name == ".loc" ? locDirective() : fileDirective();
    return;
  }
  if (name == ".section") {
    skipSection();
    return;
  }
  advance();
  if (name == ".version") {
    // The lexer reads 8.3 as a fraction.
    if (token_.kind != Token::Kind::Float && token_.kind != Token::Kind::Integer)
      fail("expected a version such as 8.3 after .version");
    module_.version = versionNumber(token_.text);
    if (module_.version == 0)
      fail("'" + std::string(token_.text) + "' is no version such as 8.3");
    advance();
  } else if (name == ".target") {
    module_.target = expectWord("a target such as sm_80");
    while (accept(","))
      expectWord("a target option");
  } else if (name == ".address_size") {
    if (expectInteger("32 or 64") != 64)
      fail("only 64-bit PTX is supported: .address_size must be 64");
  } else if (name == ".visible" || name == ".extern" || name == ".weak" || name == ".common") {
    // Linkage matters only for `.extern .shared`, whose size is the launch's.
  } else if (name == ".entry" || name == ".func") {
    if (function_)
      fail("a function inside a function");
    function(name == ".entry");
  } else if (name == ".global" || name == ".shared" || name == ".const" || name == ".local" ||
             name == ".param") {
    variableDeclaration(spaceOf(name));
    expect(";", "after a variable");
  } else if (name == ".pragma" || name == ".alias" || name == ".maxnctapersm") {
    skipToSemicolon();
  } else {
    fail("unknown directive '" + std::string(name) + "'");
  }
}

void PtxParser::fileDirective() {
  int line = token_.line;
  advance();
  uint64_t index = expectInteger("a file number");
  if (token_.kind != Token::Kind::String)
    fail("expected a file name after .file");
  module_.files[static_cast<uint32_t>(index)] = std::string(token_.text);
  advance();
  if (token_.line == line && token_.is(","))
    skipLine();
}

// `.loc file line column, function_name label, inlined_at file line column`
void PtxParser::locDirective() {
  int line = token_.line;
  advance();
  LinePosition position = linePosition();
  source_ = {position[0], position[1]};
  while (token_.line == line && token_.kind != Token::Kind::End) {
    bool isSite = token_.is("inlined_at");
    advance();
    if (isSite)
      source_.inlinedAt = callSite(linePosition());
  }
  lastAt_[position] = source_;
}

PtxParser::LinePosition PtxParser::linePosition() {
  int line = token_.line;
  LinePosition position = {};
  position[0] = static_cast<uint32_t>(expectInteger("a file number"));
  position[1] = static_cast<uint32_t>(expectInteger("a line number"));
  if (token_.line == line && token_.kind == Token::Kind::Integer)
    position[2] = static_cast<uint32_t>(expectInteger("a column"));
  return position;
}

// Where this place was inlined itself, the last `.loc` of it tells.
uint32_t PtxParser::callSite(const LinePosition &position) {
  auto known = lastAt_.find(position);
  SourceLine site = known == lastAt_.end() ? SourceLine{position[0], position[1]} : known->second;
  auto [number, isNew] =
      siteNumbers_.try_emplace(site, static_cast<uint32_t>(module_.callSites.size() + 1));
  if (isNew)
    module_.callSites.push_back(site);
  return number->second;
}

void PtxParser::skipSection() {
  while (!token_.is("{")) {
    if (token_.kind == Token::Kind::End)
      fail("expected '{' after .section");
    advance();
  }
  for (int depth = 0;;) {
    if (token_.kind == Token::Kind::End)
      fail(".section is not closed: add '}'");
    depth += token_.is("{") ? 1 : token_.is("}") ? -1 : 0;
    advance();
    if (depth == 0)
      return;
  }
}

void PtxParser::function(bool isEntry) {
  Function candidate;
  candidate.isEntry = isEntry;
  candidate.line = token_.line;
  registerParameters_ = 0;
  if (!isEntry && accept("("))
    parameterList(candidate.results);
  candidate.name = expectWord("a function name");
  if (accept("("))
    parameterList(candidate.params);
  if (isEntry && registerParameters_)
    fail("the parameters of a kernel are in .param");
  functionLimits(candidate);
  candidate.hasBody = !accept(";");
  Function *&slot = module_.byName[candidate.name];
  if (slot && slot->hasBody && candidate.hasBody)
    fail("function '" + std::string(candidate.name) + "' is defined twice");
  bool keepsDefinition = slot && slot->hasBody;
  if (!keepsDefinition) {
    module_.functions.push_back(std::move(candidate));
    slot = &module_.functions.back();
  }
  if (keepsDefinition || !slot->hasBody)
    return;
  expect("{", "at the start of a function body");
  function_ = slot;
  body();
  function_ = nullptr;
  scope_ = -1;
}

void PtxParser::functionLimits(Function &function) {
  auto triple = [&](uint32_t(&target)[3]) {
    target[1] = target[2] = 1;
    for (int i = 0; i < 3; ++i) {
      target[i] = static_cast<uint32_t>(expectInteger("a number of threads"));
      if (i < 2 && !accept(","))
        break;
    }
  };
  while (token_.isWord() && token_.text[0] == '.') {
    std::string_view name = token_.text;
    advance();
    if (name == ".reqntid")
      triple(function.requiredThreads);
    else if (name == ".maxntid")
      triple(function.maxThreads);
    else if (name == ".reqnctapercluster")
      triple(function.requiredCluster);
    else if (name == ".maxnreg")
      function.maxRegisters = static_cast<uint32_t>(expectInteger("a number"));
    else if (name == ".minnctapersm")
      function.minBlocksPerSm = static_cast<uint32_t>(expectInteger("a number"));
    else if (name == ".maxclusterrank")
      function.maxClusterRank = static_cast<uint32_t>(expectInteger("a number"));
    else if (name == ".maxnctapersm")
      expectInteger("a number");
    else if (name == ".pragma")
      skipToSemicolon();
    else if (name != ".explicitcluster" && name != ".noreturn" && name != ".blocksareclusters")
      fail("unknown directive '" + std::string(name) + "' of a function");
  }
}

void PtxParser::parameterList(std::vector<const Variable *> &list) {
  if (accept(")"))
    return;
  do {
    bool inRegister = accept(".reg");
    if (inRegister && (token_.is(".pred") || token_.is(".v2") || token_.is(".v4")))
      fail("a parameter in a predicate or vector register is not supported");
    if (!inRegister)
      expect(".param", "in a parameter list");
    Variable *parameter = variableDeclaration(Space::Param);
    if (inRegister)
      parameter->reg = registerParameters_++;
    list.push_back(parameter);
  } while (accept(","));
  expect(")", "after the parameters");
}

static uint32_t bytesOfType(std::string_view type) {
  static const std::pair<std::string_view, uint32_t> types[] = {
      {".b8", 1},    {".u8", 1},   {".s8", 1},    {".b16", 2},    {".u16", 2},
      {".s16", 2},   {".f16", 2},  {".b32", 4},   {".u32", 4},    {".s32", 4},
      {".f32", 4},   {".b64", 8},  {".u64", 8},   {".s64", 8},    {".f64", 8},
      {".b128", 16}, {".bf16", 2}, {".f16x2", 4}, {".bf16x2", 4}, {".pred", 1}};
  auto found = std::ranges::find(types, type, &std::pair<std::string_view, uint32_t>::first);
  return found == std::end(types) ? 0 : found->second;
}

Variable *PtxParser::variableDeclaration(Space space) {
  Variable variable;
  variable.space = space;
  variable.line = token_.line;
  uint32_t vectorWidth = 1;
  while (token_.isWord() && variable.name.empty()) {
    std::string_view word = token_.text;
    advance();
    if (word == ".align")
      variable.align = static_cast<uint32_t>(expectInteger("an alignment"));
    else if (word == ".v2" || word == ".v4")
      vectorWidth = word == ".v2" ? 2 : 4;
    else if (uint32_t bytes = bytesOfType(word)) {
      variable.elementBytes = bytes;
      variable.isFloat = word[1] == 'f' || word.starts_with(".bf");
    } else if (word[0] != '.')
      variable.name = word;
    else if (word != ".ptr" && word != ".global" && word != ".shared" && word != ".const" &&
             word != ".local" && !word.starts_with(".attribute"))
      fail("unknown attribute '" + std::string(word) + "' of a variable");
  }
  if (variable.name.empty())
    fail("expected the name of a variable");
  if (!std::has_single_bit(variable.align) || variable.align > 4096)
    fail("alignment " + std::to_string(variable.align) + " is not a power of two up to 4096");
  uint64_t count = vectorWidth;
  while (accept("[")) {
    uint64_t extent = token_.is("]") ? 0 : expectInteger("an array extent");
    if (extent > kMaxVariableBytes || count * extent > kMaxVariableBytes)
      fail("variable '" + std::string(variable.name) + "' is larger than 4 GiB");
    count *= extent;
    expect("]", "after an array extent");
  }
  variable.bytes = count * variable.elementBytes;
  variable.isExtern = space == Space::Shared && count == 0;
  variable.align = std::max(variable.align, variable.elementBytes * vectorWidth);
  if (accept("="))
    initialiser(variable);
  module_.variables.push_back(std::move(variable));
  Variable *result = &module_.variables.back();
  if (function_) {
    scopes_[scope_].variables[result->name] = result;
    function_->variables.push_back(result);
  } else if (space != Space::Param) {
    module_.globals[result->name] = result;
  }
  return result;
}

void PtxParser::initialiser(Variable &variable) {
  if (!accept("{")) {
    initialValue(variable, 0);
    return;
  }
  // Nested braces only group: elements follow each other in memory.
  uint64_t offset = 0;
  for (int depth = 1; depth > 0;) {
    if (accept("{"))
      ++depth;
    else if (accept("}"))
      --depth;
    else if (!accept(",")) {
      initialValue(variable, offset);
      offset += variable.elementBytes;
    }
    if (offset > kMaxInitialisedBytes || token_.kind == Token::Kind::End)
      fail("the initialiser of '" + std::string(variable.name) + "' is not closed or too large");
  }
  if (variable.bytes == 0)
    variable.bytes = offset;
  if (offset > variable.bytes)
    fail("the initialiser of '" + std::string(variable.name) +
         "' has more elements than the variable");
}

// The bits of a constant as a float of that many bytes.
uint64_t PtxParser::initialFloat(uint32_t bytes, const Constant &value) const {
  if (bytes != 4 && bytes != 8)
    fail("a float cannot initialise a variable of " + std::to_string(8 * bytes) +
         " bits: give its bits as an integer");
  return floatBits(value.value, value.type == Constant::Type::Double ? 8 : value.floatBytes, bytes);
}

// `symbol`, `symbol+4`, `generic(symbol)+4`.
void PtxParser::initialAddress(Variable &variable, uint64_t offset) {
  std::string_view symbol = expectWord("an initial value");
  bool generic = symbol == "generic";
  if (generic) {
    expect("(", "after generic");
    symbol = expectWord("a variable");
    expect(")", "after generic(variable");
  }
  int64_t addend = 0;
  if (token_.is("+") || token_.is("-")) {
    accept("+");
    addend = integerExpression();
  }
  module_.addressTaken.insert(symbol);
  variable.references.push_back({offset, symbol, addend, generic});
}

// The shift of the byte that a mask such as 0xff00 takes of an address.
uint8_t PtxParser::byteOfMask(const Constant &mask, const Variable &variable) const {
  if (mask.isFloat() || variable.elementBytes != 1)
    fail("a byte of an address initialises a variable of bytes");
  for (unsigned shift = 0; shift < 64; shift += 8)
    if (mask.value == uint64_t{0xff} << shift)
      return static_cast<uint8_t>(shift);
  fail("a mask of an address is 0xff, 0xff00 and so on");
}

void PtxParser::initialValue(Variable &variable, uint64_t offset) {
  uint64_t bits = 0;
  if (startsConstant()) {
    Constant value = constantExpression();
    if (accept("(")) {
      uint8_t shift = byteOfMask(value, variable);
      initialAddress(variable, offset);
      variable.references.back().shift = shift;
      expect(")", "after a byte of an address");
    } else if (value.isFloat()) {
      bits = initialFloat(variable.elementBytes, value);
    } else if (variable.isFloat) {
      fail("the initial values of floats are floats: 1.0 or 0f3f800000");
    } else {
      bits = value.value;
    }
  } else {
    initialAddress(variable, offset);
  }
  variable.init.resize(std::max<size_t>(variable.init.size(), offset + variable.elementBytes));
  std::memcpy(variable.init.data() + offset, &bits,
              std::min<size_t>(variable.elementBytes, sizeof bits));
}

std::optional<uint32_t> Module::functionNumber(std::string_view name) const {
  auto found = byName.find(name);
  if (found == byName.end())
    return std::nullopt;
  auto place =
      std::ranges::find_if(functions, [&](const Function &f) { return &f == found->second; });
  return static_cast<uint32_t>(place - functions.begin());
}

std::optional<uint64_t> Module::functionAddress(std::string_view name) const {
  std::optional<uint32_t> number = functionNumber(name);
  return number ? std::optional(vgpu::functionAddress(*number)) : std::nullopt;
}

const std::string *Module::fileOf(SourceLine place) const {
  auto file = files.find(place.file);
  return file == files.end() ? nullptr : &file->second;
}

std::string_view Module::lineText(int line) const {
  if (line < 1 || static_cast<size_t>(line) > lineStarts.size())
    return {};
  std::string_view rest = std::string_view(text).substr(lineStarts[line - 1]);
  rest = rest.substr(0, rest.find('\n'));
  size_t begin = rest.find_first_not_of(" \t\r"), end = rest.find_last_not_of(" \t\r");
  return begin == std::string_view::npos ? std::string_view() : rest.substr(begin, end - begin + 1);
}

std::shared_ptr<Module> parsePtx(std::string_view text, std::string_view name) {
  auto module = std::make_shared<Module>();
  module->name = name;
  module->text = text.substr(0, text.find('\0'));
  module->lineStarts.push_back(0);
  for (size_t i = 0; i < module->text.size(); ++i)
    if (module->text[i] == '\n')
      module->lineStarts.push_back(static_cast<uint32_t>(i + 1));
  PtxParser(*module).parse();
  return module;
}

} // namespace tile::vgpu
