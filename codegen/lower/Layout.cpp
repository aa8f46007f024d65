// Changes of layout that need no shared memory: renamed registers, or shuffles within a warp.
#include "codegen/lower/Lowering.h"
#include "codegen/thread/Shuffle.h"
#include "codegen/thread/Words.h"

#include "ir/instructions/LayoutChange.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tile::codegen {

namespace {

// registers[r ^ column . thread]: one exchange of pairs for each thread bit that has a column, done by the lanes whose bit
// is set.
void swapByThread(Lowering &l, Location loc, Registers &registers, ArrayRef<int32_t> columns) {
  for (auto [bit, column] : llvm::enumerate(columns)) {
    if (column == 0)
      continue;
    Value isSet = arith::CmpIOp::create(
        l.b, loc, arith::CmpIPredicate::ne,
        arith::AndIOp::create(l.b, loc, l.threads.id(), l.i32(int64_t(1) << bit)), l.i32(0));
    Registers swapped = registers;
    for (size_t reg = 0; reg < registers.size(); ++reg)
      swapped[reg] =
          arith::SelectOp::create(l.b, loc, isSet, registers[reg ^ column], registers[reg]);
    registers = std::move(swapped);
  }
}

SmallVector<int64_t> laneColumns(ArrayRef<int32_t> columns, size_t first, size_t count) {
  SmallVector<int64_t> part(count, 0);
  for (size_t i = 0; i < count && first + i < columns.size(); ++i)
    part[i] = columns[first + i];
  return part;
}

Registers shuffle(Lowering &l, Location loc, const layout::ShufflePlan &plan,
                  const Registers &source, size_t targets) {
  Registers published = source;
  swapByThread(l, loc, published, plan.publishByThread);
  size_t warpBits = plan.sourceByThread.size() > layout::kLaneBits
                        ? plan.sourceByThread.size() - layout::kLaneBits
                        : 0;
  Value lane =
      l.coordinates.threadLinear(laneColumns(plan.sourceByThread, 0, layout::kLaneBits),
                                 laneColumns(plan.sourceByThread, layout::kLaneBits, warpBits));
  Registers results(targets);
  for (const layout::ShuffleRound &round : plan.rounds) {
    Value value = published[round.publish];
    if (!plan.staysInLane(round)) {
      Value from = round.source
                       ? arith::XOrIOp::create(l.b, loc, lane, l.i32(round.source)).getResult()
                       : lane;
      value = shuffleFrom(l, loc, value, from);
    }
    results[round.store] = value;
  }
  swapByThread(l, loc, results, plan.storeByThread);
  return results;
}

// Pairs of narrow elements that stay together move as one.
Registers shuffleElements(Lowering &l, gpu::ConvertLayoutOp change, const layout::Conversion &plan,
                          const Registers &source, size_t targets) {
  Location loc = change.getLoc();
  std::optional<layout::ShufflePlan> pairs = gpu::shufflesOfPairs(change, plan);
  if (!pairs)
    return shuffle(l, loc, plan.shuffle, source, targets);
  Words words = packWords(l, loc, source);
  words.values = shuffle(l, loc, *pairs, Registers(words.values), targets / 2);
  return unpackWords(l, loc, words, source.front().getType(), targets);
}

LogicalResult lowerConvertLayout(Lowering &l, Operation *op) {
  auto change = cast<gpu::ConvertLayoutOp>(op);
  int32_t targets = gpu::layoutOf(change.getResult().getType()).numRegisters();
  layout::Conversion plan = gpu::planOf(change);
  const Registers &source = l[change.getInput()];
  Registers results;
  switch (plan.kind) {
  case layout::ConversionKind::Identity:
  case layout::ConversionKind::RegisterPermutation:
    for (int32_t reg : plan.registers)
      results.push_back(source[reg]);
    break;
  case layout::ConversionKind::WarpShuffle:
    results = shuffleElements(l, change, plan, source, static_cast<size_t>(targets));
    break;
  case layout::ConversionKind::SharedMemory:
    return op->emitOpError("needs shared memory; the pass that expands such changes has not run");
  }
  if (llvm::is_contained(results, Value()))
    return op->emitOpError("the shuffle plan leaves a register empty");
  l.set(change.getResult(), std::move(results));
  return success();
}

constexpr LoweringRow kLowerings[] = {on<gpu::ConvertLayoutOp, lowerConvertLayout>};

} // namespace

LoweringTable layoutLowerings() { return kLowerings; }

} // namespace tile::codegen
