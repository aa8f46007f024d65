// Operands of tensor cores from registers and shared memory, and the portable kernels.
#include "runtime/vgpu/isa/tensor/TensorCore.h"

#include "runtime/vgpu/isa/alu/HalfFormat.h"
#include "runtime/vgpu/isa/tensor/TensorCoreX86.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

namespace tile::vgpu {
namespace {

constexpr unsigned kLaneCount = 32, kWords = 4, kStepFloats = 2 * kLaneCount;
constexpr uint32_t kSignBit = 0x80000000;

/// The index of a column in a row of a block.
constexpr unsigned columnPlace(unsigned column) { return column % 2 * 4 + column / 2; }

float elementOf(TensorElement element, uint32_t word, unsigned j) {
  uint32_t code = word >> (j * (32 / elementsPerWord(element))), byte = code & 255;
  auto half = static_cast<uint16_t>(code);
  switch (element) {
  case TensorElement::F16:
    return halfToFloat(half);
  case TensorElement::BF16:
    return bfloatToFloat(half);
  case TensorElement::TF32:
    return std::bit_cast<float>(word & 0xffffe000u);
  case TensorElement::E4M3:
    return static_cast<float>(decodeFloat(byte, kE4m3Format));
  case TensorElement::E5M2:
    return static_cast<float>(decodeFloat(byte, kE5m2Format));
  case TensorElement::U8:
    return static_cast<float>(byte);
  case TensorElement::S8:
    return static_cast<int8_t>(byte);
  }
  return 0;
}

void convertPortable(TensorElement element, const uint32_t *words, float *values, size_t stride,
                     uint32_t flip) {
  for (unsigned j = 0; j < elementsPerWord(element); ++j)
    for (unsigned i = 0; i < kLaneCount; ++i)
      values[j * stride + i] =
          std::bit_cast<float>(std::bit_cast<uint32_t>(elementOf(element, words[i], j)) ^ flip);
}

void convertColumnsPortable(TensorElement element, ConstRegisters chunks, unsigned count,
                            float *rows) {
  unsigned e = elementsPerWord(element);
  for (unsigned chunk = 0; chunk < count; ++chunk, rows += kWords * e * kBlockColumns)
    for (unsigned column = 0; column < kBlockColumns; ++column)
      for (unsigned word = 0; word < kWords; ++word)
        for (unsigned j = 0; j < e; ++j)
          rows[(word * e + j) * kBlockColumns + columnPlace(column)] =
              elementOf(element, chunks[chunk][column * kWords + word], j);
}

void convertRowsPortable(TensorElement element, const uint8_t *const *elements, unsigned depth,
                         float *rows) {
  for (unsigned k = 0; k < depth; ++k)
    for (unsigned column = 0; column < kBlockColumns; ++column) {
      uint16_t bits;
      std::memcpy(&bits, elements[k] + 2 * column, 2);
      rows[k * kBlockColumns + columnPlace(column)] = elementOf(element, bits, 0);
    }
}

// Element i of C or D of a lane, in the registers of a block.
struct SumPlace {
  SumType type;
  unsigned i, lane;
  unsigned registerIndex() const { return type == SumType::F16 ? i / 2 : i; }
  uint32_t read(ConstRegisters block) const {
    uint32_t bits = block[registerIndex()][lane];
    return type == SumType::F16 ? bits >> (16 * (i % 2)) & 0xffff : bits;
  }
  void write(Registers block, uint32_t bits) const {
    uint32_t &target = block[registerIndex()][lane];
    unsigned shift = 16 * (i % 2);
    target = type == SumType::F16 ? (target & ~(0xffffu << shift)) | bits << shift : bits;
  }
};

unsigned registersPerBlock(SumType type) { return type == SumType::F16 ? 2 : 4; }

float sumValue(SumType type, uint32_t bits) {
  return type == SumType::F16 ? halfToFloat(static_cast<uint16_t>(bits))
                              : std::bit_cast<float>(bits);
}

uint32_t addInteger(float products, uint32_t c, bool saturates) {
  int64_t total = static_cast<int64_t>(products) + static_cast<int32_t>(c);
  if (saturates)
    total = std::clamp<int64_t>(total, INT32_MIN, INT32_MAX);
  return static_cast<uint32_t>(total);
}

// Visits every element of D: visit(place, registers of C's block or null, of D's block, A's and B's values by k).
template <class Visit>
void forSums(const ProductShape &shape, const float *a, const float *b, ConstRegisters c,
             Registers d, Visit visit) {
  unsigned depth = shape.depth(), e = elementsPerWord(shape.a),
           perBlock = registersPerBlock(shape.sum);
  for (unsigned block = 0; block < shape.blocks; ++block)
    for (unsigned i = 0; i < 4; ++i)
      for (unsigned lane = 0; lane < kLaneCount; ++lane) {
        std::array<float, kMaxChunks * kWords * kMaxWordElements> rowA, columnB;
        for (unsigned k = 0; k < depth; ++k) {
          unsigned chunk = k / (kWords * e), word = k / e % kWords, j = k % e;
          rowA[k] = a[((chunk * e + j) * 2 + i / 2) * kLaneCount + lane / 4 * 4 + word];
          columnB[k] = b[(block * depth + k) * kBlockColumns + columnPlace(lane % 4 * 2 + i % 2)];
        }
        visit(SumPlace{shape.sum, i, lane}, c ? c + block * perBlock : nullptr,
              d + block * perBlock, std::span<const float>(rowA.data(), depth),
              std::span<const float>(columnB.data(), depth));
      }
}

uint32_t finishSum(SumType type, float sum, uint32_t c) {
  switch (type) {
  case SumType::F32:
    return sum != sum ? 0x7fffffffu : std::bit_cast<uint32_t>(sum);
  case SumType::F16:
    return floatToHalf(sum);
  default:
    return addInteger(sum, c, type == SumType::S32Saturated);
  }
}

void multiplyPortable(const ProductShape &shape, const float *a, const float *b, ConstRegisters c,
                      Registers d) {
  unsigned e = elementsPerWord(shape.a), perBlock = registersPerBlock(shape.sum);
  bool startsAtC = c && (shape.sum == SumType::F32 || shape.sum == SumType::F16);
  for (unsigned block = 0; block < shape.blocks; ++block)
    for (unsigned i = 0; i < 4; ++i) {
      float sums[kLaneCount];
      uint32_t starts[kLaneCount] = {};
      for (unsigned lane = 0; lane < kLaneCount; ++lane) {
        starts[lane] = c ? SumPlace{shape.sum, i, lane}.read(c + block * perBlock) : 0;
        sums[lane] = startsAtC ? sumValue(shape.sum, starts[lane]) : 0;
      }
      for (unsigned k = 0; k < shape.depth(); ++k) {
        unsigned step = k / (kWords * e) * e + k % e, word = k / e % kWords;
        const float *rows = a + step * kStepFloats + i / 2 * kLaneCount + word,
                    *columns = b + (block * shape.depth() + k) * kBlockColumns + i % 2 * 4;
        for (unsigned lane = 0; lane < kLaneCount; ++lane)
          sums[lane] = std::fma(rows[lane / 4 * 4], columns[lane % 4], sums[lane]);
      }
      for (unsigned lane = 0; lane < kLaneCount; ++lane)
        SumPlace{shape.sum, i, lane}.write(d + block * perBlock,
                                           finishSum(shape.sum, sums[lane], starts[lane]));
    }
}

std::vector<const TensorKernels *> kernelsOfProcessor() {
  static const TensorKernels portable = {"portable", convertPortable, convertColumnsPortable,
                                         convertRowsPortable, multiplyPortable};
  std::vector<const TensorKernels *> all = {&portable};
#ifdef __x86_64__
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") ||
      !__builtin_cpu_supports("f16c"))
    return all;
  all.push_back(&kAvx2Kernels);
  if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512bw") ||
      !__builtin_cpu_supports("avx512dq") || !__builtin_cpu_supports("avx512vl"))
    return all;
  all.push_back(&kAvx512Kernels);
#endif
  return all;
}

