// Functions of archives are launched as their kernels are.
#include "runtime/aot/Needs.h"
#include "tests/runtime/aot/Archives.h"

#include <tile/Graph.h>
#include <tile/tile.h>

#include <gtest/gtest.h>

#include <numeric>
#include <thread>

using namespace tile;
using namespace tile::test;

namespace {

const auto scale = kernel("scale", [](In<f32, 1> x, Out<f32, 1> y, Scalar<f32> s, Const B) {
  Value i = grid1d(y, {B});
  y.tile({B})(i) = x.tile({B})(i) * s;
});
/// Its code is for one number of columns.
const auto columns = kernel("columns", [](In<f32, 2> x, Out<f32, 1> y, Const B) {
  Value row = grid1d(y, {B});
  Value total = zeros(f32, {B});
  for (int column = 0, n = specialize(x.dim(1)); column < n; ++column)
    total = total + reshape(x.tile({B, 1})(row, column), {B});
  y.tile({B})(row) = total;
});
const auto repeated = kernel("repeated", [](Out<i32, 1> y, Scalar<i32> times) {
  Value i = grid1d(y, {64});
  Value total = zeros(i32, {64});
  for (int n = 0, end = specialize(times); n < end; ++n)
    total = total + n;
  y.tile({64})(i) = total;
});

KernelRequest scaleRequest(int64_t extent = 1024) {
  return {scale.consts(256),
          {exampleView(f32, {extent}), exampleView(f32, {extent}), exampleScalar(f32)}};
}

const std::vector<std::string> kScaleNames = {"x", "y", "s"};

ArchivedFunction functionOf(const aot::Function &function) {
  return KernelArchive::of(archiveOf({function}), "of the test").function(function.name);
}

HostArg number(float value) { return detail::scalarArg<f32>(value); }

class AotLaunch : public testing::TestWithParam<const char *> {
protected:
  Device device = Device::open(GetParam());
  Stream stream = device.stream();
};
INSTANTIATE_TEST_SUITE_P(Devices, AotLaunch, testing::Values("virtual:sm_80", "virtual:sm_90a"),
                         [](auto &info) { return std::string(info.param).substr(8); });

/// What launching with `launch` throws; fails if it does not.
template <class Launch> std::string refusal(Launch launch, ErrorCode code) {
  try {
    launch();
  } catch (const Error &error) {
    EXPECT_EQ(nameOf(error.code()), std::string(nameOf(code)));
    EXPECT_EQ(error.what(), std::string(error.what()));
    return error.message();
  }
  ADD_FAILURE() << "nothing was refused";
  return "";
}

} // namespace

// Every offset of the address and every rest of the extent has a variant.
TEST_P(AotLaunch, TakesAnyAlignmentExtentAndStride) {
  ArchivedFunction function =
      functionOf(compiledAhead("scale", scaleRequest(), kScaleNames, {"sm_80", "sm_90a"}));
  std::vector<float> values(3000);
  std::iota(values.begin(), values.end(), 0.f);
  auto x = device.tensor<float>({3000}, values);
  for (int64_t begin : {0, 1, 4})
    for (int64_t extent : {1, 255, 256, 1000, 1024})
      for (int64_t step : {1, 2}) {
        auto y = device.tensor<float>({extent});
        HostArg in = toHostArg(x);
        in.pointer = static_cast<float *>(in.pointer) + begin;
        in.extents[0] = extent, in.strides[0] = step;
        std::vector<HostArg> args = {in, toHostArg(y), number(0.5f)};
        function.launch(stream, args);
        std::vector<float> result = y.download();
        for (int64_t i = 0; i < extent; ++i)
          ASSERT_EQ(result[i], 0.5f * static_cast<float>(begin + i * step))
              << "from " << begin << ", " << extent << " by " << step << ", at " << i;
      }
}

TEST_P(AotLaunch, IsPartOfGraphs) {
  ArchivedFunction function =
      functionOf(compiledAhead("scale", scaleRequest(), kScaleNames, {"sm_80", "sm_90a"}));
  std::vector<float> values(1024, 3.f);
  auto x = device.tensor<float>({1024}, values), y = device.tensor<float>({1024}, values);
  std::vector<HostArg> args = {toHostArg(x), toHostArg(y), number(2.f)};
  Graph graph = Graph::capture(stream, [&] { function.launch(stream, args); });
  EXPECT_EQ(y.download()[5], 3.f) << "nothing runs while work is captured";
  graph.replay(stream);
  stream.synchronize();
  EXPECT_EQ(y.download()[5], 6.f);
}

