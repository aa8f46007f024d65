#include "passes/pipelining/analysis/RingProtocol.h"

#include "ir/annotations/VariantAnnotations.h"
#include "passes/analysis/ControlFlow.h"
#include "passes/pipelining/analysis/RingSweeps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/TypeSwitch.h"
#include <map>

using namespace mlir;

namespace tile::passes {

namespace {

enum class Step { Acquired, Committed, Got, Released };

StringRef nameOf(Step step) {
  constexpr StringLiteral names[] = {"acquired", "committed", "got", "released"};
  return names[static_cast<size_t>(step)];
}

struct Fill {
  Step step = Step::Acquired;
  bool isGuarded = true;       ///< all its copies are predicated
  bool isSeenReleased = false; ///< all threads have synchronized since its release

  bool operator==(const Fill &) const = default;
};

using Fills = std::map<int64_t, Fill>;
using Rings = std::map<Operation *, Fills>;
using Numbers = DenseMap<Value, int64_t>;

} // namespace

class RingSimulation {
public:
  RingSimulation(RingProtocol &protocol, const RingSweep &sweep, int64_t iterations)
      : protocol_(protocol), sweep_(sweep), iterations_(iterations) {}

  LogicalResult run(func::FuncOp function) {
    Numbers numbers;
    return success(succeeded(run(function.getBody().front(), numbers)) && succeeded(verifyEnd({})));
  }

private:
  LogicalResult run(Block &block, Numbers &numbers) {
    for (Operation &op : block)
      if (failed(run(&op, numbers)))
        return failure();
    return success();
  }

  LogicalResult run(Operation *op, Numbers &numbers) {
    return llvm::TypeSwitch<Operation *, LogicalResult>(op)
        .Case<scf::ForOp>([&](auto loop) { return runLoop(loop, numbers); })
        .Case<scf::IfOp, scf::WhileOp>(
            [&](auto branches) { return runBranches(branches, numbers); })
        .Case<gpu::ProducerAcquireOp>([&](auto step) { return acquire(step, numbers); })
        .Case<gpu::ProducerCommitOp>(
            [&](auto step) { return advance(step, numbers, Step::Acquired, Step::Committed); })
        .Case<gpu::ConsumerWaitOp>([&](auto step) { return get(step, numbers); })
        .Case<gpu::RingTilesOp>(
            [&](auto tiles) { return advance(tiles, numbers, Step::Got, Step::Got); })
        .Case<gpu::ConsumerReleaseOp>(
            [&](auto step) { return advance(step, numbers, Step::Got, Step::Released); })
        .Case<gpu::RingCopyOp>([&](auto copy) {
          return write(copy, numbers, copy.getPredicate() || isa<scf::IfOp>(copy->getParentOp()));
        })
        .Case<gpu::RingPutOp>([&](auto put) { return write(put, numbers, /*isGuarded=*/true); })
        .Default([&](Operation *) { return evaluate(op, numbers), success(); });
  }

  LogicalResult runLoop(scf::ForOp loop, Numbers &around) {
    if (!touchesRings(loop))
      return success();
    Numbers numbers(around);
    int64_t count = sweep_.iterationsOf(loop, iterations_);
    auto boundOr = [&](Value bound, int64_t other) {
      auto known = numbers.find(bound);
      return known == numbers.end() ? other : known->second;
    };
    int64_t first = boundOr(loop.getLowerBound(), 0), step = boundOr(loop.getStep(), 1);
    numbers[loop.getLowerBound()] = first, numbers[loop.getStep()] = step;
    carry(loop.getInitArgs(), loop.getRegionIterArgs(), around, numbers);
    for (int64_t i = 0; i < count; ++i) {
      Numbers inside = numbers;
      inside[loop.getInductionVar()] = first + i * step;
      completed_[loop] = i;
      if (failed(run(*loop.getBody(), inside)))
        return failure();
      carry(loop.getYieldedValues(), loop.getRegionIterArgs(), inside, numbers);
    }
    carry(loop.getRegionIterArgs(), loop.getResults(), numbers, around);
    return success();
  }

  static void carry(ValueRange from, ValueRange to, const Numbers &known, Numbers &numbers) {
    Numbers next;
    for (auto [source, target] : llvm::zip_equal(from, to))
      if (auto number = known.find(source); number != known.end())
        next[target] = number->second;
    for (Value target : to)
      numbers.erase(target);
    numbers.insert(next.begin(), next.end());
  }

