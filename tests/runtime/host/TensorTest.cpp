// Tensors: views by arithmetic on strides, copies in row-major order, refused shapes; names of
// devices.
#include "ir/target/Target.h"
#include "runtime/device/Device.h"
#include "tests/runtime/jit/Devices.h"

using namespace tile;
using namespace tile::test;

namespace {

class Tensors : public OnDevice {};
TILE_ON_EVERY_DEVICE(Tensors);

TEST_P(Tensors, ViewsShareTheirMemory) {
  auto x = device().tensor<float>({3, 4}, ramp(12, 0));
  EXPECT_EQ(x.download(), ramp(12, 0));
  EXPECT_EQ(x.T().download(), (std::vector<float>{0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11}));
  EXPECT_EQ(x.slice(1, 1, 2).download(), (std::vector<float>{1, 2, 5, 6, 9, 10}));
  EXPECT_EQ(x.reshape({2, -1}).extent(1), 6);
  EXPECT_EQ(x.withStrides({2, 2}, {5, 0}).download(), (std::vector<float>{0, 0, 5, 5}));
  x.slice(1, 1, 1).upload(std::vector<float>{-1, -2, -3});
  EXPECT_EQ(x.download(), (std::vector<float>{0, -1, 2, 3, 4, -2, 6, 7, 8, -3, 10, 11}));
  auto deep = device().tensor<int32_t>({2, 3, 4});
  auto permuted = deep.permute({2, 0, 1});
  EXPECT_EQ(permuted.extent(0), 4);
  EXPECT_EQ(permuted.stride(0), 1);
  EXPECT_EQ(permuted.stride(1), 12);
}

TEST_P(Tensors, KeepTheirMemoryAlive) {
  TensorOf<float> row;
  {
    auto x = device().tensor<float>({4, 4}, ramp(16, 0));
    row = x.slice(0, 2, 1);
  }
  EXPECT_EQ(row.download(), ramp(4, 8));
}

TEST_P(Tensors, RefuseImpossibleShapes) {
  auto codeOf = [&](auto action) { return errorOf(action).code(); };
  EXPECT_EQ(codeOf([&] { device().tensor<float>({-1}); }), ErrorCode::InvalidShape);
  EXPECT_EQ(codeOf([&] {
              device().tensor<float>({int64_t(1) << 40, int64_t(1) << 40});
            }),
            ErrorCode::InvalidShape);
  EXPECT_EQ(codeOf([&] {
              device().tensor<float>({1, 1, 1, 1, 1, 1, 1, 1, 1});
            }),
            ErrorCode::InvalidShape);
  auto x = device().tensor<float>({3, 4});
  EXPECT_EQ(codeOf([&] { x.slice(1, 2, 3); }), ErrorCode::InvalidShape);
  EXPECT_EQ(codeOf([&] { x.slice(2, 0, 1); }), ErrorCode::InvalidArgument);
  EXPECT_EQ(codeOf([&] { x.permute({0, 0}); }), ErrorCode::InvalidArgument);
  EXPECT_EQ(codeOf([&] { x.T().reshape({12}); }), ErrorCode::Unsupported);
  EXPECT_EQ(codeOf([&] { x.reshape({5}); }), ErrorCode::InvalidShape);
  EXPECT_EQ(codeOf([&] { x.withStrides({4}, {4}); }), ErrorCode::InvalidShape);
  EXPECT_EQ(codeOf([&] { x.withStrides({2}, {-1}); }), ErrorCode::Unsupported);
  EXPECT_EQ(codeOf([&] { x.upload(ramp(11, 0)); }), ErrorCode::InvalidArgument);
  EXPECT_EQ(codeOf([&] { TensorOf<half> wrong{Tensor(x)}; }), ErrorCode::InvalidArgument);
  EXPECT_EQ(codeOf([&] { Tensor().device(); }), ErrorCode::InvalidHandle);
}

TEST_P(Tensors, MayBeEmpty) {
  auto x = device().tensor<float>({0, 5});
  EXPECT_EQ(x.numel(), 0);
  EXPECT_TRUE(x.download().empty());
  EXPECT_EQ(x.T().extent(0), 5);
  EXPECT_EQ(x.slice(1, 5, 0).numel(), 0);
  auto scalar = device().tensor<double>({});
  scalar.fill(2.5);
  EXPECT_EQ(scalar.download(), std::vector<double>{2.5});
}

// Actions and their errors' lines are on one line, so that __LINE__ is what the error must name.
#define EXPECT_THROWS_HERE(action)                                                                 \
  do {                                                                                             \
    Error error = errorOf([&] { action; });                                                        \
    EXPECT_EQ(error.line(), __LINE__) << error.what();                                             \
    EXPECT_NE(error.file().find("TensorTest"), std::string::npos) << error.what();                 \
  } while (false)

TEST_P(Tensors, NameTheLineThatAskedForTheImpossible) {
  auto x = device().tensor<float>({3, 4});
  Stream stream = device().stream();
  EXPECT_THROWS_HERE(device().tensor<float>({-1}));
  EXPECT_THROWS_HERE(device().tensor<float>({int64_t(1) << 50}));
  EXPECT_THROWS_HERE(device().tensor<float>({100}, ramp(99, 0)));
  EXPECT_THROWS_HERE(stream.tensor<float>({-1}));
  EXPECT_THROWS_HERE(x.upload(ramp(11, 0)));
  EXPECT_THROWS_HERE(x.slice(1, 2, 3));
  EXPECT_THROWS_HERE(x.slice(2, 0, 1));
  EXPECT_THROWS_HERE(x.permute({0, 0}));
  EXPECT_THROWS_HERE(x.reshape({4, 3}).slice(0, 0, 2).T().reshape({6}));
  EXPECT_THROWS_HERE(x.reshape({5}));
  EXPECT_THROWS_HERE(x.withStrides({4}, {4}));
  EXPECT_THROWS_HERE(x.reshape({12}).T());
  EXPECT_THROWS_HERE(x.extent(2));
  EXPECT_THROWS_HERE(TensorOf<half>{Tensor(x)});
  EXPECT_EQ(errorOf([&] { device().tensor<float>({100}, ramp(99, 0)); }).message(),
            "the tensor of {100} f32 has 100 elements, the host's data 99 elements");
}

/// What reading the tensor says on stderr.
template <class Read> std::string noteOf(Read read) {
  testing::internal::CaptureStderr();
  read();
  return testing::internal::GetCapturedStderr();
}

TEST(Downloads, SayOnceForEachLineWhatWasNeverWritten) {
  Device device = Device::wrap(device::openVirtual({.checks = "all"}), "download");
  auto x = device.tensor<float>({4, 8});
  auto above = x.slice(0, 0, 2), left = x.slice(1, 0, 4);
  above.fill(1);
  std::string said = noteOf([&] {
    for (int i = 0; i < 3; ++i)
      x.download();
  });
  EXPECT_NE(said.find("16 of the 32 elements read here"), std::string::npos) << said;
  EXPECT_NE(said.find("TensorTest.cpp:"), std::string::npos) << said;
  EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1) << said;
  EXPECT_NE(noteOf([&] { x.T().download(); }).find("16 of the 32"), std::string::npos);
  EXPECT_NE(noteOf([&] { left.download(); }).find("8 of the 16"), std::string::npos);
  EXPECT_NE(noteOf([&] { left.T().download(device.stream()); }).find("8 of the 16"),
            std::string::npos);
  EXPECT_EQ(noteOf([&] { above.T().download(); }), "");
  EXPECT_EQ(noteOf([&] { left.slice(0, 0, 2).download(); }), "") << "the gaps are nobody's";
  x.fill(2);
  EXPECT_EQ(noteOf([&] { x.download(); }), "");
}

