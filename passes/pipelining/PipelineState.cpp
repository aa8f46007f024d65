#include "passes/pipelining/PipelineState.h"

#include "ir/annotations/LoopAnnotations.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;

namespace tile::passes {

static Value constant(OpBuilder &b, Location loc, int64_t value) {
  return arith::ConstantIntOp::create(b, loc, value, 32);
}

static Value isEqual(OpBuilder &b, Location loc, Value value, int64_t number) {
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, value, constant(b, loc, number));
}

std::optional<PingPongTiles> pingPongTilesOf(scf::ForOp loop) {
  gpu::LoopPlanAttr plan = gpu::loopPlanOf(loop);
  if (!plan || plan.getOrder() != gpu::Order::PingPong)
    return std::nullopt;
  PingPongTiles tiles = {};
  for (auto arrive : loop.getBody()->getOps<gpu::OrderArriveOp>())
    tiles.isLastStep = arrive.getPredicate(), tiles.tripCount = arrive.getTripCount();
  for (auto branch : loop.getBody()->getOps<scf::IfOp>())
    if (std::optional<gpu::TileStep> step = gpu::tileStepOf(branch))
      (*step == gpu::TileStep::First ? tiles.begin : tiles.epilogue) = branch;
  return tiles;
}

FillCount::FillCount(OpBuilder &b, Value fills, int64_t stages) {
  Location loc = fills.getLoc();
  turns = arith::DivUIOp::create(b, loc, fills, constant(b, loc, stages));
  rest = arith::RemUIOp::create(b, loc, fills, constant(b, loc, stages));
}

static Value flip(OpBuilder &b, Location loc, Value parity, Value wraps) {
  Value one = wraps ? arith::ExtUIOp::create(b, loc, b.getI32Type(), wraps).getResult()
                    : constant(b, loc, 1); // with one stage every fill ends a phase
  return arith::XOrIOp::create(b, loc, parity, one);
}

PipelineState PipelineState::advance(OpBuilder &b, Location loc, const RingStrides &ring) const {
  PipelineState next;
  Value wraps;
  for (auto [offset, stride] : llvm::zip_equal(offsets, ring.bytes)) {
    wraps = isEqual(b, loc, offset, (ring.stages - 1) * stride);
    Value following = arith::AddIOp::create(b, loc, offset, constant(b, loc, stride));
    next.offsets.push_back(arith::SelectOp::create(b, loc, wraps, constant(b, loc, 0), following));
  }
  if (parity)
    next.parity = flip(b, loc, parity, wraps);
  return next;
}

PipelineState PipelineState::advance(OpBuilder &b, Location loc, const RingStrides &ring,
                                     const FillCount &count) const {
  PipelineState next;
  Value wraps;
  for (auto [offset, stride] : llvm::zip_equal(offsets, ring.bytes)) {
    Value all = constant(b, loc, ring.stages * stride);
    Value bytes = arith::MulIOp::create(b, loc, count.rest, constant(b, loc, stride));
    Value far = arith::AddIOp::create(b, loc, offset, bytes);
    wraps = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::uge, far, all);
    Value near = arith::SubIOp::create(b, loc, far, all);
    next.offsets.push_back(arith::SelectOp::create(b, loc, wraps, near, far));
  }
  if (!parity)
    return next;
  Value flips = count.turns;
  if (wraps)
    flips =
        arith::AddIOp::create(b, loc, flips, arith::ExtUIOp::create(b, loc, b.getI32Type(), wraps));
  Value isOdd = arith::AndIOp::create(b, loc, flips, constant(b, loc, 1));
  next.parity = arith::XOrIOp::create(b, loc, parity, isOdd);
  return next;
}

namespace {

class LoopCarrier {
public:
  LoopCarrier(OpBuilder &b, scf::ForOp loop, RingStrides ring, LoopState &state, bool hasPhases,
              bool hasReleases)
      : loc_(loop.getLoc()), ring_(std::move(ring)), state_(state), hasPhases_(hasPhases),
        hasReleases_(hasReleases), tiles_(pingPongTilesOf(loop)) {
    if (!tiles_)
      return;
    tile_.emplace(b, tiles_->tripCount, ring_.stages);
    isSecondTeam_ =
        arith::CmpIOp::create(b, loc_, arith::CmpIPredicate::ne,
                              ir::TeamIdOp::create(b, loc_, b.getI32Type()), constant(b, loc_, 0));
  }

