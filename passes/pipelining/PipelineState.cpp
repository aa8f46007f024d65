#include "passes/pipelining/PipelineState.h"

#include "ir/Annotations.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;

namespace tile::passes {

static Value constant(OpBuilder &b, Location loc, int64_t value) {
  return arith::ConstantIntOp::create(b, loc, value, 32);
}

static Value isEqual(OpBuilder &b, Location loc, Value distance, int64_t number) {
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, distance,
                               constant(b, loc, number));
}

static Value behind(OpBuilder &b, Location loc, Value distance, int64_t stride, Value wraps) {
  Value next = arith::AddIOp::create(b, loc, distance, constant(b, loc, stride));
  return arith::SelectOp::create(b, loc, wraps, constant(b, loc, 0), next);
}

// Where there is one stage each fill ends a phase.
static Value parityBehind(OpBuilder &b, Location loc, Value parity, Value wraps) {
  Value flip = wraps ? arith::ExtUIOp::create(b, loc, b.getI32Type(), wraps).getResult()
                     : constant(b, loc, 1);
  return arith::XOrIOp::create(b, loc, parity, flip);
}

std::optional<PassesInTurn> passesInTurn(scf::ForOp loop) {
  PassesInTurn passes = {};
  for (auto turn : loop.getBody()->getOps<gpu::OrderArriveOp>())
    passes.isLast = turn.getPredicate(), passes.iterations = turn.getIterations();
  if (!passes.iterations)
    return std::nullopt;
  for (auto branch : loop.getBody()->getOps<scf::IfOp>())
    if (gpu::beginsPass(branch))
      passes.begin = branch;
    else if (gpu::endsPass(branch))
      passes.end = branch;
  return passes;
}

namespace {

/// Leaves out the fills of the other team's pass, before the loop for the second team, in it behind a team's own passes.
class FillSkipper {
public:
  FillSkipper(OpBuilder &b, Location loc, const PassesInTurn &passes, int64_t stages)
      : passes_(passes), stages_(stages), loc_(loc),
        turns_(arith::DivUIOp::create(b, loc, passes.iterations, constant(b, loc, stages))),
        rest_(arith::RemUIOp::create(b, loc, passes.iterations, constant(b, loc, stages))),
        isSecond_(arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne,
                                        ir::TeamIdOp::create(b, loc, b.getI32Type()),
                                        constant(b, loc, 0))) {}

  // Of the stage at a distance: how far the stage is behind as many fills.
  Value distance(OpBuilder &b, Value from, int64_t stride, Value condition) {
    Value all = constant(b, loc_, stages_ * stride);
    Value bytes = arith::MulIOp::create(b, loc_, rest_, constant(b, loc_, stride));
    Value far = arith::AddIOp::create(b, loc_, from, bytes);
    wraps_ = arith::CmpIOp::create(b, loc_, arith::CmpIPredicate::uge, far, all);
    Value near = arith::SubIOp::create(b, loc_, far, all);
    Value skipped = arith::SelectOp::create(b, loc_, wraps_, near, far);
    return forConsumers(b, from, skipped, condition);
  }

  // Of the fill whose distance was asked for last.
  Value parity(OpBuilder &b, Value from, Value condition) {
    Value flips = turns_;
    if (wraps_)
      flips = arith::AddIOp::create(b, loc_, flips,
                                    arith::ExtUIOp::create(b, loc_, b.getI32Type(), wraps_));
    Value odd = arith::AndIOp::create(b, loc_, flips, constant(b, loc_, 1));
    return forConsumers(b, from, arith::XOrIOp::create(b, loc_, from, odd), condition);
  }

  Value isSecond() const { return isSecond_; }
  const PassesInTurn &passes() const { return passes_; }

private:
  Value forConsumers(OpBuilder &b, Value all, Value skipped, Value condition) {
    Value own = arith::SelectOp::create(b, loc_, condition, skipped, all);
    return ir::ByRoleOp::create(b, loc_, all.getType(), all, own);
  }

  PassesInTurn passes_;
  int64_t stages_;
  Location loc_;
  Value turns_, rest_, isSecond_, wraps_;
};

} // namespace

bool LoopPlaces::isOf(scf::ForOp loop) const {
  BlockArgument any = parity ? parity : byStride.front().second.front();
  return any.getOwner() == loop.getBody();
}

bool PipelineState::followsFrom(int64_t stride, int64_t carried) const {
  return stride == carried ||
         (stride % carried == 0 && (derivesFromBarriers_ || carried > gpu::kBarrierBytes));
}

// Each variable takes a register for the whole loop, a multiple of one an instruction.
SmallVector<int64_t> PipelineState::carriedOf(ArrayRef<int64_t> strides) const {
  SmallVector<int64_t> sorted(strides), carried;
  llvm::sort(sorted);
  for (int64_t stride : sorted)
    if (llvm::none_of(carried, [&](int64_t less) { return followsFrom(stride, less); }))
      carried.push_back(stride);
  return carried;
}