void storeA(const ProductShape &shape, unsigned chunk, unsigned half, const uint32_t *words,
            PreparedA &a, const TensorKernels &kernels) {
  float *values = a.values + chunk * elementsPerWord(shape.a) * kStepFloats + half * kLaneCount;
  kernels.convert(shape.a, words, values, kStepFloats, shape.negate ? kSignBit : 0);
}

} // namespace

std::span<const TensorKernels *const> tensorKernels() {
  static const std::vector<const TensorKernels *> kernels = kernelsOfProcessor();
  return kernels;
}

const TensorKernels &bestTensorKernels() {
  static const TensorKernels &best = *tensorKernels().back();
  return best;
}

void prepareA(const ProductShape &shape, ConstRegisters registers, PreparedA &a,
              const TensorKernels &kernels) {
  for (unsigned i = 0; i < 2 * shape.chunks; ++i)
    storeA(shape, i / 2, i % 2, registers[i], a, kernels);
}

std::optional<uint32_t> prepareA(const ProductShape &shape, std::span<const SharedMatrix> matrices,
                                 const SharedBytes &shared, unsigned warp, PreparedA &a,
                                 const TensorKernels &kernels) {
  constexpr unsigned kHalves = kChunkBytes / 2;
  uint32_t elementBytes = 4 / elementsPerWord(shape.a);
  for (unsigned chunk = 0; chunk < shape.chunks; ++chunk)
    for (unsigned half = 0; half < 2; ++half) {
      const SharedMatrix &matrix = matrices[chunk / kChunksOfMatrix];
      alignas(64) uint32_t words[kLaneCount];
      for (unsigned i = 0; i < 8; ++i) {
        // A row's words, or all rows' elements of one k.
        uint32_t row = 16 * warp + 8 * half,
                 k = chunk % kChunksOfMatrix * (kChunkBytes / elementBytes);
        uint32_t address = matrix.mnMajor ? matrix.address(row, k + i, elementBytes)
                                          : matrix.address(row + i, k, elementBytes);
        const uint8_t *source = shared.chunk(address);
        if (!source)
          return address;
        if (!matrix.mnMajor) {
          std::memcpy(words + i * kWords, source, kChunkBytes);
          continue;
        }
        for (unsigned g = 0; g < kHalves; ++g)
          std::memcpy(reinterpret_cast<uint8_t *>(words + g * kWords) + 2 * i, source + 2 * g, 2);
      }
      storeA(shape, chunk, half, words, a, kernels);
    }
  return std::nullopt;
}