TEST_P(AotLaunch, IsLoadedOnceByManyThreads) {
  ArchivedFunction function =
      functionOf(compiledAhead("scale", scaleRequest(), kScaleNames, {"sm_80", "sm_90a"}));
  std::vector<float> values(1024, 3.f);
  auto x = device.tensor<float>({1024}, values);
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&, i] {
      Stream own = device.stream();
      auto y = device.tensor<float>({1024});
      std::vector<HostArg> args = {toHostArg(x), toHostArg(y), number(static_cast<float>(i))};
      function.launch(own, args);
      EXPECT_EQ(y.download()[1023], 3.f * static_cast<float>(i));
    });
  for (std::thread &thread : threads)
    thread.join();
}

TEST_P(AotLaunch, ValuesThatTheKernelAskedForAreThoseOfTheExample) {
  ArchivedFunction function = functionOf(compiledAhead(
      "columns", {columns.consts(32), {exampleView(f32, {64, 3}), exampleView(f32, {64})}},
      {"x", "y"}, {"sm_80"}));
  std::vector<float> values(50 * 3, 1.f);
  auto x = device.tensor<float>({50, 3}, values);
  auto y = device.tensor<float>({50});
  std::vector<HostArg> args = {toHostArg(x), toHostArg(y)};
  function.launch(stream, args);
  EXPECT_EQ(y.download()[49], 3.f);
  auto other = device.tensor<float>({50, 2}, std::span(values).first(100));
  args[0] = toHostArg(other);
  EXPECT_EQ(refusal([&] { function.launch(stream, args); }, ErrorCode::Unsupported),
            "'columns' is not compiled for such arguments: arg 1 'x': extent of dimension 1 is 2, "
            "and the code is for 3: let `tilec aot` compile a function for this one, too");
}

// Calls with the same tensors and other numbers must not take each other's code.
TEST_P(AotLaunch, NumbersThatTheKernelAskedForAreLookedAtInEachCall) {
  ArchivedFunction function = functionOf(
      compiledAhead("repeated", {repeated, {exampleView(i32, {64}), exampleScalar(i32, 3)}},
                    {"y", "times"}, {"sm_80"}));
  auto y = device.tensor<int32_t>({64});
  std::vector<HostArg> args = {toHostArg(y), detail::scalarArg<i32>(3)};
  for (int i = 0; i < 2; ++i) {
    args[1] = detail::scalarArg<i32>(3);
    function.launch(stream, args);
    EXPECT_EQ(y.download()[0], 3);
    args[1] = detail::scalarArg<i32>(4);
    EXPECT_EQ(refusal([&] { function.launch(stream, args); }, ErrorCode::Unsupported),
              "'repeated' is not compiled for such arguments: arg 2 'times' is 4, and the code is "
              "for 3: let `tilec aot` compile a function for this one, too");
  }
}

TEST_P(AotLaunch, WrongArgumentsAreRefusedAtTheCall) {
  ArchivedFunction function =
      functionOf(compiledAhead("scale", scaleRequest(), kScaleNames, {"sm_80"}));
  auto x = device.tensor<float>({1024}, std::vector<float>(1024)), y = device.tensor<float>({1024});
  auto wide = device.tensor<double>({1024});
  std::vector<HostArg> good = {toHostArg(x), toHostArg(y), number(1.f)};
  auto refused = [&](std::vector<HostArg> args, ErrorCode code) {
    return refusal([&] { function.launch(stream, args); }, code);
  };
  for (int i = 0; i < 2; ++i) { // also behind a call that is remembered
    EXPECT_EQ(refused({good[0], good[1]}, ErrorCode::InvalidArgument),
              "the kernel takes 3 arguments, got 2");
    EXPECT_EQ(refused({toHostArg(wide), good[1], good[2]}, ErrorCode::InvalidArgument),
              "arg 1 'x': expected ptr<f32>, got ptr<f64>");
    EXPECT_EQ(refused({good[2], good[1], good[2]}, ErrorCode::InvalidArgument),
              "arg 1 'x': expected ptr<f32>, got f32");
    HostArg null = good[0];
    null.pointer = nullptr;
    EXPECT_EQ(refused({null, good[1], good[2]}, ErrorCode::InvalidArgument),
              "arg 1 'x' is a null pointer, but its shape is not empty");
    HostArg deep = good[0];
    deep.rank = 200;
    EXPECT_NE(refused({deep, good[1], good[2]}, ErrorCode::InvalidArgument).find("expected rank 1"),
              std::string::npos);
    HostArg overlapping = good[0];
    overlapping.pointer = static_cast<char *>(good[1].pointer) + 16;
    overlapping.extents[0] = 100;
    EXPECT_NE(refused({overlapping, good[1], good[2]}, ErrorCode::Aliasing).find("overlaps"),
              std::string::npos);
    function.launch(stream, good);
  }
}

