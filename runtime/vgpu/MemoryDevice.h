// The half of the virtual GPU that knows no kernels: memory, streams, events, and whom to tell what
// went wrong.
//
// Whatever the schedule, one thing runs at a time. What went wrong in work that ran later than it
// was given, or in calls that must not throw, is told by the next call that gives work or waits.
#pragma once

#include "base/ForkLocks.h"
#include "runtime/device/Handles.h"
#include "runtime/vgpu/UnwrittenReads.h"
#include "runtime/vgpu/VgpuDevice.h"
#include "runtime/vgpu/machine/Memory.h"
#include "runtime/vgpu/streams/Streams.h"

#include <set>
#include <utility>

namespace tile::vgpu {

/// A handle of a stream.
struct StreamHandle {
  std::shared_ptr<StreamQueue> queue;
  bool isOwner = true; // else another handle ends it
};
struct EventHandle {
  std::shared_ptr<EventRecord> record; // null: never
};

class MemoryDevice : public VirtualDevice {
public:
  explicit MemoryDevice(const device::DeviceProps &props)
      : props_(props), memory_(props_.totalMemory) {}

  const device::DeviceProps &props() const override { return props_; }

  device::DevicePtr alloc(size_t bytes, device::Stream stream, Loc where) override;
  void free(device::DevicePtr pointer, device::Stream stream, Loc where) override;
  std::optional<device::Allocation> allocationOf(device::DevicePtr pointer) const override;
  void copyToDevice(device::DevicePtr target, const void *source, size_t bytes,
                    device::Stream stream, Loc where) override;
  void copyToDeviceAsync(device::DevicePtr target, const void *source, size_t bytes,
                         device::Stream stream, Loc where) override;
  void copyToHost(void *target, device::DevicePtr source, size_t bytes, device::Stream stream,
                  Loc where) override;
  void copyToHostAsync(void *target, device::DevicePtr source, size_t bytes, device::Stream stream,
                       Loc where) override;
  void copyOnDevice(device::DevicePtr target, device::DevicePtr source, size_t bytes,
                    device::Stream stream, Loc where) override;
  void fill(device::DevicePtr target, uint8_t value, size_t bytes, device::Stream stream,
            Loc where) override;
  void discard(device::DevicePtr pointer, size_t bytes, device::Stream stream) override;
  size_t countUnwritten(device::DevicePtr pointer, size_t elementBytes,
                        size_t count) const override;
  void noteRead(device::DevicePtr base, size_t elementBytes, std::span<const int64_t> extents,
                std::span<const int64_t> strides, Loc where) override;
  void nameMemory(device::DevicePtr pointer, const std::string &name) override;

  device::Stream createStream(Loc where) override;
  device::Stream adoptStream(void *native, Loc where) override;
  void *nativeOf(device::Stream stream) const override;
  void destroyStream(device::Stream stream) override;
  void synchronize(device::Stream stream) override;
  void synchronize() override;
  void drain(device::Stream stream) noexcept override;
  void drain() noexcept override;

  device::Event createEvent() override;
  void destroyEvent(device::Event event) override;
  void record(device::Event event, device::Stream stream) override;
  void wait(device::Stream stream, device::Event event) override;
  void synchronize(device::Event event) override;
  bool isDone(device::Event event) override;
  bool waitUntil(device::Event event, std::chrono::steady_clock::time_point deadline) override;
  float elapsedMs(device::Event start, device::Event stop) override;
  bool isOfParent() const override { return base::wasForkedAtWork(); }

protected:
  using Kind = StreamWork::Kind;

  std::shared_ptr<StreamQueue> queueOf(device::Stream stream) const;

  /// Acts, then says what was found, in this call or in those before it that could not say it.
  template <class Act> void tell(Act act) {
    std::vector<Finding> findings;
    FindingSink sink;
    {
      std::lock_guard lock(mutex_);
      act();
      forgetKnown();
      if (failure_)
        std::rethrow_exception(std::exchange(failure_, nullptr));
      findings = std::exchange(untold_, {});
      sink = sink_;
    }
    // The sink and whoever catches the error may use the device again.
    deliver(findings, sink);
  }
  /// Errors are for the next call to tell.
  template <class Act> void quietly(Act act) {
    try {
      act();
    } catch (const Error &) {
      failure_ = std::current_exception();
    }
  }
  /// Compares work that has run with that of other streams, and keeps the races for the next
  /// report.
  void noteWork(StreamWork work);

  device::DeviceProps props_;
  mutable base::WorkMutex mutex_; // memory and work: one at a time
  GlobalMemory memory_;
  Checks checks_;
  FindingSink sink_;
  std::vector<Finding> untold_; // for the next call that can
  Streams streams_;

private:
  static void deliver(const std::vector<Finding> &findings, const FindingSink &sink);
  void forgetKnown();
  void touch(StreamWork &work, ByteRange read, ByteRange written) const;
  /// Work that knows beforehand what it touches.
  void give(device::Stream stream, StreamWork work, std::function<void()> act);
  void giveCopyToDevice(device::DevicePtr target, const void *source, size_t bytes,
                        device::Stream stream, Loc where);
  void giveCopyToHost(void *target, device::DevicePtr source, size_t bytes, device::Stream stream,
                      Loc where);

  std::exception_ptr failure_; // for the next call that can tell
  device::HandleTable<device::StreamTag, StreamHandle> streamHandles_{"stream"};
  device::HandleTable<device::EventTag, EventHandle> events_{"event"};
  std::set<device::DevicePtr> ofStreams_; // memory that was allocated for a stream
  StreamRaces races_{memory_};
  UnwrittenReads unwrittenReads_;
};

} // namespace tile::vgpu
