// How long a launch takes, by a model: what it has to multiply, to move through the L2 cache and to fetch from memory, spread over
// multiprocessors in rounds. It is there to order settings, not to foretell times: on recorded times of matrix products on an H100
// the settings that it puts first are 0.5 % slower on average than the best (`tilec tune --simulate`, bench/recordings).
//
// A multiprocessor takes up as many programs as fit it together, and has the next when one is done. Between two programs it
// pauses: barriers are made, the first loads are waited for, the last results are written. A persistent program goes on without
// that, though it still waits for part of what it writes.
#pragma once

#include <tile/Tuning.h>

#include <optional>
#include <string>

namespace tile::tune {

/// What a GPU does in a second, all its multiprocessors together, and what it has. Of the peaks that it is sold with products
/// reach about four fifths for long, by power.
struct DeviceModel {
  double tensorF8, tensorI8, tensor16, tensorTf32, f32, f64; ///< multiply-adds
  double bytesOfCache, bytesOfMemory, bytesWritten;
  double pause, launch; ///< seconds: between two programs, and of a launch
  int multiprocessors;
  int64_t sharedBytes;              ///< of a multiprocessor
  int64_t sharedBytesBlock;         ///< that one program may have
  int registers, threads, programs; ///< of a multiprocessor
  int threadsBlock;

  double multiplyAdds(DType factors) const;
};

/// The model of a target; nothing where there are no figures of one.
std::optional<DeviceModel> modelOf(std::string_view target, int multiprocessors);

/// Why a program cannot run, as a sentence with what it needs and what there is; empty if it can.
std::string lackOf(const Work &work, const DeviceModel &device);

struct Estimate {
  double seconds = 0;
  int programsTogether = 1; ///< on a multiprocessor
  const char *bound = "";   ///< what takes longest: "products", "arithmetic", "L2 cache", "memory"
};
/// The time of a launch that can run.
Estimate timeOf(const Work &work, const DeviceModel &device);

} // namespace tile::tune
