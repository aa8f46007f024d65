#include "runtime/tune/Model.h"

#include "codegen/report/Roofline.h"
#include "ir/target/Target.h"

#include <algorithm>
#include <cmath>

namespace tile::tune {
namespace {

// Fitted to recorded times of 250 settings of 17 matrix products on an H100, as parts of what its data sheet says.
constexpr double kSustainedProducts = 0.8, kCacheOverMemory = 4.1, kSustainedMemory = 0.9,
                 kWriteOverMemory = 2.0;
constexpr double kPause = 1.55e-6, kLaunch = 4.1e-6;
/// Of what a persistent program writes, the part it does not wait for.
constexpr double kHiddenWrites = 0.2;
/// Programs that share a multiprocessor have shallower pipelines each.
constexpr double kShared = 1.06;

constexpr int kReservedShared = 1024; // by the system, for each program

int64_t ceilDiv(double a, double b) { return static_cast<int64_t>(std::ceil(a / b)); }

/// How many programs fit a multiprocessor together.
int programsTogether(const Work &work, const DeviceModel &device) {
  int64_t most = device.threads / std::max(work.threads, 1);
  if (work.registers > 0)
    most = std::min<int64_t>(most, device.registers / (int64_t{work.registers} * work.threads));
  if (work.sharedBytes > 0)
    most = std::min(most, device.sharedBytes / (work.sharedBytes + kReservedShared));
  return static_cast<int>(std::clamp<int64_t>(most, 1, device.programs));
}

/// The time that a multiprocessor's share of the device needs for one program, and what it is for.
struct ProgramTime {
  double seconds = 0;
  const char *bound = "products";
  void atLeast(double other, const char *what) {
    if (other > seconds)
      seconds = other, bound = what;
  }
};

ProgramTime bodyOf(const Work &work, const DeviceModel &device) {
  double part = device.multiprocessors;
  ProgramTime time;
  if (work.multiplyAdds > 0)
    time.atLeast(work.multiplyAdds * part /
                     (device.multiplyAdds(work.factors) * std::max(work.productRate, 1e-3)),
                 "products");
  time.atLeast(work.operations * part / device.f32, "arithmetic");
  time.atLeast(work.bytesRead * part / device.bytesOfCache, "L2 cache");
  return time;
}

// Two resources that take equally long are not used at the same time throughout.
double together(double a, double b) {
  constexpr double kPower = 8;
  return std::pow(std::pow(a, kPower) + std::pow(b, kPower), 1 / kPower);
}

} // namespace

double DeviceModel::multiplyAdds(DType factors) const {
  switch (factors) {
  case e4m3:
  case e5m2:
    return tensorF8 > 0 ? tensorF8 : tensor16; // widened where there are no such products
  case i8:
  case u8:
    return tensorI8;
  case f16:
  case bf16:
    return tensor16;
  case DType::F32:
    return tensorTf32;
  case DType::F64:
    return f64;
  default:
    return f32;
  }
}

std::optional<DeviceModel> modelOf(std::string_view target, int multiprocessors) {
  const std::optional<ir::Target> info = ir::findTarget(target);
  if (!info || multiprocessors < 1)
    return std::nullopt;
  const ir::Card &card = info->card;
  // Peaks count operations, in 10^12, of the whole card.
  double part = static_cast<double>(multiprocessors) / card.multiprocessors;
  auto multiplyAdds = [&](double peak) { return peak * 0.5e12 * part * kSustainedProducts; };
  double memory = card.gigabytes * 1e9 * kSustainedMemory;
  DeviceModel device{};
  device.tensorF8 = multiplyAdds(card.f8), device.tensorI8 = multiplyAdds(card.i8);
  device.tensor16 = multiplyAdds(card.f16);
  device.tensorTf32 = multiplyAdds(card.tf32);
  device.f32 = multiplyAdds(card.f32);
  device.f64 = multiplyAdds(card.f64);
  device.bytesOfMemory = memory;
  device.bytesOfCache = memory * kCacheOverMemory;
  device.bytesWritten = memory * kWriteOverMemory;
  device.pause = kPause, device.launch = kLaunch;
  device.multiprocessors = multiprocessors;
  device.sharedBytesBlock = info->maxSharedBytesPerBlock;
  device.sharedBytes = info->sharedBytesPerSm;
  device.registers = info->registersPerSm;
  device.threads = info->maxThreadsPerSm;
  device.programs = info->maxBlocksPerSm;
  device.threadsBlock = info->maxThreadsPerBlock;
  return device;
}

std::string lackOf(const Work &work, const DeviceModel &device) {
  auto refuse = [](const char *what, int64_t needed, int64_t most) {
    return std::string("a program needs ") + std::to_string(needed) + " " + what +
           ", and may have " + std::to_string(most);
  };
  if (work.threads > device.threadsBlock)
    return refuse("threads", work.threads, device.threadsBlock);
  if (work.sharedBytes > device.sharedBytesBlock)
    return refuse("bytes of shared memory", work.sharedBytes, device.sharedBytesBlock);
  if (int64_t{work.registers} * work.threads > device.registers)
    return refuse("registers", int64_t{work.registers} * work.threads, device.registers);
  return {};
}

Estimate timeOf(const Work &work, const DeviceModel &device) {
  Estimate estimate;
  estimate.programsTogether = programsTogether(work, device);
  ProgramTime body = bodyOf(work, device);
  double written = work.bytesWritten * device.multiprocessors / device.bytesWritten;
  double pause = device.pause + written;
  auto rounds = static_cast<double>(
      std::max<int64_t>(ceilDiv(work.programs, device.multiprocessors), 1)); // of the busiest one
  double seconds = rounds * body.seconds;
  if (work.isPersistent)
    seconds += pause + (rounds - 1) * written * (1 - kHiddenWrites);
  else if (estimate.programsTogether == 1)
    seconds += rounds * pause;
  else
    seconds = (seconds + static_cast<double>(ceilDiv(rounds, estimate.programsTogether)) * pause) *
              kShared;
  double memory = work.distinctBytes / device.bytesOfMemory;
  estimate.bound = memory > seconds ? "memory" : body.bound;
  estimate.seconds = together(seconds, memory) + device.launch;
  return estimate;
}

} // namespace tile::tune

std::optional<double> tile::predictedSeconds(const Work &work, std::string_view target,
                                             int multiprocessors) {
  std::optional<tune::DeviceModel> device = tune::modelOf(target, multiprocessors);
  if (!device || !tune::lackOf(work, *device).empty())
    return std::nullopt;
  return tune::timeOf(work, *device).seconds;
}
