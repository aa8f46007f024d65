// Products of every type and precision with what commonly follows them, shapes that starve or crowd the
// warps, operands that lie by columns, and the instruction that was chosen.
#include "tests/conformance/Near.h"
#include "tests/execution/Assembly.h"
#include "tests/execution/DumpedPtx.h"

using namespace tile;
using namespace tile::test;

namespace {

const bool gate = assembleEverything(Spills::Allowed, Share::Half);

enum Epilogue { kNone, kTransposed, kMatrix, kRow, kColumn, kSoftmax, kChained };

struct Sizes {
  int m, n, k;
};

/// Random operands. Those of f32 are exact in tf32, so that precisions differ in their sums alone; halves are
/// small, since their sums may be halves as well.
template <class T> std::vector<T> operand(int64_t count, uint64_t seed) {
  if constexpr (std::is_same_v<T, int8_t>)
    return uniform<T>(count, -127, 127, seed);
  std::vector<T> values = uniform<T>(count, -1, 1, seed);
  for (T &value : values)
    if constexpr (std::is_same_v<T, half>)
      value = half(static_cast<float>(value) * 0.1f);
    else if constexpr (std::is_same_v<T, float>)
      value = std::bit_cast<float>(std::bit_cast<uint32_t>(value) & 0xffffe000u);
  return values;
}

class ConformanceDotMatrix : public OnDevice {
protected:
  template <class T, class C>
  void check(const char *name, Sizes s, Epilogue epilogue, Precision precision, int warps = 4,
             bool columnsA = false, bool columnsB = false) {
    static const auto program = kernel(name, [](In<dtypeOf<T>, 2> a, In<dtypeOf<T>, 2> b,
                                                In<dtypeOf<C>, 2> e, In<dtypeOf<T>, 2> w,
                                                Out<dtypeOf<C>, 2> d, Const M, Const N, Const K,
                                                Const precision, Const epilogue) {
      DotOptions options{.precision = static_cast<Precision>(int(precision))};
      Value z = dot(a.tile({M, K})(0, 0), b.tile({K, N})(0, 0), zeros(dtypeOf<C>, {M, N}), options);
      if (epilogue == kMatrix)
        z = z + e.tile({M, N})(0, 0);
      if (epilogue == kRow)
        z = z + e.tile({1, N})(0, 0);
      if (epilogue == kColumn)
        z = z + e.tile({M, 1})(0, 0);
      if constexpr (isFloat(dtypeOf<C>))
        if (epilogue == kSoftmax)
          z = cast(dtypeOf<C>, softmax(z, 1));
      if (epilogue == kChained)
        z = dot(cast(dtypeOf<T>, z), w.tile({N, N})(0, 0), zeros(dtypeOf<C>, {M, N}), options);
      if (epilogue == kTransposed)
        d.T().tile({M, N})(0, 0) = z;
      else
        d.tile({M, N})(0, 0) = z;
    });
    SCOPED_TRACE(std::string(name) + " " + std::to_string(s.m) + "x" + std::to_string(s.n) + "x" +
                 std::to_string(s.k) + " epilogue " + std::to_string(epilogue) + " warps " +
                 std::to_string(warps));
    std::vector<T> a = operand<T>(s.m * s.k, 1), b = operand<T>(s.k * s.n, 2),
                   w = operand<T>(s.n * s.n, 3);
    std::vector<C> e = uniform<C>(s.m * s.n, -1, 1, 4);
    bool turned = epilogue == kTransposed;
    auto d = output<C>({turned ? s.n : s.m, turned ? s.m : s.n}, 3);
    recordPtx();
    program.consts(s.m, s.n, s.k, int(precision), int(epilogue))
        .warps(warps)
        .grid(1)(stream,
                 columnsA ? input({s.k, s.m}, transposed(a, s.m)).T() : input({s.m, s.k}, a),
                 columnsB ? input({s.n, s.k}, transposed(b, s.k)).T() : input({s.k, s.n}, b),
                 input({s.m, s.n}, e), input({s.n, s.n}, w), d.tensor());
    std::vector<double> z = finished<T>(product(a, b, s), e, w, s, epilogue, precision);
    expectClose(d.result(),
                [&](int64_t i) { return z[size_t(turned ? i % s.m * s.n + i / s.m : i)]; },
                {1e-3, 1e-2});
  }

private:
  template <class T> static std::vector<T> transposed(const std::vector<T> &rows, int64_t count) {
    int64_t width = static_cast<int64_t>(rows.size()) / count;
    std::vector<T> columns;
    for (int64_t column = 0; column < width; ++column)
      for (int64_t row = 0; row < count; ++row)
        columns.push_back(rows[size_t(row * width + column)]);
    return columns;
  }
  template <class A, class B>
  static std::vector<double> product(const std::vector<A> &a, const std::vector<B> &b, Sizes s) {
    std::vector<double> z(size_t(s.m * s.n));
    for (int64_t row = 0; row < s.m; ++row)
      for (int64_t k = 0; k < s.k; ++k)
        for (int64_t column = 0; column < s.n; ++column)
          z[size_t(row * s.n + column)] += static_cast<double>(exact(a[size_t(row * s.k + k)])) *
                                           static_cast<double>(exact(b[size_t(k * s.n + column)]));
    return z;
  }
  /// 10 bits of mantissa after the leading one.
  static double tf32(double value) {
    int exponent = value == 0 ? 0 : std::ilogb(value);
    return std::ldexp(std::round(std::ldexp(value, 10 - exponent)), exponent - 10);
  }
  template <class T, class C>
  static std::vector<double> finished(std::vector<double> z, const std::vector<C> &e,
                                      const std::vector<T> &w, Sizes s, Epilogue epilogue,
                                      Precision precision) {
    for (int64_t i = 0; i < s.m * s.n; ++i) {
      int64_t row = i / s.n, column = i % s.n;
      int64_t at = epilogue == kMatrix ? i : epilogue == kRow ? column : row * s.n;
      if (epilogue == kMatrix || epilogue == kRow || epilogue == kColumn)
        z[size_t(i)] += static_cast<double>(exact(e[size_t(at)]));
    }
    for (int64_t row = 0; row < s.m && epilogue == kSoftmax; ++row) {
      double sum = 0;
      for (int64_t column = 0; column < s.n; ++column)
        sum += z[size_t(row * s.n + column)] = std::exp(z[size_t(row * s.n + column)]);
      for (int64_t column = 0; column < s.n; ++column)
        z[size_t(row * s.n + column)] /= sum;
    }
    if (epilogue != kChained)
      return z;
    if constexpr (std::is_floating_point_v<Wide<T>>) {
      std::vector<double> operands;
      for (double value : z)
        operands.push_back(precision == Precision::tf32 && sizeof(T) == 4 ? tf32(value)
                                                                          : roundedTo<T>(value));
      return product(operands, w, {s.m, s.n, s.n});
    }
    return z;
  }
};
INSTANTIATE_TEST_SUITE_P(Devices, ConformanceDotMatrix, ::testing::ValuesIn(deviceNames()),
                         [](const auto &run) { return testName(run.param); });

/// Products that have the same instructions on both targets.
class ConformanceDotOfWarps : public ConformanceDotMatrix {};
INSTANTIATE_TEST_SUITE_P(Devices, ConformanceDotOfWarps,
                         ::testing::ValuesIn(deviceNames(Targets::One)),
                         [](const auto &run) { return testName(run.param); });

const Epilogue kAll[] = {kNone, kTransposed, kMatrix, kRow, kColumn, kSoftmax, kChained};

void expectInstruction(const std::string &kernel, const std::string &instruction) {
  EXPECT_NE(ptxOf(kernel).find(instruction), std::string::npos) << instruction;
}

TEST_P(ConformanceDotOfWarps, HalvesIntoHalves) {
  for (int size : {16, 32, 64})
    for (Epilogue epilogue : kAll)
      check<half, half>("f16_f16", {size, size, size}, epilogue, Precision::tf32x3);
  expectInstruction("f16_f16", "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16");
}

TEST_P(ConformanceDotMatrix, HalvesIntoFloats) {
  for (int size : {16, 32, 64})
    for (Epilogue epilogue : kAll)
      check<half, float>("f16_f32", {size, size, size}, epilogue, Precision::tf32x3);
  expectInstruction("f16_f32", "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32");
}

// The right factor by columns, as wgmma takes it. An epilogue in 8 bits would make much of what sums differ in.
TEST_P(ConformanceDotMatrix, Float8) {
  for (int size : {64, 128}) {
    Sizes sizes = {size, 64, size};
    for (Epilogue epilogue : kAll)
      if (epilogue != kChained)
        check<float8_e4m3, float>("e4m3_f32", sizes, epilogue, Precision::tf32x3, 4, false, true);
    check<float8_e5m2, float>("e5m2_f32", sizes, kNone, Precision::tf32x3, 4, false, true);
  }
  bool hasWgmma = GetParam() == "virtual:sm_90a";
  expectInstruction("e4m3_f32", hasWgmma ? "wgmma.mma_async.sync.aligned.m64n64k32.f32.e4m3.e4m3"
                                         : "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32");
}

TEST_P(ConformanceDotOfWarps, Floats) {
  for (Precision precision :
       {Precision::ieee, Precision::tf32, Precision::tf32x3, Precision::bf16x3, Precision::bf16x6})
    for (int size : {16, 32, 64})
      for (Epilogue epilogue : kAll)
        check<float, float>("f32_f32", {size, size, size}, epilogue, precision);
  expectInstruction("f32_f32", "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32");
  expectInstruction("f32_f32", "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32");
  expectInstruction("f32_f32", "fma.rn.f32");
}

TEST_P(ConformanceDotOfWarps, Doubles) {
  for (int size : {16, 32, 64})
    for (Epilogue epilogue : kAll)
      check<double, double>("f64_f64", {size, size, size}, epilogue, Precision::tf32x3);
  expectInstruction("f64_f64", "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64");
}

TEST_P(ConformanceDotMatrix, ShapesAndColumns) {
  struct Shape {
    Sizes sizes;
    int warps;
  };
  for (auto [sizes, warps] :
       {Shape{{128, 256, 32}, 8}, Shape{{128, 16, 32}, 4}, Shape{{32, 128, 64}, 4},
        Shape{{32, 128, 64}, 2}, Shape{{32, 32, 128}, 16}})
    for (bool a : {false, true})
      for (bool b : {false, true}) {
        check<half, float>("f16_f32_columns", sizes, kNone, Precision::tf32x3, warps, a, b);
        check<int8_t, int32_t>("i8_i32", sizes, kNone, Precision::tf32x3, warps, a, b);
      }
  expectInstruction("i8_i32", "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32");
}

} // namespace
