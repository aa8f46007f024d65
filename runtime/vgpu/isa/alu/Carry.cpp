// Arithmetic in several words: add.cc, addc, sub.cc, subc, mad.cc and madc pass a carry through the condition code, a flag
// that each thread has. A difference is a + ~b + 1, so its flag says that nothing was borrowed, also to an addc after it.
#include "runtime/vgpu/isa/alu/Carry.h"
#include "runtime/vgpu/decode/OpcodeTable.h"
#include "runtime/vgpu/decode/Select.h"

namespace tile::vgpu {
namespace {

template <class T> struct Carried {
  T value;
  bool carry;
};

template <class T> Carried<T> sumOf(T a, T b, bool carry) {
  T sum = a + b, total = sum + carry;
  return {total, sum < a || total < sum};
}

// `carryUnread` is what an operation that does not read the flag takes for it.
struct Sum {
  static constexpr unsigned operands = 2;
  static constexpr bool carryUnread = false;
  template <class T, class U> static Carried<U> apply(const U *value, bool carry) {
    return sumOf(value[0], value[1], carry);
  }
};
struct Difference {
  static constexpr unsigned operands = 2;
  static constexpr bool carryUnread = true;
  template <class T, class U> static Carried<U> apply(const U *value, bool carry) {
    return sumOf(value[0], static_cast<U>(~value[1]), carry);
  }
};
template <bool High> struct ProductSum {
  static constexpr unsigned operands = 3;
  static constexpr bool carryUnread = false;
  template <class T, class U> static Carried<U> apply(const U *value, bool carry) {
    U product = value[0] * value[1];
    if constexpr (High)
      product = static_cast<U>((__int128{static_cast<T>(value[0])} * static_cast<T>(value[1])) >>
                               (8 * sizeof(T)));
    return sumOf(product, value[2], carry);
  }
};

// Rows: result{, the flag written}; operands{, the flag read}.
template <class F, class T> void carried(Warp &warp, const Op &op) {
  using U = std::make_unsigned_t<T>;
  auto flag = formOf<Carrying>(op);
  const uint32_t *sources = op.rows + op.targets;
  uint32_t unread = F::carryUnread ? kFullMask : 0, after = 0,
           before = flag.reads ? warp.predicate(sources[F::operands]) : unread;
  forLanes(warp.mask, [&](unsigned lane) {
    U value[F::operands];
    for (unsigned i = 0; i < F::operands; ++i)
      value[i] = warp.row<U>(sources[i])[lane];
    Carried<U> result = F::template apply<T>(value, before >> lane & 1);
    warp.row<U>(op.rows[0])[lane] = result.value;
    after |= uint32_t{result.carry} << lane;
  });
  if (flag.writes)
    mergeMask(warp.predicate(op.rows[1]), after, warp.mask);
}

template <class F> Handler carriedHandler(ScalarType type) {
  switch (type) {
  case ScalarType::U32:
    return carried<F, uint32_t>;
  case ScalarType::S32:
    return carried<F, int32_t>;
  case ScalarType::U64:
    return carried<F, uint64_t>;
  case ScalarType::S64:
    return carried<F, int64_t>;
  default:
    return nullptr;
  }
}

template <CarriedOperation operation>
void decodeCarryIn(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes) {
  ScalarType type = suffixes.takeType();
  decodeWithCarry(decoder, instruction, suffixes, operation, type,
                  {.reads = true, .writes = suffixes.take("cc")});
}

const OpcodeInfo kOpcodes[] = {
    {"addc", decodeCarryIn<CarriedOperation::Sum>},
    {"subc", decodeCarryIn<CarriedOperation::Difference>},
    {"madc", decodeCarryIn<CarriedOperation::ProductSum>},
};

} // namespace

void decodeWithCarry(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes,
                     CarriedOperation operation, ScalarType type, Carrying carrying) {
  bool isProduct = operation == CarriedOperation::ProductSum,
       high = isProduct && suffixes.take("hi");
  if (isProduct && !high && !suffixes.take("lo"))
    decoder.unsupported("a product with carry needs .lo or .hi");
  Handler handler = isProduct ? (high ? carriedHandler<ProductSum<true>>(type)
                                      : carriedHandler<ProductSum<false>>(type))
                    : operation == CarriedOperation::Sum ? carriedHandler<Sum>(type)
                                                         : carriedHandler<Difference>(type);
  if (!handler)
    decoder.unsupported("expected a 32- or 64-bit integer type");
  size_t operands = isProduct ? 4 : 3;
  decoder.wantOperands(instruction, operands);
  std::vector<uint32_t> targets, sources;
  for (size_t i = 1; i < operands; ++i)
    sources.push_back(decoder.source(instruction.operands[i], type));
  if (carrying.reads)
    sources.push_back(decoder.carryFlag());
  targets.push_back(decoder.target(instruction.operands[0], type));
  if (carrying.writes)
    targets.push_back(decoder.carryFlag());
  decoder.emitWide(handler, targets, sources, 0, carrying);
}

OpcodeRows carryOpcodes() { return kOpcodes; }

} // namespace tile::vgpu
