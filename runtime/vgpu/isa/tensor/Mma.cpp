// mma.sync: D = A*B + C on fragments spread over the lanes of a warp.
//
// TensorCore.h has the rule that places elements, and computes; m8n8 shapes have the first of the two row halves only.
// Doubles are computed here, after the same rule with one element a 64-bit register: A register r holds row g + 8(r&1) and
// k = t + 4(r>>1), B register r k = t + 4r, as chains of fused multiply-adds in order of k.
#include "runtime/vgpu/decode/Decode.h"
#include "runtime/vgpu/decode/OpcodeTable.h"
#include "runtime/vgpu/isa/tensor/FragmentRules.h"
#include "runtime/vgpu/isa/tensor/MmaElement.h"
#include "runtime/vgpu/isa/tensor/MmaQuads.h"
#include "runtime/vgpu/isa/tensor/MmaSparse.h"
#include "runtime/vgpu/isa/tensor/TensorCore.h"
#include "runtime/vgpu/machine/Lanes.h"
#include "runtime/vgpu/machine/Launch.h"

#include <algorithm>

namespace tile::vgpu {
namespace {

// Counts of registers.
struct Shape {
  uint8_t depth = 0, registersA = 0, registersB = 0, registersC = 0;
};

void mmaValidity(Warp &warp, const Op &op, const Shape &shape, bool tall) {
  const uint32_t *d = op.rows, *a = d + shape.registersC, *b = a + shape.registersA,
                 *c = b + shape.registersB;
  GoodLines lines;
  for (unsigned r = 0; r < shape.registersA; ++r)
    lines.rows[tall ? r & 1 : 0] &= wholeQuads(warp.shadow.whole(a[r]));
  for (unsigned r = 0; r < shape.registersB; ++r)
    lines.columns &= wholeQuads(warp.shadow.whole(b[r]));
  setSumValidity(warp, lines, tall ? 4 : 2, {c, shape.registersC}, d);
}

struct MmaForm {
  Shape shape;
  TensorElement a = TensorElement::F16, b = TensorElement::F16; // not of doubles
  SumType sum = SumType::F32;

