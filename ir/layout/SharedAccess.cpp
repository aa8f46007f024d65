// Vectors, addresses and ldmatrix matches, from the columns of shared-after-register maps.
#include "ir/layout/SharedAccess.h"

#include <algorithm>
#include <bit>

namespace tile::layout {

namespace {

/// The composed map in one XOR-linear word: digit coordinates above, linear offset below.
class Composition {
public:
  Composition(const Layout &regs, const SharedLayout &shared) : regs_(regs), shared_(shared) {
    int shift = kDigitShift;
    for (size_t d = 0; d < shared.shape().size(); ++d) {
      digitShift_.push_back(shift);
      shift += std::bit_width(static_cast<uint64_t>(shared.shape()[d] >> shared.panelBits()[d]));
    }
    fitsWord = shift <= 64 && shared.linear().columns().size() < kDigitShift;
  }

  /// Offset word of a coordinate.
  [[nodiscard]] uint64_t word(const Coords &coords) const {
    auto result = static_cast<uint64_t>(shared_.offsetParts(coords).toggle);
    for (size_t d = 0; d < coords.size(); ++d)
      result |= static_cast<uint64_t>(coords[d] >> shared_.panelBits()[d]) << digitShift_[d];
    return result;
  }
  [[nodiscard]] std::vector<uint64_t> columns(In in) const {
    std::vector<uint64_t> result;
    for (const Coords &vector : regs_.bases(in))
      result.push_back(word(vector));
    return result;
  }
  /// What the odd digits contribute.
  [[nodiscard]] std::vector<uint64_t> oddWords() const {
    std::vector<uint64_t> result;
    for (int32_t odd = 0; odd < regs_.oddCount(); ++odd)
      result.push_back(word(regs_.oddOffset(odd << regs_.registerBits())));
    return result;
  }
  /// Do all digit strides keep vectors of 2^bits elements aligned?
  [[nodiscard]] bool digitsAligned(int bits) const {
    for (size_t d = 0; d < shared_.shape().size(); ++d)
      if (shared_.shape()[d] > int64_t(1) << shared_.panelBits()[d] &&
          shared_.digitStrides()[d] % (int64_t(1) << bits) != 0)
        return false;
    return true;
  }

