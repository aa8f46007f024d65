// A kernel ready to run: operations with resolved operands, and the layout of registers, parameters and memory.
//
// Every register, constant and special register is a *row* of the warp's register file: 32 lanes of u32 (128 bytes) or
// u64 (256 bytes); a predicate is one u32 lane mask at the start of its row. An operand is just the byte offset of a row,
// so handlers need not know what it is.
#pragma once

#include "runtime/vgpu/machine/Counters.h"
#include "runtime/vgpu/machine/MmaBatch.h"
#include "runtime/vgpu/machine/cost/TimeForm.h"
#include "runtime/vgpu/ptx/Ptx.h"

#include <array>

namespace tile::vgpu {

struct Warp;
struct Op;
/// Executes one operation for the active lanes of a warp.
using Handler = void (*)(Warp &, const Op &);

/// The functions that the decoder chooses for an operation.
struct Handlers {
  Handlers(Handler run = nullptr, Handler shadow = nullptr) : run(run), shadow(shadow) {}
  explicit operator bool() const { return run; }

  Handler run;
  /// Derives which bits of the targets are initialised where not all of the sources are; null: none is.
  Handler shadow;
};

constexpr uint32_t kRowBytes = 128;

/// One line of the host's cache: unrolled loops have more of them than its first level holds.
struct alignas(64) Op {
  Handler run =
      nullptr; // what the warp calls: `real`, or a wrapper that applies guard and init check
  const uint32_t *rows = nullptr; // operands: targets, then sources
  Handler real = nullptr;
  Handler shadow = nullptr; // see Handlers
  int64_t imm = 0;
  uint32_t a = 0, b = 0; // further parameters of the handler
  uint32_t guardRow = 0;
  uint32_t instruction = 0; // index into Program::lines
  uint8_t targets = 0, sources = 0;
  uint8_t flags = 0;
  uint8_t guardFlip = 0; // 1: the guard is negated
  uint8_t issues = 0;    // 1: the first operation of its instruction
};
static_assert(sizeof(Op) == 64);

/// Op::flags.
enum OpFlag : uint8_t {
  kHasGuard = 1,     // some lanes may be masked off by `guardRow`
  kOwnGuard = 2,     // the handler looks at the guard itself (branches)
  kOwnValidity = 4,  // the handler tracks initialisation itself (loads, shuffles, mma)
  kControl = 8,      // may change the program counter
  kJumps = 16,       // may go on at the operation `imm`
  kAccumulates = 32, // reads its targets, too
};

/// The values that live in special rows.
enum class Special : uint8_t {
  TidX,
  TidY,
  TidZ,
  NtidX,
  NtidY,
  NtidZ,
  CtaidX,
  CtaidY,
  CtaidZ,
  NctaidX,
  NctaidY,
  NctaidZ,
  LaneId,
  WarpId,
  NwarpId,
  SmId,
  NsmId,
  GridId,
  LaneMaskEq,
  LaneMaskLe,
  LaneMaskLt,
  LaneMaskGe,
  LaneMaskGt,
  DynamicSharedSize,
  TotalSharedSize,
  ClusterIdX,
  ClusterIdY,
  ClusterIdZ,
  NclusterIdX,
  NclusterIdY,
  NclusterIdZ,
  ClusterCtaidX,
  ClusterCtaidY,
  ClusterCtaidZ,
  ClusterNctaidX,
  ClusterNctaidY,
  ClusterNctaidZ,
  ClusterCtarank,
  ClusterNctarank,
  IsExplicitCluster,
  ReservedSharedBegin,
  ReservedSharedEnd,
  ReservedSharedCap,
  AggregateSharedSize,
  Zero,
};

/// A function that calls itself, also by others: what a call of it keeps of the activation it is in.
struct Recursion {
  struct Row {
    uint32_t row;
    bool isPredicate, isWide;
  };
  struct Range {
    uint32_t offset, bytes;
  };
  std::vector<Row> rows;
  std::vector<Range> local;
  uint32_t entry = 0;  // its first operation
  uint32_t nested = 0; // the recursions up to this one are of functions that it calls
};
struct RecursiveCall {
  uint32_t recursion = 0;
  struct Move {
    uint32_t from, to, bytes; // in local memory
  };
  std::vector<Move> arguments, results;
};

struct Program {
  std::shared_ptr<const Module> module;
  const Function *entry = nullptr;
  std::vector<Op> code;
  std::vector<uint32_t> rows;   // what Op::rows points to
  std::vector<Handler> watched; // by operation: what runs after the watch over registers of wgmma
  uint32_t fileBytes = 0;       // size of a register file
  std::vector<uint8_t>
      rowBytes; // of a lane, by row / kRowBytes; if DecodeOptions::keepsInstructions

  struct Constant {
    uint32_t row;
    uint64_t bits;
    uint8_t bytes;
    bool isShared = false; // an address of shared memory, in the first window
  };
  std::vector<Constant> constants;
  struct SpecialRow {
    uint32_t row;
    Special what;
  };
  std::vector<SpecialRow> specials;

  struct Line {
    int line = 0;
    SourceLine source;
    std::string_view spelling;
    InstructionClass kind = InstructionClass::Other;
    uint8_t traits = 0; // of InstructionTrait
    uint32_t macs = 0;  // multiply-adds of one execution by a warp
    TimeForm time = {}; // if DecodeOptions::keepsInstructions
  };
  std::vector<Line> lines; // by Op::instruction

  struct Param {
    std::string_view name;
    uint32_t offset = 0, bytes = 0;
  };
  std::vector<Param> params;
  uint32_t paramBytes = 0;
  struct SharedVariable {
    std::string_view name;
    uint32_t address = 0;
    uint64_t bytes = 0;
  };
  std::vector<SharedVariable> shared;
  /// Where the module's .const variables are, from the first byte to one past the last; if isspacep asks for them.
  std::vector<std::pair<uint64_t, uint64_t>> constRanges;
  uint32_t staticSharedBytes = 0;    // past kSharedBase
  uint32_t dynamicSharedAddress = 0; // where `.extern .shared` begins
  uint32_t localBytes = 0;           // per thread
  /// From one thread's local memory to the next one's: every thread's is aligned.
  uint32_t localStride() const { return (localBytes + 15) & ~15u; }
  std::vector<Recursion> recursions;
  std::vector<RecursiveCall> recursiveCalls;
  bool usesGlobalAtomics = false; // results may depend on the order of blocks: they run one by one
  bool prints = false;
  bool startsDependents = false; // griddepcontrol.launch_dependents
  bool usesWgmma = false;
  bool watchesMatrices = false; // the registers it works on, see MatrixFlight.h
  bool releases = false;        // some lanes of a warp may tell other warps what they did
  int sumArch = 0; // tensor cores sum as this architecture's; 0: by fused multiply-adds
  std::vector<MmaBatch> mmaBatches; // by Op::imm of the operation that runs one
  uint32_t staticRowsBegin = 0;     // rows from here are constants and specials: always initialised
};

} // namespace tile::vgpu
