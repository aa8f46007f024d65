// Hints of a kernel's body, settings of a launch, methods of loops, and the options of other operations.
#include "tests/options/OptionTable.h"

#include <cmath>

namespace tile::test {
namespace {

constexpr int kSide = 64, kSteps = 4, kTiles = 2;

/// y = x * x + x, of a tile.
template <class Hint, class Setting>
bool isComputed(const Device &device, const std::string &name, Hint hint, Setting setting) {
  auto compute = kernel_capturing(name, "compute", [hint](In<f32, 1> x, Out<f32, 1> y) {
    hint();
    Value i = program_id(0);
    Value t = x.tile({256})(i);
    y.tile({256})(i) = t * t + t;
  });
  Stream stream = device.stream();
  std::vector<float> values = numbers(512);
  auto x = device.tensor<float>({512}, values), y = device.tensor<float>({512});
  setting(compute.grid(2))(stream, x, y);
  stream.synchronize();
  std::vector<float> result = y.download();
  for (size_t i = 0; i < values.size(); ++i)
    if (result[i] != values[i] * values[i] + values[i])
      return false;
  return true;
}

constexpr auto kNoHint = [] {};
constexpr auto kNoSetting = [](auto launcher) { return launcher; };

template <class Hint>
OptionRow hintRow(std::string name, Hint hint, On accepted = On::Every, std::string refusal = {}) {
  return {"hint::" + name,
          [=](const Device &device) { return isComputed(device, name, hint, kNoSetting); },
          accepted, std::move(refusal)};
}
template <class Setting>
OptionRow settingRow(std::string name, Setting setting, On accepted = On::Every,
                     std::string refusal = {}) {
  return {"." + name,
          [=](const Device &device) { return isComputed(device, name, kNoHint, setting); },
          accepted, std::move(refusal)};
}

TEST(Options, Hints) {
  expectRows({
      hintRow("warps(1)", [] { hint::warps(1); }),
      hintRow("warps(8)", [] { hint::warps(8); }),
      hintRow(
          "warps(3)", [] { hint::warps(3); }, On::None, "warps"),
      hintRow("maxnreg(32)", [] { hint::maxnreg(32); }),
      hintRow(
          "maxnreg(256)", [] { hint::maxnreg(256); }, On::None, "255"),
      hintRow("occupancy(2)", [] { hint::occupancy(2); }),
      hintRow(
          "occupancy(33)", [] { hint::occupancy(33); }, On::None, "32"),
      hintRow("fp_fusion(false)", [] { hint::fp_fusion(false); }),
      hintRow("ftz()", [] { hint::ftz(); }),
      hintRow("stages(2)", [] { hint::stages(2); }),
      hintRow(
          "stages(0)", [] { hint::stages(0); }, On::None, "at least 1"),
      hintRow("by_target",
              [] {
                hint::warps(hint::by_target({{80, 4}, {90, 8}}));
              }),
      hintRow(
          "by_target of none",
          [] {
            hint::warps(hint::by_target({{100, 4}}));
          },
          On::None, "by_target"),
  });
}

TEST(Options, SettingsOfLaunches) {
  expectRows({
      settingRow("warps(2)", [](auto launcher) { return launcher.warps(2); }),
      settingRow(
          "warps(64)", [](auto launcher) { return launcher.warps(64); }, On::None, "warps"),
      settingRow("maxnreg(64)", [](auto launcher) { return launcher.maxnreg(64); }),
      settingRow(
          "maxnreg(1)", [](auto launcher) { return launcher.maxnreg(1); }, On::None, "16"),
      settingRow("occupancy(4)", [](auto launcher) { return launcher.occupancy(4); }),
      settingRow("fp_fusion(false)", [](auto launcher) { return launcher.fp_fusion(false); }),
      settingRow("ftz()", [](auto launcher) { return launcher.ftz(); }),
      settingRow("checked()", [](auto launcher) { return launcher.checked(); }),
      settingRow("no_assume()", [](auto launcher) { return launcher.no_assume(); }),
      settingRow("grid(2)", [](auto launcher) { return launcher.grid(2); }),
      settingRow(
          "grid(0, -1)", [](auto launcher) { return launcher.grid(0, -1); }, On::None, "grid"),
      settingRow("consts()", [](auto launcher) { return launcher.consts(); }),
  });
}

/// Rows times columns, by an outer loop over tiles of B and an inner one over K.
template <class Outer, class Inner>
bool isLooped(const Device &device, const std::string &name, Outer outer, Inner inner) {
  auto loops =
      kernel_capturing(name, "loops", [outer, inner](In<f16, 2> A, In<f16, 2> B, Out<f32, 2> C) {
        for (auto n : outer(range(cdiv(C.dim(1), kSide)))) {
          auto sums = var(zeros(f32, {kSide, kSide}));
          for (auto k : inner(range(cdiv(A.dim(1), kSide))))
            sums = dot(A.tile({kSide, kSide})(0, k), B.tile({kSide, kSide})(k, n), sums);
          C.tile({kSide, kSide})(0, n) = sums;
        }
      });
  constexpr int kDepth = kSteps * kSide, kWidth = kTiles * kSide;
  std::vector<float> a = numbers(kSide * kDepth), b = numbers(kDepth * kWidth, 1);
  Stream stream = device.stream();
  auto A = device.tensor<half>({kSide, kDepth}, as<half>(a)),
       B = device.tensor<half>({kDepth, kWidth}, as<half>(b));
  auto C = device.tensor<float>({kSide, kWidth});
  loops.grid(1)(stream, A, B, C);
  stream.synchronize();
  std::vector<float> c = C.download();
  for (int i = 0; i < kSide; ++i)
    for (int j = 0; j < kWidth; ++j) {
      float sum = 0;
      for (int k = 0; k < kDepth; ++k)
        sum += a[static_cast<size_t>(i * kDepth + k)] * b[static_cast<size_t>(k * kWidth + j)];
      if (c[static_cast<size_t>(i * kWidth + j)] != sum)
        return false;
    }
  return true;
}

constexpr auto kPlain = [](Range loop) { return loop; };

template <class Outer, class Inner>
OptionRow loopRow(std::string name, Outer outer, Inner inner, On accepted = On::Every,
                  std::string refusal = {}) {
  return {name, [=](const Device &device) { return isLooped(device, name, outer, inner); },
          accepted, std::move(refusal)};
}

TEST(Options, Loops) {
  auto flat = [](Range loop) { return loop.flatten(); };
  auto special = [](Range loop) { return loop.warp_specialize(); };
  expectRows({
      loopRow(".stages(1)", kPlain, [](Range loop) { return loop.stages(1); }),
      loopRow(".stages(4)", kPlain, [](Range loop) { return loop.stages(4); }),
      loopRow(".stages(100)", kPlain, [](Range loop) { return loop.stages(100); }),
      loopRow(
          ".stages(0)", kPlain, [](Range loop) { return loop.stages(0); }, On::None, "at least 1"),
      loopRow(".unroll(2)", kPlain, [](Range loop) { return loop.unroll(2); }),
      loopRow(
          ".unroll(0)", kPlain, [](Range loop) { return loop.unroll(0); }, On::None, "at least 1"),
      loopRow(".no_licm()", kPlain, [](Range loop) { return loop.no_licm(); }),
      loopRow(".overlap_dots()", kPlain, [](Range loop) { return loop.overlap_dots(); }),
      loopRow(".flatten()", flat, kPlain),
      loopRow(".warp_specialize()", kPlain, special),
      loopRow(".flatten(), .warp_specialize()", flat, special),
      loopRow(
          ".flatten().ping_pong()", [](Range loop) { return loop.flatten().ping_pong(); }, special),
      loopRow(
          ".ping_pong() without .flatten()", [](Range loop) { return loop.ping_pong(); }, special),
  });
}

/// A row of `isRight` for a kernel from x, 64 floats, to y.
template <class Body>
OptionRow rowOf(std::string name, Body body,
                std::function<float(const std::vector<float> &, int)> expected,
                On accepted = On::Every, std::string refusal = {}) {
  auto isRight = [=](const Device &device) {
    auto program = kernel_capturing(name, "operation", [body](In<f32, 1> x, Out<f32, 1> y) {
      y.tile({64})(0) = body(x.tile({64})(0));
    });
    std::vector<float> values = numbers(64);
    Stream stream = device.stream();
    auto x = device.tensor<float>({64}, values), y = device.tensor<float>({64});
    program.grid(1)(stream, x, y);
    stream.synchronize();
    std::vector<float> result = y.download();
    for (int i = 0; i < 64; ++i)
      if (result[static_cast<size_t>(i)] != expected(values, i))
        return false;
    return true;
  };
  return {name, isRight, accepted, std::move(refusal)};
}

float sumUpTo(const std::vector<float> &x, int first, int last) {
  float sum = 0;
  for (int i = first; i <= last; ++i)
    sum += x[static_cast<size_t>(i)];
  return sum;
}

TEST(Options, OtherOperations) {
  auto total = [](const std::vector<float> &x, int) { return sumUpTo(x, 0, 63); };
  auto twice = [](const std::vector<float> &x, int i) { return 2 * x[static_cast<size_t>(i)]; };
  expectRows({
      rowOf(
          "ReduceOptions.keep_dims",
          [](Value x) { return broadcast_to(sum(x, 0, {.keep_dims = true}), {64}); }, total),
      rowOf(
          "ReduceOptions.dtype",
          [](Value x) { return cast(f32, full(f64, {64}, 0) + sum(x, 0, {.dtype = f64})); }, total),
      rowOf(
          "ScanOptions.reverse", [](Value x) { return cumsum(x, 0, {.reverse = true}); },
          [](const std::vector<float> &x, int i) { return sumUpTo(x, i, 63); }),
      rowOf(
          "ScanOptions.dtype", [](Value x) { return cast(f32, cumsum(x, 0, {.dtype = f64})); },
          [](const std::vector<float> &x, int i) { return sumUpTo(x, 0, i); }),
      rowOf(
          "PtxOptions.pure",
          [](Value x) {
            return inline_ptx("add.f32 $0, $1, $1;", "=f,f", {x}, {f32}, {.pure = false})[0];
          },
          twice),
      rowOf(
          "PtxOptions.pack",
          [](Value x) {
            return cast(f32, inline_ptx("add.f16x2 $0, $1, $1;", "=r,r", {cast(f16, x)}, {f16},
                                        {.pack = 2})[0]);
          },
          twice),
      rowOf(
          "PtxOptions.pack of 3",
          [](Value x) {
            return inline_ptx("add.f32 $0, $1, $1;", "=f,f", {x}, {f32}, {.pack = 3})[0];
          },
          twice, On::None, "pack"),
  });
}

} // namespace
} // namespace tile::test