// Every call in place has code: of any alignment and extent, and with any of the arguments being one view.
TEST_P(AotLaunch, WorksInPlace) {
  ArchivedFunction function =
      functionOf(compiledAhead("scale", scaleRequest(), kScaleNames, {"sm_80", "sm_90a"}));
  for (int64_t extent : {1, 255, 256, 1000, 1024})
    for (int64_t begin : {0, 1, 4}) {
      auto x = device.tensor<float>({begin + extent}, std::vector<float>(begin + extent, 3.f));
      HostArg view = toHostArg(x);
      view.pointer = static_cast<float *>(view.pointer) + begin;
      view.extents[0] = extent;
      for (float factor : {2.f, 0.5f, 4.f}) // the second is remembered, and so is the first apart
        function.launch(stream, std::vector<HostArg>{view, view, number(factor)});
      EXPECT_EQ(x.download().back(), 12.f) << extent << " from " << begin;
      auto y = device.tensor<float>({extent});
      function.launch(stream, std::vector<HostArg>{view, toHostArg(y), number(2.f)});
      EXPECT_EQ(y.download()[0], 24.f) << "apart as before";
    }
}

// The launch brings along what programs hand to each other, one after the other and in a graph.
TEST_P(AotLaunch, ProgramsAddUpTiles) {
  static const auto pairs = kernel("pairs", [](In<f32, 1> x, Out<f32, 1> y, Const B) {
    Value program = grid1d(x, {B});
    grid_sum(x.tile({B})(program), 2, [&](const Value &sum) { y.tile({B})(program / 2) = sum; });
  });
  ArchivedFunction function = functionOf(compiledAhead(
      "pairs", {pairs.consts(256), {exampleView(f32, {1024}), exampleView(f32, {512})}}, {"x", "y"},
      {"sm_80"}));
  std::vector<float> values(1024);
  std::iota(values.begin(), values.end(), 0.f);
  auto x = device.tensor<float>({1024}, values), y = device.tensor<float>({512});
  std::vector<HostArg> args{toHostArg(x), toHostArg(y)};
  auto expectSums = [&] {
    std::vector<float> sums = y.download();
    for (size_t i = 0; i < sums.size(); ++i)
      ASSERT_EQ(sums[i], static_cast<float>(i / 256 * 1024 + 2 * (i % 256) + 256)) << i;
  };
  function.launch(stream, args), function.launch(stream, args);
  stream.synchronize();
  expectSums();
  y.upload(std::vector<float>(512));
  Graph graph = Graph::capture(stream, [&] { function.launch(stream, args); });
  graph.replay(stream), graph.replay(stream);
  stream.synchronize();
  expectSums();
  auto few = device.tensor<float>({768});
  EXPECT_NE(refusal(
                [&] {
                  function.launch(stream, std::vector<HostArg>{toHostArg(few), toHostArg(y)});
                },
                ErrorCode::InvalidShape)
                .find("adds up tiles of 2 programs that follow each other"),
            std::string::npos);
}

