// mma.sp and mma.sp::ordered_metadata. What is kept of A is a fragment of half the depth, as a dense one; B, C and D are
// those of the dense product. What is left out of A multiplies nothing: an infinity that meets it in B does no harm.
#include "runtime/vgpu/isa/tensor/MmaSparse.h"

#include "runtime/vgpu/isa/tensor/FragmentRules.h"
#include "runtime/vgpu/isa/tensor/Sparsity.h"
#include "runtime/vgpu/machine/Launch.h"

#include <algorithm>

namespace tile::vgpu {
namespace {

constexpr unsigned kMaxDepth = 128, kMaxRegisters = 4;

struct SparseForm {
  Sparsity sparsity; // of A
  Element b = Element::F16;
  SumType sum = SumType::F32;

  /// A has this many registers, and so has B: half the depth times twice the rows.
  unsigned registers() const { return sparsity.depth / (4 * elementsPerRegister(b)); }
};

void sparseValidity(Warp &warp, const Op &op, const SparseForm &form, const uint32_t *a,
                    const uint32_t *b, std::span<const uint32_t> c, uint32_t metadataRow) {
  GoodLines lines;
  for (unsigned r = 0; r < form.registers(); ++r) {
    lines.rows[r & 1] &= wholeQuads(warp.shadow.whole(a[r]));
    lines.columns &= wholeQuads(warp.shadow.whole(b[r]));
  }
  uint32_t known = wholeQuads(warp.shadow.whole(metadataRow) | ~metadataLanes(form.sparsity));
  for (uint32_t &rows : lines.rows)
    rows &= known;
  setSumValidity(warp, lines, 4, c, op.rows);
}

void runSparseMma(Warp &warp, const Op &op) {
  if (!needWholeWarp(warp, op))
    return;
  auto form = formOf<SparseForm>(op);
  const uint32_t *rowsA = op.rows + op.targets, *rowsB = rowsA + form.registers(),
                 *rowsC = rowsB + form.registers();
  uint32_t metadataRow = rowsC[op.targets];
  KeptRows a;
  const uint32_t *fragments[kMaxRegisters];
  for (unsigned r = 0; r < form.registers(); ++r)
    fragments[r] = warp.row<uint32_t>(rowsA[r]);
  readKept(form.sparsity, fragments, a);
  readMetadata(form.sparsity, warp.row<uint32_t>(metadataRow), a);
  float b[kMaxDepth * kBlockColumns];
  unsigned e = elementsPerRegister(form.b);
  for (unsigned k = 0; k < form.sparsity.depth; ++k)
    for (unsigned column = 0; column < kBlockColumns; ++column)
      b[k * kBlockColumns + column] =
          elementValue(form.b, warp.row<uint32_t>(rowsB[k / e / 4])[4 * column + k / e % 4], k % e);
  // D may take C's registers in another order, or A's.
  uint32_t starts[kMaxRegisters][kLanes], *d[kMaxRegisters];
  const uint32_t *c[kMaxRegisters];
  for (unsigned r = 0; r < op.targets; ++r) {
    std::copy_n(warp.row<uint32_t>(rowsC[r]), kLanes, starts[r]);
    c[r] = starts[r];
    d[r] = warp.row<uint32_t>(op.rows[r]);
  }
  reportMetadata(warp, op, form.sparsity, a, metadataRow);
  if (warp.shadow)
    sparseValidity(warp, op, form, rowsA, rowsB, {rowsC, op.targets}, metadataRow);
  int arch = warp.cta->launch->program().sumArch;
  multiplyKept(form.sparsity, a, b,
               {form.b, form.sum, 1, keptRule(arch, form.sparsity, form.sum, false)}, c, d);
}

struct Form {
  std::string_view a, b, d;
  unsigned depths; // bits: k16 is 16
};
constexpr Form kForms[] = {{"f16", "f16", "f32", 16 | 32},   {"f16", "f16", "f16", 16 | 32},
                           {"bf16", "bf16", "f32", 16 | 32}, {"tf32", "tf32", "f32", 8 | 16},
                           {"s8", "s8", "s32", 32 | 64},     {"s8", "u8", "s32", 32 | 64},
                           {"u8", "s8", "s32", 32 | 64},     {"u8", "u8", "s32", 32 | 64},
                           {"s4", "s4", "s32", 64 | 128},    {"s4", "u4", "s32", 64 | 128},
                           {"u4", "s4", "s32", 64 | 128},    {"u4", "u4", "s32", 64 | 128},
                           {"e4m3", "e4m3", "f32", 64},      {"e4m3", "e5m2", "f32", 64},
                           {"e5m2", "e4m3", "f32", 64},      {"e5m2", "e5m2", "f32", 64}};

Element elementOf(std::string_view name) {
  constexpr std::string_view kNames[] = {"f16", "bf16", "tf32", "e4m3", "e5m2",
                                         "u8",  "s8",   "u4",   "s4"};
  return static_cast<Element>(std::ranges::find(kNames, name) - kNames);
}

SparseForm takeForm(Decoder &decoder, Suffixes &suffixes) {
  SparseForm form;
  form.sparsity.isOrdered = suffixes.takePrefix("sp") == "sp::ordered_metadata";
  bool isWhole = suffixes.take("sync") && suffixes.take("aligned");
  std::string_view shape =
      suffixes.takeOneOf({"m16n8k8", "m16n8k16", "m16n8k32", "m16n8k64", "m16n8k128"});
  bool isPlaced = takeRowCol(suffixes);
  bool saturates = suffixes.take("satfinite");
  auto takeElement = [&] {
    return suffixes.takeOneOf(
        {"f16", "bf16", "tf32", "f32", "s32", "s8", "u8", "s4", "u4", "e4m3", "e5m2"});
  };
  std::string_view d = takeElement(), a = takeElement(), b = takeElement(), c = takeElement();
  unsigned depth =
      shape.empty() ? 0 : static_cast<unsigned>(std::atoi(std::string(shape.substr(6)).c_str()));
  auto isThis = [&](const Form &known) {
    return known.a == a && known.b == b && known.d == d && (known.depths & depth) &&
           (!saturates || d == "s32");
  };
  if (!isWhole || !isPlaced || d != c || std::ranges::none_of(kForms, isThis))
    decoder.unsupported("this shape and combination of types does not exist with a sparse matrix");
  form.sparsity.element = elementOf(a);
  form.sparsity.depth = static_cast<uint8_t>(depth);
  form.b = elementOf(b);
  form.sum = d == "f32"   ? SumType::F32
             : d == "f16" ? SumType::F16
             : saturates  ? SumType::S32Saturated
                          : SumType::S32;
  return form;
}

} // namespace

bool isSparseMma(const Instruction &instruction) {
  return std::ranges::any_of(instruction.suffix, isSparseVariant);
}

void decodeSparseMma(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes) {
  SparseForm form = takeForm(decoder, suffixes);
  decoder.wantOperands(instruction, 6);
  form.sparsity.selector = takeSelector(decoder, instruction.operands[5], form.sparsity);
  std::vector<uint32_t> targets, sources;
  unsigned sums = form.sum == SumType::F16 ? 2 : 4;
  const unsigned counts[] = {sums, form.registers(), form.registers(), sums, 1};
  for (size_t i = 0; i < std::size(counts); ++i) {
    const Operand &operand = instruction.operands[i];
    std::span<const Operand> parts = operand.kind == Operand::Kind::Vector
                                         ? std::span<const Operand>(operand.parts)
                                         : std::span<const Operand>(&operand, 1);
    if (parts.size() != counts[i])
      decoder.malformed("operand " + std::to_string(i + 1) + " needs " + std::to_string(counts[i]) +
                        " registers");
    for (const Operand &part : parts)
      if (i == 0)
        targets.push_back(decoder.target(part, ScalarType::B32));
      else
        sources.push_back(decoder.source(part, ScalarType::B32));
  }
  decoder.emitWide(runSparseMma, targets, sources, 0, form, kOwnValidity);
}

} // namespace tile::vgpu