scf::ForOp PipelineState::carryRound(scf::ForOp loop, NamedFills fills, ArrayRef<int64_t> strides,
                                     bool hasPhases, std::optional<int64_t> releaseLag) {
  LoopPlaces places;
  places.fills = fills;
  places.releaseLag = releaseLag.value_or(0);
  if (stages_ > 1) // the only stage is the first
    for (int64_t stride : carriedOf(strides))
      places.byStride.insert({stride, {}});
  IRRewriter rewriter(loop.getContext());
  rewriter.setInsertionPoint(loop);
  std::optional<FillSkipper> skipper;
  if (std::optional<PassesInTurn> passes = passesInTurn(loop))
    skipper.emplace(rewriter, loop.getLoc(), *passes, stages_);
  SmallVector<Value> first;
  for (auto &[stride, distances] : places.byStride)
    for (int64_t lead = fills.newest; lead >= fills.oldest; --lead) {
      first.push_back(constant(rewriter, loop.getLoc(), stageOf(lead) * stride));
      if (skipper && lead == fills.newest)
        first.back() = skipper->distance(rewriter, first.back(), stride, skipper->isSecond());
    }
  if (hasPhases)
    first.push_back(constant(rewriter, loop.getLoc(), fills.newest / stages_ % 2));
  if (hasPhases && skipper)
    first.back() = skipper->parity(rewriter, first.back(), skipper->isSecond());
  if (releaseLag) // of fill -1 without a lag it is the phase before the first
    first.push_back(constant(rewriter, loop.getLoc(), fills.oldest + *releaseLag < 0 ? 1 : 0));
  auto next = [&](OpBuilder &b, Location loc, ArrayRef<BlockArgument> variables) {
    SmallVector<Value> yielded;
    Value wraps, oldWraps;
    for (auto &[stride, distances] : places.byStride) {
      distances = llvm::to_vector(variables.slice(yielded.size(), fills.newest - fills.oldest + 1));
      wraps = isEqual(b, loc, distances.front(), (stages_ - 1) * stride);
      if (releaseLag)
        oldWraps = isEqual(b, loc, distances.back(), stageOf(-1 - *releaseLag) * stride);
      yielded.push_back(behind(b, loc, distances.front(), stride, wraps));
      if (skipper)
        yielded.back() = skipper->distance(b, yielded.back(), stride, skipper->passes().isLast);
      llvm::append_range(yielded, ArrayRef(distances).drop_back());
    }
    if (hasPhases) {
      places.parity = variables[yielded.size()];
      yielded.push_back(parityBehind(b, loc, places.parity, wraps));
      if (skipper)
        yielded.back() = skipper->parity(b, yielded.back(), skipper->passes().isLast);
    }
    if (releaseLag) {
      places.oldParity = variables[yielded.size()];
      yielded.push_back(parityBehind(b, loc, places.oldParity, oldWraps));
    }
    return yielded;
  };
  auto carrying = cast<scf::ForOp>(*loop.replaceWithAdditionalYields(
      rewriter, first, /*replaceInitOperandUsesInLoop=*/false, next));
  loops_.push_back(std::move(places));
  return carrying;
}

Value PipelineState::distance(OpBuilder &b, scf::ForOp loop, std::optional<int64_t> lead,
                              Value fill, int64_t stride) const {
  Location loc = fill.getLoc();
  if (stages_ == 1)
    return constant(b, loc, 0);
  if (const LoopPlaces *places = lead ? placesOf(loop) : nullptr)
    for (auto &[carried, distances] : places->byStride)
      for (auto [i, known] : llvm::enumerate(distances))
        if (followsFrom(stride, carried) &&
            stageOf(places->fills.newest - static_cast<int64_t>(i)) == stageOf(*lead))
          return b.createOrFold<arith::MulIOp>(loc, known, constant(b, loc, stride / carried));
  Value stage = b.createOrFold<arith::RemUIOp>(loc, fill, constant(b, loc, stages_));
  return b.createOrFold<arith::MulIOp>(loc, stage, constant(b, loc, stride));
}

Value PipelineState::parity(OpBuilder &b, scf::ForOp loop, std::optional<int64_t> lead,
                            Value fill) const {
  if (const LoopPlaces *places = placesOf(loop); places && lead == places->fills.newest)
    return places->parity;
  Location loc = fill.getLoc();
  Value phase = b.createOrFold<arith::DivUIOp>(loc, fill, constant(b, loc, stages_));
  return b.createOrFold<arith::AndIOp>(loc, phase, constant(b, loc, 1));
}

Value PipelineState::parityOfRelease(OpBuilder &b, scf::ForOp loop, std::optional<int64_t> lead,
                                     Value fill) const {
  const LoopPlaces *places = placesOf(loop);
  if (places && places->oldParity && lead == places->fills.oldest + stages_)
    return places->oldParity;
  Location loc = fill.getLoc();
  if (places)
    fill = b.createOrFold<arith::AddIOp>(loc, fill, constant(b, loc, places->releaseLag));
  return b.createOrFold<arith::XOrIOp>(loc, parity(b, loop, std::nullopt, fill),
                                       constant(b, loc, 1));
}

bool PipelineState::carriesRound(scf::ForOp loop) const { return placesOf(loop) != nullptr; }

const LoopPlaces *PipelineState::placesOf(scf::ForOp loop) const {
  const auto *found =
      llvm::find_if(loops_, [&](const LoopPlaces &places) { return loop && places.isOf(loop); });
  return found == loops_.end() ? nullptr : found;
}

} // namespace tile::passes