  // A branch, or the body of a loop that may end at any time, must complete what it begins.
  LogicalResult runBranches(Operation *op, const Numbers &numbers) {
    Rings before = rings_;
    for (Region &region : op->getRegions())
      for (Block &block : region) {
        Numbers inside = numbers;
        rings_ = before;
        if (failed(run(block, inside)) || failed(verifyEnd(before)))
          return failure();
      }
    return success();
  }

  // Nothing may stay acquired or waited for. A fill that is only committed copied nothing if all
  // its copies are predicated.
  LogicalResult verifyEnd(const Rings &before) {
    for (auto &[ring, fills] : rings_)
      for (auto &[number, fill] : fills) {
        if (wasSo(before, ring, number, fill.step))
          continue;
        if (fill.step == Step::Acquired || fill.step == Step::Got)
          return ring->emitOpError("is left with fill ") << number << " " << nameOf(fill.step);
        if (fill.step == Step::Committed && !fill.isGuarded)
          return ring->emitOpError("is left with fill ") << number << ", which nobody gets";
      }
    return success();
  }

  static bool wasSo(const Rings &before, Operation *ring, int64_t number, Step step) {
    auto fills = before.find(ring);
    if (fills == before.end())
      return false;
    auto fill = fills->second.find(number);
    return fill != fills->second.end() && fill->second.step == step;
  }

  std::optional<int64_t> numberOf(Operation *op, Value fill, const Numbers &numbers) {
    auto known = numbers.find(fill);
    if (known != numbers.end()) {
      noteLead(op, known->second);
      return known->second;
    }
    op->emitOpError("is on a fill whose number cannot be followed");
    return std::nullopt;
  }

  void noteLead(Operation *op, int64_t number) {
    auto loop = op->getParentOfType<scf::ForOp>();
    int64_t lead = number - (loop ? completed_[loop] : 0);
    auto [known, isNew] = protocol_.leads_.insert({op, lead});
    if (known->second != lead)
      known->second = std::nullopt;
  }

  static bool isEmpty(const Fills &fills) {
    return llvm::all_of(fills, [](auto &entry) {
      return entry.second.step == Step::Released || entry.second.step == Step::Committed;
    });
  }

  LogicalResult acquire(gpu::ProducerAcquireOp op, const Numbers &numbers) {
    std::optional<int64_t> number = numberOf(op, op.getFill(), numbers);
    if (!number)
      return failure();
    Fills &fills = rings_[op.getRing().getDefiningOp()];
    if (*number == 0 && isEmpty(fills))
      fills.clear();
    int64_t last = fills.empty() ? -1 : fills.rbegin()->first,
            stages = op.getRing().getType().getStages();
    if (*number != last + 1)
      return op.emitOpError("acquires fill ") << *number << " after fill " << last;
    auto before = fills.find(*number - stages);
    if (before != fills.end() && before->second.step != Step::Released)
      return op.emitOpError("acquires fill ")
             << *number << ", whose stage holds fill " << before->first << ", only "
             << nameOf(before->second.step);
    if (before != fills.end() && stages > 1 && !before->second.isSeenReleased) {
      if (!isFilledByTma(op.getRing().getDefiningOp<gpu::RingAllocOp>()))
        return op.emitOpError("acquires fill ")
               << *number << " before all threads have synchronized after the release of fill "
               << before->first;
      protocol_.barriers_.insert(op);
      meetAt(op);
    }
    fills[*number] = Fill();
    return success();
  }

  LogicalResult advance(Operation *op, const Numbers &numbers, Step from, Step to) {
    std::optional<int64_t> number = numberOf(op, op->getOperand(1), numbers);
    if (!number)
      return failure();
    if (to == Step::Released && *number < 0)
      return success();
    Fills &fills = rings_[op->getOperand(0).getDefiningOp()];
    auto fill = fills.find(*number);
    if (fill == fills.end() || fill->second.step != from)
      return op->emitOpError("is on fill ")
             << *number << ", which is "
             << (fill == fills.end() ? StringRef("not acquired") : nameOf(fill->second.step));
    fill->second.step = to;
    fill->second.isSeenReleased = false;
    return success();
  }

  static void meet(Fills &fills) {
    for (auto &[number, fill] : fills)
      fill.isSeenReleased |= fill.step == Step::Released;
  }

