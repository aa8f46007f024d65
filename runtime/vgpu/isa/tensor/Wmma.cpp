// wmma: products of whole tiles, whose fragments only these instructions can read.
#include "runtime/vgpu/isa/tensor/Wmma.h"
#include "runtime/vgpu/decode/OpcodeTable.h"
#include "runtime/vgpu/ptx/ModifierWords.h"

#include "runtime/vgpu/isa/tensor/MmaElement.h"
#include "runtime/vgpu/machine/Launch.h"

namespace tile::vgpu {

const WmmaShape *takeWmmaShape(Suffixes &suffixes) {
  for (const WmmaShape &shape : kWmmaShapes)
    if (suffixes.take(shape.name))
      return &shape;
  return nullptr;
}

static unsigned bitsOf(std::string_view type) {
  if (type == "f64")
    return 64;
  if (type == "f16" || type == "bf16")
    return 16;
  if (type == "s8" || type == "u8")
    return 8;
  if (type == "s4" || type == "u4")
    return 4;
  return type == "b1" ? 1 : 32;
}

WmmaForm::Place WmmaForm::place(unsigned lane, unsigned i) const {
  constexpr unsigned kBlock = 8;
  unsigned g = lane / 4, t = lane % 4;
  if (order == WmmaOrder::SumsDown || order == WmmaOrder::SumsAcross) {
    unsigned block = i / 2, pair = 2 * t + i % 2, down = lines / kBlock;
    if (order == WmmaOrder::SumsAcross)
      return {pair, g + kBlock * block};
    return {g + kBlock * (block % down), pair + kBlock * (block / down)};
  }
  unsigned e = perRegister(), word = i / e, parts = length / (4 * e), part = word % parts,
           block = word / parts;
  if (order == WmmaOrder::LinesFirst) {
    part = word / 2 % parts;
    block = word % 2 + word / (2 * parts) * 2;
  }
  return {g + kBlock * block, 4 * e * part + e * t + i % e};
}

// m8n32 is m32n8 transposed.
static WmmaOrder orderOf(const WmmaShape &shape, WmmaFragment fragment) {
  constexpr unsigned kMostLines = 32;
  bool isWide = shape.n == kMostLines;
  switch (fragment) {
  case WmmaFragment::A:
    return shape.m > 8 ? WmmaOrder::LinesFirst : WmmaOrder::DepthFirst;
  case WmmaFragment::B:
    return isWide ? WmmaOrder::LinesFirst : WmmaOrder::DepthFirst;
  case WmmaFragment::C:
    break;
  }
  return isWide ? WmmaOrder::SumsAcross : WmmaOrder::SumsDown;
}

static WmmaForm makeForm(const WmmaShape &shape, unsigned bits, WmmaFragment fragment) {
  bool isSum = fragment == WmmaFragment::C;
  WmmaForm form{fragment == WmmaFragment::B ? shape.n : shape.m, isSum ? shape.n : shape.k,
                static_cast<uint8_t>(bits), 0, orderOf(shape, fragment)};
  form.registers = static_cast<uint8_t>(form.elements() * bits / (kLanes * form.registerBits()));
  return form;
}

static constexpr uint8_t kHalfInputRegisters = 8; // in every shape

std::optional<WmmaForm> wmmaForm(const WmmaShape &shape, std::string_view type,
                                 WmmaFragment fragment) {
  bool exists = shape.k == 16 || (shape.k == 8 && bitsOf(type) == 32) ||
                (shape.k == 4 && type == "f64") || shape.k >= 32;
  if (fragment == WmmaFragment::C)
    exists &= shape.k == 16  ? type == "f16" || type == "f32" || type == "s32"
              : shape.k == 8 ? type == "f32"
              : shape.k == 4 ? type == "f64"
                             : type == "s32";
  else
    exists &= shape.k == 16   ? bitsOf(type) == 16 || bitsOf(type) == 8
              : shape.k == 8  ? type == "tf32"
              : shape.k == 4  ? type == "f64"
              : shape.k == 32 ? bitsOf(type) == 4
                              : type == "b1";
  if (!exists)
    return std::nullopt;
  WmmaForm form = makeForm(shape, bitsOf(type), fragment);
  if (type == "f16" && fragment != WmmaFragment::C)
    form.registers = kHalfInputRegisters;
  return form;
}

bool wmmaReady(Warp &warp, const Op &op) {
  if (!warp.converged(op, kFullMask))
    return false;
  if (warp.mask != kFullMask)
    warp.stop(op, FindingKind::Divergence, LaneMask{warp.mask},
              "wmma needs all 32 lanes of the warp");
  return true;
}

std::vector<Operand> wmmaRegisters(Decoder &decoder, const Operand &operand, size_t count) {
  std::vector<Operand> parts =
      operand.kind == Operand::Kind::Vector ? operand.parts : std::vector<Operand>{operand};
  if (parts.size() != count)
    decoder.malformed("a fragment here has " + std::to_string(count) + " registers, found " +
                      std::to_string(parts.size()));
  return parts;
}

namespace {

constexpr unsigned kMaxLines = 32, kMaxLength = 32;

// A fragment as lines of values, and which of them are initialised.
template <class Value> struct Lines {
  Value value[kMaxLines][kMaxLength];
  bool good[kMaxLines][kMaxLength];

  bool isGood(unsigned line, unsigned length) const {
    return std::all_of(good[line], good[line] + length, [](bool flag) { return flag; });
  }
};

// Calls visit(line, place, register, index in the register) for each element of a lane.
template <class Visit> void forElements(const WmmaForm &form, unsigned lane, Visit visit) {
  for (unsigned i = 0; i < form.perLane(); ++i) {
    WmmaForm::Place place = form.place(lane, i);
    visit(place.line, place.along, i / form.perRegister(), i % form.perRegister());
  }
}

template <class Lane, class Get, class Value>
void gather(Warp &warp, const uint32_t *rows, const WmmaForm &form, Get get, Lines<Value> &lines) {
  const Lane part =
      form.bits == 64 ? static_cast<Lane>(-1) : static_cast<Lane>((uint64_t{1} << form.bits) - 1);
  for (unsigned lane = 0; lane < kLanes; ++lane)
    forElements(form, lane, [&](unsigned line, unsigned place, unsigned reg, unsigned index) {
      lines.value[line][place] = get(warp.row<Lane>(rows[reg])[lane], index);
      Lane lacks = warp.shadow ? warp.shadow.undefined<Lane>(rows[reg], lane) : Lane{0};
      lines.good[line][place] = (lacks >> (form.bits * index) & part) == 0;
    });
}

// The products of inputs: of elements of E, or of words of single bits.
template <Element E> struct Product {
  using Value = typename ElementTraits<E>::Value;
  static constexpr unsigned bits = E == Element::F64 ? 64 : 32 / elementsPerRegister(E);
  using Lane = Register<E>;
  static Value get(Lane lane, unsigned index) { return ElementTraits<E>::get(lane, index); }
  template <class Sum> static Sum add(Value a, Value b, Sum sum) { return multiplyAdd(a, b, sum); }
};
template <bool And> struct BitProduct {
  using Value = uint32_t;
  static constexpr unsigned bits = 32;
  using Lane = uint32_t;
  static uint32_t get(uint32_t lane, unsigned) { return lane; }
  static int64_t add(uint32_t a, uint32_t b, int64_t sum) {
    return sum + std::popcount(And ? a & b : a ^ b);
  }
};

struct ProductForm {
  uint8_t shape; // an index of kWmmaShapes
  uint8_t registersOfA, registersOfB;
};

// Rows: D, A, B, C.
template <class P, Accumulator AccC, Accumulator AccD> void runWmma(Warp &warp, const Op &op) {
  if (!wmmaReady(warp, op))
    return;
  using TraitsC = AccumulatorTraits<AccC>;
  using TraitsD = AccumulatorTraits<AccD>;
  using LaneC = typename TraitsC::Register;
  using LaneD = typename TraitsD::Register;
  auto form = formOf<ProductForm>(op);
  WmmaShape shape = kWmmaShapes[form.shape];
  if (shape.k == 128)
    shape.k /= P::bits;
  WmmaForm formA = makeForm(shape, P::bits, WmmaFragment::A),
           formB = makeForm(shape, P::bits, WmmaFragment::B),
           formC = makeForm(shape, 8 * sizeof(LaneC) / TraitsC::perRegister, WmmaFragment::C),
           formD = makeForm(shape, 8 * sizeof(LaneD) / TraitsD::perRegister, WmmaFragment::C);
  const uint32_t *rowsA = op.rows + op.targets, *rowsB = rowsA + form.registersOfA,
                 *rowsC = rowsB + form.registersOfB;
  Lines<typename P::Value> a, b;
  Lines<typename TraitsC::Sum> sums;
  gather<typename P::Lane>(warp, rowsA, formA, P::get, a);
  gather<typename P::Lane>(warp, rowsB, formB, P::get, b);
  gather<LaneC>(warp, rowsC, formC, TraitsC::get, sums);
  for (unsigned row = 0; row < shape.m; ++row)
    for (unsigned column = 0; column < shape.n; ++column)
      for (unsigned k = 0; k < shape.k; ++k)
        sums.value[row][column] =
            P::add(a.value[row][k], b.value[column][k], sums.value[row][column]);
  LaneD values[8][kLanes] = {}, lacks[8][kLanes] = {};
  const LaneD part = static_cast<LaneD>(-1) >> (8 * sizeof(LaneD) - formD.bits);
  for (unsigned lane = 0; lane < kLanes; ++lane)
    forElements(formD, lane, [&](unsigned row, unsigned column, unsigned reg, unsigned index) {
      unsigned shift = formD.bits * index;
      values[reg][lane] |= static_cast<LaneD>(TraitsD::put(sums.value[row][column])) << shift;
      bool good = !warp.shadow ||
                  (sums.good[row][column] && a.isGood(row, shape.k) && b.isGood(column, shape.k));
      lacks[reg][lane] |= good ? LaneD{0} : part << shift;
    });
  for (unsigned reg = 0; reg < op.targets; ++reg) {
    std::copy_n(values[reg], kLanes, warp.row<LaneD>(op.rows[reg]));
    for (unsigned lane = 0; warp.shadow && lane < kLanes; ++lane)
      warp.shadow.setUndefined(op.rows[reg], lane, lacks[reg][lane]);
  }
}

template <Element E> Handler integerHandler(bool saturate) {
  return saturate ? runWmma<Product<E>, Accumulator::S32Saturated, Accumulator::S32Saturated>
                  : runWmma<Product<E>, Accumulator::S32, Accumulator::S32>;
}

Handler halfHandler(bool halfC, bool halfD) {
  using P = Product<Element::F16>;
  constexpr Accumulator single = Accumulator::F32, half = Accumulator::F16;
  if (halfC)
    return halfD ? runWmma<P, half, half> : runWmma<P, half, single>;
  return halfD ? runWmma<P, single, half> : runWmma<P, single, single>;
}

Handler pickHandler(std::string_view a, std::string_view c, std::string_view d, bool saturate,
                    std::string_view bitOperation) {
  if (a == "f16")
    return halfHandler(c == "f16", d == "f16");
  if (a == "bf16")
    return runWmma<Product<Element::BF16>, Accumulator::F32, Accumulator::F32>;
  if (a == "tf32")
    return runWmma<Product<Element::TF32>, Accumulator::F32, Accumulator::F32>;
  if (a == "f64")
    return runWmma<Product<Element::F64>, Accumulator::F64, Accumulator::F64>;
  if (a == "b1")
    return bitOperation == "and" ? runWmma<BitProduct<true>, Accumulator::S32, Accumulator::S32>
                                 : runWmma<BitProduct<false>, Accumulator::S32, Accumulator::S32>;
  if (a == "s8")
    return integerHandler<Element::S8>(saturate);
  if (a == "u8")
    return integerHandler<Element::U8>(saturate);
  return a == "s4" ? integerHandler<Element::S4>(saturate) : integerHandler<Element::U4>(saturate);
}

void decodeMultiply(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes) {
  std::string_view bitOperation = suffixes.takeOneOf({"xor", "and"});
  bool popc = suffixes.take("popc");
  bool form = suffixes.take("sync") && suffixes.take("aligned");
  std::string_view layoutA = suffixes.takeOneOf({"row", "col"}),
                   layoutB = suffixes.takeOneOf({"row", "col"});
  const WmmaShape *shape = takeWmmaShape(suffixes);
  auto takeElement = [&] {
    return suffixes.takeOneOf(
        {"f16", "bf16", "tf32", "f32", "f64", "s32", "s8", "u8", "s4", "u4", "b1"});
  };
  std::string_view d = takeElement(), a = takeElement(), b = takeElement(), c = takeElement();
  if (b.empty()) // f16 inputs go without saying: the types are those of D and C
    c = a, a = b = "f16";
  bool saturate = suffixes.take("satfinite"), isFloat = c == "f16" || c == "f32" || c == "f64";
  if (a == "f64")
    suffixes.take("rn");
  auto fragment = [&](std::string_view type, WmmaFragment which) {
    return shape ? wmmaForm(*shape, type, which) : std::nullopt;
  };
  auto formA = fragment(a, WmmaFragment::A), formB = fragment(b, WmmaFragment::B),
       formC = fragment(c, WmmaFragment::C), formD = fragment(d, WmmaFragment::C);
  bool isBits = a == "b1", integers = c == "s32";
  bool known = form && !layoutB.empty() && formA && formB && formC && formD && a == b &&
               (c == d || (a == "f16" && d != "s32")) && integers == (bitsOf(a) < 16) &&
               !(saturate && isFloat) && (a != "bf16" || c == "f32") &&
               (isBits == !bitOperation.empty()) && isBits == popc && !(isBits && saturate) &&
               (bitsOf(a) >= 8 || (layoutA == "row" && layoutB == "col"));
  if (!known)
    decoder.unsupported("this shape and combination of types is not modelled");
  decoder.wantOperands(instruction, 4);
  std::vector<uint32_t> targets, sources;
  ScalarType inputType = a == "f64" ? ScalarType::B64
                         : integers ? ScalarType::S32
                                    : ScalarType::B32;
  for (const Operand &part : wmmaRegisters(decoder, instruction.operands[0], formD->registers))
    targets.push_back(decoder.target(part, inputType));
  size_t i = 1;
  for (const WmmaForm &input : {*formA, *formB, *formC})
    for (const Operand &part : wmmaRegisters(decoder, instruction.operands[i++], input.registers))
      sources.push_back(decoder.source(part, inputType));
  ProductForm product = {static_cast<uint8_t>(shape - kWmmaShapes), formA->registers,
                         formB->registers};
  decoder.emitWide(pickHandler(a, c, d, saturate, bitOperation), targets, sources, 0, product,
                   kOwnValidity);
}

void decodeWmma(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes) {
  std::string_view what = suffixes.takeOneOf({"load", "store", "mma"});
  if (what.empty())
    decoder.unsupported("expected wmma.load, wmma.store or wmma.mma");
  what == "load"    ? decodeWmmaLoad(decoder, instruction, suffixes)
  : what == "store" ? decodeWmmaStore(decoder, instruction, suffixes)
                    : decodeMultiply(decoder, instruction, suffixes);
}

const OpcodeInfo kOpcodes[] = {
    {.name = "wmma",
     .decode = decodeWmma,
     .kind = always<InstructionClass::Tensor>,
     .orders = {{"load store mma > xor and > popc > a b c d > sync | aligned | row col | row col | "
                 "m* | global " TILE_SHARED " | " TILE_FRAGMENTS " | " TILE_FRAGMENTS
                 " | " TILE_FRAGMENTS " | " TILE_FRAGMENTS " | satfinite"}},
     .requirements = {{"", 70, 60},
                      {"shared::cta", 70, 78},
                      {"m8n32k16", 70, 61},
                      {"m32n8k16", 70, 61},
                      {"u8", 72, 63},
                      {"s8", 72, 63},
                      {"u4", 75, 63},
                      {"s4", 75, 63},
                      {"b1", 75, 63},
                      {"and.popc", 80, 71},
                      {"bf16", 80, 70},
                      {"tf32", 80, 70},
                      {"f64", 80, 70}}},
};

} // namespace

OpcodeRows wmmaOpcodes() { return kOpcodes; }

} // namespace tile::vgpu