// As in code of the JIT: what is read behind a write of the same view is what was written.
TEST_P(AotLaunch, InPlaceAccessesAreInTheirOrder) {
  const auto twice = kernel("twice", [](In<f32, 1> x, Out<f32, 1> y, Out<f32, 1> z) {
    Value i = grid1d(y, {256});
    y.tile({256})(i) = x.tile({256})(i) * 2.0f;
    z.tile({256})(i) = x.tile({256})(i) + 1.0f;
  });
  auto view = exampleView(f32, {1024});
  aot::Function compiled =
      compiledAhead("twice", {twice, {view, view, view}}, {"x", "y", "z"}, {"sm_80"});
  EXPECT_GT(compiled.variants.size(), 3u) << "code for calls in place is another";
  ArchivedFunction function = functionOf(compiled);
  auto ones = [&] { return device.tensor<float>({1000}, std::vector<float>(1000, 1.f)); };
  auto resultOf = [&](const Tensor &x, const Tensor &y, const TensorOf<float> &z) {
    function.launch(stream, std::vector<HostArg>{toHostArg(x), toHostArg(y), toHostArg(z)});
    return z.download()[999];
  };
  TensorOf<float> x = ones(), y = ones(), z = ones();
  EXPECT_EQ(resultOf(x, y, z), 2.f);
  EXPECT_EQ(resultOf(x, x, z), 3.f) << "of x, which was doubled before";
  EXPECT_EQ(resultOf(ones(), z, z), 2.f) << "both outputs: the later one stays";
  EXPECT_EQ(resultOf(z, z, z), 5.f);
  HostArg part = toHostArg(x);
  part.extents[0] = 500;
  HostArg shifted = part;
  shifted.pointer = static_cast<float *>(part.pointer) + 100;
  EXPECT_NE(refusal(
                [&] {
                  function.launch(stream, std::vector<HostArg>{part, shifted, toHostArg(z)});
                },
                ErrorCode::Aliasing)
                .find("overlaps"),
            std::string::npos)
      << "views that overlap in another way are none of these";
}

TEST_P(AotLaunch, WaitsForLaunchesBeforeItIfItIsCompiledSo) {
  tilec::AotRequest asked{"scale", scaleRequest(), kScaleNames, {}};
  tilec::AotOptions options;
  options.hasMachineCode = false, options.isDependent = true;
  aot::Function compiled = tilec::functionOf(asked);
  for (const char *target : {"sm_80", "sm_90a"})
    tilec::addVariants(compiled, asked, target, options);
  for (const aot::Variant &variant : compiled.variants) {
    bool isHopper = variant.compiled.target == "sm_90a";
    EXPECT_EQ(variant.compiled.waits, isHopper);
    EXPECT_EQ(variant.compiled.ptx.find("griddepcontrol.wait") != std::string::npos, isHopper);
  }
  ArchivedFunction function = functionOf(compiled);
  auto x = device.tensor<float>({1000}, std::vector<float>(1000, 1.f)),
       y = device.tensor<float>({1000});
  for (bool overlaps : {false, true}) {
    stream.overlapLaunches(overlaps);
    function.launch(stream, std::vector<HostArg>{toHostArg(x), toHostArg(y), number(2.f)});
    function.launch(stream, std::vector<HostArg>{toHostArg(y), toHostArg(y), number(3.f)});
    EXPECT_EQ(y.download()[999], 6.f);
  }
}

TEST(AotFunctions, RunOnLaterDevicesUnlessTheyAreForOneAlone) {
  Device ampere = Device::open("virtual:sm_80"), hopper = Device::open("virtual:sm_90a");
  auto launch = [](const ArchivedFunction &function, const Device &device) {
    auto x = device.tensor<float>({100}, std::vector<float>(100));
    auto y = device.tensor<float>({100});
    std::vector<HostArg> args = {toHostArg(x), toHostArg(y), number(1.f)};
    function.launch(device.stream(), args);
  };
  ArchivedFunction old = functionOf(compiledAhead("old", scaleRequest(), kScaleNames, {"sm_80"}));
  EXPECT_EQ(old.targets(), std::vector<std::string>{"sm_80"});
  launch(old, ampere);
  launch(old, hopper);
  ArchivedFunction young =
      functionOf(compiledAhead("young", scaleRequest(), kScaleNames, {"sm_90a"}));
  launch(young, hopper);
  std::string why = refusal([&] { launch(young, ampere); }, ErrorCode::Unsupported);
  EXPECT_NE(why.find("'young' is compiled for sm_90a, and "), std::string::npos) << why;
  EXPECT_NE(why.find("is sm_80: name that target to `tilec aot --arch`"), std::string::npos) << why;
}

