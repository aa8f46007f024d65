// Every form in which code addresses shared memory, against plain arithmetic on coordinates: for all layouts of memory and of
// registers that the compiler's own builders make of a shape, on shapes whose extents are odd multiples of everything.
#include "ir/layout/Fragments.h"
#include "ir/layout/MultiplyAdd.h"
#include "ir/layout/SharedAccess.h"
#include "ir/layout/WgmmaOperand.h"
#include "tests/ir/layout/Samples.h"

#include <gtest/gtest.h>

namespace tile::layout {
namespace {

using namespace test;

constexpr int kWarps = 4;

/// What the instructions of one thread add up to, given the terms of the thread's bits and the register's.
int64_t asComputed(const std::vector<SharedAddress::Term> &lanes,
                   const std::vector<SharedAddress::Term> &warps, const SharedAddress::Term &own,
                   int32_t lane, int32_t warp) {
  int64_t toggle = 0, togglesOfThreads = 0, addend = 0;
  auto collect = [&](const std::vector<SharedAddress::Term> &terms, int32_t value) {
    for (size_t bit = 0; bit < terms.size(); ++bit) {
      togglesOfThreads |= terms[bit].toggle;
      toggle ^= value >> bit & 1 ? terms[bit].toggle : 0;
    }
  };
  collect(lanes, lane), collect(warps, warp);
  for (const ThreadAddend &part : threadAddends(lanes, warps))
    addend += part.of(lane, warp);
  RegisterPart atRegister = registerPart(own, togglesOfThreads);
  return (toggle ^ atRegister.toggle) + addend + atRegister.addend;
}

/// Vectors of loads and stores; cp.async and products by multiply-add use the same.
void expectVectorsAreWhereTheyShould(const Layout &regs, const SharedLayout &shared,
                                     int elementBytes) {
  std::optional<SharedAddress> address = sharedAddress(regs, shared);
  if (!address)
    return;
  for (const VectorGroup &group : vectorGroups(regs, shared, elementBytes))
    for (int32_t warp = 0; warp < regs.numWarps(); ++warp)
      for (int32_t lane = 0; lane < kLanesPerWarp; ++lane)
        ASSERT_EQ(asComputed(address->lanes, address->warps,
                             address->registers[static_cast<size_t>(group.front())], lane, warp),
                  shared.offset(regs.apply(group.front(), lane, warp)));
}

/// Rows of matrices: lane 8 q + r of an ldmatrix gives the address of row r of matrix q. The element there is the one that
/// the first lane of that row (or column) gets.
void expectMatricesAreWhereTheyShould(const Layout &regs, const SharedLayout &shared,
                                      int elementBytes) {
  std::optional<MatrixAccess> access = matchMatrixAccess(regs, shared, elementBytes);
  if (!access)
    return;
  for (size_t i = 0; i < access->instructions.size(); ++i)
    for (int32_t warp = 0; warp < regs.numWarps(); ++warp)
      for (int32_t q = 0; q < access->matrices; ++q)
        for (int32_t row = 0; row < 8; ++row) {
          const MatrixAccess::Instruction &instruction = access->instructions[i];
          int32_t first = instruction.firstRegister + access->matrixRegisters[q];
          int32_t reg = access->transposed ? first + row % 2 : first;
          int32_t lane = access->transposed ? row / 2 : 4 * row;
          ASSERT_EQ(asComputed(access->rows, access->warps, instruction.term, 8 * q + row, warp),
                    shared.offset(regs.apply(reg, lane, warp)));
        }
}

std::vector<SharedLayout> memoriesOf(const Shape &shape, const std::vector<int32_t> &order,
                                     int elementBytes) {
  std::vector<SharedLayout> result{SharedLayout::rowMajor(shape, order)};
  for (int64_t minRowBytes : {0, 64})
    for (int rotation : {0, 1})
      result.push_back(SharedLayout::swizzled(shape, order, elementBytes, minRowBytes, rotation));
  for (int swizzle : kTmaSwizzles)
    if (auto engine = SharedLayout::tma(shape, order, elementBytes, swizzle))
      result.push_back(*engine);
  if (shape.size() == 2)
    if (auto operand = wgmmaOperandMemory(shape, order, elementBytes))
      result.push_back(*operand);
  return result;
}

/// What products take and make, and what loads and stores of global memory have.
std::vector<Layout> holdersOf(const Shape &shape, int elementBytes) {
  std::vector<Layout> result;
  for (const std::vector<int32_t> &order : someOrders(shape.size()))
    result.push_back(Layout::coalesced(shape, order, kMaxVectorBytes / elementBytes, kWarps));
  std::optional<MmaShape> mma = MmaShape::forElementBits(8 * elementBytes);
  int64_t rows = shape[shape.size() - 2], columns = shape.back();
  std::vector<std::optional<Layout>> matrices;
  for (WarpGrid warps : {WarpGrid{2, 2}, WarpGrid{1, 4}, WarpGrid{4, 1}}) {
    if (mma)
      matrices.insert(matrices.end(), {accumulatorLayout(*mma, rows, columns, warps),
                                       operandALayout(*mma, rows, columns, warps),
                                       operandBLayout(*mma, rows, columns, warps)});
    matrices.push_back(wgmmaAccumulatorLayout(rows, columns, {1, 1}));
    matrices.push_back(wgmmaOperandALayout(8 * elementBytes, rows, columns, {1, 1}));
  }
  for (const std::optional<Layout> &matrix : matrices)
    if (matrix)
      result.push_back(shape.size() == 2 ? *matrix : batched(*matrix, shape[0], 1));
  Layout sums = multiplyAddAccumulator(shape, {2, 2}, elementBytes);
  int64_t depth = multiplyAddDepth(std::min(rows, columns), elementBytes);
  result.push_back(multiplyAddRows(sums, depth));
  result.push_back(multiplyAddColumns(sums, depth));
  return result;
}

void expectAllForms(const Shape &shape, int elementBytes) {
  for (const std::vector<int32_t> &order : someOrders(shape.size()))
    for (const SharedLayout &shared : memoriesOf(shape, order, elementBytes))
      for (const Layout &regs : holdersOf(shape, elementBytes)) {
        SharedLayout part = shared.leadingPart(regs.shape());
        SCOPED_TRACE(regs.toString() + " in " + part.toString());
        expectVectorsAreWhereTheyShould(regs, part, elementBytes);
        expectMatricesAreWhereTheyShould(regs, part, elementBytes);
        if (testing::Test::HasFatalFailure())
          return;
      }
}

// Rows of 16 bytes times a power of two and odd numbers; as many of them as are a power of two, and three times one.
TEST(AddressForms, AgreeWithCoordinatesForMatrices) {
  for (int elementBytes : {1, 2, 4, 8})
    for (int64_t chunks : {2, 3, 5, 7, 9})
      for (int64_t rows : {16, 24})
        expectAllForms({rows, chunks * 16 / elementBytes}, elementBytes);
}

TEST(AddressForms, AgreeWithCoordinatesForBatches) {
  for (int64_t batch : {3, 4, 8})
    for (int64_t rows : {16, 48})
      expectAllForms({batch, rows, 16}, 2);
}

// Three rows of 24 elements: 24 ^ 48 is 40, not 72.
TEST(AddressForms, AddendsThatShareBitsAreAdded) {
  std::vector<SharedAddress::Term> lanes{{0, 24}, {0, 48}, {1, 0}}, warps{{0, 1024}};
  auto parts = threadAddends(lanes, warps);
  int64_t sum = 0;
  for (const ThreadAddend &part : parts)
    sum += part.of(/*lane=*/3, /*warp=*/1);
  EXPECT_EQ(sum, 24 + 48 + 1024);
  EXPECT_EQ(parts.size(), 2u);
}

// What a machine can take from the bits of the thread's number as they are needs no product.
TEST(AddressForms, AddendsOfDistinctBitsAreOnePart) {
  auto parts = threadAddends({{0, 3072}, {0, 256}}, {{0, 8192}});
  ASSERT_EQ(parts.size(), 1u);
  EXPECT_EQ(parts.front().factor, 1);
}

} // namespace
} // namespace tile::layout
