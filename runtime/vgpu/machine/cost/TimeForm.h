// What the time model knows of an instruction: what it does besides occupying a pipe, and the row
// of the calibration that says how long that takes. The rows of opcodes (decode/OpcodeTable.h)
// choose one by these functions; no number of cycles stands here.
#pragma once

#include "runtime/vgpu/machine/InstructionClass.h"

namespace tile::vgpu {

/// The unit of a multiprocessor that executes an instruction. Sync: it takes an issue slot alone.
enum class Pipe : uint8_t { None, Fma, Alu, Imad, Mufu, Memory, Tensor, Sync, BulkCopy, Branch };
constexpr size_t kPipes = static_cast<size_t>(Pipe::Branch) + 1;

/// The rows of the calibration that instructions cost: occupancy of the pipe and latency of the
/// result, in cycles.
enum class Cost : uint8_t {
  Free,    // moves, conversions of width, signs: the assembler folds them into others
  Fma,     // f32, or a pair of halves
  Double,  // f64
  Alu,     // 32-bit sums, minima, shifts, logic, selection, permutation
  AluWide, // 64-bit sums and minima: two instructions
  Predicate,
  Compare,
  CompareWide,
  BitField, // bfi
  Convert,  // to and from floats
  Pack,     // two floats to a pair of halves
  SpecialRegister,
  Product,     // 32-bit
  ProductLong, // 64-bit
  ProductWide, // 32 x 32 -> 64 bits, or the upper half
  Division,    // of integers, by a register
  DivisionLong,
  DivisionByConstant,
  DivisionByConstantLong,
  Function,      // ex2, rsqrt, sin, tanh, rcp.approx, ...
  Logarithm,     // lg2
  RoundedRoot,   // rcp.rn, sqrt.rn
  FloatQuotient, // div of floats
  Shuffle,
  Vote,
  Elect,
  MapRank, // mapa
  Branch,
  Exit,
  Issue, // takes an issue slot; what else it costs is the engine's
};
constexpr size_t kCosts = static_cast<size_t>(Cost::Issue) + 1;

/// What the engine does with an instruction.
enum class TimeKind : uint8_t {
  Compute, // values alone
  Branch,
  Exit,
  LoadGlobal,
  StoreGlobal,
  ReduceGlobal,
  AtomicGlobal,
  LoadShared,
  StoreShared,
  LoadMatrix,
  StoreMatrix,
  Shuffle,
  Vote,
  Elect,
  WarpBarrier,
  BarrierSync,
  BarrierArrive,
  ClusterArrive,
  ClusterWait,
  MbarrierInit,
  MbarrierArrive,
  MbarrierExpect, // expect_tx without an arrival
  MbarrierWait,
  BulkLoad,
  BulkStore,
  BulkCommit,
  BulkWait,
  AsyncCopy,
  AsyncCommit,
  AsyncWait,
  AsyncArrive, // at an mbarrier, when the warp's copies have come
  Wgmma,
  WgmmaFence,
  WgmmaCommit,
  WgmmaWait,
  Mma,
  Fence,
  ChangeRegisters,
};

/// How one spelling of an instruction is timed.
struct TimeForm {
  TimeKind kind = TimeKind::Compute;
  Cost cost = Cost::Free;
  Pipe pipe = Pipe::None; // None: that of the cost
  uint8_t bytes = 0;      // a lane moves, of loads, stores, copies
  /// Wgmma: columns. Mma: bytes of the depth times m x n / 128. Waits: groups that may be open.
  /// LoadMatrix, StoreMatrix: matrices. BulkLoad, BulkStore: the rank of the tensor; 0: a range.
  uint16_t number = 0;
  /// Wgmma: A is in registers. BulkLoad: goes to several blocks. BulkWait: reads alone.
  /// MbarrierArrive: expects bytes, too. LoadGlobal: passes L1 by. Fence: of the whole device.
  bool flag = false;
  bool hasClusterScope = false; // MbarrierArrive, MbarrierWait, Fence: orders for the whole cluster
  bool makesFloats =
      false; // its results are floats, or come from memory: the engine does not know them
};
using TimeOf = TimeForm (*)(const Instruction &);

/// A form that all spellings have.
template <TimeKind kind, Cost cost> TimeForm alwaysTakes(const Instruction &) {
  return {.kind = kind, .cost = cost};
}
template <Cost cost> TimeForm alwaysCosts(const Instruction &) { return {.cost = cost}; }
template <Cost cost> TimeForm makesFloats(const Instruction &) {
  return {.cost = cost, .makesFloats = true};
}

/// The bits of the last type of the instruction; 1 for predicates, 32 where it names none.
unsigned widthOf(const Instruction &instruction);
/// The bytes that a lane moves by a load, a store or an atomic, of all elements of a vector.
unsigned accessBytes(const Instruction &instruction);

/// add, sub, and opcodes whose rows name nothing else: by the type, 64-bit integers twice.
TimeForm timeOfArithmetic(const Instruction &instruction);
/// min and max.
TimeForm timeOfExtreme(const Instruction &instruction);
/// abs and neg.
TimeForm timeOfSign(const Instruction &instruction);
/// and, or, xor, not, shl, shr: of 64 bits as of 32, since half of them is constant as a rule.
TimeForm timeOfLogic(const Instruction &instruction);
/// mul, mad.
TimeForm timeOfProduct(const Instruction &instruction);
/// div, rem.
TimeForm timeOfDivision(const Instruction &instruction);
/// rcp, sqrt.
TimeForm timeOfRoot(const Instruction &instruction);
/// setp, set.
TimeForm timeOfComparison(const Instruction &instruction);
TimeForm timeOfConversion(const Instruction &instruction);
TimeForm timeOfMove(const Instruction &instruction);

} // namespace tile::vgpu
