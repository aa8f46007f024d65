// Streams that overlap launches: the same bits, nothing for the checks to report, and kernels whose wait is missing or late are
// reported, since the virtual GPU takes nothing for ordered that only its own order of launches orders.
#include "runtime/host/Start.h"
#include "runtime/jit/Compile.h"
#include "runtime/jit/Jit.h"
#include "runtime/jit/Launch.h"
#include "runtime/trace/Span.h"
#include "runtime/vgpu/VgpuDevice.h"

#include <tile/ops/Activations.h>
#include <tile/ops/Arithmetic.h>
#include <tile/ops/Attention.h>
#include <tile/ops/Matmul.h>
#include <tile/ops/Norm.h>
#include <tile/ops/Softmax.h>
#include <tile/tile.h>

#include <gtest/gtest.h>

#include <cstring>
#include <regex>
#include <sstream>

namespace tile::test {
namespace {

using codegen::CompiledKernel;

Device openChecked(const std::string &target) {
  device::VirtualOptions options;
  options.target = target;
  options.checks = "all";
  return Device::wrap(device::openVirtual(options), "virtual:" + target);
}

// --- Ops, one after the other ----------------------------------------------------------------------

std::vector<half> smallNumbers(size_t count, unsigned seed) {
  std::vector<half> values(count);
  for (size_t i = 0; i < count; ++i)
    values[i] = half(static_cast<float>(static_cast<int>((i * 7 + seed * 13) % 17) - 8) / 16.f);
  return values;
}

/// A layer as models that write text have it, on a stream.
class Layer {
public:
  explicit Layer(const Device &device) : device_(device) {}

  Tensor onto(const Stream &stream) const {
    Tensor normed = ops::layernorm(stream, x_, weight_, bias_);
    Tensor q = ops::matmul(stream, normed, w_);
    Tensor heads = q.reshape({1, 1, kRows, kWidth});
    Tensor mixed = ops::attention(stream, heads, heads, heads, {.causal = true});
    Tensor sum = ops::add(stream, mixed.reshape({kRows, kWidth}), x_);
    return ops::softmax(stream, ops::silu(stream, sum));
  }
  std::vector<unsigned char> bytes(const Stream &stream) const {
    Tensor result = onto(stream);
    std::vector<unsigned char> bytes(result.bytes());
    stream.synchronize();
    result.downloadBytes(bytes.data(), bytes.size());
    return bytes;
  }

private:
  static constexpr int64_t kRows = 100, kWidth = 64;
  TensorOf<half> input(std::vector<int64_t> shape, unsigned seed) const {
    size_t count = 1;
    for (int64_t extent : shape)
      count *= static_cast<size_t>(extent);
    return device_.tensor<half>(std::move(shape), smallNumbers(count, seed));
  }

  Device device_;
  TensorOf<half> x_ = input({kRows, kWidth}, 1), weight_ = input({kWidth}, 2),
                 bias_ = input({kWidth}, 3), w_ = input({kWidth, kWidth}, 4);
};

TEST(OverlappedLaunches, HaveTheSameBits) {
  Device device = openChecked("sm_90a");
  Layer layer(device);
  Stream plain = device.stream(), overlapped = device.stream();
  overlapped.overlapLaunches();
  auto expected = layer.bytes(plain);
  EXPECT_EQ(layer.bytes(overlapped), expected);
  EXPECT_EQ(layer.bytes(overlapped), expected) << "with kernels that are loaded already";
  overlapped.overlapLaunches(false);
  EXPECT_EQ(layer.bytes(overlapped), expected);
}

TEST(OverlappedLaunches, HaveKernelsOfTheirOwnWhereTheDeviceCan) {
  for (const std::string target : {"sm_80", "sm_90a"}) {
    Device device = openChecked(target);
    Layer layer(device);
    Stream stream = device.stream();
    auto compiles = [&] { return jit::jitOf(*device.state()).compileCount(); };
    auto expected = layer.bytes(stream);
    uint64_t plain = compiles();
    stream.overlapLaunches();
    EXPECT_EQ(layer.bytes(stream), expected);
    uint64_t both = compiles();
    EXPECT_EQ(both, target == "sm_90a" ? 2 * plain : plain) << target;
    stream.overlapLaunches(false);
    layer.bytes(stream);
    EXPECT_EQ(compiles(), both) << target;
  }
}

TEST(OverlappedLaunches, ArePreparedForTheirStream) {
  Device device = openChecked("sm_90a");
  auto compiles = [&] { return jit::jitOf(*device.state()).compileCount(); };
  const auto twice = kernel("twice",
                            [](In<f32, 1> x, Out<f32, 1> y, Const B) {
                              Value i = grid1d(y, {B});
                              y.tile({B})(i) = x.tile({B})(i) * 2.0f;
                            })
                         .named("x", "y", "B")
                         .tunable("B", {64, 128}, 64);
  auto x = device.tensor<float>({100}, std::vector<float>(100, 3.f)),
       y = device.tensor<float>({100});
  Stream stream = device.stream();
  twice.tuned().prepare(device, x, y);
  EXPECT_EQ(compiles(), 1u);
  twice.consts(64).prepare(stream, x, y);
  EXPECT_EQ(compiles(), 1u) << "a stream that does not overlap has the device's kernels";
  stream.overlapLaunches();
  twice.tuned().prepare(stream, x, y);
  EXPECT_EQ(compiles(), 2u);
  twice.consts(64)(stream, x, y);
  EXPECT_EQ(compiles(), 2u);
  EXPECT_EQ(y.download(stream)[99], 6.f);
}

TEST(OverlappedLaunches, AreKeptInGraphs) {
  Device device = openChecked("sm_90a");
  Layer layer(device);
  Stream stream = device.stream();
  auto expected = layer.bytes(stream);
  stream.overlapLaunches();
  layer.bytes(stream); // what is compiled in a capture is compiled before it
  Tensor result;
  Graph graph = Graph::capture(stream, [&] { result = layer.onto(stream); });
  for (int replay = 0; replay < 3; ++replay)
    graph.replay(stream);
  std::vector<unsigned char> bytes(result.bytes());
  stream.synchronize();
  result.downloadBytes(bytes.data(), bytes.size());
  EXPECT_EQ(bytes, expected);
  stream.overlapLaunches(false);
  EXPECT_THROW(graph.update(stream, [&] { layer.onto(stream); }), Error)
      << "another kind of work: its edges are others";
}

// --- Kernels without their waits -------------------------------------------------------------------

constexpr const char *kWait = "griddepcontrol.wait;", *kStart = "griddepcontrol.launch_dependents;";

size_t timesIn(const std::string &text, const std::string &part) {
  size_t times = 0;
  for (size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1))
    ++times;
  return times;
}

/// A kernel of an op that waits itself, whose tensors were all written by the launches right before it.
struct Subject {
  std::string op;
  std::map<std::string, std::string> settings;
};

class OnWrittenInputs {
public:
  explicit OnWrittenInputs(const Subject &subject) : request_(requestOf(subject)) {}

