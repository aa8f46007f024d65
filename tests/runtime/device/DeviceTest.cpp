// The promises of the device seam that misuse tests: handles, sizes, pointers, launch shapes. On the virtual GPU.
#include "runtime/device/Device.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <limits>

namespace tile::device {
namespace {

constexpr const char *kAddOne = R"(.version 7.0
.target sm_80
.address_size 64
.visible .entry add_one(.param .u64 p, .param .u32 n)
{
  .reg .b64 %rd<3>;
  .reg .b32 %r<4>;
  .reg .pred %q;
  ld.param.u64 %rd1, [p];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, %tid.x;
  setp.ge.u32 %q, %r2, %r1;
  @%q ret;
  mad.wide.u32 %rd2, %r2, 4, %rd1;
  ld.global.u32 %r3, [%rd2];
  add.u32 %r3, %r3, 1;
  st.global.u32 [%rd2], %r3;
  ret;
}
)";

template <class Call> void expectError(ErrorCode code, const char *part, Call call) {
  try {
    call();
    FAIL() << "no error; expected " << nameOf(code);
  } catch (const Error &error) {
    EXPECT_EQ(error.code(), code) << error.what();
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

class DeviceTest : public testing::Test {
protected:
  std::shared_ptr<Device> device = openVirtual({});

  Function addOne() { return device->getFunction(device->loadModule(kAddOne), "add_one"); }
  void launchAddOne(DevicePtr pointer, uint32_t n) {
    Arg args[] = {{&pointer, 8}, {&n, 4}};
    device->launch(addOne(), {{1}, {32}, {}, 0}, args);
  }
};

TEST_F(DeviceTest, CopiesRoundTrip) {
  uint32_t data[8] = {1, 2, 3, 4, 5, 6, 7, 8}, back[8] = {};
  DevicePtr a = device->alloc(sizeof data), b = device->alloc(sizeof data);
  device->copyToDevice(a, data, sizeof data);
  device->copyOnDevice(b, a, sizeof data);
  device->copyToHost(back, b, sizeof back);
  EXPECT_EQ(std::vector(data, data + 8), std::vector(back, back + 8));
  device->fill(b + 4, 0xff, 8);
  device->copyToHost(back, b, sizeof back);
  EXPECT_EQ(back[0], 1u);
  EXPECT_EQ(back[1], ~0u);
  EXPECT_EQ(back[2], ~0u);
  EXPECT_EQ(back[3], 4u);
}

TEST_F(DeviceTest, LaunchChangesMemory) {
  uint32_t data[32] = {}, back[32];
  for (uint32_t i = 0; i < 32; ++i)
    data[i] = i;
  DevicePtr pointer = device->alloc(sizeof data);
  device->copyToDevice(pointer, data, sizeof data);
  launchAddOne(pointer, 31);
  device->copyToHost(back, pointer, sizeof back);
  for (uint32_t i = 0; i < 32; ++i)
    EXPECT_EQ(back[i], i + (i < 31));
}

TEST_F(DeviceTest, DestroyedStreamIsAnInvalidHandle) {
  Stream stream = device->createStream();
  device->synchronize(stream);
  device->destroyStream(stream);
  expectError(ErrorCode::InvalidHandle, "stream", [&] { device->synchronize(stream); });
  expectError(ErrorCode::InvalidHandle, "stream", [&] { device->destroyStream(stream); });
  expectError(ErrorCode::InvalidHandle, "stream", [&] { device->alloc(16, stream); });
  // The successor in the same place does not bring the old handle back.
  Stream successor = device->createStream();
  expectError(ErrorCode::InvalidHandle, "stream", [&] { device->synchronize(stream); });
  device->synchronize(successor);
}

TEST_F(DeviceTest, NullHandlesAreReported) {
  expectError(ErrorCode::InvalidHandle, "module", [&] { device->unloadModule({}); });
  expectError(ErrorCode::InvalidHandle, "function", [&] { device->functionInfo({}); });
  expectError(ErrorCode::InvalidHandle, "event", [&] { device->record({}); });
}

TEST_F(DeviceTest, UnloadedModuleInvalidatesItsFunctions) {
  Module module = device->loadModule(kAddOne);
  Function function = device->getFunction(module, "add_one");
  device->unloadModule(module);
  uint64_t pointer = 0;
  uint32_t n = 0;
  Arg args[] = {{&pointer, 8}, {&n, 4}};
  expectError(ErrorCode::InvalidHandle, "add_one", [&] {
    device->launch(function, {{1}, {32}, {}, 0}, args);
  });
  expectError(ErrorCode::InvalidHandle, "add_one", [&] { device->functionInfo(function); });
  expectError(ErrorCode::InvalidHandle, "module", [&] { device->getFunction(module, "add_one"); });
}

// Also where the load fails after some of the variables have got theirs.
TEST_F(DeviceTest, VariablesOfModulesGiveTheirMemoryBack) {
  device->alloc(device->props().totalMemory - 2'500'000);
  const std::string start = ".version 8.0\n.target sm_80\n.address_size 64\n"
                            ".global .align 4 .b8 large[1000000];\n";
  for (int i = 0; i < 10; ++i) {
    device->unloadModule(device->loadModule(start));
    expectError(ErrorCode::Unsupported, "nothing",
                [&] { device->loadModule(start + ".global .u64 address = nothing;\n"); });
  }
}

TEST_F(DeviceTest, EventsMeasureTimeBetweenRecords) {
  Event start = device->createEvent(), stop = device->createEvent();
  device->record(start);
  expectError(ErrorCode::InvalidHandle, "recorded", [&] { device->elapsedMs(start, stop); });
  device->record(stop);
  EXPECT_GE(device->elapsedMs(start, stop), 0.0f);
  device->destroyEvent(stop);
  expectError(ErrorCode::InvalidHandle, "event", [&] { device->elapsedMs(start, stop); });
}

TEST_F(DeviceTest, DoubleFreeAndForeignFreeAreReported) {
  DevicePtr pointer = device->alloc(100);
  device->free(pointer);
  expectError(ErrorCode::UseAfterFree, "freed already", [&] { device->free(pointer); });
  DevicePtr other = device->alloc(100);
  expectError(ErrorCode::InvalidArgument, "alloc", [&] { device->free(other + 4); });
  int host = 0;
  expectError(ErrorCode::InvalidArgument, "alloc",
              [&] { device->free(reinterpret_cast<uint64_t>(&host)); });
  device->free(0);
}

TEST_F(DeviceTest, CopiesOutsideAllocationsAreReported) {
  char data[64] = {};
  DevicePtr pointer = device->alloc(32);
  expectError(ErrorCode::InvalidArgument, "32 bytes",
              [&] { device->copyToDevice(pointer, data, 64); });
  expectError(ErrorCode::InvalidArgument, "0x0", [&] { device->copyToDevice(0, data, 8); });
  expectError(ErrorCode::InvalidArgument, "null",
              [&] { device->copyToDevice(pointer, nullptr, 8); });
  device->free(pointer);
  expectError(ErrorCode::UseAfterFree, "freed", [&] { device->copyToHost(data, pointer, 8); });
}

TEST_F(DeviceTest, TooLargeAllocationsFailAndLeaveTheDeviceUsable) {
  for (size_t bytes :
       {std::numeric_limits<size_t>::max(), size_t{1} << 62, device->props().totalMemory + 1})
    expectError(ErrorCode::OutOfMemory, "asked for", [&] { device->alloc(bytes); });
  DevicePtr pointer = device->alloc(size_t{5} << 30); // never touched: only addresses
  EXPECT_TRUE(device->allocationOf(pointer + (size_t{4} << 30)));
  device->free(pointer);
}

TEST_F(DeviceTest, ZeroBytesGiveDistinctPointers) {
  DevicePtr a = device->alloc(0), b = device->alloc(0);
  EXPECT_NE(a, 0u);
  EXPECT_NE(a, b);
  device->copyToDevice(a, nullptr, 0);
  device->free(a);
  device->free(b);
}

TEST_F(DeviceTest, AllocationOfFindsInteriorPointersOnly) {
  DevicePtr pointer = device->alloc(100);
  auto found = device->allocationOf(pointer + 99);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->base, pointer);
  EXPECT_EQ(found->bytes, 100u);
  EXPECT_FALSE(device->allocationOf(pointer + 100));
  EXPECT_FALSE(device->allocationOf(0));
  int host = 0;
  EXPECT_FALSE(device->allocationOf(reinterpret_cast<uint64_t>(&host)));
  device->free(pointer);
  EXPECT_FALSE(device->allocationOf(pointer));
}

TEST_F(DeviceTest, LaunchChecksShapesAndArguments) {
  Function function = addOne();
  DevicePtr pointer = device->alloc(128);
  device->fill(pointer, 0, 128);
  uint32_t n = 32;
  Arg args[] = {{&pointer, 8}, {&n, 4}}, wrongSize[] = {{&pointer, 8}, {&pointer, 8}},
      noData[] = {{&pointer, 8}, {nullptr, 4}};
  auto launch = [&](LaunchConfig config, std::span<const Arg> list) {
    device->launch(function, config, list);
  };
  expectError(ErrorCode::InvalidArgument, "grid", [&] { launch({{0}, {32}, {}, 0}, args); });
  expectError(ErrorCode::InvalidArgument, "grid", [&] { launch({{1, 65536}, {32}, {}, 0}, args); });
  expectError(ErrorCode::InvalidArgument, "block", [&] { launch({{1}, {1025}, {}, 0}, args); });
  expectError(ErrorCode::InvalidArgument, "block", [&] { launch({{1}, {32, 33}, {}, 0}, args); });
  expectError(ErrorCode::ResourceExceeded, "shared", [&] {
    launch({{1}, {32}, {}, 1 << 20}, args);
  });
  expectError(ErrorCode::InvalidArgument, "2 parameters", [&] {
    launch({{1}, {32}, {}, 0}, {args, 1});
  });
  expectError(ErrorCode::InvalidArgument, "argument 1", [&] {
    launch({{1}, {32}, {}, 0}, wrongSize);
  });
  expectError(ErrorCode::InvalidArgument, "argument 1", [&] {
    launch({{1}, {32}, {}, 0}, noData);
  });
  launch({{1}, {32}, {}, 0}, args);
}

TEST_F(DeviceTest, UnknownKernelListsTheKernels) {
  Module module = device->loadModule(kAddOne);
  expectError(ErrorCode::InvalidArgument, "add_one",
              [&] { device->getFunction(module, "add_two"); });
}

TEST_F(DeviceTest, KernelUsingAHostPointerIsReportedAndTheDeviceLivesOn) {
  uint32_t host = 5;
  expectError(ErrorCode::DeviceFinding, "out of bounds",
              [&] { launchAddOne(reinterpret_cast<uint64_t>(&host), 1); });
  EXPECT_EQ(host, 5u);
  expectError(ErrorCode::DeviceFinding, "null", [&] { launchAddOne(0, 1); });
  DevicePtr pointer = device->alloc(128);
  device->fill(pointer, 0, 128);
  launchAddOne(pointer, 32);
  device->free(pointer);
  expectError(ErrorCode::DeviceFinding, "freed", [&] { launchAddOne(pointer, 32); });
}

TEST_F(DeviceTest, FunctionInfoNamesParameters) {
  FunctionInfo info = device->functionInfo(addOne());
  EXPECT_EQ(info.paramSizes, (std::vector<size_t>{8, 4}));
  EXPECT_EQ(info.staticSharedBytes, 0u);
}

TEST(OpenDevice, UnknownTargetsAndNamesAreUserErrors) {
  VirtualOptions options;
  options.target = "sm_12";
  expectError(ErrorCode::InvalidArgument, "sm_12", [&] { openVirtual(options); });
  options = {};
  options.checks = "memory,magic";
  expectError(ErrorCode::InvalidArgument, "magic", [&] { openVirtual(options); });
}

TEST(OpenDevice, NewerPtxIsRefusedWithTheRemedy) {
  std::string text = kAddOne;
  text.replace(text.find("sm_80"), 5, "sm_90");
  expectError(ErrorCode::Unsupported, "virtual:sm_90", [&] { openVirtual({})->loadModule(text); });
}

TEST(ErrorText, HasPlaceMessageAndNotes) {
  Error error(Fault::User, ErrorCode::InvalidShape, "bad", {"a.cpp", 7}, {"first", "second"});
  EXPECT_STREQ(error.what(), "a.cpp:7: error: bad\n  note: first\n  note: second");
  EXPECT_STREQ(Error(Fault::User, ErrorCode::InvalidShape, "bad").what(), "error: bad");
}

} // namespace
} // namespace tile::device