  bool fitsWord = true;

private:
  static constexpr int kDigitShift = 40;
  const Layout &regs_;
  const SharedLayout &shared_;
  std::vector<int> digitShift_;
};

} // namespace

static bool lowBitsZero(const std::vector<uint64_t> &words, int bits) {
  uint64_t mask = (uint64_t(1) << bits) - 1;
  return std::none_of(words.begin(), words.end(), [&](uint64_t word) { return word & mask; });
}

/// Register bits that walk through a vector of 2^bits elements: entry i moves by 2^i elements.
/// Shorter if the registers, or other threads in between, do not allow the full width.
static std::vector<uint64_t> vectorSteps(const Layout &regs, const SharedLayout &shared,
                                         int maxBits) {
  Composition composition(regs, shared);
  std::vector<uint64_t> steps;
  if (!composition.fitsWord)
    return steps;
  Subspace registers(composition.columns(In::Register));
  while (static_cast<int>(steps.size()) < maxBits) {
    std::optional<uint64_t> step = registers.solve(uint64_t(1) << steps.size());
    if (!step)
      break;
    steps.push_back(*step);
  }
  auto aligned = [&](int bits) {
    return composition.digitsAligned(bits) && lowBitsZero(composition.columns(In::Lane), bits) &&
           lowBitsZero(composition.columns(In::Warp), bits) &&
           lowBitsZero(composition.columns(In::Block), bits) &&
           lowBitsZero(composition.oddWords(), bits);
  };
  while (!aligned(static_cast<int>(steps.size())))
    steps.pop_back();
  return steps;
}

static int vectorBits(int elementBytes, int maxVectorBytes) {
  int elements = std::max(1, std::min(maxVectorBytes, kMaxVectorBytes) / elementBytes);
  return std::bit_width(static_cast<unsigned>(elements)) - 1;
}

/// The vector that contains `reg`, in address order.
static VectorGroup groupAround(const Layout &regs, const SharedLayout &shared,
                               const LinearMap &step, int32_t reg) {
  uint64_t lowBits = (uint64_t(1) << step.numInputs()) - 1;
  auto place = static_cast<uint64_t>(shared.offsetParts(regs.apply(reg)).toggle) & lowBits;
  uint64_t leader = static_cast<uint64_t>(reg) ^ step.apply(place);
  VectorGroup group;
  for (uint64_t i = 0; i <= lowBits; ++i)
    group.push_back(static_cast<int32_t>(leader ^ step.apply(i)));
  return group;
}

std::vector<VectorGroup> vectorGroups(const Layout &regs, const SharedLayout &shared,
                                      int elementBytes, int maxVectorBytes) {
  LinearMap step(vectorSteps(regs, shared, vectorBits(elementBytes, maxVectorBytes)));
  std::vector<VectorGroup> groups;
  std::vector<bool> grouped(static_cast<size_t>(regs.numRegisters()), false);
  for (int32_t reg = 0; reg < regs.numRegisters(); ++reg) {
    if (grouped[static_cast<size_t>(reg)])
      continue;
    groups.push_back(groupAround(regs, shared, step, reg));
    for (int32_t member : groups.back())
      grouped[static_cast<size_t>(member)] = true;
  }
  return groups;
}

VectorGroup vectorGroupOf(const Layout &regs, const SharedLayout &shared, int elementBytes,
                          int32_t reg, int maxVectorBytes) {
  LinearMap step(vectorSteps(regs, shared, vectorBits(elementBytes, maxVectorBytes)));
  return groupAround(regs, shared, step, reg);
}

static SharedAddress::Term termOf(const SharedLayout &shared, const Coords &coords) {
  SharedLayout::Parts parts = shared.offsetParts(coords);
  return {parts.toggle, parts.addend};
}

/// Digits add, coordinates XOR: the two agree as long as no two input bits set the same digit bit.
static bool digitsAreDisjoint(const Layout &regs, const SharedLayout &shared) {
  for (size_t d = 0; d < shared.shape().size(); ++d) {
    int panel = shared.panelBits()[d];
    int32_t seen = 0;
    for (const Coords &vector : regs.bases(In::Register))
      seen |= vector[d] >> panel;
    for (In in : {In::Lane, In::Warp}) {
      for (const Coords &vector : regs.bases(in)) {
        if (seen & vector[d] >> panel)
          return false;
        seen |= vector[d] >> panel;
      }
    }
  }
  return true;
}

std::optional<SharedAddress> sharedAddress(const Layout &regs, const SharedLayout &shared) {
  if (regs.rank() != shared.rank() || !digitsAreDisjoint(regs, shared))
    return std::nullopt;
  SharedAddress result;
  for (int32_t reg = 0; reg < regs.numRegisters(); ++reg)
    result.registers.push_back(termOf(shared, regs.apply(reg)));
  for (const Coords &vector : regs.bases(In::Lane))
    result.lanes.push_back(termOf(shared, vector));
  for (const Coords &vector : regs.bases(In::Warp))
    result.warps.push_back(termOf(shared, vector));
  return result;
}

int64_t SharedAddress::threadToggleBits() const {
  int64_t bits = 0;
  for (const Term &term : lanes)
    bits |= term.toggle;
  for (const Term &term : warps)
    bits |= term.toggle;
  return bits;
}

/// Accumulates the terms of the set bits.
static void accumulate(const std::vector<SharedAddress::Term> &terms, int32_t value,
                       SharedAddress::Term &sum) {
  for (size_t bit = 0; bit < terms.size(); ++bit) {
    if (value >> bit & 1) {
      sum.toggle ^= terms[bit].toggle;
      sum.addend += terms[bit].addend;
    }
  }
}

int64_t SharedAddress::offset(int32_t reg, int32_t lane, int32_t warp) const {
  Term sum = registers[static_cast<size_t>(reg)];
  accumulate(lanes, lane, sum);
  accumulate(warps, warp, sum);
  return sum.toggle + sum.addend;
}

static int64_t xorOfSetBits(const std::vector<int64_t> &contributions, int32_t value) {
  int64_t result = 0;
  for (size_t bit = 0; bit < contributions.size(); ++bit)
    if (value >> bit & 1)
      result ^= contributions[bit];
  return result;
}

int64_t ThreadAddend::of(int32_t lane, int32_t warp) const {
  return factor * (xorOfSetBits(lanes, lane) ^ xorOfSetBits(warps, warp));
}

namespace {

/// Puts addends together in parts whose contributions share no bit.
class AddendParts {
public:
  AddendParts(size_t lanes, size_t warps, bool byFactor)
      : lanes_(lanes), warps_(warps), byFactor_(byFactor) {}

