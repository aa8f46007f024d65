// The arithmetic of tensor cores: the portable kernels against products of plain matrices, all others against them bit by
// bit, and operands in shared memory against the same ones in registers.
#include "runtime/vgpu/isa/tensor/TensorCore.h"

#include "runtime/vgpu/isa/alu/HalfFormat.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

namespace tile::vgpu {
namespace {

using E = TensorElement;

struct ProductCase {
  const char *name;
  E a, b;
  SumType sum;
};

// Registers of one warp, 32 lanes each.
struct RegisterFile {
  explicit RegisterFile(size_t count) : words(count * 32), rows(count) {
    for (size_t i = 0; i < count; ++i)
      rows[i] = words.data() + 32 * i;
  }
  RegisterFile(const RegisterFile &other) : RegisterFile(other.rows.size()) { words = other.words; }
  ConstRegisters read() const { return rows.data(); }
  Registers write() { return rows.data(); }
  void randomize(std::mt19937 &random) {
    for (uint32_t &word : words)
      word = random();
  }

  std::vector<uint32_t> words;
  std::vector<uint32_t *> rows;
};

unsigned registersOfSum(const ProductShape &shape) {
  return shape.blocks * (shape.sum == SumType::F16 ? 2 : 4);
}

bool isInteger(SumType sum) { return sum == SumType::S32 || sum == SumType::S32Saturated; }

// Element k of a row of words.
double elementValue(E element, const uint32_t *words, unsigned k) {
  unsigned e = elementsPerWord(element), bits = 32 / e;
  uint32_t code = words[k / e] >> (k % e * bits);
  switch (element) {
  case E::F16:
    return decodeFloat(code & 0xffff, kHalfFormat);
  case E::BF16:
    return decodeFloat(code & 0xffff, kBfloatFormat);
  case E::TF32:
    return decodeFloat(code >> 13, kTf32Format);
  case E::E4M3:
    return decodeFloat(code & 255, kE4m3Format);
  case E::E5M2:
    return decodeFloat(code & 255, kE5m2Format);
  case E::U8:
    return code & 255;
  case E::S8:
    return static_cast<int8_t>(code);
  }
  return NAN;
}

// Rows of words by the fragments' rule: A's row, B's column.
std::vector<uint32_t> rowOfA(const RegisterFile &a, const ProductShape &shape, unsigned row) {
  std::vector<uint32_t> words;
  for (unsigned word = 0; word < shape.chunks * 4; ++word)
    words.push_back(a.rows[word / 4 * 2 + row / 8][row % 8 * 4 + word % 4]);
  return words;
}
std::vector<uint32_t> columnOfB(const RegisterFile &b, const ProductShape &shape, unsigned column) {
  std::vector<uint32_t> words;
  for (unsigned word = 0; word < shape.chunks * 4; ++word)
    words.push_back(b.rows[word / 4][column * 4 + word % 4]);
  return words;
}

uint32_t expectedSum(const ProductShape &shape, const std::vector<uint32_t> &a,
                     const std::vector<uint32_t> &b, uint32_t c) {
  if (isInteger(shape.sum)) {
    int64_t sum = static_cast<int32_t>(c);
    for (unsigned k = 0; k < shape.depth(); ++k)
      sum += static_cast<int64_t>(elementValue(shape.a, a.data(), k)) *
             static_cast<int64_t>(elementValue(shape.b, b.data(), k));
    if (shape.sum == SumType::S32Saturated)
      sum = std::clamp<int64_t>(sum, INT32_MIN, INT32_MAX);
    return static_cast<uint32_t>(sum);
  }
  float sum =
      shape.sum == SumType::F16 ? halfToFloat(static_cast<uint16_t>(c)) : std::bit_cast<float>(c);
  for (unsigned k = 0; k < shape.depth(); ++k) {
    auto factor = static_cast<float>(elementValue(shape.a, a.data(), k));
    sum = std::fma(shape.negate ? -factor : factor,
                   static_cast<float>(elementValue(shape.b, b.data(), k)), sum);
  }
  if (shape.sum == SumType::F16)
    return floatToHalf(sum);
  return std::isnan(sum) ? 0x7fffffff : std::bit_cast<uint32_t>(sum);
}

uint32_t sumAt(const ProductShape &shape, const RegisterFile &d, unsigned row, unsigned column) {
  unsigned block = column / 8, lane = row % 8 * 4 + column % 8 / 2, i = row / 8 * 2 + column % 2;
  if (shape.sum != SumType::F16)
    return d.rows[4 * block + i][lane];
  return d.rows[2 * block + i / 2][lane] >> (16 * (i % 2)) & 0xffff;
}

class Products : public testing::TestWithParam<ProductCase> {
protected:
  ProductShape shape(unsigned chunks, unsigned blocks = 1) const {
    const ProductCase &test = GetParam();
    return {test.a, test.b, test.sum, chunks, blocks, false};
  }
};

TEST_P(Products, OfRegistersEqualThoseOfMatrices) {
  std::mt19937 random(3);
  for (int trial = 0; trial < 40; ++trial) {
    ProductShape product = shape(1 + trial % 2);
    product.negate = trial % 3 == 2 && !isInteger(product.sum);
    RegisterFile a(2 * product.chunks), b(product.chunks), c(registersOfSum(product));
    a.randomize(random);
    b.randomize(random);
    c.randomize(random);
    RegisterFile d = c;
    PreparedA preparedA;
    PreparedB preparedB;
    const TensorKernels &portable = *tensorKernels()[0];
    prepareA(product, a.read(), preparedA, portable);
    prepareB(product, b.read(), preparedB, portable);
    multiply(product, preparedA, preparedB, c.read(), d.write(), portable);
    for (unsigned row = 0; row < 16; ++row)
      for (unsigned column = 0; column < 8; ++column)
        ASSERT_EQ(sumAt(product, d, row, column),
                  expectedSum(product, rowOfA(a, product, row), columnOfB(b, product, column),
                              sumAt(product, c, row, column)))
            << "row " << row << ", column " << column << ", trial " << trial;
  }
}

// Random bits are mostly huge numbers and, of 8-bit types, often NaN: these are small ones, some of them subnormal.
uint32_t smallWord(E element, std::mt19937 &random) {
  uint32_t masks[] = {0xbfffbfff, 0xbfffbfff, 0xbfffffff, 0xbfbfbfbf, 0xbfbfbfbf, ~0u, ~0u};
  return random() & masks[static_cast<int>(element)] & (random() % 4 ? ~0u : 0x83ff83ff);
}

TEST_P(Products, AreTheSameBitsOnEveryProcessor) {
  std::mt19937 random(5);
  for (unsigned blocks : {1u, 2u, 3u, 32u})
    for (int trial = 0; trial < 24; ++trial) {
      ProductShape product = shape(1 + trial % 2, blocks);
      product.negate = trial % 3 == 0 && !isInteger(product.sum);
      RegisterFile a(2 * product.chunks), c(registersOfSum(product));
      std::vector<uint8_t> bytes(blocks * 8 * 32);
      a.randomize(random);
      c.randomize(random);
      for (size_t i = 0; i < bytes.size(); i += 4) {
        uint32_t word = trial % 4 ? smallWord(product.b, random) : random();
        std::memcpy(&bytes[i], &word, 4);
      }
      if (trial % 4)
        for (uint32_t &word : a.words)
          word = smallWord(product.a, random);
      SharedMatrix matrix{0, 128, 256, 0, false};
      bool startsAtZero = trial % 5 == 4;
      std::vector<uint32_t> expected;
      for (const TensorKernels *kernels : tensorKernels()) {
        PreparedA preparedA;
        PreparedB preparedB;
        RegisterFile d = c;
        prepareA(product, a.read(), preparedA, *kernels);
        ASSERT_FALSE(prepareB(product, matrix, {bytes, 0}, preparedB, *kernels));
        multiply(product, preparedA, preparedB, startsAtZero ? nullptr : d.read(), d.write(),
                 *kernels);
        if (expected.empty())
          expected = d.words;
        ASSERT_EQ(d.words, expected) << kernels->name << ", " << blocks << " blocks, " << trial;
      }
    }
}

INSTANTIATE_TEST_SUITE_P(
    All, Products,
    testing::Values(ProductCase{"F16", E::F16, E::F16, SumType::F32},
                    ProductCase{"F16ToF16", E::F16, E::F16, SumType::F16},
                    ProductCase{"BF16", E::BF16, E::BF16, SumType::F32},
                    ProductCase{"TF32", E::TF32, E::TF32, SumType::F32},
                    ProductCase{"E4M3", E::E4M3, E::E4M3, SumType::F32},
                    ProductCase{"E4M3ToF16", E::E4M3, E::E5M2, SumType::F16},
                    ProductCase{"E5M2", E::E5M2, E::E4M3, SumType::F32},
                    ProductCase{"S8", E::S8, E::S8, SumType::S32},
                    ProductCase{"U8", E::U8, E::U8, SumType::S32},
                    ProductCase{"S8U8Saturated", E::S8, E::U8, SumType::S32Saturated},
                    ProductCase{"U8S8Saturated", E::U8, E::S8, SumType::S32Saturated}),
    [](const auto &test) { return std::string(test.param.name); });

TEST(TensorCore, SaturatedSumsStopAtBothEnds) {
  ProductShape shape{E::S8, E::S8, SumType::S32Saturated, 2, 1, false};
  for (const TensorKernels *kernels : tensorKernels()) {
    RegisterFile a(4), b(2), d(4);
    std::ranges::fill(a.words, 0x7f7f7f7f);
    std::ranges::fill(b.words, 0x7f7f7f7f);
    const uint32_t starts[] = {0x7fffffff, 0x80000000, 0x7fffffff - 32 * 127 * 127, 0};
    for (unsigned i = 0; i < 4; ++i)
      std::fill_n(d.rows[i], 32, starts[i]);
    PreparedA preparedA;
    PreparedB preparedB;
    prepareA(shape, a.read(), preparedA, *kernels);
    prepareB(shape, b.read(), preparedB, *kernels);
    multiply(shape, preparedA, preparedB, d.read(), d.write(), *kernels);
    const uint32_t sums[] = {0x7fffffff, 0x80000000 + 32 * 127 * 127, 0x7fffffff, 32 * 127 * 127};
    for (unsigned i = 0; i < 4; ++i)
      EXPECT_EQ(d.rows[i][7], sums[i]) << kernels->name << " " << i;
    std::ranges::fill(a.words, 0x80808080);
    std::fill_n(d.rows[0], 32, 0x80000001);
    prepareA(shape, a.read(), preparedA, *kernels);
    multiply(shape, preparedA, preparedB, d.read(), d.write(), *kernels);
    EXPECT_EQ(d.rows[0][31], 0x80000000u) << kernels->name;
  }
}

// Matrices in shared memory.

struct SharedCase {
  const char *name;
  E element;
  unsigned log2Chunks;
  bool mnMajor;
};

class SharedOperands : public testing::TestWithParam<SharedCase> {
protected:
  static constexpr uint32_t kBase = 1024;