  ProductShape product() const { return {a, b, sum, shape.registersB, 1, false}; }
};

// An mma's rows: D, A, B, C.
MmaRows rowsOf(const Op &op, const MmaForm &form) {
  const Shape &shape = form.shape;
  const uint32_t *a = op.rows + shape.registersC, *b = a + shape.registersA,
                 *c = b + shape.registersB;
  return {{a, shape.registersA},
          {b, shape.registersB},
          {c, shape.registersC},
          {op.rows, shape.registersC},
          form.sum == SumType::F32};
}

constexpr unsigned kMaxSums = 4;

template <bool Tall> void runMma(Warp &warp, const Op &op) {
  if (!needWholeWarp(warp, op))
    return;
  auto form = formOf<MmaForm>(op);
  const Shape &shape = form.shape;
  MmaRows rows = rowsOf(op, form);
  if (warp.shadow)
    mmaValidity(warp, op, shape, Tall);
  ProductShape product = form.product();
  static constexpr uint32_t kNoRows[kLanes] = {};
  const uint32_t *registersA[2 * kMaxChunks], *registersB[kMaxChunks], *sums[kMaxSums];
  for (unsigned i = 0; i < 2 * product.chunks; ++i)
    registersA[i] = Tall ? warp.row<uint32_t>(rows.a[i])
                         : (i % 2 ? kNoRows : warp.row<uint32_t>(rows.a[i / 2]));
  for (unsigned i = 0; i < product.chunks; ++i)
    registersB[i] = warp.row<uint32_t>(rows.b[i]);
  PreparedA a;
  PreparedBlock b;
  prepareA(product, registersA, a);
  prepareB(product, registersB, b);
  uint32_t *results[kMaxSums], starts[kMaxSums][kLanes], unused[kLanes];
  // D may take C's registers in another order.
  bool isInPlace = std::ranges::equal(rows.sums, rows.results);
  for (unsigned i = 0; i < kMaxSums; ++i) {
    bool exists = i < shape.registersC;
    results[i] = exists ? warp.row<uint32_t>(rows.results[i]) : unused;
    sums[i] = !exists ? kNoRows : isInPlace ? results[i] : starts[i];
    if (exists && !isInPlace)
      std::memcpy(starts[i], warp.row<uint32_t>(rows.sums[i]), sizeof starts[i]);
  }
  if (auto rule = hardwareRule(warp.cta->launch->program().sumArch, product, false))
    multiplyAs(*rule, product, a, b, sums, results);
  else
    multiply(product, a, b, sums, results);
}

void multiplyBatch(Warp &warp, const MmaBatch &batch, const Shape &shape, ProductShape product) {
  static thread_local PreparedB b;
  PreparedA a;
  const uint32_t *registersA[2 * kMaxChunks], *registersB[kMaxChunks * kMaxBlocks],
      *sums[kMaxSums * kMaxBlocks];
  uint32_t *results[kMaxSums * kMaxBlocks];
  for (size_t i = 0; i < batch.b.size(); ++i)
    registersB[i] = warp.row<uint32_t>(batch.b[i]);
  product.chunks = batch.length * shape.registersB;
  product.blocks = static_cast<unsigned>(batch.b.size()) / product.chunks;
  prepareB(product, registersB, b);
  auto rule = hardwareRule(warp.cta->launch->program().sumArch, product, false);
  uint32_t prepared = ~0u;
  for (const MmaBatch::Strip &strip : batch.strips) {
    if (strip.a != prepared) {
      for (unsigned i = 0; i < 2 * product.chunks; ++i)
        registersA[i] = warp.row<uint32_t>(batch.a[strip.a * 2 * product.chunks + i]);
      prepareA(product, registersA, a);
      prepared = strip.a;
    }
    product.blocks = strip.blocks;
    for (unsigned i = 0; i < strip.blocks * shape.registersC; ++i) {
      sums[i] = warp.row<uint32_t>(batch.sums[strip.firstSum + i]);
      results[i] = warp.row<uint32_t>(batch.results[strip.firstSum + i]);
    }
    if (rule)
      multiplyAs(*rule, product, a, b, sums, results, strip.firstB);
    else
      multiply(product, a, b, strip.firstB, sums, results);
  }
}

constexpr unsigned kMaxDoubleDepth = 16;

// A sum that is NaN, step by step once more: which of several NaN comes through.
double nanOfChain(const double *rowA, const double (*matrixB)[kBlockColumns], unsigned column,
                  unsigned depth, double sum) {
  for (unsigned k = 0; k < depth; ++k)
    sum = multiplyAdd(rowA[k], matrixB[k][column], sum);
  return sum;
}

template <bool Tall> void runDoubleMma(Warp &warp, const Op &op) {
  constexpr unsigned kColumns = kBlockColumns, kRows = 16;
  if (!needWholeWarp(warp, op))
    return;
  auto shape = formOf<MmaForm>(op).shape;
  const uint32_t *d = op.rows, *a = d + shape.registersC, *b = a + shape.registersA,
                 *c = b + shape.registersB;
  double matrixA[kRows][kMaxDoubleDepth], matrixB[kMaxDoubleDepth][kColumns], sums[kRows][kColumns];
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    unsigned g = lane / 4, t = lane % 4;
    for (unsigned r = 0; r < shape.registersA; ++r)
      matrixA[Tall ? g + 8 * (r & 1) : g][t + 4 * (Tall ? r >> 1 : r)] =
          warp.row<double>(a[r])[lane];
    for (unsigned r = 0; r < shape.registersB; ++r)
      matrixB[t + 4 * r][g] = warp.row<double>(b[r])[lane];
    for (unsigned r = 0; r < shape.registersC; ++r)
      sums[g + 8 * (r >> 1)][2 * t + (r & 1)] = warp.row<double>(c[r])[lane];
  }
  for (unsigned row = 0; row < (Tall ? 16 : 8); ++row)
    for (unsigned k = 0; k < shape.depth; ++k)
      for (unsigned column = 0; column < kColumns; ++column)
        sums[row][column] = std::fma(matrixA[row][k], matrixB[k][column], sums[row][column]);
  if (warp.shadow)
    mmaValidity(warp, op, shape, Tall);
  auto sumAt = [&](unsigned r, unsigned lane) -> double & {
    return sums[lane / 4 + 8 * (r >> 1)][lane % 4 * 2 + (r & 1)];
  };
  for (unsigned r = 0; r < shape.registersC; ++r)
    for (unsigned lane = 0; lane < kLanes; ++lane)
      if (isNan(sumAt(r, lane)))
        sumAt(r, lane) =
            nanOfChain(matrixA[lane / 4 + 8 * (r >> 1)], matrixB, lane % 4 * 2 + (r & 1),
                       shape.depth, warp.row<double>(c[r])[lane]);
  for (unsigned r = 0; r < shape.registersC; ++r)
    for (unsigned lane = 0; lane < kLanes; ++lane)
      warp.row<double>(d[r])[lane] = sumAt(r, lane);
}

// A product of elements narrower than a byte, which are taken out of their words one by one.
struct NarrowForm {
  enum class Bits : uint8_t { No, Xor, And };
  Shape shape;
  bool signedA = false, signedB = false, saturates = false;
  Bits bits = Bits::No;

