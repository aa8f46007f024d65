// mma.sync.aligned.m8n8k4 with f16 operands: product q belongs to lanes 4q to 4q+3 and 16+4q to 16+4q+3.
//
// Of these, with t = lane % 4 and the upper lanes from 16 on counting 4 more (h):
//   A row: element i at (t+h, i)   col: (i+h, t)           B row: (t, i+h)   col: (i, t+h)
//   C and D of f16: (t+h, i)       of f32: ((t & 1) + (i & 2) + h, (i & 4) + (t & 2) + (i & 1))
// Sums are chains of f32 fused multiply-adds in order of k.
#include "runtime/vgpu/isa/tensor/MmaQuads.h"

#include "runtime/vgpu/isa/alu/HalfFormat.h"
#include "runtime/vgpu/machine/Lanes.h"

#include <algorithm>

namespace tile::vgpu {
namespace {

constexpr unsigned kSize = 8, kDepth = 4, kQuads = 4, kRegistersOfInput = 2;

struct Form {
  bool rowA = false, rowB = false; // else by columns
  bool halfC = false, halfD = false;

  static unsigned registers(bool half) { return half ? 4 : 8; }
};

struct Value {
  float number = 0;
  bool isGood = true; // initialised
};

Value readHalf(Warp &warp, uint32_t row, unsigned lane, unsigned which) {
  uint32_t word = warp.row<uint32_t>(row)[lane];
  return {halfToFloat(static_cast<uint16_t>(word >> (16 * which))),
          !warp.shadow || (warp.shadow.whole(row) >> lane & 1) != 0};
}

Value readSum(Warp &warp, const uint32_t *rows, bool half, unsigned lane, unsigned i) {
  if (half)
    return readHalf(warp, rows[i / 2], lane, i % 2);
  return {warp.row<float>(rows[i])[lane],
          !warp.shadow || (warp.shadow.whole(rows[i]) >> lane & 1) != 0};
}

struct Place {
  unsigned row, column;
};
Place placeOfSum(bool half, unsigned lane, unsigned i) {
  unsigned t = lane % 4, upper = lane / 16 * 4;
  if (half)
    return {t + upper, i};
  return {(t & 1) + (i & 2) + upper, (i & 4) + (t & 2) + (i & 1)};
}

// One product's operands and sums.
struct Product {
  Value a[kSize][kDepth], b[kDepth][kSize], sums[kSize][kSize];

  void gather(Warp &warp, const Form &form, const uint32_t *rowsA, const uint32_t *rowsC,
              unsigned lane) {
    const uint32_t *rowsB = rowsA + kRegistersOfInput;
    unsigned t = lane % 4, upper = lane / 16 * 4;
    for (unsigned i = 0; i < kDepth; ++i) {
      Value fromA = readHalf(warp, rowsA[i / 2], lane, i % 2),
            fromB = readHalf(warp, rowsB[i / 2], lane, i % 2);
      (form.rowA ? a[t + upper][i] : a[i + upper][t]) = fromA;
      (form.rowB ? b[t][i + upper] : b[i][t + upper]) = fromB;
    }
    for (unsigned i = 0; i < kSize; ++i) {
      Place place = placeOfSum(form.halfC, lane, i);
      sums[place.row][place.column] = readSum(warp, rowsC, form.halfC, lane, i);
    }
  }

  void multiply() {
    for (unsigned row = 0; row < kSize; ++row)
      for (unsigned column = 0; column < kSize; ++column)
        for (unsigned k = 0; k < kDepth; ++k) {
          Value &sum = sums[row][column];
          sum.number = std::fma(a[row][k].number, b[k][column].number, sum.number);
          sum.isGood &= a[row][k].isGood && b[k][column].isGood;
        }
  }

