#include "runtime/device/Nvml.h"

#include "base/DynamicLibrary.h"
#include "base/Environment.h"

namespace tile::device::nvml {

bool Functions::bindAll(const base::DynamicLibrary &library) {
  // The first is the name since version 535 of the driver.
  if (!library.bind(clockReasons, "nvmlDeviceGetCurrentClocksEventReasons"))
    library.bind(clockReasons, "nvmlDeviceGetCurrentClocksThrottleReasons");
  library.bind(migMode, "nvmlDeviceGetMigMode");
  library.bind(temperature, "nvmlDeviceGetTemperature");
  library.bind(power, "nvmlDeviceGetPowerUsage");
  return library.bind(init, "nvmlInit_v2") &&
         library.bind(deviceByPciBusId, "nvmlDeviceGetHandleByPciBusId_v2") &&
         library.bind(clock, "nvmlDeviceGetClockInfo") &&
         library.bind(errorString, "nvmlErrorString");
}

const Functions *functions(std::string *why) {
  static const std::string named = base::environmentText("TILE_LIBNVML");
  return base::loadOnce<Functions>({named.empty() ? "libnvidia-ml.so.1" : named.c_str()}, why);
}

} // namespace tile::device::nvml