  /// The sum of products of the elements of two registers.
  int32_t dot(uint32_t x, uint32_t y) const {
    if (bits != Bits::No)
      return std::popcount(bits == Bits::And ? x & y : x ^ y);
    auto element = [](uint32_t word, unsigned i, bool isSigned) {
      auto top = word << (28 - 4 * i);
      return isSigned ? static_cast<int32_t>(top) >> 28 : static_cast<int32_t>(top >> 28);
    };
    int32_t sum = 0;
    for (unsigned i = 0; i < 8; ++i)
      sum += element(x, i, signedA) * element(y, i, signedB);
    return sum;
  }
};

// Narrow elements are placed by the rule of wider ones: rows and columns meet register by register, whatever these hold.
template <bool Tall> void runNarrowMma(Warp &warp, const Op &op) {
  if (!needWholeWarp(warp, op))
    return;
  auto form = formOf<NarrowForm>(op);
  const Shape &shape = form.shape;
  const uint32_t *d = op.rows, *a = d + shape.registersC, *b = a + shape.registersA,
                 *c = b + shape.registersB;
  uint32_t results[4][kLanes];
  for (unsigned i = 0; i < shape.registersC; ++i)
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      unsigned g = lane / 4, half = i / 2, column = lane % 4 * 2 + i % 2;
      int64_t sum = static_cast<int32_t>(warp.row<uint32_t>(c[i])[lane]);
      for (unsigned r = 0; r < shape.registersB; ++r)
        for (unsigned t = 0; t < 4; ++t)
          sum += form.dot(warp.row<uint32_t>(a[Tall ? 2 * r + half : r])[4 * g + t],
                          warp.row<uint32_t>(b[r])[4 * column + t]);
      results[i][lane] = static_cast<uint32_t>(
          form.saturates ? std::clamp<int64_t>(sum, INT32_MIN, INT32_MAX) : sum);
    }
  if (warp.shadow)
    mmaValidity(warp, op, shape, Tall);
  for (unsigned i = 0; i < shape.registersC; ++i)
    std::copy_n(results[i], kLanes, warp.row<uint32_t>(d[i]));
}

// A combination of types that PTX has. Its depths are bits of a mask: k8 is 8.
struct Form {
  std::string_view a, b, d;
  unsigned depths, shortDepths; // of m16n8 and of m8n8
};
constexpr Form kForms[] = {
    {"f16", "f16", "f32", 8 | 16, 0},    {"f16", "f16", "f16", 8 | 16, 0},
    {"bf16", "bf16", "f32", 8 | 16, 0},  {"tf32", "tf32", "f32", 4 | 8, 0},
    {"e4m3", "e4m3", "f32", 16 | 32, 0}, {"e5m2", "e5m2", "f32", 16 | 32, 0},
    {"e4m3", "e5m2", "f32", 16 | 32, 0}, {"e5m2", "e4m3", "f32", 16 | 32, 0},
    {"e4m3", "e4m3", "f16", 16 | 32, 0}, {"e5m2", "e5m2", "f16", 16 | 32, 0},
    {"e4m3", "e5m2", "f16", 16 | 32, 0}, {"e5m2", "e4m3", "f16", 16 | 32, 0},
    {"s8", "s8", "s32", 16 | 32, 16},    {"s8", "u8", "s32", 16 | 32, 16},
    {"u8", "s8", "s32", 16 | 32, 16},    {"u8", "u8", "s32", 16 | 32, 16},
    {"s4", "s4", "s32", 32 | 64, 32},    {"s4", "u4", "s32", 32 | 64, 32},
    {"u4", "s4", "s32", 32 | 64, 32},    {"u4", "u4", "s32", 32 | 64, 32},
    {"b1", "b1", "s32", 128 | 256, 128}, {"f64", "f64", "f64", 4 | 8 | 16, 4},
};