  // Rings that TMA fills in the same iteration share the barrier: it orders the releases of all of
  // them.
  void meetAt(gpu::ProducerAcquireOp acquire) {
    for (auto other : acquire->getBlock()->getOps<gpu::ProducerAcquireOp>())
      if (auto ring = other.getRing().getDefiningOp<gpu::RingAllocOp>(); isFilledByTma(ring))
        meet(rings_[ring]);
  }

  // All threads synchronize at a wait unless TMA alone fills the ring: then each sees for itself
  // that the bytes have arrived.
  LogicalResult get(gpu::ConsumerWaitOp op, const Numbers &numbers) {
    if (failed(advance(op, numbers, Step::Committed, Step::Got)))
      return failure();
    Fills &fills = rings_[op.getRing().getDefiningOp()];
    int64_t number = numbers.lookup(op.getFill()), committed = 0;
    if (!isFilledByTma(op.getRing().getDefiningOp<gpu::RingAllocOp>()))
      meet(fills);
    for (auto &[other, fill] : fills)
      committed += other > number && fill.step == Step::Committed;
    auto [known, isNew] = protocol_.later_.insert({op, static_cast<int32_t>(committed)});
    known->second = std::min(known->second, static_cast<int32_t>(committed));
    return success();
  }

  template <class Op> LogicalResult write(Op op, const Numbers &numbers, bool isGuarded) {
    std::optional<int64_t> number = numberOf(op, op.getFill(), numbers);
    if (!number)
      return failure();
    Fills &fills = rings_[op.getRing().getDefiningOp()];
    auto fill = fills.find(*number);
    if (fill == fills.end() || fill->second.step != Step::Acquired)
      return op.emitOpError("writes fill ") << *number << ", which is not acquired";
    fill->second.isGuarded &= isGuarded;
    return success();
  }

  static void evaluate(Operation *op, Numbers &numbers) {
    APInt constant;
    if (op->getNumResults() != 1)
      return;
    Value result = op->getResult(0);
    if (matchPattern(result, m_ConstantInt(&constant))) {
      numbers[result] = constant.getSExtValue();
      return;
    }
    SmallVector<int64_t, 2> in;
    for (Value operand : op->getOperands()) {
      auto known = numbers.find(operand);
      if (known == numbers.end())
        return;
      in.push_back(known->second);
    }
    if (isa<arith::AddIOp>(op))
      numbers[result] = in[0] + in[1];
    else if (isa<arith::SubIOp>(op))
      numbers[result] = in[0] - in[1];
    else if (isa<arith::MulIOp>(op))
      numbers[result] = in[0] * in[1];
    else if (isa<arith::DivUIOp, arith::DivSIOp>(op) && in[1] > 0)
      numbers[result] = in[0] / in[1];
    else if (isa<arith::TruncIOp, arith::ExtSIOp, arith::ExtUIOp>(op))
      numbers[result] = in[0];
  }

  RingProtocol &protocol_;
  const RingSweep &sweep_;
  int64_t iterations_;
  DenseMap<Operation *, int64_t> completed_; ///< iterations completed, per loop being simulated
  Rings rings_;
};

RingProtocol::RingProtocol(func::FuncOp function) {
  FailureOr<SmallVector<RingSweep>> sweeps = sweepsOf(function);
  valid_ = succeeded(sweeps) && (sweeps->empty() || succeeded(verifyOneBlock(function)));
  if (!valid_)
    return;
  for (const RingSweep &sweep : *sweeps)
    for (int64_t iterations = 0; iterations <= sweep.most && valid_; ++iterations)
      valid_ = succeeded(RingSimulation(*this, sweep, iterations).run(function));
}

bool isFilledByTma(gpu::RingAllocOp ring) {
  bool hasCopies = false;
  for (Operation *user : ring->getUsers()) {
    bool isByTma = isa<gpu::RingCopyOp>(user) && gpu::loadVariantOf(user) == gpu::LoadVariant::Tma;
    if (isa<gpu::RingPutOp>(user) || (isa<gpu::RingCopyOp>(user) && !isByTma))
      return false;
    hasCopies |= isByTma;
  }
  return hasCopies;
}

LogicalResult verifyRings(func::FuncOp function) {
  return success(RingProtocol(function).isValid());
}

} // namespace tile::passes
