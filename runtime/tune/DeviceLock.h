// Two tuners of one machine do not measure on one device at the same time: a lock by the device's name, which ends with the process.
#pragma once

#include "base/Fork.h"

#include <tile/Device.h>

namespace tile::tune {

class DeviceLock {
public:
  /// Waits until others let the device go, so many seconds at most; then, or where no lock can be had, it goes on without.
  explicit DeviceLock(const Device &device, double mostSeconds = 60);
  ~DeviceLock();
  DeviceLock(const DeviceLock &) = delete;
  DeviceLock &operator=(const DeviceLock &) = delete;

  bool isHeld() const { return isHeld_; }

private:
  int file_ = -1;
  base::MadeInProcess process_;
  bool isHeld_ = false;
};

} // namespace tile::tune