void prepareB(const ProductShape &shape, ConstRegisters registers, PreparedB &b,
              const TensorKernels &kernels) {
  kernels.convertColumns(shape.b, registers, shape.blocks * shape.chunks, b.values);
}

void prepareB(const ProductShape &shape, ConstRegisters registers, PreparedBlock &b,
              const TensorKernels &kernels) {
  kernels.convertColumns(shape.b, registers, shape.chunks, b.values);
}

// Columns are neighbours in memory. A matrix is `depth` of the shape's rows.
static std::optional<uint32_t> prepareRows(const ProductShape &shape, const SharedMatrix &matrix,
                                           const SharedBytes &shared, float *b,
                                           const TensorKernels &kernels) {
  constexpr unsigned kDepth = kMatrixDepthBytes / 2; // these have 16 bits
  unsigned depth = std::min(shape.depth(), kDepth);
  for (unsigned block = 0; block < shape.blocks; ++block) {
    const uint8_t *elements[kDepth];
    for (unsigned k = 0; k < depth; ++k) {
      uint32_t address = matrix.address(block * kBlockColumns, k, 2);
      elements[k] = shared.chunk(address);
      if (!elements[k])
        return address;
    }
    kernels.convertRows(shape.b, elements, depth, b + block * shape.depth() * kBlockColumns);
  }
  return std::nullopt;
}

