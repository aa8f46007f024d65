// The device of a `tilec run`, and what happened on it: findings of the virtual GPU's checkers, notes, counters.
#pragma once

#include "runtime/device/Device.h"
#include "tools/tilec/run/RunReport.h"

#include <tile/Tensor.h>

#include <optional>
#include <set>
#include <string>

namespace tile::tilec {

struct SessionOptions {
  std::string device, checks, schedule, model, json;
  std::optional<uint64_t> seed; ///< of the virtual GPU; unset: TILE_VGPU_SEED, else 0
  bool counters = false;
  /// The target of the virtual GPU where the user names none: "sm_90a" for PTX with that `.target`.
  std::string target = "sm_80";
};

class Session {
public:
  /// Opens the device: the one named, else TILE_DEVICE, else (`auto`) a GPU if there is one and neither checks nor counters
  /// are asked for, else the virtual GPU. Error: InvalidArgument for checks, counters, a schedule, a model or a seed on a GPU.
  explicit Session(const SessionOptions &options);

  const Device &device() const { return device_; }
  /// The private seam behind it.
  device::Device &seam() const;
  /// Null on a GPU.
  vgpu::VirtualDevice *virtualDevice() const { return virtualDevice_.get(); }
  /// Says that the run will write this file. Errors, before anything has run: InvalidArgument if it is to be written
  /// twice, IoError if it cannot be written.
  void claimFile(const std::string &path);
  /// Keeps something to say that is no fault: finish() prints it after the findings, and it is in the report.
  void note(const std::string &text);
  /// Waits for all work; returns the exit code. Prints findings and counters, and writes the JSON file.
  int finish(const LaunchSummary &summary);

private:
  std::string totals() const;

  SessionOptions options_;
  Device device_;
  std::shared_ptr<vgpu::VirtualDevice> virtualDevice_;
  std::vector<vgpu::Finding> findings_;
  std::vector<std::string> notes_;
  std::set<std::string> files_; ///< that the run will write
};

/// Writes the JSON file, if one is wanted, of a run that ended with an error.
void reportFailure(const SessionOptions &options, const std::string &input, const Error &error);

} // namespace tile::tilec
