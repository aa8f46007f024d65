// The recursive-descent parser behind parsePtx(). Names are resolved while parsing: registers and variables of nested
// `{ }` scopes hide outer ones, labels are resolved when their function ends.
#pragma once

#include "runtime/vgpu/ptx/Ptx.h"
#include "runtime/vgpu/ptx/PtxLexer.h"

#include <array>
#include <unordered_map>

namespace tile::vgpu {

class PtxParser {
public:
  explicit PtxParser(Module &module);
  void parse();

private:
  // Names declared between `{` and `}`.
  struct Scope {
    int parent = -1;
    struct Range {
      int32_t first;
      uint32_t count;
    };
    std::unordered_map<std::string_view, int32_t> registers;
    std::unordered_map<std::string_view, Range> ranges; // `%r<10>`
    std::unordered_map<std::string_view, uint32_t>
        vectors; // widths of vector registers, whose elements are `v.x` and so on
    std::unordered_map<std::string_view, const Variable *> variables;
    std::unordered_map<std::string_view, uint32_t> labels;
    std::unordered_map<std::string_view, std::vector<std::string_view>> targetLists;
    std::unordered_map<std::string_view, int32_t> prototypes; // indices into Function::prototypes
  };
  // What `.loc` and `inlined_at` name: file, line, column.
  using LinePosition = std::array<uint32_t, 3>;
  // What a constant expression is worth.
  struct Constant {
    enum class Type : uint8_t {
      Signed,
      Unsigned,
      Double,
      Bits
    }; // Bits: 0f or 0d, which nothing is computed with
    Type type = Type::Signed;
    uint64_t value = 0;     // Double, Bits: the bits
    uint8_t floatBytes = 0; // Bits: 4 or 8
    bool isFloat() const { return type == Type::Double || type == Type::Bits; }
    int64_t asSigned() const { return static_cast<int64_t>(value); }
  };
  // A branch whose label may come later.
  struct PendingBranch {
    uint32_t instruction;
    int scope;
    std::string_view label;
  };

  // Tokens.
  void advance();
  bool accept(std::string_view text);
  void expect(std::string_view text, const char *context);
  std::string_view expectWord(const char *what);
  uint64_t expectInteger(const char *what);
  [[noreturn]] void fail(const std::string &message) const;
  void skipToSemicolon();

  // Constant expressions (PtxExpression.cpp).
  bool startsConstant() const;
  Constant constantExpression();
  int64_t integerExpression();
  Constant conditional(Constant condition, int depth);
  Constant binary(Constant left, int least, int depth);
  Constant unary(int depth);
  Constant literal(int depth);
  Constant apply(std::string_view operation, const Constant &a, const Constant &b) const;
  void needIntegers(const Constant &value) const;

  void skipLine();

  // Directives (PtxDirectives.cpp).
  void directive();
  void fileDirective();
  void locDirective();
  LinePosition linePosition();
  uint32_t callSite(const LinePosition &position);
  void skipSection();
  void function(bool isEntry);
  void functionLimits(Function &function);
  void parameterList(std::vector<const Variable *> &list);
  Variable *variableDeclaration(Space space);
  void initialiser(Variable &variable);
  void initialValue(Variable &variable, uint64_t offset);
  void initialAddress(Variable &variable, uint64_t offset);
  uint8_t byteOfMask(const Constant &mask, const Variable &variable) const;
  uint64_t initialFloat(uint32_t bytes, const Constant &value) const;
  const Variable *addVariable(Variable variable);

  // Bodies.
  void body();
  void statement();
  void registerDeclaration();
  [[noreturn]] void failForRegisters() const;
  void addRegister(std::string_view name, uint32_t number, PtxType type);
  void addVector(std::string_view name, uint32_t width, PtxType type);
  std::string_view keep(std::string text);
  void label(std::string_view name);
  Prototype prototype();
  void resolveCall(Instruction &call) const;
  void instruction(int32_t guard, bool negated);
  Operand operand(int depth);
  Operand constantOperand(const Constant &value) const;
  Operand negatedOperand(int depth);
  Operand minusOperand();
  Operand address(int depth);
  Operand list(Operand::Kind kind, std::string_view close, int depth);
  Operand word(std::string_view name);
  int32_t findRegister(std::string_view name) const;
  const Variable *findVariable(std::string_view name) const;
  void resolveBranches();

  Module &module_;
  PtxLexer lexer_;
  Token token_;
  Function *function_ = nullptr;
  std::vector<Scope> scopes_; // of the current function; never shrinks while it is parsed
  int scope_ = -1;
  int32_t registerParameters_ = 0;        // of the function whose lists are read
  bool isCall_ = false, isVideo_ = false; // the instruction whose operands are read
  std::vector<PendingBranch> branches_;
  SourceLine source_;
  std::map<LinePosition, SourceLine>
      lastAt_; // the last `.loc` of each position, of the current function
  std::map<SourceLine, uint32_t> siteNumbers_; // of Module::callSites, of the current function
};

} // namespace tile::vgpu