  // The variables are, per stride, the offsets of the named fills; then the parity of the newest
  // fill; then that of the oldest fill's release.
  SmallVector<Value> initial(OpBuilder &b) {
    const NamedFills &fills = state_.fills;
    PipelineState newest;
    for (int64_t stride : ring_.bytes)
      newest.offsets.push_back(constant(b, loc_, stageOf(fills.newest) * stride));
    if (hasPhases_)
      newest.parity = constant(b, loc_, fills.newest / ring_.stages % 2);
    if (tiles_) // team 0 has the first tile
      newest = skipTile(b, newest, isSecondTeam_);
    SmallVector<Value> variables;
    for (auto [offset, stride] : llvm::zip_equal(newest.offsets, ring_.bytes)) {
      variables.push_back(offset);
      for (int64_t lead = fills.newest - 1; lead >= fills.oldest; --lead)
        variables.push_back(constant(b, loc_, stageOf(lead) * stride));
    }
    if (hasPhases_)
      variables.push_back(newest.parity);
    if (hasReleases_) // without a lag the first refill waits for the phase before the first
      variables.push_back(constant(b, loc_, fills.oldest + state_.releaseLag < 0 ? 1 : 0));
    return variables;
  }

  SmallVector<Value> next(OpBuilder &b, ArrayRef<BlockArgument> variables) {
    remember(variables);
    PipelineState newest;
    for (auto &[stride, offsets] : state_.offsets)
      newest.offsets.push_back(offsets.front());
    newest.parity = state_.fullParity;
    newest = newest.advance(b, loc_, ring_);
    if (tiles_)
      newest = skipTile(b, newest, tiles_->isLastStep);
    SmallVector<Value> yielded;
    for (auto [following, stage] : llvm::zip_equal(newest.offsets, state_.offsets)) {
      yielded.push_back(following);
      llvm::append_range(yielded, ArrayRef(stage.second).drop_back());
    }
    if (hasPhases_)
      yielded.push_back(newest.parity);
    if (hasReleases_)
      yielded.push_back(flip(b, loc_, state_.emptyParity, oldestWraps(b)));
    return yielded;
  }

private:
  int64_t stageOf(int64_t lead) const {
    return (lead % ring_.stages + ring_.stages) % ring_.stages;
  }

  void remember(ArrayRef<BlockArgument> variables) {
    auto take = [&](int64_t count) {
      ArrayRef<BlockArgument> first = variables.take_front(count);
      variables = variables.drop_front(count);
      return first;
    };
    for (int64_t stride : ring_.bytes)
      state_.offsets.insert({stride, llvm::to_vector(take(state_.fills.count()))});
    if (hasPhases_)
      state_.fullParity = take(1).front();
    if (hasReleases_)
      state_.emptyParity = take(1).front();
  }

  // Null if the ring has one stage, where every fill wraps.
  Value oldestWraps(OpBuilder &b) {
    if (state_.offsets.empty())
      return {};
    auto &[stride, offsets] = state_.offsets.back();
    return isEqual(b, loc_, offsets.back(), stageOf(-1 - state_.releaseLag) * stride);
  }

  // Only consumers skip the other team's tile.
  PipelineState skipTile(OpBuilder &b, const PipelineState &from, Value condition) {
    PipelineState skipped = from.advance(b, loc_, ring_, *tile_), next;
    for (auto [here, there] : llvm::zip_equal(from.offsets, skipped.offsets))
      next.offsets.push_back(forConsumers(b, here, there, condition));
    if (from.parity)
      next.parity = forConsumers(b, from.parity, skipped.parity, condition);
    return next;
  }

  Value forConsumers(OpBuilder &b, Value all, Value skipped, Value condition) {
    Value own = arith::SelectOp::create(b, loc_, condition, skipped, all);
    return ir::ByRoleOp::create(b, loc_, all.getType(), all, own);
  }

  Location loc_;
  RingStrides ring_;
  LoopState &state_;
  bool hasPhases_, hasReleases_;
  std::optional<PingPongTiles> tiles_;
  std::optional<FillCount> tile_; ///< the fills of one tile
  Value isSecondTeam_;
};

} // namespace

