#include "capi/Guard.h"
#include "capi/Handles.h"
#include "runtime/host/State.h"

#include <tile/c/Device.h>

#include <string_view>

using namespace tile;
using namespace tile::capi;

namespace {

struct TextProperty {
  const char *name;
  const std::string &(*of)(const Device &);
};
constexpr TextProperty kTexts[] = {
    {"name", [](const Device &device) -> const std::string & { return device.name(); }},
    {"product", [](const Device &device) -> const std::string & { return device.product(); }},
    {"target", [](const Device &device) -> const std::string & { return device.target(); }},
};

const device::DeviceProps &propsOf(const Device &device) { return device.state()->device->props(); }

struct NumberProperty {
  const char *name;
  uint64_t (*of)(const Device &);
};
constexpr NumberProperty kNumbers[] = {
    {"id", [](const Device &d) { return d.handle(); }},
    {"ordinal", [](const Device &d) { return static_cast<uint64_t>(propsOf(d).ordinal); }},
    {"is_virtual", [](const Device &d) { return uint64_t{d.isVirtual()}; }},
    {"multiprocessors", [](const Device &d) { return static_cast<uint64_t>(propsOf(d).smCount); }},
    {"total_memory", [](const Device &d) { return uint64_t{propsOf(d).totalMemory}; }},
    {"l2_bytes", [](const Device &d) { return uint64_t{propsOf(d).l2Bytes}; }},
    {"shared_memory_per_multiprocessor",
     [](const Device &d) { return uint64_t{propsOf(d).sharedPerSm}; }},
    {"shared_memory_per_block",
     [](const Device &d) { return uint64_t{propsOf(d).sharedPerBlockOptin}; }},
    {"registers_per_multiprocessor",
     [](const Device &d) { return static_cast<uint64_t>(propsOf(d).registersPerSm); }},
    {"max_threads_per_block",
     [](const Device &d) { return static_cast<uint64_t>(propsOf(d).maxThreadsPerBlock); }},
};

template <class Properties>
const auto &propertyOf(const Properties &properties, const char *name, const char *kind) {
  std::string known;
  for (const auto &property : properties) {
    if (std::string_view(property.name) == name)
      return property;
    known += (known.empty() ? "" : ", ") + std::string(property.name);
  }
  refuse(ErrorCode::InvalidArgument,
         std::string("'") + name + "' is no property that is a " + kind + ": there are " + known);
}

} // namespace

tile_status tile_device_open(const char *name, tile_device **device) {
  return guarded([&] {
    required(device, "device");
    *device = give<tile_device>(name ? Device::open(name) : Device::best());
  });
}

tile_status tile_device_of_context(void *context, tile_device **device) {
  return guarded([&] {
    required(device, "device");
    *device = give<tile_device>(Device::ofContext(context));
  });
}

tile_status tile_device_release(tile_device *device) {
  return guarded([&] { release(device); });
}

tile_status tile_device_text(tile_device *device, const char *property, const char **text) {
  return guarded([&] {
    auto object = at(device, "device");
    const auto &known = propertyOf(kTexts, required(property, "property"), "text");
    *required(text, "text") = known.of(*object).c_str();
  });
}

tile_status tile_device_number(tile_device *device, const char *property, int64_t *number) {
  return guarded([&] {
    auto object = at(device, "device");
    const auto &known = propertyOf(kNumbers, required(property, "property"), "number");
    *required(number, "number") = static_cast<int64_t>(known.of(*object));
  });
}

tile_status tile_device_synchronize(tile_device *device) {
  return guarded([&] { at(device, "device")->synchronize(); });
}
