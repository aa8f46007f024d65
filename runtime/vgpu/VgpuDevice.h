// The virtual GPU as a device: everything `Device` promises, plus the checkers and counters only it
// has.
#pragma once

#include "runtime/device/Device.h"
#include "runtime/vgpu/PredictionRequest.h"
#include "runtime/vgpu/check/Checks.h"
#include "runtime/vgpu/machine/Counters.h"
#include "runtime/vgpu/machine/Model.h"
#include "runtime/vgpu/machine/Schedule.h"

namespace tile::vgpu {

/// Opened by `device::openVirtual`; get it from there by `asVirtual`. Launches run to their end
/// before they return.
class VirtualDevice : public device::Device {
public:
  /// The checkers of launches from now on.
  virtual void setChecks(const Checks &checks) = 0;
  virtual Checks checks() const = 0;
  /// When asynchronous operations complete and who runs when, and the seed of its choices, of
  /// launches from now on.
  virtual void setSchedule(Schedule schedule, uint64_t seed) = 0;
  virtual Schedule schedule() const = 0;
  /// Where launches from now on are exact, inexact or unkind.
  virtual void setModel(const Model &model) = 0;
  virtual Model model() const = 0;
  /// With a sink, launches hand their findings to it and do not throw DeviceFinding.
  virtual void setFindingSink(FindingSink sink) = 0;
  /// Counts instructions, bank conflicts and sectors from now on; switching it on clears the
  /// counters.
  virtual void setCounters(bool on) = 0;
  /// The counters of all launches since.
  virtual Counters counters() const = 0;
  /// These counters by line of PTX, for lines that ran: module by module, in the order of the
  /// lines.
  virtual std::vector<LineCounters> countersByLine() const = 0;
  /// The notes of all launches since the device was opened: module by module, in the order of the
  /// lines.
  virtual std::vector<Note> notes() const = 0;
  /// Launches, blocks and instructions since the device was opened, and the time they took on the
  /// host.
  virtual LaunchStatistics statistics() const = 0;
  /// Calls `give` and says of each launch that this thread gives to the device meanwhile how long
  /// it would take on the card of the calibration. These launches are not executed: memory stays
  /// as it is. Errors: InvalidArgument for settings that the calibration does not have;
  /// Unsupported for kernels that the model cannot follow; those of `give`.
  virtual std::vector<PredictedLaunch> predict(const std::function<void()> &give,
                                               const PredictionRequest &request) = 0;
  /// The number of `count` elements that have bytes which were never written. Kernels' stores are
  /// followed by the init check alone.
  virtual size_t countUnwritten(device::DevicePtr pointer, size_t elementBytes,
                                size_t count) const = 0;
  /// Sets the name that reports use for memory that alloc returned, until it is freed.
  virtual void nameMemory(device::DevicePtr pointer, const std::string &name) = 0;
};

/// The virtual device behind `device`, or null if it is another kind.
std::shared_ptr<VirtualDevice> asVirtual(const std::shared_ptr<device::Device> &device);

} // namespace tile::vgpu
