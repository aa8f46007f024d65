// A device that does what the one behind it does, but for faults that were ordered: how what goes wrong now and then on a GPU is
// tested on any device.
//
//   TILE_FAULT=launch:illegal@3,alloc:oom@5     the third launch, and the fifth allocation
//
//   seam         calls                                  fault     what happens
//   alloc        alloc                                  oom       OutOfMemory, nothing is done
//   copy         copies and fills                       refuse    ResourceExceeded, nothing is done
//   load         loadModule                             illegal   a launch is given, and the next call finds the context lost;
//   launch       launch, replay                                   another call does itself
//   event        createEvent, record, elapsedMs         lost      DeviceLost, now and ever after
//   wait         wait, isDone                           hang      a launch does not end, another call does not return, until
//   synchronize  the calls that wait for work                     release() or ten seconds have passed
//                                                       delay     50 ms pass first
#pragma once

#include "runtime/device/LastLaunch.h"

#include <array>
#include <condition_variable>
#include <mutex>

namespace tile::device {

struct DeviceFault {
  enum class Seam : uint8_t { Alloc, Copy, Load, Launch, Event, Wait, Synchronize };
  enum class Kind : uint8_t { OutOfMemory, Refuse, Illegal, Lost, Hang, Delay };
  static constexpr size_t kSeams = 7;

  Seam seam = Seam::Alloc;
  Kind kind = Kind::OutOfMemory;
  uint64_t nth = 1; ///< 1 is the next call of the seam
};

/// Faults in the spelling above. Those of other seams, such as the passes of the compiler, are passed over; what is none throws
/// InvalidArgument.
std::vector<DeviceFault> parseFaults(std::string_view text);

class FaultyDevice final : public Device {
public:
  explicit FaultyDevice(std::shared_ptr<Device> inner, std::vector<DeviceFault> faults = {});
  /// With the faults that TILE_FAULT orders.
  static std::shared_ptr<FaultyDevice> ofEnvironment(std::shared_ptr<Device> inner);

  /// Orders one more, counted from now on.
  void order(DeviceFault fault);
  /// What hangs goes on.
  void release();
  /// How often calls have come to a seam, those that failed included.
  uint64_t calls(DeviceFault::Seam seam) const;
  /// How many calls have reached the device behind it.
  uint64_t passed() const;

  const DeviceProps &props() const override { return inner_->props(); }
  DevicePtr alloc(size_t bytes, Stream stream, Loc where) override;
  void free(DevicePtr pointer, Stream stream, Loc where) override;
  std::optional<Allocation> allocationOf(DevicePtr pointer) const override;
  void copyToDevice(DevicePtr target, const void *source, size_t bytes, Stream stream,
                    Loc where) override;
  void copyToHost(void *target, DevicePtr source, size_t bytes, Stream stream, Loc where) override;
  void copyToDeviceAsync(DevicePtr target, const void *source, size_t bytes, Stream stream,
                         Loc where) override;
  void copyToHostAsync(void *target, DevicePtr source, size_t bytes, Stream stream,
                       Loc where) override;
  void copyOnDevice(DevicePtr target, DevicePtr source, size_t bytes, Stream stream,
                    Loc where) override;
  void discard(DevicePtr pointer, size_t bytes, Stream stream) override;
  void noteRead(DevicePtr base, size_t elementBytes, std::span<const int64_t> extents,
                std::span<const int64_t> strides, Loc where) override;
  void fill(DevicePtr target, uint8_t value, size_t bytes, Stream stream, Loc where) override;
  Module loadModule(std::string_view ptx, std::span<const std::byte> cubin,
                    std::string_view name) override;
  void unloadModule(Module module) override;
  Function getFunction(Module module, std::string_view name) override;
  FunctionInfo functionInfo(Function function) const override;
  std::optional<int64_t> clustersAtOnce(Function function,
                                        const LaunchConfig &config) const override;
  void launch(Function function, const LaunchConfig &config, std::span<const Arg> args,
              Stream stream) override;
  TensorMap encodeTensorMap(const TensorMapParams &params) override;
  Stream createStream(Loc where) override;
  Stream adoptStream(void *native, Loc where) override;
  void *nativeOf(Stream stream) const override;
  void destroyStream(Stream stream) override;
  void synchronize(Stream stream) override;
  void synchronize() override;
  void drain(Stream stream) noexcept override;
  void drain() noexcept override;
  Event createEvent() override;
  void destroyEvent(Event event) override;
  void record(Event event, Stream stream) override;
  void wait(Stream stream, Event event) override;
  void synchronize(Event event) override;
  bool isDone(Event event) override;
  bool waitUntil(Event event, std::chrono::steady_clock::time_point deadline) override;
  float elapsedMs(Event start, Event stop) override;
  Work countWork(const std::function<void()> &give) override;
  Graph createGraph(std::shared_ptr<const GraphWork> work) override;
  void updateGraph(Graph graph, std::shared_ptr<const GraphWork> work) override;
  void replay(Graph graph, Stream stream) override;
  void destroyGraph(Graph graph) override;
  bool isCapturedByOthers(Stream stream) const override;
  std::string lastLaunch() const override;
  bool isOfParent() const override { return inner_->isOfParent(); }

private:
  using Seam = DeviceFault::Seam;
  using Kind = DeviceFault::Kind;

  std::optional<Kind> faultAt(Seam seam);
  void requireAlive() const;
  void enter(Seam seam, const std::string &what);
  /// Calls the device behind this one.
  template <class Call> decltype(auto) pass(Call call) const;
  /// The host waits for work that hangs.
  void waitForRelease();
  [[noreturn]] void lose(ErrorCode code, const std::string &what);

  std::shared_ptr<Device> inner_;
  mutable std::mutex mutex_; // guards what follows
  std::condition_variable released_;
  std::vector<DeviceFault> faults_;
  std::array<uint64_t, DeviceFault::kSeams> calls_ = {};
  mutable uint64_t passed_ = 0;
  LastLaunch lastLaunch_;
  std::optional<ErrorCode> lost_;
  bool isPoisoned_ = false; // the next call finds the context lost
  bool isHanging_ = false;
};

} // namespace tile::device
