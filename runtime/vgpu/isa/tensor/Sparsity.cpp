// Reading metadata, and products of what they keep.
#include "runtime/vgpu/isa/tensor/Sparsity.h"

namespace tile::vgpu {
namespace {

constexpr unsigned kBitsOfCode = 4, kCodesOfRegister = 8, kLanesOfGroup = 4, kHalfRows = 8;

template <Element E> float valueAs(uint32_t word, unsigned j) {
  return static_cast<float>(ElementTraits<E>::get(word, j));
}

// Two indices of 2 bits.
unsigned indexAt(unsigned code, unsigned which) { return code >> (2 * which) & 3; }

// The sum of hardware at one place of D.
uint32_t ruledSum(const Sparsity &sparsity, const KeptProduct &product, const float *a,
                  const float *b, float start) {
  std::span<const float> rowA(a, sparsity.kept()), columnB(b, sparsity.kept());
  // Rules are for floats, which have the same numbers in both enumerations.
  return tensorSum(*product.rule, static_cast<TensorElement>(sparsity.element),
                   static_cast<TensorElement>(product.b), rowA, columnB, start,
                   product.sum == SumType::F16 ? SumResult::F16 : SumResult::F32);
}

template <Accumulator A>
void multiplyInto(const Sparsity &sparsity, const KeptRows &a, const float *b,
                  const KeptProduct &product, ConstRegisters c, Registers d) {
  using Traits = AccumulatorTraits<A>;
  constexpr unsigned kPerRegister = Traits::perRegister, kBits = 32 / kPerRegister;
  unsigned columns = product.blocks * kBlockColumns;
  auto sumBits = [&](unsigned row, unsigned column, typename Traits::Sum sum) {
    auto factorB = [&](unsigned i) { return b[a.positions[row][i] * columns + column]; };
    if (product.rule) {
      float columnB[kMaxKept];
      for (unsigned i = 0; i < sparsity.kept(); ++i)
        columnB[i] = factorB(i);
      return ruledSum(sparsity, product, a.values[row], columnB, static_cast<float>(sum));
    }
    for (unsigned i = 0; i < sparsity.kept(); ++i)
      if constexpr (std::is_same_v<typename Traits::Sum, float>)
        sum = std::fma(a.values[row][i], factorB(i), sum);
      else
        sum += static_cast<int64_t>(a.values[row][i] * factorB(i));
    return static_cast<uint32_t>(Traits::put(sum));
  };
  for (unsigned v = 0; v < 4 * product.blocks; ++v)
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      unsigned row = lane / 4 + kHalfRows * (v / 2 % 2),
               column = v / 4 * kBlockColumns + lane % 4 * 2 + v % 2, r = v / kPerRegister,
               shift = kBits * (v % kPerRegister);
      uint32_t bits = sumBits(row, column, c ? Traits::get(c[r][lane], v % kPerRegister) : 0),
               mask = kPerRegister == 1 ? ~0u : 0xffffu << shift;
      d[r][lane] = (d[r][lane] & ~mask) | (bits << shift & mask);
    }
}

} // namespace

Sparsity::Place Sparsity::place(unsigned row, unsigned chunk) const {
  unsigned first = selector * (kLanesOfGroup / selectors()), group = row % kHalfRows * 4,
           half = row / kHalfRows;
  if (elementBits() >= 16) {
    constexpr unsigned kCodesOfRow = kCodesOfRegister / 2;
    return {group + first + chunk / kCodesOfRow,
            kBitsOfCode * (half * kCodesOfRow + chunk % kCodesOfRow)};
  }
  return {group + first + half + chunk / kCodesOfRegister * 2,
          kBitsOfCode * (chunk % kCodesOfRegister)};
}

bool Sparsity::isMeaningful(unsigned code) const {
  constexpr unsigned kFirst = 0b0100, kSecond = 0b1110;
  if (element == Element::TF32)
    return code == kFirst || code == kSecond;
  return isOrdered ? indexAt(code, 0) < indexAt(code, 1) : indexAt(code, 0) != indexAt(code, 1);
}

unsigned Sparsity::position(unsigned code, unsigned i) const {
  if (element == Element::TF32)
    return code >> 1 & 1;
  return elementBits() == 4 ? 2 * indexAt(code, i / 2) + i % 2 : indexAt(code, i);
}

