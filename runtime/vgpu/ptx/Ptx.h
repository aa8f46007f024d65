// PTX as parsed: functions, variables, instructions. Names are resolved, opcodes are not: what an instruction means is
// Decode's business, so code that is never launched may use instructions the virtual GPU does not know.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace tile::vgpu {

/// The state space of a variable or access.
enum class Space : uint8_t { Generic, Global, Shared, Local, Param, Const };

/// What a register or parameter holds. Signedness is a property of instructions and not kept.
struct PtxType {
  uint8_t bytes = 0; // 0: predicate
  bool isFloat =
      false; // .f32 or .f64: no instruction may use it as an integer, or as a pair of halves
  bool isPredicate() const { return bytes == 0; }
};

/// A place in the user's source, from `.loc`. `file` is an index into Module::files. `inlinedAt`: where the function around
/// it was inlined, the number from 1 of one of Module::callSites; 0: nowhere.
struct SourceLine {
  uint32_t file = 0, line = 0, inlinedAt = 0;
  auto operator<=>(const SourceLine &) const = default;
};

/// A variable of any state space, or a kernel parameter.
struct Variable {
  std::string_view name;
  Space space = Space::Global;
  uint32_t elementBytes = 1;
  uint64_t bytes = 0; // 0 for `.extern .shared`: sized by the launch
  uint32_t align = 1;
  bool isFloat = false;
  bool isExtern = false;
  int line = 0;
  int32_t reg = -1;          // of a parameter in a register: which of its function's
  std::vector<uint8_t> init; // as many bytes as are given; the rest is zero
  struct Reference {
    uint64_t offset;
    std::string_view symbol;
    int64_t addend;
    bool generic;
    uint8_t shift = 0; // of one byte of the address: where it is
  };
  std::vector<Reference> references; // addresses of other variables inside the initialiser
};

struct Operand {
  enum class Kind : uint8_t {
    Register,
    Special,
    Immediate,
    Float,
    Symbol,
    Address,
    Vector,
    List,
    Pair,
    Sink
  };
  Kind kind = Kind::Sink;
  bool negated = false;   // !%p
  bool minus = false;     // Register of a video instruction: -%r
  std::string_view part;  // Register of a video instruction: "b0" of %r.b0
  uint8_t floatBytes = 0; // Float: 4 or 8
  uint8_t axis = 0; // Special: from 1, which element of a vector such as %tid; 0: the name says it
  int32_t reg = -1; // Register: index into Function::registers
  uint64_t value = 0;    // Immediate, Float: the bits. Address: the offset
  std::string_view name; // as written
  const Variable *variable = nullptr;
  std::vector<Operand>
      parts; // Address: the base, then coordinates; Vector, List, Pair: the elements
};

/// Where an instruction goes on.
enum class Flow : uint8_t { Next, Branch, IndexedBranch, Call, Leave };

struct Instruction {
  std::string_view opcode; // "ld"
  Flow flow = Flow::Next;
  std::vector<std::string_view> suffix; // "global", "v4", "b32"
  std::string_view spelling;            // "ld.global.v4.b32"
  int32_t guard = -1;                   // register index
  bool guardNegated = false;
  std::vector<Operand> operands;
  int line = 0;
  SourceLine source;
  std::vector<uint32_t> targets; // bra, brx.idx: instruction indices
  int32_t prototype = -1;        // call through a register: index into Function::prototypes
};

/// What a call through a register may call: functions with these parameters and results, or the listed ones.
struct Prototype {
  std::vector<const Variable *> params, results;
  std::vector<std::string_view> targets;
  bool isTargetList = false;
};

struct Function {
  std::string_view name;
  bool isEntry = false, hasBody = false;
  int line = 0;
  std::vector<const Variable *> params, results;
  std::vector<PtxType> registers;
  std::vector<std::string_view> registerNames; // the prefix for a `<n>` range
  std::vector<uint32_t> registerNumbers;       // the number within the range, ~0 for a single name
  std::vector<const Variable *> variables;     // .shared, .local, .param declared in the body
  std::vector<Prototype> prototypes;
  std::vector<Instruction> body;
  uint32_t requiredThreads[3] = {0, 0, 0}; // .reqntid, 0 if absent
  uint32_t maxThreads[3] = {0, 0, 0};      // .maxntid
  uint32_t requiredCluster[3] = {0, 0, 0};
  uint32_t maxRegisters = 0;   // .maxnreg, 0 if absent
  uint32_t minBlocksPerSm = 0; // .minnctapersm, 0 if absent
  uint32_t maxClusterRank = 0; // .maxclusterrank, 0 if absent

  std::string registerName(int32_t reg) const {
    std::string text(registerNames[reg]);
    return registerNumbers[reg] == ~0u ? text : text + std::to_string(registerNumbers[reg]);
  }
};

/// One PTX text. Owns the text: all names are views into it.
struct Module {
  std::string name, text;
  std::string target; // "sm_80"
  int version = 0;    // 83 for 8.3
  std::vector<uint32_t> lineStarts;
  std::map<uint32_t, std::string> files;
  std::vector<SourceLine> callSites; // of inlined functions
  std::deque<Variable> variables;    // all, also those of functions
  std::map<std::string_view, const Variable *> globals;
  std::deque<Function> functions;
  std::map<std::string_view, Function *> byName;
  std::deque<std::string> names; // that the text does not have as they are
  std::set<std::string_view>
      addressTaken; // functions named elsewhere than in a call, and other names

  /// The place of a function among all; nothing if there is none of this name.
  std::optional<uint32_t> functionNumber(std::string_view name) const;
  /// What a pointer to a function holds.
  std::optional<uint64_t> functionAddress(std::string_view name) const;

  /// The name of the file; null if there is no `.file` of its number.
  const std::string *fileOf(SourceLine place) const;
  /// The text of a line (from 1), trimmed.
  std::string_view lineText(int line) const;
};

/// The address of the function of this number: outside of all memory.
constexpr uint64_t functionAddress(uint32_t number) { return 0x100000 + uint64_t{16} * number; }

/// Parses PTX. Throws tile::Error with code Parse, naming `name` and the line, if the text is not PTX.
std::shared_ptr<Module> parsePtx(std::string_view text, std::string_view name);

} // namespace tile::vgpu