  CompiledKernel compiled() const {
    codegen::CompileOptions options;
    options.target = "sm_90a";
    return jit::compileRequest(request_, options, /*isDependent=*/true);
  }
  /// What the virtual GPU has to say of a launch; empty if nothing.
  std::string reportOf(CompiledKernel kernel) const {
    return reportOf(openChecked("sm_90a"), std::move(kernel));
  }
  /// How often warps of a launch execute the instruction that lets the next one start, and a wait.
  std::pair<uint64_t, uint64_t> startsAndWaits(const CompiledKernel &kernel) const {
    Device device = openChecked("sm_90a");
    EXPECT_EQ(reportOf(device, kernel), "");
    std::vector<std::string> lines;
    std::stringstream text(kernel.ptx);
    for (std::string line; std::getline(text, line);)
      lines.push_back(line);
    uint64_t starts = 0, waits = 0;
    for (const auto &line : vgpu::asVirtual(device.state()->device)->countersByLine()) {
      const std::string &written = lines.at(static_cast<size_t>(line.ptxLine) - 1);
      starts += timesIn(written, kStart) * line.counters.warpInstructions;
      waits += timesIn(written, kWait) * line.counters.warpInstructions;
    }
    return {starts, waits};
  }

private:
  std::string reportOf(const Device &device, CompiledKernel kernel) const {
    Stream stream = device.stream();
    stream.overlapLaunches();
    std::vector<Tensor> tensors;
    std::vector<HostArg> arguments = request_.arguments;
    for (HostArg &argument : arguments)
      argument = filled(stream, argument, tensors);
    const std::string name = kernel.name;
    auto loaded = launch::load(*device.state()->device, std::move(kernel), {}, {name, {}});
    launch::RecentCall call(*loaded, {});
    trace::Span span("launch", name);
    vgpu::asVirtual(device.state()->device)->setCounters(true); // from here on
    try {
      launch::start({name, {}}, call, stream.state(), arguments, {}, span);
      stream.synchronize();
    } catch (const Error &error) {
      return error.message();
    }
    return "";
  }

  static KernelRequest requestOf(const Subject &subject) {
    OpSettings settings(subject.settings);
    settings.setTarget("sm_90a");
    KernelRequest request = findOp(subject.op)->kernel(settings);
    return request;
  }

  // Tensors that the kernel has no use for are empty.
  static HostArg filled(const Stream &stream, HostArg example, std::vector<Tensor> &tensors) {
    if (example.kind == HostArg::Scalar) {
      float value = 0.125f;
      example.hasValue = true;
      example.bits = 4; // of programs, in the kernel that asks for their number
      if (example.dtype == f32)
        std::memcpy(&example.bits, &value, sizeof value);
      return example;
    }
    std::vector<int64_t> shape(example.extents, example.extents + example.rank);
    Tensor tensor = stream.tensor(example.dtype, shape);
    ops::fill(stream, 0.5, tensor);
    tensors.push_back(tensor);
    return toHostArg(tensor);
  }

