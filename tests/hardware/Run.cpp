#include "tests/hardware/Run.h"

#include "base/Environment.h"
#include "runtime/vgpu/VgpuDevice.h"

#include <charconv>

namespace tile::hardware {
namespace {

constexpr uint8_t kUnwritten = 0xcd;

// The memory of a probe, freed at the end.
class Arrays {
public:
  explicit Arrays(device::Device &device) : device_(device) {}
  Arrays(const Arrays &) = delete;
  ~Arrays() {
    for (device::DevicePtr pointer : pointers)
      try {
        device_.free(pointer);
      } catch (const Error &) { // of a context that the probe has ended
      }
  }

  device::DevicePtr add(size_t bytes) {
    pointers.push_back(device_.alloc(bytes));
    return pointers.back();
  }

  std::vector<device::DevicePtr> pointers;

private:
  device::Device &device_;
};

// A loaded module, unloaded at the end.
class Loaded {
public:
  Loaded(device::Device &device, const Probe &probe)
      : device_(device), module_(device.loadModule(probe.ptx, {}, probe.name)) {}
  Loaded(const Loaded &) = delete;
  ~Loaded() {
    try {
      device_.unloadModule(module_);
    } catch (const Error &) {
    }
  }
  device::Function entry() { return device_.getFunction(module_, "k"); }

private:
  device::Device &device_;
  device::Module module_;
};

Buffer download(device::Device &device, device::DevicePtr from, unsigned elementBytes,
                size_t bytes) {
  Buffer result{elementBytes, std::vector<uint8_t>(bytes)};
  device.copyToHost(result.bytes.data(), from, bytes);
  return result;
}

} // namespace

std::shared_ptr<device::Device> openProbed() {
  std::string name = base::environmentText("TILE_DEVICE");
  if (!name.starts_with("cuda"))
    return device::openVirtual({.target = "sm_90a", .checks = "none", .schedule = "eager"});
  int ordinal = 0;
  if (size_t colon = name.find(':'); colon != std::string::npos)
    std::from_chars(name.data() + colon + 1, name.data() + name.size(), ordinal);
  return device::openCuda(ordinal);
}

Outputs run(device::Device &device, const Probe &probe) {
  if (auto *gpu = dynamic_cast<vgpu::VirtualDevice *>(&device)) {
    vgpu::Model model;
    model.sums = probe.sums;
    gpu->setModel(model);
  }
  Loaded loaded(device, probe);
  Arrays arrays(device);
  for (const Buffer &input : probe.inputs)
    device.copyToDevice(arrays.add(input.bytes.size()), input.bytes.data(), input.bytes.size());
  for (const Output &output : probe.outputs) {
    size_t bytes = output.elementBytes * output.size;
    device.fill(arrays.add(bytes), kUnwritten, bytes);
  }
  std::vector<device::TensorMap> maps;
  for (MapOver map : probe.maps) {
    map.params.base = arrays.pointers[map.input];
    maps.push_back(device.encodeTensorMap(map.params));
  }
  std::vector<device::Arg> arguments;
  for (const device::DevicePtr &pointer : arrays.pointers)
    arguments.push_back({&pointer, sizeof pointer});
  for (const device::TensorMap &map : maps)
    arguments.push_back({&map, sizeof map});
  device.launch(loaded.entry(), probe.launch, arguments);
  device.synchronize();
  Outputs result;
  for (size_t i = 0; i < probe.outputs.size(); ++i) {
    const Output &output = probe.outputs[i];
    result.push_back(download(device, arrays.pointers[probe.inputs.size() + i], output.elementBytes,
                              output.elementBytes * output.size));
  }
  for (size_t input : probe.written)
    result.push_back(download(device, arrays.pointers[input], probe.inputs[input].elementBytes,
                              probe.inputs[input].bytes.size()));
  return result;
}

} // namespace tile::hardware
