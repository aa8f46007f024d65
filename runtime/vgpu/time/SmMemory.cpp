#include "runtime/vgpu/time/SmMemory.h"

#include <algorithm>
#include <cmath>

namespace tile::vgpu {

static constexpr double kBytesOfMb = 1048576;

SmMemory::SmMemory(const Calibration &calibration, double clockGhz, unsigned sms, bool isDirty)
    : calibration_(calibration), clockGhz_(clockGhz), sms_(sms) {
  if (isDirty)
    dirty_ = calibration.l2.dirtyMb * kBytesOfMb / sms;
  else
    absorbed_ = calibration.l2.absorbedMb * kBytesOfMb / sms;
}

// Both limits of a rate as one: the port of the multiprocessor, and the L2 that its GPC shares.
static double blended(double a, double b, double exponent) {
  return std::pow(std::pow(a, -exponent) + std::pow(b, -exponent), -1 / exponent);
}

double SmMemory::fetch(double now, const Fetch &fetch) {
  const auto &l2 = calibration_.l2;
  double rate = blended(l2.smPortGbs / clockGhz_, shareOf(l2.gpcGbs) / fetch.distinct, l2.blend);
  double passage = fetch.bytes / rate;
  double arrival = std::max(now + fetch.latency + fetch.bytes / l2.smPeakBytes, inFree_ + passage);
  if (fetch.fromDram > 0) {
    double fromDram = fetch.bytes * fetch.fromDram, writtenBack = std::min(dirty_, fromDram);
    dirty_ -= writtenBack;
    dramFree_ =
        std::max(dramFree_, now) +
        (fromDram + writtenBack) / (shareOf(calibration_.dram.gbs) * calibration_.dram.burst);
    dramBytes += fromDram + writtenBack;
    arrival = std::max(arrival, dramFree_ + fetch.latency * calibration_.dram.queueLatency);
  }
  inFree_ = std::max(std::max(inFree_, now + fetch.latency) + passage, arrival - passage);
  loadedBytes += fetch.bytes;
  return std::max(arrival, inFree_);
}

double SmMemory::store(double now, double bytes) {
  const auto &store = calibration_.store;
  double rate = std::min(store.smBytes, shareOf(store.l2Gbs) * store.burst);
  outFree_ = std::max(outFree_, now) + bytes / rate;
  storedBytes += bytes;
  double kept = std::min(absorbed_, bytes), toDram = bytes - kept;
  absorbed_ -= kept;
  dramFree_ = std::max(dramFree_, now) +
              toDram / (shareOf(calibration_.dram.gbs) * calibration_.dram.burst);
  if (toDram > 0)
    outFree_ = std::max(outFree_, dramFree_ - store.dramQueue);
  dramBytes += toDram;
  return outFree_;
}

void L1Sectors::add(uint64_t sector) {
  constexpr double kSectorBytes = 32;
  sectors_.insert(sector);
  order_.push_back(sector);
  if (static_cast<double>(order_.size()) * kSectorBytes > capacity_) {
    sectors_.erase(order_.front());
    order_.pop_front();
  }
}

} // namespace tile::vgpu