  void scatter(Warp &warp, const Form &form, const uint32_t *rowsD, unsigned lane) const {
    for (unsigned i = 0; i < kSize; ++i) {
      Place place = placeOfSum(form.halfD, lane, i);
      const Value &sum = sums[place.row][place.column];
      uint32_t row = rowsD[form.halfD ? i / 2 : i];
      uint32_t &word = warp.row<uint32_t>(row)[lane];
      bool isGood = sum.isGood;
      if (!form.halfD) {
        word = std::isnan(sum.number) ? 0x7fffffffu : std::bit_cast<uint32_t>(sum.number);
      } else {
        uint32_t half = floatToHalf(sum.number);
        word = i % 2 ? (word & 0xffff) | half << 16 : half;
        if (i % 2 && warp.shadow)
          isGood &= (warp.shadow.whole(row) >> lane & 1) != 0;
      }
      if (warp.shadow)
        warp.shadow.set(row, isGood ? kFullMask : 0, 1u << lane);
    }
  }
};

// Rows: D, A, B, C.
void runQuads(Warp &warp, const Op &op) {
  if (!warp.converged(op, kFullMask))
    return;
  if (warp.mask != kFullMask)
    warp.stop(op, FindingKind::Divergence, LaneMask{warp.mask},
              "mma needs all 32 lanes of the warp");
  auto form = formOf<Form>(op);
  const uint32_t *rowsA = op.rows + op.targets, *rowsC = rowsA + 2 * kRegistersOfInput;
  Product products[kQuads];
  for (unsigned lane = 0; lane < kLanes; ++lane)
    products[lane % 16 / 4].gather(warp, form, rowsA, rowsC, lane);
  for (Product &product : products)
    product.multiply();
  for (unsigned lane = 0; lane < kLanes; ++lane)
    products[lane % 16 / 4].scatter(warp, form, op.rows, lane);
}

bool takeLayout(Decoder &decoder, Suffixes &suffixes) {
  std::string_view layout = suffixes.first() == "row" ? "row" : "col";
  if (!suffixes.take(layout))
    decoder.unsupported("expected .row or .col");
  return layout == "row";
}

} // namespace

bool isQuadMma(const Instruction &instruction) {
  return std::ranges::count(instruction.suffix, "m8n8k4") &&
         std::ranges::count(instruction.suffix, "f16");
}

void decodeQuadMma(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes) {
  // In the order of the text: shape, layouts of A and B, types of D, A, B, C.
  bool whole = suffixes.take("sync") && suffixes.take("aligned") && suffixes.take("m8n8k4");
  if (!whole || instruction.suffix.size() != 9)
    decoder.unsupported("expected mma.sync.aligned.m8n8k4.LAYOUT.LAYOUT.D.f16.f16.C");
  Form form;
  form.rowA = takeLayout(decoder, suffixes);
  form.rowB = takeLayout(decoder, suffixes);
  std::string_view types[4];
  for (std::string_view &type : types)
    type = suffixes.takeOneOf({"f16", "f32"});
  form.halfD = types[0] == "f16";
  form.halfC = types[3] == "f16";
  if (types[1] != "f16" || types[2] != "f16" || types[3].empty() || (form.halfD && !form.halfC))
    decoder.unsupported("of f16 operands sums are f16, f32, or f32 of f16");
  decoder.wantOperands(instruction, 4);
  const size_t counts[] = {Form::registers(form.halfD), kRegistersOfInput, kRegistersOfInput,
                           Form::registers(form.halfC)};
  std::vector<uint32_t> targets, sources;
  for (size_t i = 0; i < 4; ++i) {
    const Operand &operand = instruction.operands[i];
    if (operand.parts.size() != counts[i])
      decoder.malformed("operand " + std::to_string(i + 1) + " needs " + std::to_string(counts[i]) +
                        " registers");
    for (const Operand &part : operand.parts)
      if (i == 0)
        targets.push_back(decoder.target(part, ScalarType::B32));
      else
        sources.push_back(decoder.source(part, ScalarType::B32));
  }
  decoder.emitWide(runQuads, targets, sources, 0, form, kOwnValidity);
}

} // namespace tile::vgpu