TEST(Downloads, SayNothingWhereNobodyFollowsWhatIsWritten) {
  Device device = Device::wrap(device::openVirtual({.checks = "memory"}), "download");
  auto x = device.tensor<float>({4});
  EXPECT_EQ(noteOf([&] { x.download(); }), "");
}

TEST(Devices, AreOneForEachName) {
  EXPECT_EQ(Device::open("virtual").handle(), Device::open("virtual:sm_80").handle());
  EXPECT_NE(Device::open("virtual").handle(), Device::open("virtual:sm_90a").handle());
  EXPECT_EQ(Device::open("virtual:sm_90a").target(), "sm_90a");
  EXPECT_TRUE(Device::all().front().isVirtual());
  for (const char *name : {"", "gpu", "cuda:", "cuda:x", "cuda:-1", "virtual:", "virtual:sm_1"})
    EXPECT_EQ(errorOf([&] { Device::open(name); }).code(), ErrorCode::InvalidArgument) << name;
}

TEST(Devices, TheEnvironmentNamesTheBest) {
  const char *before = std::getenv("TILE_DEVICE");
  std::string restored = before ? before : "";
  for (const char *name : {"gpu", "cuda:x"}) {
    setenv("TILE_DEVICE", name, 1);
    Error error = errorOf([] { Device::best(); });
    EXPECT_EQ(error.code(), ErrorCode::InvalidArgument) << name;
    EXPECT_NE(error.message().find("TILE_DEVICE"), std::string::npos) << error.what();
  }
  setenv("TILE_DEVICE", "virtual:sm_90a", 1);
  EXPECT_EQ(Device::best().target(), "sm_90a");
  setenv("TILE_DEVICE", "virtual", 1);
  EXPECT_TRUE(Device::best().isVirtual());
  setenv("TILE_DEVICE", restored.c_str(), 1);
}

