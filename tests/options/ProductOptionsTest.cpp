// Products in a loop.
#include "tests/options/OptionTable.h"

namespace tile::test {
namespace {

constexpr int kSide = 64, kDepth = 2 * kSide;

struct ProductOptions {
  AccessOptions loads = {}, stores = {};
  DotOptions dot = {};
};

/// C = A B^T, of small integers: exact in every precision. B lies with rows along K, as 8-bit floats need it for wgmma.
template <class T> bool isMultiplied(const Device &device, ProductOptions options) {
  auto product = kernel_capturing(
      "", "product", [options](In<dtypeOf<T>, 2> A, In<dtypeOf<T>, 2> B, Out<any, 2> C) {
        auto [m, n] = grid2d(C, {kSide, kSide});
        auto sums = var(zeros(options.dot.accumulator == f16 ? f16 : f32, {kSide, kSide}));
        for (auto k : range(cdiv(A.dim(1), kSide)))
          sums = dot(A.tile({kSide, kSide}).hints(options.loads)(m, k),
                     B.T().tile({kSide, kSide}).hints(options.loads)(k, n), sums, options.dot);
        C.tile({kSide, kSide}).hints(options.stores)(m, n) = cast(C.dtype(), sums);
      });
  Stream stream = device.stream();
  std::vector<float> a = numbers(kSide * kDepth), b = numbers(kSide * kDepth, 1);
  auto A = device.tensor<T>({kSide, kDepth}, as<T>(a)),
       B = device.tensor<T>({kSide, kDepth}, as<T>(b));
  auto C = device.tensor<half>({kSide, kSide});
  product(stream, A, B, C);
  stream.synchronize();
  std::vector<half> c = C.download();
  for (int i = 0; i < kSide; ++i)
    for (int j = 0; j < kSide; ++j) {
      float sum = 0;
      for (int k = 0; k < kDepth; ++k)
        sum += a[static_cast<size_t>(i * kDepth + k)] * b[static_cast<size_t>(j * kDepth + k)];
      if (float(c[static_cast<size_t>(i * kSide + j)]) != sum)
        return false;
    }
  return true;
}

template <class T>
OptionRow row(std::string name, ProductOptions options, On accepted = On::Every,
              std::string refusal = {}) {
  return {std::move(name) + " of " + nameOf(dtypeOf<T>),
          [options](const Device &device) { return isMultiplied<T>(device, options); }, accepted,
          std::move(refusal)};
}

TEST(Options, Variants) {
  std::vector<OptionRow> rows;
  using Way = std::tuple<const char *, CopyBy, On>;
  using Kind = std::tuple<const char *, Mma, On>;
  for (auto [copy, by, copies] : {Way{"CopyBy::any", CopyBy::any, On::Every},
                                  {"CopyBy::cp_async", CopyBy::cp_async, On::Every},
                                  {"CopyBy::vector", CopyBy::vector, On::Every},
                                  {"CopyBy::scalar", CopyBy::scalar, On::Every},
                                  {"CopyBy::tma", CopyBy::tma, On::Tma}})
    for (auto [mma, variant, multiplies] : {Kind{"Mma::any", Mma::any, On::Every},
                                            {"Mma::mma_sync", Mma::mma_sync, On::Every},
                                            {"Mma::fma", Mma::fma, On::Every},
                                            {"Mma::wgmma", Mma::wgmma, On::Wgmma}}) {
      // Each thread reads its rows and columns there: 64 half numbers apart they lie in one bank, unless threads copy.
      bool isInOneBank = by == CopyBy::tma && variant == Mma::fma;
      rows.push_back(row<half>(
          std::string(copy) + ", " + mma, {.loads = {.copy = by}, .dot = {.variant = variant}},
          isInOneBank ? On::None : std::max(copies, multiplies), " refused: "));
    }
  expectRows(rows);
}

TEST(Options, Precisions) {
  std::vector<OptionRow> rows;
  using Named = std::pair<const char *, Precision>;
  for (auto [name, precision] : {Named{"Precision::ieee", Precision::ieee},
                                 {"Precision::tf32", Precision::tf32},
                                 {"Precision::tf32x3", Precision::tf32x3},
                                 {"Precision::bf16x3", Precision::bf16x3},
                                 {"Precision::bf16x6", Precision::bf16x6}})
    rows.push_back(row<float>(name, {.dot = {.precision = precision}}));
  rows.push_back(row<float>("Precision::ieee, Mma::fma",
                            {.dot = {.precision = Precision::ieee, .variant = Mma::fma}}));
  rows.push_back(row<float>("Precision::ieee, Mma::mma_sync",
                            {.dot = {.precision = Precision::ieee, .variant = Mma::mma_sync}},
                            On::None, "f32 with precision ieee needs fused multiply-add"));
  rows.push_back(row<float>("Precision::tf32, Mma::wgmma",
                            {.dot = {.precision = Precision::tf32, .variant = Mma::wgmma}},
                            On::Wgmma, "wgmma refused"));
  expectRows(rows);
}

TEST(Options, FastAccumulation) {
  expectRows({
      row<half>(".fast_accumulation", {.dot = {.fast_accumulation = true}}),
      row<float8_e4m3>(".fast_accumulation", {.dot = {.fast_accumulation = true}}),
      row<float8_e4m3>("Mma::wgmma", {.dot = {.variant = Mma::wgmma}}, On::Wgmma, "wgmma refused"),
      row<float8_e4m3>("Mma::mma_sync", {.dot = {.variant = Mma::mma_sync}}),
      row<float8_e4m3>("Mma::fma", {.dot = {.variant = Mma::fma}}),
  });
}

TEST(Options, Accumulators) {
  expectRows({
      row<half>(".accumulator = f16", {.dot = {.accumulator = f16}}),
      row<half>(".accumulator = f32", {.dot = {.accumulator = f32}}),
      row<half>(".accumulator = f16, Mma::mma_sync",
                {.dot = {.variant = Mma::mma_sync, .accumulator = f16}}),
      row<half>(".accumulator = f16, Mma::fma", {.dot = {.variant = Mma::fma, .accumulator = f16}}),
      row<half>(".accumulator = f16, Mma::wgmma",
                {.dot = {.variant = Mma::wgmma, .accumulator = f16}}, On::None, "wgmma refused"),
      row<float8_e4m3>(".accumulator = f16", {.dot = {.accumulator = f16}}),
      row<float8_e5m2>(".accumulator = f16", {.dot = {.accumulator = f16}}),
      row<bfloat16>(".accumulator = f16", {.dot = {.accumulator = f16}}, On::None,
                    "a product of bf16 accumulates in f32, but the options' accumulator is f16"),
      row<half>(".accumulator = bf16", {.dot = {.accumulator = bf16}}, On::None,
                "a product of f16 accumulates in f32 or f16, but the options' accumulator is bf16"),
  });
}

TEST(Options, StoresOfProducts) {
  expectRows({
      row<half>("CopyBy::tma of stores",
                {.stores = {.copy = CopyBy::tma}, .dot = {.variant = Mma::any}}, On::Wgmma,
                "tma refused"),
      row<half>("CopyBy::quad of stores", {.stores = {.copy = CopyBy::quad}}, On::Wgmma,
                "quad refused"),
      row<half>("CopyBy::vector of stores", {.stores = {.copy = CopyBy::vector}}),
      row<half>("CopyBy::scalar of stores", {.stores = {.copy = CopyBy::scalar}}),
  });
}

} // namespace
} // namespace tile::test