// Beyond 2^31 elements narrow addresses would wrap: only the last variant may be taken. Nothing is launched.
TEST(AotFunctions, NeedWideAddressesForLargeTensors) {
  aot::Function function = compiledAhead("scale", scaleRequest(), kScaleNames);
  ASSERT_EQ(function.variants.size(), 6u) << "three, and as many for calls in place";
  detail::KernelRecord record;
  record.params = function.params, record.paramNames = function.paramNames;
  std::vector<HostArg> args = {exampleView(f32, {1000}), exampleView(f32, {1000}), number(1.f)};
  auto firstThatFits = [&] {
    for (size_t i = 0; i < function.variants.size(); ++i)
      if (aot::unmetNeed(function.variants[i].needs, record, args).empty())
        return static_cast<int>(i);
    return -1;
  };
  EXPECT_EQ(firstThatFits(), 1) << "1000 is no multiple of 256";
  args = scaleRequest(4096).arguments;
  args[2] = number(1.f);
  EXPECT_EQ(firstThatFits(), 0);
  args[1].sameAs = 1;
  EXPECT_EQ(firstThatFits(), 3) << "in place";
  args[0].strides[0] = int64_t(1) << 31;
  EXPECT_EQ(firstThatFits(), 5);
  args[1].sameAs = 0;
  EXPECT_EQ(firstThatFits(), 2);
}

TEST(AotFunctions, OfExamplesAloneSayWhatTheyNeed) {
  Device device = Device::open("virtual:sm_80");
  ArchivedFunction function =
      functionOf(compiledAhead("scale", scaleRequest(), kScaleNames, {"sm_80"}, true));
  auto x = device.tensor<float>({2000}), y = device.tensor<float>({2000});
  auto why = [&](std::function<void(HostArg &)> change, int64_t extent = 1024) {
    HostArg in = toHostArg(x), out = toHostArg(y);
    in.extents[0] = out.extents[0] = extent;
    change(in);
    std::vector<HostArg> args = {in, out, number(1.f)};
    std::string text =
        refusal([&] { function.launch(device.stream(), args); }, ErrorCode::Unsupported);
    return text.substr(std::min(text.size(), text.find(": ") + 2));
  };
  EXPECT_EQ(why([](HostArg &) {}, 1000),
            "arg 1 'x': extent of dimension 0 must be a multiple of 256, it is 1000");
  EXPECT_EQ(why([](HostArg &in) { in.pointer = static_cast<char *>(in.pointer) + 4; }),
            "arg 1 'x': its address must be a multiple of 16 bytes");
  EXPECT_EQ(why([](HostArg &in) { in.strides[0] = 0; }),
            "arg 1 'x': stride of dimension 0 must be 1, it is 0");
}

TEST(AotFunctions, TellWhatTheyAre) {
  aot::Function compiled = compiledAhead("half", scaleRequest(), kScaleNames);
  compiled.constants = {{"B", 256}};
  KernelArchive archive = KernelArchive::of(archiveOf({compiled}), "of the test");
  EXPECT_EQ(archive.names(), std::vector<std::string>{"half"});
  ArchivedFunction function = archive.function("half");
  EXPECT_EQ(function.name(), "half");
  ASSERT_EQ(function.constants().size(), 1u);
  EXPECT_EQ(function.constants()[0].second, 256);
  std::vector<ArchivedParameter> parameters = function.parameters();
  ASSERT_EQ(parameters.size(), 3u);
  EXPECT_EQ(parameters[1].name, "y");
  EXPECT_EQ(parameters[1].kind, detail::ParamSpec::Out);
  EXPECT_EQ(parameters[1].rank, 1);
  EXPECT_EQ(parameters[2].dtype, f32);
  EXPECT_EQ(refusal([&] { archive.function("double"); }, ErrorCode::InvalidArgument),
            "the archive 'archive' has no function 'double'; it has half");
}

TEST(AotFunctions, AreReadOnceFromTheProgramsBytes) {
  static const std::vector<std::byte> bytes =
      archiveOf({compiledAhead("scale", scaleRequest(), kScaleNames)});
  const AotFunction<In<f32, 1>, Out<f32, 1>, Scalar<f32>> typed(
      reinterpret_cast<const unsigned char *>(bytes.data()), bytes.size(), "scale");
  Device device = Device::open("virtual:sm_80");
  typed.prepare(device);
  std::vector<float> values(10, 4.f);
  auto x = device.tensor<float>({10}, values), y = device.tensor<float>({10});
  typed(device.stream(), x, y, 0.25f);
  EXPECT_EQ(y.download()[9], 1.f);
  const AotFunction<In<f32, 1>> missing(reinterpret_cast<const unsigned char *>(bytes.data()),
                                        bytes.size(), "missing");
  EXPECT_EQ(refusal([&] { missing.prepare(device); }, ErrorCode::InvalidArgument),
            "the archive 'archive' has no function 'missing'; it has scale");
}
