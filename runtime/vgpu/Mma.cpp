// mma.sync: D = A*B + C on fragments spread over the lanes of a warp.
//
// One rule places every element (g = lane/4, t = lane%4, e elements a register):
//   A register r, element j: row g + 8(r&1), k = t*e + j + (r>>1)*4e      B register r: k = t*e + j + r*4e, column g
//   C and D element i: row g + 8(i>>1), column 2t + (i&1)
// m8n8 shapes have the first of the two row halves only. The fragments are gathered into small matrices, multiplied
// there and spread again. Sums are chains of fused multiply-adds in order of k: close to, not equal to, the bits of
// tensor cores, whose order the ISA leaves open.
#include "runtime/vgpu/Decode.h"
#include "runtime/vgpu/HalfFormat.h"
#include "runtime/vgpu/Lanes.h"
#include "runtime/vgpu/Launch.h"

#include <algorithm>

namespace tile::vgpu {
namespace {

constexpr unsigned kMaxK = 32, kColumns = 8, kMaxRows = 16;

enum class Element : uint8_t { F16, BF16, TF32, E4M3, E5M2, U8, S8, F64 };

constexpr unsigned elementsPerRegister(Element element) {
  switch (element) {
  case Element::F16:
  case Element::BF16:
    return 2;
  case Element::TF32:
  case Element::F64:
    return 1;
  default:
    return 4;
  }
}

// What the operation computes in, and how a register's element j becomes that.
template <Element E> struct ElementTraits {
  using Value = float;
  static float get(uint32_t bits, unsigned j) {
    if constexpr (E == Element::F16)
      return halfToFloat(static_cast<uint16_t>(bits >> (16 * j)));
    else if constexpr (E == Element::BF16)
      return bfloatToFloat(static_cast<uint16_t>(bits >> (16 * j)));
    else if constexpr (E == Element::TF32)
      return std::bit_cast<float>(bits & 0xffffe000u);
    else
      return static_cast<float>(
          decodeFloat(bits >> (8 * j) & 255, E == Element::E4M3 ? kE4m3Format : kE5m2Format));
  }
};
template <> struct ElementTraits<Element::U8> {
  using Value = int32_t;
  static int32_t get(uint32_t bits, unsigned j) { return static_cast<uint8_t>(bits >> (8 * j)); }
};
template <> struct ElementTraits<Element::S8> {
  using Value = int32_t;
  static int32_t get(uint32_t bits, unsigned j) { return static_cast<int8_t>(bits >> (8 * j)); }
};
template <> struct ElementTraits<Element::F64> {
  using Value = double;
  static double get(uint64_t bits, unsigned) { return std::bit_cast<double>(bits); }
};

template <Element E> using Register = std::conditional_t<E == Element::F64, uint64_t, uint32_t>;

template <Element E, class Value>
void gatherA(Warp &warp, const uint32_t *rows, unsigned registers, bool tall, Value (*a)[kMaxK]) {
  constexpr unsigned e = elementsPerRegister(E);
  for (unsigned r = 0; r < registers; ++r) {
    const auto *source = warp.row<Register<E>>(rows[r]);
    unsigned half = tall ? r & 1 : 0, block = tall ? r >> 1 : r;
    for (unsigned lane = 0; lane < kLanes; ++lane)
      for (unsigned j = 0; j < e; ++j)
        a[lane / 4 + 8 * half][lane % 4 * e + j + block * 4 * e] =
            ElementTraits<E>::get(source[lane], j);
  }
}

template <Element E, class Value>
void gatherB(Warp &warp, const uint32_t *rows, unsigned registers, Value (*b)[kColumns]) {
  constexpr unsigned e = elementsPerRegister(E);
  for (unsigned r = 0; r < registers; ++r) {
    const auto *source = warp.row<Register<E>>(rows[r]);
    for (unsigned lane = 0; lane < kLanes; ++lane)
      for (unsigned j = 0; j < e; ++j)
        b[lane % 4 * e + j + r * 4 * e][lane / 4] = ElementTraits<E>::get(source[lane], j);
  }
}

inline float multiplyAdd(float a, float b, float c) { return std::fma(a, b, c); }
inline double multiplyAdd(double a, double b, double c) { return std::fma(a, b, c); }
inline int64_t multiplyAdd(int32_t a, int32_t b, int64_t c) { return c + int64_t{a} * b; }

template <class Value, class Sum>
void multiply(unsigned rows, unsigned depth, const Value (*a)[kMaxK], const Value (*b)[kColumns],
              Sum (*c)[kColumns]) {
  for (unsigned row = 0; row < rows; ++row) {
    Sum sum[kColumns];
    std::copy_n(c[row], kColumns, sum);
    for (unsigned k = 0; k < depth; ++k)
      for (unsigned column = 0; column < kColumns; ++column)
        sum[column] = multiplyAdd(a[row][k], b[k][column], sum[column]);
    std::copy_n(sum, kColumns, c[row]);
  }
}

// How C and D sit in registers.
enum class Accumulator : uint8_t { F32, F16, S32, S32Saturated, F64 };

template <Accumulator A> struct AccumulatorTraits {
  using Sum = std::conditional_t<
      A == Accumulator::F64, double,
      std::conditional_t<A == Accumulator::S32 || A == Accumulator::S32Saturated, int64_t, float>>;
  static constexpr unsigned perRegister = A == Accumulator::F16 ? 2 : 1;
  using Register = std::conditional_t<A == Accumulator::F64, uint64_t, uint32_t>;

  static Sum get(Register bits, unsigned j) {
    if constexpr (A == Accumulator::F16)
      return halfToFloat(static_cast<uint16_t>(bits >> (16 * j)));
    else if constexpr (A == Accumulator::S32 || A == Accumulator::S32Saturated)
      return static_cast<int32_t>(bits);
    else
      return std::bit_cast<Sum>(bits);
  }
  static Register put(Sum value) {
    if constexpr (A == Accumulator::F16)
      return floatToHalf(value);
    else if constexpr (A == Accumulator::S32)
      return static_cast<uint32_t>(value);
    else if constexpr (A == Accumulator::S32Saturated)
      return static_cast<uint32_t>(std::clamp<int64_t>(value, INT32_MIN, INT32_MAX));
    else if constexpr (A == Accumulator::F32)
      return value != value ? 0x7fffffffu : std::bit_cast<uint32_t>(value);
    else
      return std::bit_cast<uint64_t>(value);
  }
};

template <Accumulator A>
void gatherC(Warp &warp, const uint32_t *rows, unsigned registers,
             typename AccumulatorTraits<A>::Sum (*c)[kColumns]) {
  using Traits = AccumulatorTraits<A>;
  for (unsigned r = 0; r < registers; ++r) {
    const auto *source = warp.row<typename Traits::Register>(rows[r]);
    for (unsigned lane = 0; lane < kLanes; ++lane)
      for (unsigned j = 0; j < Traits::perRegister; ++j) {
        unsigned i = r * Traits::perRegister + j;
        c[lane / 4 + 8 * (i >> 1)][lane % 4 * 2 + (i & 1)] = Traits::get(source[lane], j);
      }
  }
}

template <Accumulator A>
void spreadD(Warp &warp, const uint32_t *rows, unsigned registers,
             const typename AccumulatorTraits<A>::Sum (*d)[kColumns]) {
  using Traits = AccumulatorTraits<A>;
  for (unsigned r = 0; r < registers; ++r) {
    auto *target = warp.row<typename Traits::Register>(rows[r]);
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      typename Traits::Register bits = 0;
      for (unsigned j = 0; j < Traits::perRegister; ++j) {
        unsigned i = r * Traits::perRegister + j;
        bits |= Traits::put(d[lane / 4 + 8 * (i >> 1)][lane % 4 * 2 + (i & 1)]) << (16 * j);
      }
      target[lane] = bits;
    }
  }
}

// Op::a of an mma: counts of registers and the shape.
struct Shape {
  uint8_t depth = 0, registersA = 0, registersB = 0, registersC = 0;
  uint32_t pack() const { return depth | registersA << 8 | registersB << 16 | registersC << 24; }
  static Shape unpack(uint32_t bits) {
    return {static_cast<uint8_t>(bits), static_cast<uint8_t>(bits >> 8),
            static_cast<uint8_t>(bits >> 16), static_cast<uint8_t>(bits >> 24)};
  }
};

// D's element (row, column) is initialised if all of A's row, B's column and its own C are.
void mmaValidity(Warp &warp, const Op &op, const Shape &shape, bool tall) {
  const uint32_t *d = op.rows, *a = d + shape.registersC, *b = a + shape.registersA,
                 *c = b + shape.registersB;
  auto quads = [](uint32_t lanes) { // one bit a group of four lanes: all valid
    uint32_t result = 0;
    for (unsigned g = 0; g < 8; ++g)
      result |= uint32_t{(lanes >> (4 * g) & 15) == 15} << g;
    return result;
  };
  uint32_t rowsGood[2] = {255, 255}, columnsGood = 255;
  for (unsigned r = 0; r < shape.registersA; ++r)
    rowsGood[tall ? r & 1 : 0] &= quads(warp.shadow.whole(a[r]));
  for (unsigned r = 0; r < shape.registersB; ++r)
    columnsGood &= quads(warp.shadow.whole(b[r]));
  unsigned perRegister = tall ? 4 / shape.registersC : 2 / shape.registersC;
  for (unsigned r = 0; r < shape.registersC; ++r) {
    uint32_t good = warp.shadow.whole(c[r]);
    for (unsigned lane = 0; lane < kLanes; ++lane)
      for (unsigned j = 0; j < perRegister; ++j) {
        unsigned i = r * perRegister + j, column = lane % 4 * 2 + (i & 1);
        if (!(rowsGood[i >> 1] >> (lane / 4) & 1) || !(columnsGood >> column & 1))
          good &= ~(1u << lane);
      }
    warp.shadow.set(d[r], good, kFullMask);
  }
}

template <Element EA, Element EB, Accumulator Acc, bool Tall>
void runMma(Warp &warp, const Op &op) {
  using Value = typename ElementTraits<EA>::Value;
  using Sum = typename AccumulatorTraits<Acc>::Sum;
  if (!warp.converged(op, kFullMask))
    return;
  if (warp.mask != kFullMask)
    warp.stop(op, FindingKind::Divergence, std::countr_zero(warp.mask),
              "mma needs all 32 lanes of the warp");
  Shape shape = Shape::unpack(op.a);
  const uint32_t *d = op.rows, *a = d + shape.registersC, *b = a + shape.registersA,
                 *c = b + shape.registersB;
  alignas(64) Value matrixA[kMaxRows][kMaxK], matrixB[kMaxK][kColumns];
  alignas(64) Sum sums[kMaxRows][kColumns];
  gatherA<EA>(warp, a, shape.registersA, Tall, matrixA);
  gatherB<EB>(warp, b, shape.registersB, matrixB);
  gatherC<Acc>(warp, c, shape.registersC, sums);
  multiply(Tall ? 16 : 8, shape.depth, matrixA, matrixB, sums);
  if (warp.shadow)
    mmaValidity(warp, op, shape, Tall);
  spreadD<Acc>(warp, d, shape.registersC, sums);
}

struct MmaRow {
  std::string_view a, b, d;
  unsigned depth;
  bool tall;
  Element element;
  Handler handler;
};

template <Element E, Accumulator A> constexpr Handler kTall = runMma<E, E, A, true>;

constexpr MmaRow kRows[] = {
    {"f16", "f16", "f32", 8, true, Element::F16, kTall<Element::F16, Accumulator::F32>},
    {"f16", "f16", "f32", 16, true, Element::F16, kTall<Element::F16, Accumulator::F32>},
    {"f16", "f16", "f16", 8, true, Element::F16, kTall<Element::F16, Accumulator::F16>},
    {"f16", "f16", "f16", 16, true, Element::F16, kTall<Element::F16, Accumulator::F16>},
    {"bf16", "bf16", "f32", 8, true, Element::BF16, kTall<Element::BF16, Accumulator::F32>},
    {"bf16", "bf16", "f32", 16, true, Element::BF16, kTall<Element::BF16, Accumulator::F32>},
    {"tf32", "tf32", "f32", 4, true, Element::TF32, kTall<Element::TF32, Accumulator::F32>},
    {"tf32", "tf32", "f32", 8, true, Element::TF32, kTall<Element::TF32, Accumulator::F32>},
    {"e4m3", "e4m3", "f32", 32, true, Element::E4M3, kTall<Element::E4M3, Accumulator::F32>},
    {"e5m2", "e5m2", "f32", 32, true, Element::E5M2, kTall<Element::E5M2, Accumulator::F32>},
    {"e4m3", "e5m2", "f32", 32, true, Element::E4M3,
     runMma<Element::E4M3, Element::E5M2, Accumulator::F32, true>},
    {"e5m2", "e4m3", "f32", 32, true, Element::E5M2,
     runMma<Element::E5M2, Element::E4M3, Accumulator::F32, true>},
    {"f64", "f64", "f64", 4, false, Element::F64,
     runMma<Element::F64, Element::F64, Accumulator::F64, false>},
    {"f64", "f64", "f64", 4, true, Element::F64, kTall<Element::F64, Accumulator::F64>},
    {"f64", "f64", "f64", 8, true, Element::F64, kTall<Element::F64, Accumulator::F64>},
    {"f64", "f64", "f64", 16, true, Element::F64, kTall<Element::F64, Accumulator::F64>},
};

template <Accumulator A, bool Tall> Handler byteHandler(std::string_view a, std::string_view b) {
  bool signedA = a == "s8", signedB = b == "s8";
  if (signedA)
    return signedB ? runMma<Element::S8, Element::S8, A, Tall>
                   : runMma<Element::S8, Element::U8, A, Tall>;
  return signedB ? runMma<Element::U8, Element::S8, A, Tall>
                 : runMma<Element::U8, Element::U8, A, Tall>;
}

Handler pickHandler(std::string_view shape, std::string_view a, std::string_view b,
                    std::string_view d, bool saturate, unsigned depth, Element &element) {
  bool tall = shape.starts_with("m16n8k");
  bool bytes = (a == "s8" || a == "u8") && (b == "s8" || b == "u8") && d == "s32";
  if (bytes && (tall ? depth == 16 || depth == 32 : depth == 16)) {
    element = Element::S8;
    if (tall)
      return saturate ? byteHandler<Accumulator::S32Saturated, true>(a, b)
                      : byteHandler<Accumulator::S32, true>(a, b);
    return saturate ? byteHandler<Accumulator::S32Saturated, false>(a, b)
                    : byteHandler<Accumulator::S32, false>(a, b);
  }
  for (const MmaRow &row : kRows)
    if (!saturate && row.a == a && row.b == b && row.d == d && row.depth == depth &&
        row.tall == tall) {
      element = row.element;
      return row.handler;
    }
  return nullptr;
}

void decodeMma(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes) {
  std::string_view shapeName =
      suffixes.takeOneOf({"m16n8k4", "m16n8k8", "m16n8k16", "m16n8k32", "m8n8k4", "m8n8k16"});
  auto takeElement = [&] {
    return suffixes.takeOneOf(
        {"f16", "bf16", "tf32", "f32", "f64", "s32", "s8", "u8", "e4m3", "e5m2"});
  };
  bool form = suffixes.take("sync") && suffixes.take("aligned") && suffixes.take("row") &&
              suffixes.take("col");
  bool saturate = suffixes.take("satfinite");
  std::string_view d = takeElement(), a = takeElement(), b = takeElement(), c = takeElement();
  unsigned depth = 0;
  for (char digit : shapeName.substr(std::min(shapeName.size(), shapeName.rfind('k') + 1)))
    depth = depth * 10 + static_cast<unsigned>(digit - '0');
  Element element = Element::F16;
  Handler handler =
      form && d == c ? pickHandler(shapeName, a, b, d, saturate, depth, element) : nullptr;
  if (!handler)
    decoder.unsupported("this shape and combination of types is not modelled");
  bool tall = shapeName.starts_with("m16");
  unsigned e = elementsPerRegister(element), rows = tall ? 16 : 8;
  Shape shape;
  shape.depth = static_cast<uint8_t>(depth);
  shape.registersA = static_cast<uint8_t>(rows * depth / (kLanes * e));
  shape.registersB = static_cast<uint8_t>(kColumns * depth / (kLanes * e));
  shape.registersC = static_cast<uint8_t>((tall ? 4 : 2) / (d == "f16" ? 2 : 1));
  ScalarType inputType = element == Element::F64 ? ScalarType::B64 : ScalarType::B32;
  ScalarType sumType = d == "f64" ? ScalarType::B64 : ScalarType::B32;
  decoder.wantOperands(instruction, 4);
  std::vector<uint32_t> targets, sources;
  const size_t counts[] = {shape.registersC, shape.registersA, shape.registersB, shape.registersC};
  for (size_t i = 0; i < 4; ++i) {
    const Operand &operand = instruction.operands[i];
    std::vector<Operand> parts =
        operand.kind == Operand::Kind::Vector ? operand.parts : std::vector<Operand>{operand};
    if (parts.size() != counts[i])
      decoder.malformed("operand " + std::to_string(i + 1) + " needs " + std::to_string(counts[i]) +
                        " registers");
    for (const Operand &part : parts)
      if (i == 0)
        targets.push_back(decoder.target(part, sumType));
      else
        sources.push_back(decoder.source(part, i == 3 ? sumType : inputType));
  }
  decoder.emitWide(handler, targets, sources, 0, shape.pack(), 0, kOwnValidity);
}

} // namespace

void registerMma(OpcodeTable &table) { table["mma"] = decodeMma; }

} // namespace tile::vgpu
