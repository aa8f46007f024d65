// The driver's management library, NVML, as a table of functions found by dlopen: it says at which clock a GPU works and what
// slows it. Machines without it, or where it answers nothing, are as good as others, but for that.
//
// Nothing is ever set, and no clock is locked. The constants are those of NVML's ABI (nvml.h, since version 1 of its functions).
#pragma once

#include <cstdint>
#include <string>

namespace tile::base {
class DynamicLibrary;
}

namespace tile::device::nvml {

using Result = int;
using Handle = struct nvmlDevice_st *;

enum : Result { kSuccess = 0 };

enum ClockKind : int { kClockOfMultiprocessors = 1 };
enum TemperatureSensor : int { kSensorOfGpu = 0 };

/// Bits of what keeps a clock below its highest. Others say that it is idle, or as somebody set it.
enum Reason : uint64_t {
  kPowerCap = 0x4,
  kHardwareSlowdown = 0x8,
  kThermal = 0x20,
  kHardwareThermal = 0x40,
  kPowerBrake = 0x80,
};

struct Functions {
  Result (*init)() = nullptr;
  Result (*deviceByPciBusId)(const char *, Handle *) = nullptr;
  Result (*clock)(Handle, int kind, unsigned *megahertz) = nullptr;
  const char *(*errorString)(Result) = nullptr;
  // Optional: null in libraries that lack them.
  Result (*clockReasons)(Handle, unsigned long long *) = nullptr;
  Result (*migMode)(Handle, unsigned *current, unsigned *pending) = nullptr;
  Result (*temperature)(Handle, int sensor, unsigned *celsius) = nullptr;
  Result (*power)(Handle, unsigned *milliwatts) = nullptr;

  bool bindAll(const base::DynamicLibrary &library);
};

/// The library that TILE_LIBNVML names, else libnvidia-ml.so.1; null without one, and `why` says so.
const Functions *functions(std::string *why);

} // namespace tile::device::nvml
