// Exchange among the lanes of a warp: shfl, vote, match, redux, activemask, elect.
#include "runtime/vgpu/decode/OpcodeTable.h"
#include "runtime/vgpu/decode/Select.h"
#include "runtime/vgpu/machine/Launch.h"

#include <algorithm>

namespace tile::vgpu {
namespace {

// The member mask is an operand; lanes of one split may name different masks, each group acts on its own. Calls
// `act(members)` once for each distinct mask among the active lanes, after all its lanes have come.
template <class Act> void forGroups(Warp &warp, const Op &op, uint32_t maskRow, Act act) {
  const uint32_t *members = warp.row<uint32_t>(maskRow);
  uint32_t together = 0, inAll = ~0u;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    uint32_t active = 0u - (warp.mask >> lane & 1);
    together |= members[lane] & active;
    inAll &= members[lane] | ~active;
  }
  if (!warp.converged(op, together & warp.present))
    return;
  // As is usual: all lanes name the same mask, and are in it.
  if (together == inAll && (together & warp.mask) == warp.mask)
    return act(warp.mask);
  if (warp.cta->launch->checks().sync)
    forLanes(warp.mask, [&](unsigned lane) {
      if (!(members[lane] >> lane & 1))
        warp.report(op, FindingKind::Divergence, lane,
                    "the lane executes " +
                        std::string(warp.cta->launch->program().lines[op.instruction].spelling) +
                        " but is not in its member mask");
    });
  for (uint32_t left = warp.mask; left;) {
    uint32_t mask = members[std::countr_zero(left)], group = 0;
    forLanes(left, [&](unsigned lane) { group |= uint32_t{members[lane] == mask} << lane; });
    left &= ~group;
    act(group);
  }
}

enum class ShuffleMode : uint32_t { Up, Down, Bfly, Idx };

struct ShuffleSource {
  uint32_t lane; // its own if the one it asks for is outside the segment
  bool inside;
};

// The lane to read from, and whether it is within the segment: the rule of the ISA text.
template <ShuffleMode Mode> ShuffleSource shuffleSource(uint32_t lane, uint32_t b, uint32_t c) {
  uint32_t clampTo = c & 31, segment = c >> 8 & 31, offset = b & 31;
  uint32_t most = (lane & segment) | (clampTo & ~segment), least = lane & segment;
  uint32_t source = Mode == ShuffleMode::Up     ? lane - offset
                    : Mode == ShuffleMode::Down ? lane + offset
                    : Mode == ShuffleMode::Bfly ? lane ^ offset
                                                : least | (offset & ~segment);
  bool inside = Mode == ShuffleMode::Up ? static_cast<int32_t>(source) >= static_cast<int32_t>(most)
                                        : source <= most;
  return {inside ? source & 31 : lane, inside};
}

// Rows: value{, predicate}; a, b, c, members.
template <ShuffleMode Mode> void shuffle(Warp &warp, const Op &op) {
  unsigned first = op.targets;
  forGroups(warp, op, op.rows[first + 3], [&](uint32_t group) {
    uint32_t before[kLanes], from[kLanes], isInside[kLanes], undefinedBefore[kLanes];
    std::copy_n(warp.row<uint32_t>(op.rows[first]), kLanes, before);
    const uint32_t *b = warp.row<uint32_t>(op.rows[first + 1]),
                   *c = warp.row<uint32_t>(op.rows[first + 2]);
    TILE_LANE_LOOP
    for (uint32_t lane = 0; lane < kLanes; ++lane) {
      ShuffleSource source = shuffleSource<Mode>(lane, b[lane], c[lane]);
      from[lane] = source.lane;
      isInside[lane] = source.inside;
    }
    for (unsigned lane = 0; warp.shadow && lane < kLanes; ++lane)
      undefinedBefore[lane] = warp.shadow.undefined<uint32_t>(op.rows[first], lane);
    uint32_t *target = warp.row<uint32_t>(op.rows[0]);
    // Reading a lane that takes no part is undefined: no value that could look right.
    constexpr uint32_t kNothing = 0xdeadbeef;
    forLanes(group, [&](unsigned lane) {
      target[lane] = group >> from[lane] & 1 ? before[from[lane]] : kNothing;
    });
    if (warp.shadow)
      forLanes(group, [&](unsigned lane) {
        warp.shadow.setUndefined(op.rows[0], lane,
                                 group >> from[lane] & 1 ? undefinedBefore[from[lane]] : ~0u);
      });
    if (op.targets == 2) {
      uint32_t inRange = 0;
      for (unsigned lane = 0; lane < kLanes; ++lane)
        inRange |= isInside[lane] << lane;
      mergeMask(warp.predicate(op.rows[1]), inRange, group);
      if (warp.shadow)
        warp.shadow.set(op.rows[1], kFullMask, group);
    }
  });
}

void decodeShuffle(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes) {
  std::string_view mode = suffixes.takeOneOf({"up", "down", "bfly", "idx"});
  if (!suffixes.take("sync") || mode.empty() || suffixes.takeType() != ScalarType::B32)
    decoder.unsupported("expected shfl.sync.{up,down,bfly,idx}.b32");
  decoder.wantOperands(instruction, 5);
  const Operand &to = instruction.operands[0];
  bool pair = to.kind == Operand::Kind::Pair;
  std::vector<uint32_t> sources;
  for (size_t i = 1; i < 5; ++i)
    sources.push_back(decoder.source(instruction.operands[i], ScalarType::B32));
  std::vector<uint32_t> targets = {decoder.target(pair ? to.parts[0] : to, ScalarType::B32)};
  if (pair)
    targets.push_back(decoder.target(to.parts[1], ScalarType::Pred));
  Handler handler = mode == "up"     ? shuffle<ShuffleMode::Up>
                    : mode == "down" ? shuffle<ShuffleMode::Down>
                    : mode == "bfly" ? shuffle<ShuffleMode::Bfly>
                                     : shuffle<ShuffleMode::Idx>;
  decoder.emitWide(handler, targets, sources, 0, 0, 0, kOwnValidity);
}

// What all lanes of a group learn together is initialised only if every lane's contribution is.
void groupValidity(Warp &warp, const Op &op, unsigned source, uint32_t group) {
  if (!warp.shadow)
    return;
  bool good = (warp.shadow.whole(op.rows[source]) & group) == group;
  for (unsigned i = 0; i < op.targets; ++i)
    warp.shadow.set(op.rows[i], good ? kFullMask : 0, group);
}

enum class Vote : uint32_t { All, Any, Uni, Ballot };

void vote(Warp &warp, const Op &op) {
  forGroups(warp, op, op.rows[2], [&](uint32_t group) {
    uint32_t votes = warp.predicate(op.rows[1]) & group;
    groupValidity(warp, op, 1, group);
    auto kind = static_cast<Vote>(op.a);
    if (kind == Vote::Ballot) {
      forLanes(group, [&](unsigned lane) { warp.row<uint32_t>(op.rows[0])[lane] = votes; });
      return;
    }
    bool result = kind == Vote::All   ? votes == group
                  : kind == Vote::Any ? votes != 0
                                      : votes == 0 || votes == group;
    mergeMask(warp.predicate(op.rows[0]), result ? kFullMask : 0, group);
  });
}

void decodeVote(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes) {
  std::string_view kind = suffixes.takeOneOf({"all", "any", "uni", "ballot"});
  ScalarType type = suffixes.takeType();
  bool ballot = kind == "ballot";
  if (!suffixes.take("sync") || kind.empty() ||
      type != (ballot ? ScalarType::B32 : ScalarType::Pred))
    decoder.unsupported("expected vote.sync.{all,any,uni}.pred or vote.sync.ballot.b32");
  decoder.wantOperands(instruction, 3);
  uint32_t votes = decoder.predicate(instruction.operands[1]);
  uint32_t members = decoder.source(instruction.operands[2], ScalarType::B32);
  uint32_t which = kind == "all" ? 0 : kind == "any" ? 1 : kind == "uni" ? 2 : 3;
  decoder.emit(vote, {decoder.target(instruction.operands[0], type)}, {votes, members}, 0, which, 0,
               kOwnValidity);
}

template <class T, bool All> void match(Warp &warp, const Op &op) {
  unsigned first = op.targets;
  forGroups(warp, op, op.rows[first + 1], [&](uint32_t group) {
    T value[kLanes];
    std::copy_n(warp.row<T>(op.rows[first]), kLanes, value);
    groupValidity(warp, op, first, group);
    uint32_t *target = warp.row<uint32_t>(op.rows[0]);
    bool allEqual = true;
    forLanes(group, [&](unsigned lane) {
      uint32_t equal = 0;
      forLanes(group,
               [&](unsigned other) { equal |= uint32_t{value[other] == value[lane]} << other; });
      allEqual &= equal == group;
      target[lane] = equal;
    });
    if (!All)
      return;
    forLanes(group, [&](unsigned lane) { target[lane] = allEqual ? group : 0; });
    if (op.targets == 2)
      mergeMask(warp.predicate(op.rows[1]), allEqual ? kFullMask : 0, group);
  });
}

void decodeMatch(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes) {
  std::string_view kind = suffixes.takeOneOf({"any", "all"});
  ScalarType type = suffixes.takeType();
  if (!suffixes.take("sync") || kind.empty() ||
      (type != ScalarType::B32 && type != ScalarType::B64))
    decoder.unsupported("expected match.{any,all}.sync.b32 or .b64");
  decoder.wantOperands(instruction, 3);
  const Operand &to = instruction.operands[0];
  bool pair = to.kind == Operand::Kind::Pair;
  uint32_t value = decoder.source(instruction.operands[1], type);
  uint32_t members = decoder.source(instruction.operands[2], ScalarType::B32);
  std::vector<uint32_t> targets = {decoder.target(pair ? to.parts[0] : to, ScalarType::B32)};
  if (pair)
    targets.push_back(decoder.target(to.parts[1], ScalarType::Pred));
  if (pair && kind == "any")
    decoder.malformed("match.any has no predicate");
  bool all = kind == "all", wide = type == ScalarType::B64;
  Handler handler = all ? (wide ? match<uint64_t, true> : match<uint32_t, true>)
                        : (wide ? match<uint64_t, false> : match<uint32_t, false>);
  decoder.emitWide(handler, targets, std::array{value, members}, 0, 0, 0, kOwnValidity);
}

template <class F, class T> void reduce(Warp &warp, const Op &op) {
  forGroups(warp, op, op.rows[2], [&](uint32_t group) {
    const uint32_t *source = warp.row<uint32_t>(op.rows[1]);
    T result = static_cast<T>(source[std::countr_zero(group)]);
    forLanes(group & (group - 1),
             [&](unsigned lane) { result = F{}(result, static_cast<T>(source[lane])); });
    groupValidity(warp, op, 1, group);
    forLanes(group, [&](unsigned lane) {
      warp.row<uint32_t>(op.rows[0])[lane] = static_cast<uint32_t>(result);
    });
  });
}
struct SumOf {
  uint32_t operator()(uint32_t a, uint32_t b) const { return a + b; }
};
struct AndOf {
  uint32_t operator()(uint32_t a, uint32_t b) const { return a & b; }
};
struct OrOf {
  uint32_t operator()(uint32_t a, uint32_t b) const { return a | b; }
};
struct XorOf {
  uint32_t operator()(uint32_t a, uint32_t b) const { return a ^ b; }
};
struct MinOf {
  template <class T> T operator()(T a, T b) const { return std::min(a, b); }
};
struct MaxOf {
  template <class T> T operator()(T a, T b) const { return std::max(a, b); }
};

void decodeRedux(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes) {
  std::string_view kind = suffixes.takeOneOf({"add", "min", "max", "and", "or", "xor"});
  ScalarType type = suffixes.takeType();
  bool bits = kind == "and" || kind == "or" || kind == "xor";
  bool typeFits =
      bits ? type == ScalarType::B32 : type == ScalarType::U32 || type == ScalarType::S32;
  if (!suffixes.take("sync") || kind.empty() || !typeFits)
    decoder.unsupported(
        "expected redux.sync.{add,min,max}.{u32,s32} or redux.sync.{and,or,xor}.b32");
  bool isSignedType = type == ScalarType::S32;
  Handler handler = kind == "add"   ? reduce<SumOf, uint32_t>
                    : kind == "and" ? reduce<AndOf, uint32_t>
                    : kind == "or"  ? reduce<OrOf, uint32_t>
                    : kind == "xor" ? reduce<XorOf, uint32_t>
                    : kind == "min"
                        ? (isSignedType ? reduce<MinOf, int32_t> : reduce<MinOf, uint32_t>)
                        : (isSignedType ? reduce<MaxOf, int32_t> : reduce<MaxOf, uint32_t>);
  decoder.wantOperands(instruction, 3);
  uint32_t source = decoder.source(instruction.operands[1], type);
  uint32_t members = decoder.source(instruction.operands[2], ScalarType::B32);
  decoder.emit(handler, {decoder.target(instruction.operands[0], type)}, {source, members}, 0, 0, 0,
               kOwnValidity);
}

void activeMask(Warp &warp, const Op &op) {
  forLanes(warp.mask, [&](unsigned lane) { warp.row<uint32_t>(op.rows[0])[lane] = warp.mask; });
}

void decodeActiveMask(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes) {
  if (suffixes.takeType() != ScalarType::B32)
    decoder.unsupported("expected activemask.b32");
  decoder.wantOperands(instruction, 1);
  decoder.emit(activeMask, {decoder.target(instruction.operands[0], ScalarType::B32)}, {});
}

// Picks one member of a mask, the same each time it is asked: the lowest, or under the random schedule one that the seed draws.
unsigned leaderOf(const Warp &warp, uint32_t group) {
  const LaunchSetup &setup = warp.cta->launch->setup();
  if (setup.schedule == Schedule::Random) {
    uint64_t key = (setup.seed * 0x9E3779B97F4A7C15u ^ group) * 0xBF58476D1CE4E5B9u;
    for (auto skip = static_cast<int>((key >> 32) % static_cast<unsigned>(std::popcount(group)));
         skip > 0; --skip)
      group &= group - 1;
  }
  return static_cast<unsigned>(std::countr_zero(group));
}

void elect(Warp &warp, const Op &op) {
  forGroups(warp, op, op.rows[2], [&](uint32_t group) {
    unsigned leader = leaderOf(warp, group);
    forLanes(group, [&](unsigned lane) { warp.row<uint32_t>(op.rows[0])[lane] = leader; });
    mergeMask(warp.predicate(op.rows[1]), 1u << leader, group);
  });
}

void decodeElect(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes) {
  if (!suffixes.take("sync"))
    decoder.unsupported("expected elect.sync");
  decoder.wantOperands(instruction, 2);
  const Operand &to = instruction.operands[0];
  if (to.kind != Operand::Kind::Pair)
    decoder.malformed("expected d|p");
  uint32_t members = decoder.source(instruction.operands[1], ScalarType::B32);
  decoder.emit(
      elect,
      {decoder.target(to.parts[0], ScalarType::B32), decoder.target(to.parts[1], ScalarType::Pred)},
      {members});
}

const OpcodeInfo kOpcodes[] = {
    {.name = "shfl",
     .decode = decodeShuffle,
     .time = alwaysTakes<TimeKind::Shuffle, Cost::Shuffle>,
     .kind = always<InstructionClass::Exchange>,
     .requirements = {{"sync", 30, 60}}},
    {.name = "vote",
     .decode = decodeVote,
     .time = alwaysTakes<TimeKind::Vote, Cost::Vote>,
     .kind = always<InstructionClass::Exchange>,
     .requirements = {{"sync", 30, 60}}},
    {.name = "match",
     .decode = decodeMatch,
     .time = alwaysTakes<TimeKind::Vote, Cost::Vote>,
     .kind = always<InstructionClass::Exchange>,
     .requirements = {{"", 70, 60}}},
    {.name = "redux",
     .decode = decodeRedux,
     .time = alwaysTakes<TimeKind::Shuffle, Cost::Shuffle>,
     .kind = always<InstructionClass::Exchange>,
     .requirements = {{"", 80, 70}}},
    {.name = "activemask",
     .decode = decodeActiveMask,
     .time = alwaysCosts<Cost::Vote>,
     .kind = always<InstructionClass::Exchange>,
     .requirements = {{"", 0, 62}}},
    {.name = "elect",
     .decode = decodeElect,
     .time = alwaysTakes<TimeKind::Elect, Cost::Elect>,
     .kind = always<InstructionClass::Exchange>,
     .requirements = {{"", 90, 80}}},
};

} // namespace

OpcodeRows shuffleOpcodes() { return kOpcodes; }

} // namespace tile::vgpu
