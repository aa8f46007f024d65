// Planning and simulating conversions. The shuffle planner is the interesting part; its steps are
// explained there.
#include "ir/layout/Conversion.h"

#include <algorithm>
#include <bit>

namespace tile::layout {

// --- Within a thread
// ----------------------------------------------------------------------------------

/// True if every lane and warp of both layouts sees the same part of the tile.
static bool sameThreadParts(const Layout &source, const Layout &target) {
  for (In in : {In::Lane, In::Warp, In::Block}) {
    std::vector<uint64_t> a = source.flatMap(in).columns(), b = target.flatMap(in).columns();
    size_t bits = std::max(a.size(), b.size());
    a.resize(bits, 0);
    b.resize(bits, 0);
    if (a != b)
      return false;
  }
  return true;
}

/// Target with the dimensions dropped to size 1 that have size 1 in `source`; nothing if shapes do
/// not match.
static std::optional<Shape> broadcastShape(const Layout &source, const Layout &target) {
  if (source.rank() != target.rank())
    return std::nullopt;
  for (int d = 0; d < source.rank(); ++d) {
    int64_t from = source.shape()[static_cast<size_t>(d)];
    if (from != 1 && from != target.shape()[static_cast<size_t>(d)])
      return std::nullopt;
  }
  return source.shape();
}

/// Clears the coordinates along which `shape` has size 1.
static Coords clamp(Coords coords, const Shape &shape) {
  for (size_t d = 0; d < coords.size(); ++d)
    if (shape[d] == 1)
      coords[d] = 0;
  return coords;
}

std::optional<std::vector<int32_t>> registerSources(const Layout &source, const Layout &target) {
  std::optional<Shape> shape = broadcastShape(source, target);
  if (!shape)
    return std::nullopt;
  // Only the threads' parts matter for the comparison, so the target's are restated in the source's
  // shape.
  Bases seen;
  for (In in : {In::Lane, In::Warp, In::Block})
    for (const Coords &vector : target.bases(in))
      seen[static_cast<size_t>(in)].push_back(clamp(vector, *shape));
  std::optional<Layout> threads = Layout::create(*shape, std::move(seen));
  if (!threads || !sameThreadParts(source, *threads))
    return std::nullopt;
  std::vector<int32_t> result;
  for (int32_t reg = 0; reg < target.numRegisters(); ++reg) {
    std::optional<int32_t> from = source.registerAt(clamp(target.apply(reg), *shape));
    if (!from)
      return std::nullopt;
    result.push_back(*from);
  }
  return result;
}

// --- Within a warp
// ------------------------------------------------------------------------------------

namespace {

/// Plans shuffles. Element of (register r, thread x) of the target: T r + X x. Lane l of the source
/// has it in register s if S s + L l + W w = T r + X x. Write l = lane(x) + m: the unknowns (s, m)
/// solve
///   S s + L m = T r + (X + L + W) x,
/// linear in r and x, registers preferred over moving lanes. Let move(x), pick(x) be the solution's
/// lane and register for r = 0, and moveR(r), pickR(r) those for x = 0. In round R lane x obtains
/// register r = R + g(x):
///   reads lane     F(x) = lane(x) + move(x) + moveR(g(x))     (+ moveR(R))
///   wants register P(x) = pick(x) + pickR(g(x))               (+ pickR(R))
/// A lane publishes one register a round, so lanes that read the same lane must want the same
/// register: P has to vanish on the kernel of F (within a warp). Kernel vectors that break this are
/// repaired by leading them to a lane nobody reads yet: one that holds a copy of the element, or
/// one that holds another target register (this chooses g on them). Then P = H . F for a linear H,
/// the publish map.
class ShufflePlanner {
public:
  ShufflePlanner(const Layout &source, const Layout &target) : source_(source), target_(target) {}

  std::optional<ShufflePlan> plan();

private:
  [[nodiscard]] bool solveAll();
  [[nodiscard]] bool repair();
  [[nodiscard]] bool repairBit(int bit, Subspace &read);
  [[nodiscard]] std::optional<ShufflePlan> emit() const;

  [[nodiscard]] static uint64_t laneOf(uint64_t packed, int regBits) { return packed >> regBits; }
  [[nodiscard]] uint64_t registerOf(uint64_t packed) const {
    return packed & ((uint64_t(1) << source_.registerBits()) - 1);
  }