  void add(int64_t addend, std::vector<int64_t> ThreadAddend::*column, size_t bit) {
    if (addend == 0)
      return;
    int64_t factor = byFactor_ ? addend / (addend & -addend) : 1;
    size_t part = partFor(factor, addend / factor);
    used_[part] |= addend / factor;
    (parts[part].*column)[bit] = addend / factor;
  }

  std::vector<ThreadAddend> parts;

private:
  size_t partFor(int64_t factor, int64_t contribution) {
    for (size_t i = 0; i < parts.size(); ++i)
      if (parts[i].factor == factor && !(used_[i] & contribution))
        return i;
    parts.push_back({factor, std::vector<int64_t>(lanes_), std::vector<int64_t>(warps_)});
    used_.push_back(0);
    return parts.size() - 1;
  }

  size_t lanes_, warps_;
  bool byFactor_; ///< divide each addend by its odd factor
  std::vector<int64_t> used_;
};

} // namespace

static std::vector<ThreadAddend> addendParts(const std::vector<SharedAddress::Term> &lanes,
                                             const std::vector<SharedAddress::Term> &warps,
                                             bool byFactor) {
  AddendParts result(lanes.size(), warps.size(), byFactor);
  for (size_t bit = 0; bit < lanes.size(); ++bit)
    result.add(lanes[bit].addend, &ThreadAddend::lanes, bit);
  for (size_t bit = 0; bit < warps.size(); ++bit)
    result.add(warps[bit].addend, &ThreadAddend::warps, bit);
  return std::move(result.parts);
}

std::vector<ThreadAddend> threadAddends(const std::vector<SharedAddress::Term> &lanes,
                                        const std::vector<SharedAddress::Term> &warps) {
  std::vector<ThreadAddend> asTheyAre = addendParts(lanes, warps, /*byFactor=*/false);
  return asTheyAre.size() <= 1 ? asTheyAre : addendParts(lanes, warps, /*byFactor=*/true);
}

RegisterPart registerPart(const SharedAddress::Term &term, int64_t threadToggleBits) {
  return {term.toggle & threadToggleBits, (term.toggle & ~threadToggleBits) + term.addend};
}

int64_t MatrixAccess::rowOffset(size_t instruction, int32_t lane, int32_t warp) const {
  SharedAddress::Term sum = instructions[instruction].term;
  accumulate(rows, lane, sum);
  accumulate(warps, warp, sum);
  return sum.toggle + sum.addend;
}

namespace {

/// One of the two ways in which ldmatrix hands out a matrix: which input bits walk along the 16
/// bytes of a row, and which select the row (3 bits).
struct MatrixForm {
  bool transposed;
  std::vector<uint64_t> along;
  std::vector<uint64_t> rows;
};

} // namespace

/// Removes the listed registers and lanes from what must stay clear of the 16 bytes of a row.
static bool matchesForm(const MatrixForm &form, const std::vector<uint64_t> &others) {
  for (size_t i = 0; i < form.along.size(); ++i)
    if (form.along[i] != uint64_t(1) << i)
      return false;
  auto bits = static_cast<int>(form.along.size());
  return lowBitsZero(form.rows, bits) && lowBitsZero(others, bits);
}

/// The forms that exist for the element size, given the composed columns of registers and lanes.
static std::vector<MatrixForm> matrixForms(const std::vector<uint64_t> &registers,
                                           const std::vector<uint64_t> &lanes, int packedBits) {
  std::vector<uint64_t> packed(registers.begin(), registers.begin() + packedBits);
  std::vector<uint64_t> low(lanes.begin(), lanes.begin() + 2);
  std::vector<uint64_t> high(lanes.begin() + 2, lanes.end());
  MatrixForm plain{false, packed, high};
  plain.along.insert(plain.along.end(), low.begin(), low.end());
  std::vector<MatrixForm> forms{plain};
  if (packedBits == 1) {
    MatrixForm transposed{true, high, packed};
    transposed.rows.insert(transposed.rows.end(), low.begin(), low.end());
    forms.push_back(transposed);
  }
  return forms;
}

namespace {

/// Chooses which bits of the register number select the matrices of one instruction. The registers
/// that an mma takes together must come from one: four of operand A, two of operand B.
class MatrixBits {
public:
  MatrixBits(const Layout &regs, const SharedAddress &address,
             const std::vector<SharedAddress::Term> &rows, int first)
      : address_(address), first_(first), end_(regs.registerBits()),
        isOperandA_(end_ > first_ && continuesRows(regs, first)) {
    for (const std::vector<SharedAddress::Term> &terms : {rows, address.warps})
      for (const SharedAddress::Term &term : terms)
        threadToggles_ |= term.toggle;
  }

