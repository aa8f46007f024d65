// Any bytes as PTX that is executed, for a few thousand branches, under every check and schedule, and under no check:
// findings, an outcome or a tile::Error, and never an access to memory of the host that is not the kernel's.
#include "runtime/vgpu/VgpuDevice.h"
#include "tests/fuzz/parsers/EntriesOfPtx.h"
#include "tests/fuzz/parsers/MutatePtx.h"

#include <tile/Error.h>

#include <cstdlib>

namespace {

using namespace tile;

constexpr size_t kWords = 8192;

// The device, and what its kernels get: a buffer for every pointer, a tensor map over it.
class Machine {
public:
  Machine()
      : device_(vgpu::asVirtual(
            device::openVirtual({.target = "sm_90a", .checks = "all", .threads = 1}))) {
    device_->setFindingSink([](const std::vector<vgpu::Finding> &) {});
    buffer_ = device_->alloc(kWords * 4);
    device::TensorMapParams map;
    map.type = device::TensorMapType::U32;
    map.rank = 2;
    map.base = buffer_;
    map.dims = {64, 64};
    map.strides = {256};
    map.box = {8, 8};
    map_ = device_->encodeTensorMap(map);
  }

  void run(const std::string &ptx) {
    device::Module module = device_->loadModule(ptx);
    unsigned seed = 0;
    const vgpu::Checks all = device_->checks();
    for (const std::string &name : fuzz::entriesOf(ptx)) {
      for (auto schedule : {vgpu::Schedule::Eager, vgpu::Schedule::Lazy, vgpu::Schedule::Random})
        launch(module, name, schedule, seed++);
      // What is not watched takes quicker ways.
      device_->setChecks(vgpu::Checks::none());
      launch(module, name, vgpu::Schedule::Eager, 0);
      device_->setChecks(all);
    }
    device_->unloadModule(module);
  }

private:
  void launch(device::Module module, const std::string &name, vgpu::Schedule schedule,
              unsigned seed) {
    try {
      device_->setSchedule(schedule, seed);
      runKernel(device_->getFunction(module, name));
    } catch (const Error &) {
    }
  }

  void runKernel(device::Function function) {
    std::vector<uint32_t> words(kWords);
    for (size_t i = 0; i < kWords; ++i)
      words[i] = static_cast<uint32_t>(i);
    device_->copyToDevice(buffer_, words.data(), kWords * 4);
    const uint64_t number = 16;
    const std::vector<uint8_t> zeros(4096);
    std::vector<device::Arg> args;
    for (size_t bytes : device_->functionInfo(function).paramSizes)
      args.push_back({bytes == 8               ? static_cast<const void *>(&buffer_)
                      : bytes == sizeof map_   ? static_cast<const void *>(&map_)
                      : bytes <= sizeof number ? static_cast<const void *>(&number)
                                               : zeros.data(),
                      bytes});
    for (const device::Arg &arg : args)
      if (arg.size > zeros.size())
        return;
    device_->launch(function, {{2}, {64}, {}, 1024}, args);
  }

  std::shared_ptr<vgpu::VirtualDevice> device_;
  device::DevicePtr buffer_ = 0;
  device::TensorMap map_;
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  setenv("TILE_VGPU_MAX_BRANCHES", "5000", 1);
  static Machine machine;
  try {
    machine.run(std::string(data, data + size));
  } catch (const Error &) {
  }
  return 0;
}