TensorElement elementOf(std::string_view name) {
  constexpr std::string_view kNames[] = {"f16", "bf16", "tf32", "e4m3", "e5m2", "u8", "s8"};
  return static_cast<TensorElement>(std::ranges::find(kNames, name) - kNames);
}

SumType sumOf(std::string_view name, bool saturate) {
  if (name == "s32")
    return saturate ? SumType::S32Saturated : SumType::S32;
  return name == "f16" ? SumType::F16 : SumType::F32;
}

void decodeMma(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes) {
  if (isSparseMma(instruction))
    return decodeSparseMma(decoder, instruction, suffixes);
  if (isQuadMma(instruction))
    return decodeQuadMma(decoder, instruction, suffixes);
  std::string_view shapeName =
      suffixes.takeOneOf({"m16n8k4", "m16n8k8", "m16n8k16", "m16n8k32", "m16n8k64", "m16n8k128",
                          "m16n8k256", "m8n8k4", "m8n8k16", "m8n8k32", "m8n8k128"});
  auto takeElement = [&] {
    return suffixes.takeOneOf(
        {"f16", "bf16", "tf32", "f32", "f64", "s32", "s8", "u8", "s4", "u4", "b1", "e4m3", "e5m2"});
  };
  bool isAligned = suffixes.take("sync") && suffixes.take("aligned") && takeRowCol(suffixes);
  bool saturate = suffixes.take("satfinite");
  std::string_view d = takeElement(), a = takeElement(), b = takeElement(), c = takeElement();
  unsigned depth = 0;
  for (char digit : shapeName.substr(std::min(shapeName.size(), shapeName.rfind('k') + 1)))
    depth = depth * 10 + static_cast<unsigned>(digit - '0');
  bool tall = shapeName.starts_with("m16"), isDouble = d == "f64";
  bool areBits = a == "b1", isNarrow = areBits || a == "s4" || a == "u4";
  std::string_view bitOperation = areBits ? suffixes.takeOneOf({"and", "xor"}) : "";
  if (areBits && (bitOperation.empty() || !suffixes.take("popc") || saturate))
    decoder.unsupported("expected .and.popc or .xor.popc, without .satfinite");
  auto isModelled = [&](const Form &known) {
    return known.a == a && known.b == b && known.d == d && (!saturate || d == "s32") &&
           ((tall ? known.depths : known.shortDepths) & depth);
  };
  if (!isAligned || d != c || std::ranges::none_of(kForms, isModelled))
    decoder.unsupported("this shape and combination of types is not modelled");
  Handler handler = isNarrow   ? (tall ? runNarrowMma<true> : runNarrowMma<false>)
                    : isDouble ? (tall ? runDoubleMma<true> : runDoubleMma<false>)
                               : (tall ? runMma<true> : runMma<false>);
  MmaForm form;
  if (!isDouble && !isNarrow)
    form = {{}, elementOf(a), elementOf(b), sumOf(d, saturate)};
  unsigned e = isDouble   ? 1
               : areBits  ? 32
               : isNarrow ? 8
                          : elementsPerWord(form.a),
           rows = tall ? 16 : 8;
  Shape &shape = form.shape;
  shape.depth = static_cast<uint8_t>(depth);
  shape.registersA = static_cast<uint8_t>(rows * depth / (kLanes * e));
  shape.registersB = static_cast<uint8_t>(8 * depth / (kLanes * e));
  shape.registersC = static_cast<uint8_t>((tall ? 4 : 2) / (d == "f16" ? 2 : 1));
  ScalarType inputType = isDouble ? ScalarType::B64 : ScalarType::B32;
  ScalarType sumType = isDouble ? ScalarType::B64 : ScalarType::B32;
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
  if (!isNarrow) {
    decoder.emitWide(handler, targets, sources, 0, form, kOwnValidity);
    return;
  }
  using Bits = NarrowForm::Bits;
  NarrowForm narrow = {.shape = shape,
                       .signedA = a == "s4",
                       .signedB = b == "s4",
                       .saturates = saturate,
                       .bits = !areBits                ? Bits::No
                               : bitOperation == "and" ? Bits::And
                                                       : Bits::Xor};
  decoder.emitWide(handler, targets, sources, 0, narrow, kOwnValidity);
}

