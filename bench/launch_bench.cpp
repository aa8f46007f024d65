// What a launch of a kernel that is in memory costs the host: checks, specialisation key, look-up, grid, parameters and
// the CUDA device's bookkeeping, on the fake driver of the tests, which does nothing at all here. `launch_bench` prints the median
// and the extremes of several rounds in time of this thread; the same with settings that are tuned; for a kernel that asks
// for the value of a number, whose calls no thread remembers; of a kernel that takes tensor maps; of a step of a transformer
// with and without a graph; and what the CUDA device with the fake driver takes of it. `launch_bench N` makes N calls a round,
// `launch_bench N TEXT` only those whose line has the text: for `valgrind --tool=callgrind`, with two N, whose difference is the calls.
#include "bench/ThreadTime.h"
#include "runtime/device/Device.h"
#include "tests/runtime/device/fakecuda/FakeCuda.h"

#include <tile/nn/Decoder.h>
#include <tile/tile.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

using namespace tile;

namespace {

constexpr int kRounds = 15;
int calls = 20000;  // a round; fewer are enough for valgrind, which counts instructions
std::string wanted; // of the lines

// Ten arguments: seven matrices, of which one is written, a vector, and two numbers.
auto tenArguments =
    kernel("ten_arguments",
           [](In<f32, 2> a, In<f32, 2> b, In<f32, 2> c, In<f32, 2> d, In<f32, 2> e, In<f32, 2> f,
              In<f32, 1> bias, Scalar<f32> s, Scalar<i32> n, Out<f32, 2> y, Const BM, Const BN) {
             auto [m, k] = grid2d(y, {BM, BN});
             auto tile = [&, m = m, k = k](const auto &view) { return view.tile({BM, BN})(m, k); };
             Value total = tile(a) + tile(b) + tile(c) + tile(d) + tile(e) + tile(f);
             y.tile({BM, BN})(m, k) = total * s + cast(f32, n) + expand_dims(bias.tile({BN})(k), 0);
           })
        .named("a", "b", "c", "d", "e", "f", "bias", "s", "n", "y", "BM", "BN")
        .tunable("BM", {32, 64}, 64)
        .tunable("BN", {32, 64}, 64);

auto asksForNumber = kernel("asks_for_number", [](In<f32, 2> a, In<f32, 2> b, In<f32, 2> c,
                                                  In<f32, 2> d, In<f32, 2> e, In<f32, 2> f,
                                                  In<f32, 1> bias, Scalar<f32> s, Scalar<i32> n,
                                                  Out<f32, 2> y, Const BM, Const BN) {
  auto [m, k] = grid2d(y, {BM, BN});
  auto tile = [&, m = m, k = k](const auto &view) { return view.tile({BM, BN})(m, k); };
  Value total = tile(a) + tile(b) + tile(c) + tile(d) + tile(e) + tile(f);
  y.tile({BM, BN})(m, k) = total * s + float(specialize(n)) + expand_dims(bias.tile({BN})(k), 0);
});

// Three views that the copy engine reads, so that a launch passes three tensor maps; and the same by threads.
auto threeMaps = kernel("three_maps", [](In<f16, 2> a, In<f16, 2> b, In<f16, 2> c, Out<f32, 2> y,
                                         ConstOf<CopyBy> copy) {
  auto sums = var(zeros(f32, {64, 64}));
  auto tile = [&](const auto &view, const auto &...at) {
    return view.tile({64, 64}).hints({.copy = copy})(at...);
  };
  for (auto k : range(cdiv(a.dim(1), 64)))
    sums = dot(tile(a, 0, k), tile(c, k, 0), dot(tile(a, 0, k), tile(b, k, 0), sums));
  y.tile({64, 64})(0, 0) = sums;
});

template <class Call> void measure(const char *what, int count, const Call &call) {
  if (std::string_view(what).find(wanted) == std::string_view::npos)
    return;
  call(), call(); // compiles, captures
  std::vector<double> rounds = bench::microsecondsOf(call, kRounds, count);
  std::printf("%-44s median %.2f us (min %.2f, max %.2f)\n", what, rounds[rounds.size() / 2],
              rounds.front(), rounds.back());
}

// Steps of one token of a transformer with four layers, which launch some fifty kernels.
void measureDecoding(const Device &device) {
  constexpr int kSteps = 400;
  Stream stream = device.stream();
  ops::Generator generator{.seed = 1};
  nn::Transformer model(
      stream, generator,
      {.vocabulary = 256, .positions = 8000, .width = 64, .layers = 4, .heads = 4});
  Tensor token = stream.tensor<int32_t>({1});
  for (bool graph : {false, true}) {
    nn::Decoder decoder(model, 1, {.graph = graph});
    auto step = [&] { decoder.next(token); };
    measure(graph ? "the same as a graph" : "a token of a transformer with 4 layers", kSteps, step);
  }
}

} // namespace

int main(int argc, char **argv) try {
  if (argc > 1)
    calls = std::max(1, std::atoi(argv[1]));
  if (argc > 2)
    wanted = argv[2];
  setenv("TILE_LIBCUDA", FAKE_DRIVER, 1);
  Device device = Device::open("cuda:0");
  Stream stream = device.stream();
  std::vector<TensorOf<float>> x;
  for (int i = 0; i < 7; ++i)
    x.push_back(device.tensor<float>({1000, 768}));
  auto bias = device.tensor<float>({768});
  fakeCudaRecord(false);
  fakeCudaSkipLaunches(true);
  auto measureTen = [&](const char *what, const auto &launcher) {
    measure(what, calls,
            [&] { launcher(stream, x[0], x[1], x[2], x[3], x[4], x[5], bias, 0.5f, 3, x[6]); });
  };
  measureTen("a call with 10 arguments, kernel in memory", tenArguments.consts(64, 64));
  measureTen("the same, tuned", tenArguments.tuned());
  measureTen("the same, asking for the value of a number", asksForNumber.consts(64, 64));

  std::vector<TensorOf<half>> h;
  for (int i = 0; i < 6; ++i)
    h.push_back(device.tensor<half>({512, 512}));
  auto measureMaps = [&](const char *what, CopyBy copy, bool alternates) {
    size_t count = 0;
    measure(what, calls, [&] {
      size_t first = alternates && ++count % 2 ? 3 : 0;
      threeMaps.consts(copy).grid(1)(stream, h[first], h[first + 1], h[first + 2], x[6]);
    });
  };
  measureMaps("a call with 4 arguments, no tensor maps", CopyBy::cp_async, false);
  measureMaps("the same with 3 tensor maps", CopyBy::tma, false);
  measureMaps("the same, other tensors in each call", CopyBy::tma, true);

  measureDecoding(device);

  auto bare = device::openCuda(0);
  device::Function nothing =
      bare->getFunction(bare->loadModule(".version 8.0\n.target sm_80\n.address_size 64\n"
                                         ".visible .entry nothing()\n{\n  ret;\n}\n"),
                        "nothing");
  device::LaunchConfig config;
  config.grid = config.block = {1, 1, 1};
  device::Stream queue = bare->createStream();
  measure("of which a launch by the CUDA device", calls,
          [&] { bare->launch(nothing, config, {}, queue); });
} catch (const Error &error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