  /// Two bits, or as many as there are. Where there is a choice, that which leaves the fewest
  /// addresses that differ in more than a constant.
  [[nodiscard]] std::vector<int> choose() const {
    if (end_ - first_ < 2)
      return end_ > first_ ? std::vector<int>{first_} : std::vector<int>{};
    int best = first_ + 1;
    for (int bit = first_ + 2; bit < end_ && !isOperandA_; ++bit)
      if (addressBits(bit) < addressBits(best))
        best = bit;
    return {first_, best};
  }

private:
  // Operand A has 16 rows, of which lanes hold 8 and the lowest bit of the register number the
  // others.
  static bool continuesRows(const Layout &regs, int bit) {
    const Coords &of = regs.bases(In::Register)[static_cast<size_t>(bit)],
                 &row = regs.bases(In::Lane)[2];
    return std::ranges::equal(of, row, [](int32_t a, int32_t b) { return !a == !b; });
  }

  // Of the bits that are not chosen, how many toggle what threads toggle as well?
  [[nodiscard]] int64_t addressBits(int chosen) const {
    int64_t toggles = threadToggles_ | toggleOf(first_) | toggleOf(chosen), count = 0;
    for (int bit = first_ + 1; bit < end_; ++bit)
      count += bit != chosen && (toggleOf(bit) & toggles);
    return count;
  }
  [[nodiscard]] int64_t toggleOf(int bit) const {
    return address_.registers[size_t(1) << bit].toggle;
  }

  const SharedAddress &address_;
  int first_, end_;
  bool isOperandA_;
  int64_t threadToggles_ = 0;
};

} // namespace

/// Fills in rows, warps and instructions of a form that matched.
static MatrixAccess describeMatrixAccess(const SharedAddress &address, const Layout &regs,
                                         bool transposed, int packedBits) {
  MatrixAccess access;
  access.transposed = transposed;
  access.elementsPerMatrix = 1 << packedBits;
  if (transposed)
    access.rows = {address.registers[1], address.lanes[0], address.lanes[1]};
  else
    access.rows = {address.lanes[2], address.lanes[3], address.lanes[4]};
  std::vector<int> bits = MatrixBits(regs, address, access.rows, packedBits).choose();
  access.matrices = 1 << bits.size();
  access.matrixRegisters = {0};
  for (int bit : bits) {
    access.rows.push_back(address.registers[size_t(1) << bit]);
    for (size_t matrix = 0, count = access.matrixRegisters.size(); matrix < count; ++matrix)
      access.matrixRegisters.push_back(access.matrixRegisters[matrix] + (1 << bit));
  }
  access.rows.resize(kLaneBits, {0, 0});
  access.warps = address.warps;
  int32_t others = access.elementsPerMatrix - 1 + access.matrixRegisters.back();
  for (int32_t reg = 0; reg < regs.numRegisters(); ++reg)
    if (!(reg & others))
      access.instructions.push_back({reg, address.registers[static_cast<size_t>(reg)]});
  return access;
}

std::optional<MatrixAccess> matchMatrixAccess(const Layout &regs, const SharedLayout &shared,
                                              int elementBytes) {
  int packedBits = std::countr_zero(static_cast<unsigned>(kBankBytes / std::max(elementBytes, 1)));
  if (elementBytes > kBankBytes || elementBytes < 1 || regs.rank() != shared.rank() ||
      regs.laneBits() != kLaneBits || regs.registerBits() < packedBits)
    return std::nullopt;
  Composition composition(regs, shared);
  std::optional<SharedAddress> address = sharedAddress(regs, shared);
  if (!address || !composition.fitsWord || !composition.digitsAligned(packedBits + 2))
    return std::nullopt;
  std::vector<uint64_t> registers = composition.columns(In::Register);
  std::vector<uint64_t> others(registers.begin() + packedBits, registers.end());
  for (const std::vector<uint64_t> &words : {composition.columns(In::Warp), composition.oddWords()})
    others.insert(others.end(), words.begin(), words.end());
  for (const MatrixForm &form : matrixForms(registers, composition.columns(In::Lane), packedBits))
    if (matchesForm(form, others))
      return describeMatrixAccess(*address, regs, form.transposed, packedBits);
  return std::nullopt;
}

} // namespace tile::layout