// Passes believe the target table, launches the device: both must say the same.
TEST(Devices, VirtualOnesHaveTheLimitsOfTheTargetTable) {
  for (const ir::Target &gpu : ir::allGpus()) {
    device::VirtualOptions options;
    options.target = gpu.name;
    device::DeviceProps props = device::openVirtual(options)->props();
    EXPECT_EQ(static_cast<int64_t>(props.sharedPerBlockOptin), gpu.maxSharedBytesPerBlock)
        << gpu.name;
    EXPECT_EQ(static_cast<int64_t>(props.sharedPerSm), gpu.sharedBytesPerSm) << gpu.name;
    EXPECT_EQ(props.registersPerSm, gpu.registersPerSm) << gpu.name;
    EXPECT_EQ(props.maxThreadsPerBlock, gpu.maxThreadsPerBlock) << gpu.name;
    EXPECT_EQ(props.arch, gpu.smVersion) << gpu.name;
    EXPECT_EQ(props.smCount, gpu.card.multiprocessors) << gpu.name;
    if (!ir::findTarget(gpu.name))
      continue;
    TargetInfo info = target_info(gpu.name); // what kernels may know of it
    EXPECT_EQ(info.sm, gpu.smVersion) << gpu.name;
    EXPECT_EQ(info.shared_bytes, gpu.maxSharedBytesPerBlock) << gpu.name;
    EXPECT_EQ(info.has_float8, gpu.hasFloat8) << gpu.name;
    EXPECT_EQ(info.has_clusters, gpu.hasClusters) << gpu.name;
    EXPECT_EQ(info.has_tma, gpu.hasTma) << gpu.name;
    EXPECT_EQ(info.has_wgmma, gpu.hasWgmma) << gpu.name;
    EXPECT_EQ(info.multiprocessors, gpu.card.multiprocessors) << gpu.name;
    EXPECT_FALSE(props.runsMachineCode) << "it runs the PTX";
    EXPECT_TRUE(props.checksBounds);
  }
}

// The virtual GPU refuses what its target does not have, by tables of its own.
TEST(Devices, VirtualOnesHaveTheFeaturesOfTheTargetTable) {
  struct Case {
    ir::Feature feature;
    const char *instruction; ///< one that comes with it
  };
  const Case cases[] = {
      {&ir::Target::hasCpAsync, "cp.async.commit_group;"},
      {&ir::Target::hasFloat8, "cvt.rn.satfinite.e4m3x2.f32 %h, %f, %f;"},
      {&ir::Target::hasStmatrix, "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r], {%r};"},
      {&ir::Target::hasVectorAtomics, "red.relaxed.gpu.global.add.v2.f32 [%rd], {%f, %f};"},
      {&ir::Target::hasClusters, "barrier.cluster.arrive;"},
      {&ir::Target::hasTma, "cp.async.bulk.commit_group;"},
      {&ir::Target::hasDependentLaunch, "griddepcontrol.wait;"},
      {&ir::Target::hasWgmma, "wgmma.fence.sync.aligned;"},
  };
  for (const ir::Target &gpu : ir::allGpus())
    for (const Case &one : cases) {
      device::VirtualOptions options;
      options.target = gpu.name;
      std::string ptx = std::string(".version 8.8\n.target ") + gpu.name +
                        "\n.address_size 64\n.entry k() {\n.reg .b16 %h; .reg .f32 %f; .reg .b32 "
                        "%r; .reg .b64 %rd;\n" +
                        "mov.f32 %f, 0f00000000; mov.u32 %r, 0; mov.u64 %rd, 0;\n" +
                        one.instruction + "\nret;\n}\n";
      bool isThere = true;
      try {
        std::shared_ptr<device::Device> opened = device::openVirtual(options);
        opened->functionInfo(opened->getFunction(opened->loadModule(ptx), "k"));
      } catch (const Error &error) {
        isThere = false;
        EXPECT_NE(std::string(error.what()).find("sm_"), std::string::npos) << error.what();
      }
      if (one.feature == &ir::Target::hasClusters && gpu.smVersion >= 120)
        continue; // PTX has them there, and the cards that the row is for no multicast
      EXPECT_EQ(isThere, gpu.*one.feature) << one.instruction << " on " << gpu.name;
    }
}

} // namespace