bool areWhole(const Warp &warp, std::span<const uint32_t> rows) {
  uint32_t whole = kFullMask;
  for (uint32_t row : rows)
    whole &= warp.shadow.whole(row);
  return whole == kFullMask;
}

// Each fragment is asked about once, as long as all are initialised.
void batchValidity(Warp &warp, const MmaBatch &batch, std::span<const Op> all, const Shape &shape) {
  if (!areWhole(warp, batch.a) || !areWhole(warp, batch.b)) {
    for (const Op &each : all)
      if (!mmaRows(each).results.empty())
        mmaValidity(warp, each, shape, true);
    return;
  }
  for (size_t i = 0; i < batch.results.size(); ++i)
    warp.shadow.set(batch.results[i], warp.shadow.whole(batch.sums[i]), kFullMask);
}

// TimeForm::number: m x n / 128 times the bytes of the depth / 4.
TimeForm timeOfMma(const Instruction &instruction) {
  uint32_t bits = widthOf(instruction), macs = macsOf(instruction);
  for (std::string_view word : instruction.suffix)
    for (auto [name, width] : {std::pair("bf16", 16u),
                               {"f16", 16u},
                               {"tf32", 32u},
                               {"s8", 8u},
                               {"u8", 8u},
                               {"e4m3", 8u},
                               {"e5m2", 8u},
                               {"f64", 64u}})
      bits = word == name ? width : bits;
  return {.kind = TimeKind::Mma,
          .cost = Cost::Issue,
          .pipe = Pipe::Tensor,
          .number = static_cast<uint16_t>(macs * bits / 8 / 512),
          .makesFloats = true};
}

const OpcodeInfo kOpcodes[] = {
    {.name = "mma",
     .decode = decodeMma,
     .time = timeOfMma,
     .kind = always<InstructionClass::Tensor>,
     .orders = {{"row col > row col > and xor > popc"}},
     .requirements = {{"", 70, 64},
                      {"m16n8k8.f16", 75, 65},
                      {"m16n8k16.f16", 80, 70},
                      {"bf16", 80, 70},
                      {"tf32", 80, 70},
                      {"e4m3", 89, 84},
                      {"e5m2", 89, 84},
                      {"m16n8k16.e4m3", 89, 87},
                      {"m16n8k16.e5m2", 89, 87},
                      {"f16.e4m3", 89, 87},
                      {"f16.e5m2", 89, 87},
                      {"m8n8k16", 75, 65},
                      {"m8n8k32", 75, 65},
                      {"m16n8k16.s32", 80, 70},
                      {"m16n8k32", 80, 70},
                      {"m16n8k64", 80, 70},
                      {"m8n8k128", 75, 70},
                      {"m16n8k128", 80, 70},
                      {"m16n8k256", 80, 70},
                      {"and.popc", 80, 71},
                      {"m8n8k4.f64", 80, 70},
                      {"m16n8k4.f64", 90, 78},
                      {"m16n8k8.f64", 90, 78},
                      {"m16n8k16.f64", 90, 78},
                      {"sp", 80, 71},
                      {"sp::ordered_metadata", 80, 85}}},
};

} // namespace

MmaRows mmaRows(const Op &op) {
  return op.real == runMma<true> ? rowsOf(op, formOf<MmaForm>(op)) : MmaRows{};
}

const MmaBatch *batchOf(const Program &program, const Op &op) {
  return op.run == runMmaBatch ? &program.mmaBatches[static_cast<size_t>(op.imm)] : nullptr;
}

void runMmaBatch(Warp &warp, const Op &op) {
  const Launch &launch = *warp.cta->launch;
  const MmaBatch &batch = *batchOf(launch.program(), op);
  // One by one where each is counted, and to report what is wrong.
  if (warp.mask != kFullMask || launch.setup().counting)
    return op.real(warp, op);
  auto form = formOf<MmaForm>(op);
  std::span<const Op> all(&op, batch.operations);
  for (uint32_t at : batch.between)
    all[at].run(warp, all[at]);
  if (warp.shadow)
    batchValidity(warp, batch, all, form.shape);
  multiplyBatch(warp, batch, form.shape, form.product());
  warp.instructions += batch.issues;
  warp.pc += batch.operations - 1;
}

OpcodeRows mmaOpcodes() { return kOpcodes; }

} // namespace tile::vgpu