// Each column's elements are neighbours in memory.
static std::optional<uint32_t> prepareColumns(const ProductShape &shape, const SharedMatrix &matrix,
                                              const SharedBytes &shared, float *b,
                                              const TensorKernels &kernels) {
  uint32_t elementBytes = 4 / elementsPerWord(shape.b);
  unsigned count = std::min(shape.chunks, kChunksOfMatrix);
  alignas(64) uint32_t words[kChunksOfMatrix][kLaneCount];
  const uint32_t *chunks[] = {words[0], words[1]};
  for (unsigned block = 0; block < shape.blocks; ++block) {
    for (unsigned chunk = 0; chunk < count; ++chunk)
      for (unsigned i = 0; i < kBlockColumns; ++i) {
        uint32_t address = matrix.address(block * kBlockColumns + i,
                                          chunk * (kChunkBytes / elementBytes), elementBytes);
        const uint8_t *source = shared.chunk(address);
        if (!source)
          return address;
        std::memcpy(words[chunk] + i * kWords, source, kChunkBytes);
      }
    kernels.convertColumns(shape.b, chunks, count, b + block * shape.depth() * kBlockColumns);
  }
  return std::nullopt;
}

std::optional<uint32_t> prepareB(const ProductShape &shape, std::span<const SharedMatrix> matrices,
                                 const SharedBytes &shared, PreparedB &b,
                                 const TensorKernels &kernels) {
  size_t floatsOfMatrix = kMatrixDepthBytes / 4 * elementsPerWord(shape.b) * kBlockColumns;
  float *values = b.values;
  for (const SharedMatrix &matrix : matrices) {
    auto prepare = matrix.mnMajor ? prepareRows : prepareColumns;
    if (std::optional<uint32_t> outside = prepare(shape, matrix, shared, values, kernels))
      return outside;
    values += floatsOfMatrix;
  }
  return std::nullopt;
}

void multiply(const ProductShape &shape, const PreparedA &a, const PreparedB &b, ConstRegisters c,
              Registers d, const TensorKernels &kernels) {
  kernels.multiply(shape, a.values, b.values, c, d);
}

void multiply(const ProductShape &shape, const PreparedA &a, const PreparedB &b, unsigned firstB,
              ConstRegisters c, Registers d, const TensorKernels &kernels) {
  kernels.multiply(shape, a.values, b.values + firstB * shape.depth() * kBlockColumns, c, d);
}

void multiply(const ProductShape &shape, const PreparedA &a, const PreparedBlock &b,
              ConstRegisters c, Registers d, const TensorKernels &kernels) {
  kernels.multiply(shape, a.values, b.values, c, d);
}

std::optional<SumRule> hardwareRule(int arch, const ProductShape &shape, bool isWgmma) {
  bool isFloat = shape.sum == SumType::F32 || shape.sum == SumType::F16;
  return arch && isFloat ? std::optional(sumRule(arch, shape.a, isWgmma)) : std::nullopt;
}

static void multiplyByRule(const SumRule &rule, const ProductShape &shape, const float *a,
                           const float *b, ConstRegisters c, Registers d) {
  SumResult result = shape.sum == SumType::F16 ? SumResult::F16 : SumResult::F32;
  forSums(shape, a, b, c, d,
          [&](SumPlace place, ConstRegisters blockC, Registers blockD, std::span<const float> rowA,
              std::span<const float> columnB) {
            float start = blockC ? sumValue(shape.sum, place.read(blockC)) : 0;
            place.write(blockD, tensorSum(rule, shape.a, shape.b, rowA, columnB, start, result));
          });
}

void multiplyAs(const SumRule &rule, const ProductShape &shape, const PreparedA &a,
                const PreparedB &b, ConstRegisters c, Registers d, unsigned firstB) {
  multiplyByRule(rule, shape, a.values, b.values + firstB * shape.depth() * kBlockColumns, c, d);
}

void multiplyAs(const SumRule &rule, const ProductShape &shape, const PreparedA &a,
                const PreparedBlock &b, ConstRegisters c, Registers d) {
  multiplyByRule(rule, shape, a.values, b.values, c, d);
}

} // namespace tile::vgpu