  const Layout &source_, &target_;
  int threadBits_ = 0;
  // Solutions, register bits low and lane bits above: per target register bit and per thread bit.
  std::vector<uint64_t> perRegister_, perThread_;
  std::vector<uint64_t> store_;  // g, per thread bit, as target registers
  std::vector<uint64_t> copies_; // moves that end at the same element
};

} // namespace

static std::vector<uint64_t> padded(std::vector<uint64_t> columns, size_t size) {
  columns.resize(std::max(columns.size(), size), 0);
  return columns;
}

bool ShufflePlanner::solveAll() {
  std::vector<uint64_t> lanes = padded(source_.flatMap(In::Lane).columns(), kLaneBits);
  std::vector<uint64_t> targetLanes = padded(target_.flatMap(In::Lane).columns(), kLaneBits);
  auto warpBits = static_cast<size_t>(std::max(source_.warpBits(), target_.warpBits()));
  std::vector<uint64_t> warps = padded(source_.flatMap(In::Warp).columns(), warpBits);
  std::vector<uint64_t> targetWarps = padded(target_.flatMap(In::Warp).columns(), warpBits);
  threadBits_ = kLaneBits + static_cast<int>(warpBits);

  std::vector<uint64_t> unknowns = source_.flatMap(In::Register).columns();
  unknowns.insert(unknowns.end(), lanes.begin(), lanes.end());
  Subspace span(unknowns);
  copies_ = LinearMap(unknowns).kernel();
  LinearMap registers = target_.flatMap(In::Register);
  for (uint64_t column : registers.columns()) {
    std::optional<uint64_t> solution = span.solve(column);
    if (!solution)
      return false;
    perRegister_.push_back(*solution);
  }
  for (int bit = 0; bit < threadBits_; ++bit) {
    auto i = static_cast<size_t>(bit);
    bool isLane = bit < kLaneBits;
    uint64_t difference =
        isLane ? lanes[i] ^ targetLanes[i] : warps[i - kLaneBits] ^ targetWarps[i - kLaneBits];
    std::optional<uint64_t> solution = span.solve(difference);
    if (!solution)
      return false;
    uint64_t ownLane = isLane ? uint64_t(1) << (source_.registerBits() + bit) : 0;
    perThread_.push_back(*solution ^ ownLane);
  }
  return true;
}

bool ShufflePlanner::repair() {
  store_.assign(static_cast<size_t>(threadBits_), 0);
  int regBits = source_.registerBits();
  // Each lane kernel vector has one bit that is set in no other (the bit that was dependent), so
  // changing g on that bit repairs this vector alone.
  Subspace read;
  std::vector<int> broken; // the bits to change
  for (int bit = 0; bit < kLaneBits; ++bit) {
    uint64_t image = laneOf(perThread_[static_cast<size_t>(bit)], regBits);
    std::optional<uint64_t> combination = read.solve(image);
    if (!combination) {
      read.insert(image, uint64_t(1) << bit);
      continue;
    }
    uint64_t vector = *combination ^ uint64_t(1) << bit;
    if (registerOf(LinearMap(perThread_).apply(vector)) != 0)
      broken.push_back(bit);
  }
  return std::all_of(broken.begin(), broken.end(), [&](int bit) { return repairBit(bit, read); });
}

bool ShufflePlanner::repairBit(int bit, Subspace &read) {
  auto leadsToUnreadLane = [&](uint64_t move) {
    return read.insert(laneOf(move, source_.registerBits()));
  };
  auto i = static_cast<size_t>(bit);
  for (uint64_t move : copies_) {
    if (!leadsToUnreadLane(move))
      continue;
    perThread_[i] ^= move;
    return true;
  }
  for (size_t reg = 0; reg < perRegister_.size(); ++reg) {
    if (!leadsToUnreadLane(perRegister_[reg]))
      continue;
    store_[i] = uint64_t(1) << reg;
    perThread_[i] ^= perRegister_[reg];
    return true;
  }
  return false;
}

std::optional<ShufflePlan> ShufflePlanner::emit() const {
  int regBits = source_.registerBits();
  ShufflePlan plan;
  // Publish map H on lanes from H F = P; on warps it takes what the warp bits themselves want
  // beyond that.
  Subspace reads;
  for (size_t bit = 0; bit < kLaneBits; ++bit)
    reads.insert(laneOf(perThread_[bit], regBits), registerOf(perThread_[bit]));
  std::vector<uint64_t> publish;
  for (int bit = 0; bit < kLaneBits; ++bit) {
    std::optional<uint64_t> wanted = reads.solve(uint64_t(1) << bit);
    // Lanes outside the image of F serve nobody at round offset 0; extending H by zero keeps it
    // linear.
    if (!wanted)
      reads.insert(uint64_t(1) << bit, 0);
    publish.push_back(reads.solve(uint64_t(1) << bit).value_or(0));
  }
  LinearMap laneMap(publish);
  for (size_t bit = kLaneBits; bit < static_cast<size_t>(threadBits_); ++bit)
    publish.push_back(registerOf(perThread_[bit]) ^
                      laneMap.apply(laneOf(perThread_[bit], regBits)));
  for (size_t bit = 0; bit < static_cast<size_t>(threadBits_); ++bit) {
    plan.publishByThread.push_back(static_cast<int32_t>(publish[bit]));
    plan.sourceByThread.push_back(static_cast<int32_t>(laneOf(perThread_[bit], regBits)));
    plan.storeByThread.push_back(static_cast<int32_t>(store_[bit]));
  }
  LinearMap registers(perRegister_);
  for (int32_t reg = 0; reg < target_.numRegisters(); ++reg) {
    int32_t odd = reg >> target_.registerBits();
    auto linear = static_cast<uint64_t>(reg & ((1 << target_.registerBits()) - 1));
    uint64_t packed = registers.apply(linear);
    uint64_t lane = laneOf(packed, regBits);
    auto first = static_cast<int32_t>(registerOf(packed) ^ laneMap.apply(lane));
    plan.rounds.push_back({first | odd << regBits, static_cast<int32_t>(lane), reg});
  }
  return plan;
}

std::optional<ShufflePlan> ShufflePlanner::plan() {
  if (source_.laneBits() > kLaneBits || target_.laneBits() > kLaneBits || !solveAll() || !repair())
    return std::nullopt;
  return emit();
}

bool ShufflePlan::staysInLane(const ShuffleRound &round) const {
  if (round.source != 0)
    return false;
  for (size_t bit = 0; bit < sourceByThread.size(); ++bit) {
    int32_t own = bit < kLaneBits ? int32_t(1) << bit : 0;
    if (sourceByThread[bit] != own)
      return false;
  }
  return true;
}

std::optional<ShufflePlan> planOfPairs(const ShufflePlan &plan) {
  ShufflePlan pairs{{}, plan.publishByThread, plan.sourceByThread, plan.storeByThread};
  for (std::vector<int32_t> *columns : {&pairs.publishByThread, &pairs.storeByThread})
    for (int32_t &column : *columns) {
      if (column & 1)
        return std::nullopt;
      column /= 2;
    }
  std::vector<const ShuffleRound *> byStore(plan.rounds.size());
  for (const ShuffleRound &round : plan.rounds) {
    if (round.store < 0 || static_cast<size_t>(round.store) >= byStore.size())
      return std::nullopt;
    byStore[static_cast<size_t>(round.store)] = &round;
  }
  for (size_t store = 0; store + 1 < byStore.size(); store += 2) {
    const ShuffleRound *low = byStore[store], *high = byStore[store + 1];
    if (!low || !high || low->publish % 2 != 0 || high->publish != low->publish + 1 ||
        high->source != low->source)
      return std::nullopt;
    pairs.rounds.push_back({low->publish / 2, low->source, low->store / 2});
  }
  return plan.rounds.size() % 2 == 0 ? std::optional(std::move(pairs)) : std::nullopt;
}

// --- The choice
// ---------------------------------------------------------------------------------------

static bool isIdentity(const std::vector<int32_t> &registers, const Layout &source) {
  for (size_t reg = 0; reg < registers.size(); ++reg)
    if (registers[reg] != static_cast<int32_t>(reg))
      return false;
  return static_cast<int32_t>(registers.size()) == source.numRegisters();
}

Conversion planConversion(const Layout &source, const Layout &target, int maxShuffles) {
  Conversion plan;
  if (source.shape() != target.shape())
    return plan;
  if (std::optional<std::vector<int32_t>> registers = registerSources(source, target)) {
    plan.kind = isIdentity(*registers, source) ? ConversionKind::Identity
                                               : ConversionKind::RegisterPermutation;
    plan.registers = *std::move(registers);
    return plan;
  }
  bool sameBlocks = source.flatMap(In::Block) == target.flatMap(In::Block);
  if (!sameBlocks || target.numRegisters() > maxShuffles)
    return plan;
  if (std::optional<ShufflePlan> shuffle = ShufflePlanner(source, target).plan()) {
    plan.kind = ConversionKind::WarpShuffle;
    plan.shuffle = *std::move(shuffle);
  }
  return plan;
}

// --- Simulation
// ---------------------------------------------------------------------------------------

static int32_t applyColumns(const std::vector<int32_t> &columns, uint32_t thread) {
  int32_t result = 0;
  for (size_t bit = 0; bit < columns.size(); ++bit)
    if (thread >> bit & 1)
      result ^= columns[bit];
  return result;
}

using ThreadValues = std::vector<std::vector<int64_t>>;

static ThreadValues simulateShuffle(const ShufflePlan &plan, const Layout &target,
                                    const ThreadValues &values) {
  ThreadValues result(values.size(),
                      std::vector<int64_t>(static_cast<size_t>(target.numRegisters())));
  for (const ShuffleRound &round : plan.rounds) {
    for (uint32_t thread = 0; thread < values.size(); ++thread) {
      uint32_t warp = thread / kLanesPerWarp;
      auto lane = static_cast<uint32_t>(round.source ^ applyColumns(plan.sourceByThread, thread));
      uint32_t from = warp * kLanesPerWarp + lane;
      int32_t published = round.publish ^ applyColumns(plan.publishByThread, from);
      int32_t stored = round.store ^ applyColumns(plan.storeByThread, thread);
      result[thread][static_cast<size_t>(stored)] = values[from][static_cast<size_t>(published)];
    }
  }
  return result;
}

ThreadValues simulate(const Conversion &plan, const Layout &target, const ThreadValues &values) {
  if (plan.kind == ConversionKind::WarpShuffle)
    return simulateShuffle(plan.shuffle, target, values);
  ThreadValues result;
  if (plan.kind == ConversionKind::SharedMemory)
    return result;
  for (const std::vector<int64_t> &thread : values) {
    std::vector<int64_t> moved;
    for (int32_t reg : plan.registers)
      moved.push_back(thread[static_cast<size_t>(reg)]);
    result.push_back(std::move(moved));
  }
  return result;
}

} // namespace tile::layout