  unsigned elementBytes() const { return 4 / elementsPerWord(GetParam().element); }

  // Densely packed from the base on.
  SharedMatrix layout() const {
    const SharedCase &test = GetParam();
    uint32_t pattern = 128u << test.log2Chunks, groups = 32 / elementBytes() / 8;
    SharedMatrix matrix{kBase, 16, pattern, test.log2Chunks, test.mnMajor};
    if (test.mnMajor)
      matrix.leadingBytes = groups * pattern;
    if (test.log2Chunks == 0) {
      matrix.leadingBytes = 128;
      matrix.strideBytes = test.mnMajor ? groups * 128 : 256;
    }
    return matrix;
  }

  // Writes rows of words through the descriptor's addresses, element by element.
  void place(const std::vector<std::vector<uint32_t>> &rows, std::vector<uint8_t> &bytes) const {
    unsigned size = elementBytes();
    for (uint32_t mn = 0; mn < rows.size(); ++mn)
      for (uint32_t k = 0; k < 32 / size; ++k)
        std::memcpy(&bytes[layout().address(mn, k, size) - kBase],
                    reinterpret_cast<const uint8_t *>(rows[mn].data()) + k * size, size);
  }

  std::vector<std::vector<uint32_t>> randomRows(size_t count, std::mt19937 &random) const {
    std::vector<std::vector<uint32_t>> rows(count, std::vector<uint32_t>(8));
    for (auto &row : rows)
      for (uint32_t &word : row)
        word = smallWord(GetParam().element, random);
    return rows;
  }
};

TEST_P(SharedOperands, AreThoseOfRegisters) {
  std::mt19937 random(11);
  E element = GetParam().element;
  constexpr unsigned kBlocks = 5;
  ProductShape shape{element, element, SumType::F32, 2, kBlocks, false};
  if (element == E::S8 || element == E::U8)
    shape.sum = SumType::S32;
  auto rowsA = randomRows(64, random), columnsB = randomRows(8 * kBlocks, random);
  std::vector<uint8_t> bytesA(64 * 1024), bytesB(64 * 1024);
  place(rowsA, bytesA);
  place(columnsB, bytesB);
  for (const TensorKernels *kernels : tensorKernels())
    for (unsigned warp = 0; warp < 4; ++warp) {
      PreparedA preparedA;
      PreparedB preparedB;
      ASSERT_FALSE(prepareA(shape, layout(), {bytesA, kBase}, warp, preparedA, *kernels));
      ASSERT_FALSE(prepareB(shape, layout(), {bytesB, kBase}, preparedB, *kernels));
      RegisterFile d(registersOfSum(shape));
      multiply(shape, preparedA, preparedB, nullptr, d.write(), *kernels);
      for (unsigned row = 0; row < 16; ++row)
        for (unsigned column = 0; column < 8 * kBlocks; ++column)
          ASSERT_EQ(sumAt(shape, d, row, column),
                    expectedSum(shape, rowsA[16 * warp + row], columnsB[column], 0))
              << kernels->name << ", warp " << warp << ", " << row << ", " << column;
    }
}

TEST_P(SharedOperands, DeepProductsAreThoseOfTheirParts) {
  E element = GetParam().element;
  if (element == E::S8 || element == E::U8)
    return; // integers are added to C at the end of each
  constexpr unsigned kBlocks = 3, kParts = 3;
  constexpr uint32_t kPartBytes = 16 * 1024;
  std::mt19937 random(13);
  std::vector<uint8_t> bytesA(kParts * kPartBytes), bytesB(kParts * kPartBytes);
  std::vector<SharedMatrix> matrices(kParts, layout());
  for (unsigned part = 0; part < kParts; ++part) {
    for (auto [bytes, count] : {std::pair(&bytesA, 64), std::pair(&bytesB, 8 * int{kBlocks})}) {
      std::vector<uint8_t> placed(64 * 1024);
      place(randomRows(static_cast<size_t>(count), random), placed);
      std::copy_n(placed.begin(), kPartBytes, bytes->begin() + part * kPartBytes);
    }
    matrices[part].start += part * kPartBytes;
  }
  for (const TensorKernels *kernels : tensorKernels()) {
    PreparedA a;
    PreparedB b;
    ProductShape part{element, element, SumType::F32, 2, kBlocks, false}, whole = part;
    whole.chunks *= kParts;
    RegisterFile expected(registersOfSum(part)), d(registersOfSum(part));
    for (const SharedMatrix &matrix : matrices) {
      ASSERT_FALSE(prepareA(part, matrix, {bytesA, kBase}, 1, a, *kernels));
      ASSERT_FALSE(prepareB(part, matrix, {bytesB, kBase}, b, *kernels));
      multiply(part, a, b, expected.read(), expected.write(), *kernels);
    }
    ASSERT_FALSE(prepareA(whole, matrices, {bytesA, kBase}, 1, a, *kernels));
    ASSERT_FALSE(prepareB(whole, matrices, {bytesB, kBase}, b, *kernels));
    multiply(whole, a, b, d.read(), d.write(), *kernels);
    EXPECT_EQ(d.words, expected.words) << kernels->name;
  }
}

TEST_P(SharedOperands, OutsideSharedMemoryAreReported) {
  ProductShape shape{GetParam().element, GetParam().element, SumType::F32, 2, 8, false};
  PreparedA preparedA;
  PreparedB preparedB;
  uint32_t dense = 64 * 32;
  if (!GetParam().mnMajor && GetParam().log2Chunks > 1) // wider rows than an instruction takes
    dense = 64 * (16u << GetParam().log2Chunks);
  std::vector<uint8_t> bytes(dense);
  EXPECT_FALSE(prepareA(shape, layout(), {bytes, kBase}, 3, preparedA));
  EXPECT_FALSE(prepareB(shape, layout(), {bytes, kBase}, preparedB));
  bytes.resize(dense / 2);
  std::optional<uint32_t> address = prepareB(shape, layout(), {bytes, kBase}, preparedB);
  ASSERT_TRUE(address);
  EXPECT_GE(*address + 16, kBase + bytes.size());
  EXPECT_TRUE(prepareA(shape, layout(), {bytes, kBase}, 3, preparedA));
  SharedMatrix below = layout();
  below.start = 0;
  EXPECT_EQ(prepareB(shape, below, {bytes, kBase}, preparedB), std::optional<uint32_t>(0));
}

INSTANTIATE_TEST_SUITE_P(
    All, SharedOperands,
    testing::Values(
        SharedCase{"F16None", E::F16, 0, false}, SharedCase{"F16By32", E::F16, 1, false},
        SharedCase{"F16By64", E::F16, 2, false}, SharedCase{"F16By128", E::F16, 3, false},
        SharedCase{"F16NoneMn", E::F16, 0, true}, SharedCase{"F16By32Mn", E::F16, 1, true},
        SharedCase{"F16By64Mn", E::F16, 2, true}, SharedCase{"BF16By128Mn", E::BF16, 3, true},
        SharedCase{"BF16By128", E::BF16, 3, false}, SharedCase{"TF32By128", E::TF32, 3, false},
        SharedCase{"TF32None", E::TF32, 0, false}, SharedCase{"E4M3By64", E::E4M3, 2, false},
        SharedCase{"E5M2By128", E::E5M2, 3, false}, SharedCase{"S8By32", E::S8, 1, false},
        SharedCase{"U8By128", E::U8, 3, false}),
    [](const auto &test) { return std::string(test.param.name); });

// The sums of hardware through the same operands.
TEST(TensorCore, SumsOfHardwareTakeTheSameOperands) {
  ProductShape shape;
  RegisterFile a(4), b(2), c(4), d(4);
  std::mt19937 random(17);
  for (uint32_t &word : a.words)
    word = smallWord(E::F16, random);
  for (uint32_t &word : b.words)
    word = smallWord(E::F16, random);
  for (uint32_t &word : c.words)
    word = std::bit_cast<uint32_t>(static_cast<float>(random() % 1000) / 7);
  PreparedA preparedA;
  PreparedB preparedB;
  prepareA(shape, a.read(), preparedA);
  prepareB(shape, b.read(), preparedB);
  SumRule rule = sumRule(90, E::F16, false);
  multiplyAs(rule, shape, preparedA, preparedB, c.read(), d.write());
  for (unsigned row = 0; row < 16; ++row)
    for (unsigned column = 0; column < 8; ++column) {
      std::vector<float> factorsA, factorsB;
      for (unsigned k = 0; k < 16; ++k) {
        factorsA.push_back(
            static_cast<float>(elementValue(E::F16, rowOfA(a, shape, row).data(), k)));
        factorsB.push_back(
            static_cast<float>(elementValue(E::F16, columnOfB(b, shape, column).data(), k)));
      }
      float start = std::bit_cast<float>(sumAt(shape, c, row, column));
      EXPECT_EQ(sumAt(shape, d, row, column),
                tensorSum(rule, E::F16, E::F16, factorsA, factorsB, start, SumResult::F32));
    }
}

} // namespace
} // namespace tile::vgpu