float elementValue(Element element, uint32_t word, unsigned j) {
  using Get = float (*)(uint32_t, unsigned);
  static constexpr Get kGet[] = {
      valueAs<Element::F16>,  valueAs<Element::BF16>, valueAs<Element::TF32>,
      valueAs<Element::E4M3>, valueAs<Element::E5M2>, valueAs<Element::U8>,
      valueAs<Element::S8>,   valueAs<Element::U4>,   valueAs<Element::S4>};
  return kGet[static_cast<size_t>(element)](word, j);
}

void readKept(const Sparsity &sparsity, ConstRegisters fragments, KeptRows &rows) {
  unsigned e = elementsPerRegister(sparsity.element);
  for (unsigned row = 0; row < kSparseRows; ++row)
    for (unsigned i = 0; i < sparsity.kept(); ++i) {
      unsigned word = i / e, lane = row % kHalfRows * 4 + word % 4;
      uint32_t bits = fragments[word / 4 * 2 + row / kHalfRows][lane];
      rows.values[row][i] = elementValue(sparsity.element, bits, i % e);
    }
}

void readMetadata(const Sparsity &sparsity, const uint32_t *metadata, KeptRows &rows) {
  unsigned kept = sparsity.keptOfChunk();
  rows.meaningless = 0;
  for (unsigned row = 0; row < kSparseRows; ++row)
    for (unsigned chunk = 0; chunk < sparsity.chunks(); ++chunk) {
      Sparsity::Place place = sparsity.place(row, chunk);
      unsigned code = metadata[place.lane] >> place.shift & 15;
      rows.meaningless |= uint32_t{!sparsity.isMeaningful(code)} << place.lane;
      for (unsigned i = 0; i < kept; ++i)
        rows.positions[row][chunk * kept + i] =
            static_cast<uint8_t>(chunk * sparsity.chunkElements() + sparsity.position(code, i));
    }
}

uint32_t metadataLanes(const Sparsity &sparsity) {
  uint32_t lanes = 0;
  for (unsigned row = 0; row < kSparseRows; ++row)
    for (unsigned chunk = 0; chunk < sparsity.chunks(); ++chunk)
      lanes |= 1u << sparsity.place(row, chunk).lane;
  return lanes;
}

void reportMetadata(Warp &warp, const Op &op, const Sparsity &sparsity, const KeptRows &rows,
                    uint32_t metadataRow) {
  uint32_t lanes = rows.meaningless & (warp.shadow ? warp.shadow.whole(metadataRow) : kFullMask);
  if (!lanes)
    return;
  std::string allowed = sparsity.element == Element::TF32 ? "0b0100 and 0b1110 are defined"
                        : sparsity.isOrdered ? "the indices of a chunk must be two that ascend"
                                             : "the indices of a chunk must be two different ones";
  warp.report(op, FindingKind::Undefined, LaneMask{lanes},
              "the sparsity metadata has values for which the result is undefined: " + allowed);
}

bool isSparseVariant(std::string_view modifier) {
  return modifier == "sp" || modifier == "sp::ordered_metadata";
}

uint8_t takeSelector(Decoder &decoder, const Operand &operand, const Sparsity &sparsity) {
  if (operand.kind != Operand::Kind::Immediate)
    decoder.malformed("the sparsity selector must be a constant");
  if (operand.value >= sparsity.selectors())
    decoder.malformed("the sparsity selector is " + std::to_string(operand.value) +
                      "; with this shape and these types it is below " +
                      std::to_string(sparsity.selectors()));
  return static_cast<uint8_t>(operand.value);
}

void multiplyKept(const Sparsity &sparsity, const KeptRows &a, const float *b,
                  const KeptProduct &product, ConstRegisters c, Registers d) {
  switch (product.sum) {
  case SumType::F32:
    return multiplyInto<Accumulator::F32>(sparsity, a, b, product, c, d);
  case SumType::F16:
    return multiplyInto<Accumulator::F16>(sparsity, a, b, product, c, d);
  case SumType::S32:
    return multiplyInto<Accumulator::S32>(sparsity, a, b, product, c, d);
  case SumType::S32Saturated:
    return multiplyInto<Accumulator::S32Saturated>(sparsity, a, b, product, c, d);
  }
}

std::optional<SumRule> keptRule(int arch, const Sparsity &sparsity, SumType sum, bool isWgmma) {
  ProductShape shape;
  shape.a = static_cast<TensorElement>(sparsity.element);
  shape.sum = sum;
  return hardwareRule(arch, shape, isWgmma);
}

} // namespace tile::vgpu