bool LoopState::belongsTo(scf::ForOp loop) const {
  BlockArgument any = fullParity ? fullParity : offsets.front().second.front();
  return any.getOwner() == loop.getBody();
}

bool PipelineStates::followsFrom(int64_t stride, int64_t carried) const {
  return stride == carried ||
         (stride % carried == 0 && (derivesFromBarriers_ || carried > gpu::kBarrierBytes));
}

// A carried offset takes a register for the whole loop, a multiple of another one instruction.
SmallVector<int64_t> PipelineStates::carriedOf(ArrayRef<int64_t> strides) const {
  SmallVector<int64_t> sorted(strides), carried;
  llvm::sort(sorted);
  for (int64_t stride : sorted)
    if (llvm::none_of(carried, [&](int64_t less) { return followsFrom(stride, less); }))
      carried.push_back(stride);
  return carried;
}

scf::ForOp PipelineStates::carryThrough(scf::ForOp loop, NamedFills fills,
                                        ArrayRef<int64_t> strides, bool hasPhases,
                                        std::optional<int64_t> releaseLag) {
  LoopState state;
  state.fills = fills;
  state.releaseLag = releaseLag.value_or(0);
  IRRewriter rewriter(loop.getContext());
  rewriter.setInsertionPoint(loop);
  RingStrides ring{stages_, {}};
  if (stages_ > 1) // with one stage all offsets are 0
    ring.bytes = carriedOf(strides);
  LoopCarrier carrier(rewriter, loop, ring, state, hasPhases, releaseLag.has_value());
  SmallVector<Value> initial = carrier.initial(rewriter);
  auto next = [&](OpBuilder &b, Location, ArrayRef<BlockArgument> variables) {
    return carrier.next(b, variables);
  };
  auto carrying = cast<scf::ForOp>(*loop.replaceWithAdditionalYields(
      rewriter, initial, /*replaceInitOperandUsesInLoop=*/false, next));
  loops_.push_back(std::move(state));
  return carrying;
}

Value PipelineStates::offset(OpBuilder &b, scf::ForOp loop, std::optional<int64_t> lead, Value fill,
                             int64_t stride) const {
  Location loc = fill.getLoc();
  if (stages_ == 1)
    return constant(b, loc, 0);
  if (const LoopState *state = lead ? stateOf(loop) : nullptr)
    for (auto &[carried, offsets] : state->offsets)
      for (auto [i, known] : llvm::enumerate(offsets))
        if (followsFrom(stride, carried) &&
            stageOf(state->fills.newest - static_cast<int64_t>(i)) == stageOf(*lead))
          return b.createOrFold<arith::MulIOp>(loc, known, constant(b, loc, stride / carried));
  Value stage = b.createOrFold<arith::RemUIOp>(loc, fill, constant(b, loc, stages_));
  return b.createOrFold<arith::MulIOp>(loc, stage, constant(b, loc, stride));
}

Value PipelineStates::fullParity(OpBuilder &b, scf::ForOp loop, std::optional<int64_t> lead,
                                 Value fill) const {
  if (const LoopState *state = stateOf(loop); state && lead == state->fills.newest)
    return state->fullParity;
  Location loc = fill.getLoc();
  Value phase = b.createOrFold<arith::DivUIOp>(loc, fill, constant(b, loc, stages_));
  return b.createOrFold<arith::AndIOp>(loc, phase, constant(b, loc, 1));
}

Value PipelineStates::emptyParity(OpBuilder &b, scf::ForOp loop, std::optional<int64_t> lead,
                                  Value fill) const {
  const LoopState *state = stateOf(loop);
  if (state && state->emptyParity && lead == state->fills.oldest + stages_)
    return state->emptyParity;
  Location loc = fill.getLoc();
  if (state)
    fill = b.createOrFold<arith::AddIOp>(loc, fill, constant(b, loc, state->releaseLag));
  return b.createOrFold<arith::XOrIOp>(loc, fullParity(b, loop, std::nullopt, fill),
                                       constant(b, loc, 1));
}

bool PipelineStates::carriesThrough(scf::ForOp loop) const { return stateOf(loop) != nullptr; }

const LoopState *PipelineStates::stateOf(scf::ForOp loop) const {
  const auto *found =
      llvm::find_if(loops_, [&](const LoopState &state) { return loop && state.belongsTo(loop); });
  return found == loops_.end() ? nullptr : found;
}

} // namespace tile::passes