  KernelRequest request_;
};

class MissingWaits : public testing::TestWithParam<Subject> {};

CompiledKernel withPtx(CompiledKernel kernel, std::string ptx) {
  kernel.ptx = std::move(ptx);
  return kernel;
}

void expectReported(const std::string &report, const CompiledKernel &kernel) {
  EXPECT_NE(report.find("griddepcontrol.wait must come first"), std::string::npos) << report;
  EXPECT_NE(report.find("kernel " + kernel.name), std::string::npos) << report;
  EXPECT_NE(report.find("the other: kernel fill"), std::string::npos) << report;
}

TEST_P(MissingWaits, AreReported) {
  OnWrittenInputs launch(GetParam());
  CompiledKernel kernel = launch.compiled();
  auto [starts, waits] = launch.startsAndWaits(kernel);
  EXPECT_GT(starts, 0u);
  EXPECT_EQ(waits, starts) << "each warp waits once, also one that is idle";
  const std::string &ptx = kernel.ptx;
  ASSERT_GE(timesIn(ptx, kWait), 1u);
  EXPECT_EQ(timesIn(ptx, kStart), 1u);
  std::string without = std::regex_replace(ptx, std::regex("griddepcontrol\\.wait;"), "");
  expectReported(launch.reportOf(withPtx(kernel, without)), kernel);
  std::string late =
      std::regex_replace(without, std::regex("\\bret;"), std::string(kWait) + " ret;");
  expectReported(launch.reportOf(withPtx(kernel, late)), kernel);
}

// Of two roles the one that loads has to wait: the other is told of bytes by threads that have waited.
TEST_P(MissingWaits, OfARoleAreReported) {
  OnWrittenInputs launch(GetParam());
  CompiledKernel kernel = launch.compiled();
  size_t waits = timesIn(kernel.ptx, kWait), reported = 0;
  for (size_t at = kernel.ptx.find(kWait); at != std::string::npos;
       at = kernel.ptx.find(kWait, at + 1)) {
    std::string one = kernel.ptx;
    one.erase(at, std::strlen(kWait));
    std::string report = launch.reportOf(withPtx(kernel, one));
    if (report.empty())
      continue;
    ++reported;
    expectReported(report, kernel);
  }
  EXPECT_EQ(reported, 1u) << "of " << waits;
}

INSTANTIATE_TEST_SUITE_P(
    Ops, MissingWaits,
    testing::Values(
        Subject{"add", {{"N", "3000"}}}, Subject{"softmax", {{"M", "40"}, {"N", "200"}}},
        Subject{"layernorm", {{"M", "40"}, {"N", "200"}}},
        Subject{"matmul",
                {{"M", "128"},
                 {"N", "128"},
                 {"K", "256"},
                 {"BM", "64"},
                 {"BN", "64"},
                 {"BK", "64"},
                 {"warps", "4"},
                 {"schedule", "one_tile"}}},
        Subject{"matmul",
                {{"M", "256"}, {"N", "256"}, {"K", "256"}, {"schedule", "warp_specialized"}}},
        Subject{
            "matmul",
            {{"M", "512"}, {"N", "256"}, {"K", "256"}, {"schedule", "warp_specialized_multicast"}}},
        Subject{"attention",
                {{"B", "1"}, {"H", "1"}, {"Lq", "256"}, {"D", "64"}, {"causal", "1"}}}),
    [](const auto &info) { return info.param.op + "_" + std::to_string(info.index); });

// --- The kernels ---------------------------------------------------------------------------------

TEST(WaitingKernels, TouchNothingBeforeTheirWait) {
  std::string target = "sm_90a";
  for (const std::string &name : opNames()) {
    SCOPED_TRACE(name);
    OpSettings settings;
    settings.setTarget(target);
    KernelRequest request = findOp(name)->kernel(settings);
    codegen::CompileOptions options;
    options.target = target;
    CompiledKernel kernel = jit::compileRequest(request, options, /*isDependent=*/true);
    EXPECT_TRUE(kernel.waits);
    size_t entry = kernel.ptx.find(".entry"), wait = kernel.ptx.find(kWait);
    ASSERT_NE(wait, std::string::npos) << "no wait";
    std::string before = kernel.ptx.substr(entry, wait - entry);
    static const std::regex access(R"(\b(ld|st|red|atom|cp|prefetch)\S*\.global|\bcall\b)");
    EXPECT_FALSE(std::regex_search(before, access)) << before;
    EXPECT_LT(before.find(kStart), wait);
  }
}

TEST(WaitingKernels, AreNoneWhereTheTargetHasNoWait) {
  OpSettings settings;
  KernelRequest request = findOp("add")->kernel(settings);
  codegen::CompileOptions options; // sm_80
  CompiledKernel plain = jit::compileRequest(request, options);
  CompiledKernel asked = jit::compileRequest(request, options, /*isDependent=*/true);
  EXPECT_FALSE(asked.waits);
  EXPECT_EQ(asked.ptx, plain.ptx);
  ASSERT_EQ(asked.remarks.size(), 1u);
  EXPECT_NE(asked.remarks[0].message.find("sm_80 has no launches that start early"),
            std::string::npos);
}

} // namespace
} // namespace tile::test
