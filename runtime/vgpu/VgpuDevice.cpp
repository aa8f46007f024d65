// The Device seam over the interpreter: memory, modules, launches. Work is done when a call returns, so streams and
// events only keep their promises about handles and order; and who need not have waited for whom, for the checkers.
#include "runtime/vgpu/VgpuDevice.h"

#include "runtime/device/Environment.h"
#include "runtime/device/Handles.h"
#include "runtime/vgpu/Decode.h"
#include "runtime/vgpu/HostRequests.h"
#include "runtime/vgpu/Launch.h"
#include "runtime/vgpu/LaunchShape.h"
#include "runtime/vgpu/LoadedModule.h"
#include "runtime/vgpu/Targets.h"
#include "runtime/vgpu/TensorMap.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <ctime>
#include <limits>
#include <thread>
#include <utility>

namespace tile::vgpu {
namespace {

using device::DevicePtr;

constexpr unsigned kMaxThreads = 256; // of the host
// Of one warp: minutes of a tight loop.
constexpr int64_t kDefaultMaxBranches = int64_t{1} << 30;
constexpr int64_t kMostSeconds = 1'000'000;

// What a variable of the environment says; a warning and what is usual if it cannot be read.
template <class T> T fromEnvironment(const char *name, T (*parse)(std::string_view), T usual = {}) {
  std::string value = device::environmentText(name);
  try {
    return value.empty() ? usual : parse(value);
  } catch (const Error &error) {
    device::warnOfEnvironment(name, value, "is not used: " + error.message());
    return usual;
  }
}

struct StreamState {
  std::unique_ptr<GridsInFlight>
      inFlight; // if the last thing done was a launch that let the next one start
};
struct EventState {
  std::optional<std::chrono::steady_clock::time_point> recorded;
};

class VgpuDevice final : public VirtualDevice {
public:
  explicit VgpuDevice(const device::VirtualOptions &options)
      : props_(propsFor(options.target)), memory_(props_.totalMemory), seed_(options.seed) {
    checks_ = options.checks ? parseChecks(*options.checks)
                             : fromEnvironment("TILE_VGPU_CHECK", parseChecks);
    schedule_ = options.schedule ? parseSchedule(*options.schedule)
                                 : fromEnvironment("TILE_VGPU_SCHEDULE", parseSchedule);
    model_ = fromEnvironment("TILE_VGPU_MODEL", parseModel);
    int64_t cores = std::clamp(std::thread::hardware_concurrency(), 1u, kMaxThreads);
    threads_ = static_cast<unsigned>(
        options.threads > 0
            ? std::min<int64_t>(options.threads, kMaxThreads)
            : device::environmentInteger("TILE_VGPU_THREADS", cores, 1, kMaxThreads));
    maxBranches_ = static_cast<uint64_t>(device::environmentInteger(
        "TILE_VGPU_MAX_BRANCHES", kDefaultMaxBranches, 1, std::numeric_limits<int64_t>::max()));
    noticeSeconds_ = device::environmentInteger("TILE_VGPU_NOTICE_SECONDS", 10, 0, kMostSeconds);
  }

  const device::DeviceProps &props() const override { return props_; }

  DevicePtr alloc(size_t bytes, device::Stream stream) override {
    checkStream(stream);
    std::lock_guard lock(mutex_);
    uint64_t address = memory_.allocate(bytes);
    if (address == 0)
      throw Error(Fault::User, ErrorCode::OutOfMemory,
                  "out of memory: " + std::to_string(bytes) + " bytes asked for, " +
                      std::to_string(memory_.limitBytes() - memory_.usedBytes()) + " of " +
                      std::to_string(memory_.limitBytes()) + " are free");
    return address;
  }

  void free(DevicePtr pointer, device::Stream stream) override {
    checkStream(stream);
    if (pointer == 0)
      return;
    std::lock_guard lock(mutex_);
    const GlobalMemory::Block *block = memory_.near(pointer);
    if (!block || block->base != pointer || block->isVariable)
      fail(ErrorCode::InvalidArgument,
           "free: " + hex(pointer) + " was not returned by alloc: " + memory_.describe(pointer));
    if (!block->live)
      fail(ErrorCode::UseAfterFree, "free: " + hex(pointer) + " has been freed already");
    memory_.release(pointer);
  }

  std::optional<device::Allocation> allocationOf(DevicePtr pointer) const override {
    std::lock_guard lock(mutex_);
    const GlobalMemory::Block *block = memory_.find(pointer);
    if (!block)
      return std::nullopt;
    return device::Allocation{block->base, block->bytes};
  }

  void copyToDevice(DevicePtr target, const void *source, size_t bytes,
                    device::Stream stream) override {
    std::lock_guard lock(mutex_);
    settle(stream);
    requireRange(memory_, "copyToDevice: target", target, bytes);
    requireHostPointer("copyToDevice: source", source, bytes);
    if (bytes == 0)
      return;
    std::memcpy(memory_.host(target, bytes), source, bytes);
    memory_.valid().setRange(target - kGlobalBase, bytes, true);
  }

  void copyToHost(void *target, DevicePtr source, size_t bytes, device::Stream stream) override {
    std::lock_guard lock(mutex_);
    settle(stream);
    requireRange(memory_, "copyToHost: source", source, bytes);
    requireHostPointer("copyToHost: target", target, bytes);
    if (bytes)
      std::memcpy(target, memory_.host(source, bytes), bytes);
  }

  void copyOnDevice(DevicePtr target, DevicePtr source, size_t bytes,
                    device::Stream stream) override {
    std::lock_guard lock(mutex_);
    settle(stream);
    requireRange(memory_, "copyOnDevice: target", target, bytes);
    requireRange(memory_, "copyOnDevice: source", source, bytes);
    if (bytes == 0)
      return;
    std::memmove(memory_.host(target, bytes), memory_.host(source, bytes), bytes);
    memory_.valid().copyRange(target - kGlobalBase, memory_.valid(), source - kGlobalBase, bytes);
  }

  void fill(DevicePtr target, uint8_t value, size_t bytes, device::Stream stream) override {
    std::lock_guard lock(mutex_);
    settle(stream);
    requireRange(memory_, "fill: target", target, bytes);
    if (bytes == 0)
      return;
    std::memset(memory_.host(target, bytes), value, bytes);
    memory_.valid().setRange(target - kGlobalBase, bytes, true);
  }

  device::Module loadModule(std::string_view ptx, std::span<const std::byte>,
                            std::string_view name) override {
    auto module = std::make_shared<LoadedModule>();
    module->ptx = parsePtx(ptx, name);
    checkTarget(*module->ptx, props_);
    std::lock_guard lock(mutex_);
    try {
      placeVariables(*module, memory_);
    } catch (const Error &) {
      releaseVariables(*module, memory_);
      throw;
    }
    return modules_.insert(module);
  }

  void unloadModule(device::Module handle) override {
    std::lock_guard lock(mutex_);
    auto module = modules_.remove(handle);
    releaseVariables(*module, memory_);
    // Handles of its functions may live on, what they name does not.
    module->ptx = nullptr;
    for (const auto &function : functions_.all())
      if (function->module == module)
        function->forgetPrograms();
  }

  device::Function getFunction(device::Module handle, std::string_view name) override {
    std::lock_guard lock(mutex_);
    auto module = modules_.get(handle);
    auto found = module->ptx->byName.find(name);
    if (found != module->ptx->byName.end() && found->second->isEntry && found->second->hasBody)
      return functions_.insert(std::make_shared<LoadedFunction>(module, *found->second));
    std::string kernels;
    for (const Function &function : module->ptx->functions)
      if (function.isEntry)
        kernels += (kernels.empty() ? "" : ", ") + std::string(function.name);
    fail(ErrorCode::InvalidArgument, "module " + module->ptx->name + " has no kernel '" +
                                         std::string(name) + "'; it has " +
                                         (kernels.empty() ? "none" : kernels));
  }

  device::FunctionInfo functionInfo(device::Function handle) const override {
    auto function = functions_.get(handle);
    std::lock_guard lock(mutex_);
    requireLoaded(*function);
    auto program = programOf(*function);
    device::FunctionInfo info;
    info.name = program->entry->name;
    for (const Program::Param &param : program->params)
      info.paramSizes.push_back(param.bytes);
    info.staticSharedBytes = program->staticSharedBytes;
    info.localBytes = program->localBytes;
    info.maxThreadsPerBlock = maxThreads(*program->entry, props_);
    return info;
  }

  void launch(device::Function handle, const device::LaunchConfig &config,
              std::span<const device::Arg> args, device::Stream stream) override {
    auto function = functions_.get(handle);
    std::unique_lock lock(mutex_);
    requireLoaded(*function);
    std::unique_ptr<GridsInFlight> before = settle(stream);
    LaunchSetup setup;
    setup.program = programOf(*function);
    checkShape(*setup.program, config, props_);
    setup.params = packArguments(*setup.program, args);
    setup.memory = &memory_;
    setup.config = config;
    setup.checks = checks_;
    setup.counting = counting_;
    setup.threads = threads_;
    setup.seed = seed_;
    setup.schedule = schedule_;
    setup.maxBranches = maxBranches_;
    setup.noticeSeconds = noticeSeconds_;
    setup.props = props_;
    if (config.programmaticDependent)
      setup.before = std::move(before);
    Launch run(std::move(setup));
    auto start = std::chrono::steady_clock::now();
    std::clock_t cpuStart = std::clock();
    run.run();
    LaunchStatistics done = run.statistics();
    done.launches = 1;
    done.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    done.cpuSeconds = static_cast<double>(std::clock() - cpuStart) / CLOCKS_PER_SEC;
    statistics_ += done;
    noteCounters(run);
    keepNotes(run);
    streamState(stream).inFlight = run.leaveInFlight();
    FindingSink sink = sink_;
    // The sink and whoever catches the error may use the device again.
    lock.unlock();
    deliver(run.findings(), sink);
  }

  device::TensorMap encodeTensorMap(const device::TensorMapParams &params) override {
    return vgpu::encodeTensorMap(params, props_.arch);
  }

  device::Stream createStream() override {
    return streams_.insert(std::make_shared<StreamState>());
  }
  void destroyStream(device::Stream stream) override {
    std::lock_guard lock(mutex_);
    streams_.remove(stream);
  }
  void synchronize(device::Stream stream) override {
    std::lock_guard lock(mutex_);
    settle(stream);
  }
  void synchronize() override {
    std::lock_guard lock(mutex_);
    defaultStream_.inFlight = nullptr;
    for (const auto &stream : streams_.all())
      stream->inFlight = nullptr;
  }

  device::Event createEvent() override { return events_.insert(std::make_shared<EventState>()); }
  void destroyEvent(device::Event event) override { events_.remove(event); }
  void record(device::Event event, device::Stream stream) override {
    std::lock_guard lock(mutex_);
    settle(stream);
    events_.get(event)->recorded = std::chrono::steady_clock::now();
  }
  void wait(device::Stream stream, device::Event event) override {
    std::lock_guard lock(mutex_);
    settle(stream);
    events_.get(event);
  }
  void synchronize(device::Event event) override { events_.get(event); }
  float elapsedMs(device::Event start, device::Event stop) override {
    auto from = events_.get(start), to = events_.get(stop);
    if (!from->recorded || !to->recorded)
      fail(ErrorCode::InvalidHandle, "elapsedMs: the event has not been recorded");
    return std::chrono::duration<float, std::milli>(*to->recorded - *from->recorded).count();
  }

  void setChecks(const Checks &checks) override {
    std::lock_guard lock(mutex_);
    checks_ = checks;
  }
  Checks checks() const override {
    std::lock_guard lock(mutex_);
    return checks_;
  }
  void setSchedule(Schedule schedule, uint64_t seed) override {
    std::lock_guard lock(mutex_);
    schedule_ = schedule;
    seed_ = seed;
  }
  Schedule schedule() const override {
    std::lock_guard lock(mutex_);
    return schedule_;
  }
  void setModel(const Model &model) override {
    std::lock_guard lock(mutex_);
    model_ = model;
  }
  Model model() const override {
    std::lock_guard lock(mutex_);
    return model_;
  }
  void setFindingSink(FindingSink sink) override {
    std::lock_guard lock(mutex_);
    sink_ = std::move(sink);
  }
  void setCounters(bool on) override {
    std::lock_guard lock(mutex_);
    counting_ = on;
    if (!on)
      return;
    counters_ = {};
    lineCounters_.clear();
  }
  Counters counters() const override {
    std::lock_guard lock(mutex_);
    return counters_;
  }
  std::vector<LineCounters> countersByLine() const override {
    std::lock_guard lock(mutex_);
    std::vector<LineCounters> lines;
    for (const auto &[place, line] : lineCounters_)
      lines.push_back(line);
    return lines;
  }
  std::vector<Note> notes() const override {
    std::lock_guard lock(mutex_);
    std::vector<Note> notes;
    for (const auto &[place, note] : notes_)
      notes.push_back(note);
    return notes;
  }
  LaunchStatistics statistics() const override {
    std::lock_guard lock(mutex_);
    return statistics_;
  }
  void discard(DevicePtr pointer, size_t bytes, device::Stream stream) override {
    checkStream(stream);
    std::lock_guard lock(mutex_);
    requireRange(memory_, "discard", pointer, bytes);
    memory_.invalidate(pointer - kGlobalBase, bytes);
  }
  size_t countUnwritten(DevicePtr pointer, size_t elementBytes, size_t count) const override {
    std::lock_guard lock(mutex_);
    requireRange(memory_, "countUnwritten", pointer, elementBytes * count);
    uint32_t whole = (1u << elementBytes) - 1;
    size_t unwritten = 0;
    for (size_t i = 0; i < count; ++i)
      unwritten += memory_.valid().get(pointer + i * elementBytes - kGlobalBase,
                                       static_cast<unsigned>(elementBytes)) != whole;
    return unwritten;
  }
  void nameMemory(DevicePtr pointer, const std::string &name) override {
    std::lock_guard lock(mutex_);
    if (!memory_.rename(pointer, name))
      fail(ErrorCode::InvalidArgument, "nameMemory: no memory begins at " + hex(pointer));
  }
  void setThreads(int threads) override {
    std::lock_guard lock(mutex_);
    threads_ = static_cast<unsigned>(std::clamp(threads, 1, 256));
  }

private:
  void checkStream(device::Stream stream) const {
    if (stream)
      streams_.get(stream);
  }

  StreamState &streamState(device::Stream stream) {
    return stream ? *streams_.get(stream) : defaultStream_;
  }

  /// What has been launched in the stream ends. Returns what of it would not have had to.
  std::unique_ptr<GridsInFlight> settle(device::Stream stream) {
    return std::exchange(streamState(stream).inFlight, nullptr);
  }

  /// The program for the present settings.
  std::shared_ptr<const Program> programOf(LoadedFunction &function) const {
    DecodeOptions options;
    options.trackInit = checks_.init;
    // What wgmma computes at once is never in flight but to the check.
    options.watchMatrices = checks_.async || schedule_ != Schedule::Eager;
    options.model = model_;
    options.arch = props_.arch;
    return function.program(std::move(options));
  }

  void requireLoaded(const LoadedFunction &function) const {
    if (!function.module->ptx)
      fail(ErrorCode::InvalidHandle,
           "the module of kernel '" + function.name + "' has been unloaded");
  }

  void keepNotes(const Launch &launch) {
    for (const auto &[instruction, note] : launch.notes())
      notes_.try_emplace({launch.program().module, launch.program().lines[instruction].line}, note);
  }

  void noteCounters(const Launch &launch) {
    counters_ += launch.counters();
    for (size_t i = 0; i < launch.instructionCounters().size(); ++i) {
      const Counters &counted = launch.instructionCounters()[i];
      if (counted.warpInstructions == 0)
        continue;
      const Program &program = launch.program();
      auto [entry, isNew] = lineCounters_.try_emplace({program.module, program.lines[i].line});
      if (isNew) {
        static_cast<CodePlace &>(entry->second) = placeOf(program, static_cast<uint32_t>(i));
        entry->second.kind = program.lines[i].kind;
      }
      entry->second.counters += counted;
    }
  }

  static void deliver(const std::vector<Finding> &findings, const FindingSink &sink) {
    if (findings.empty())
      return;
    if (sink) {
      sink(findings);
      return;
    }
    std::vector<std::string> notes;
    for (size_t i = 1; i < findings.size(); ++i)
      notes.push_back(findings[i].text());
    throw Error(Fault::Device, ErrorCode::DeviceFinding, findings[0].text(),
                {findings[0].sourceFile.c_str(), findings[0].sourceLine}, std::move(notes));
  }

  device::DeviceProps props_;
  mutable std::mutex mutex_; // memory and launches: one at a time
  GlobalMemory memory_;
  Checks checks_;
  FindingSink sink_;
  Counters counters_;
  LaunchStatistics statistics_;
  // By module and line.
  std::map<std::pair<std::shared_ptr<const Module>, int>, LineCounters> lineCounters_;
  std::map<std::pair<std::shared_ptr<const Module>, int>, Note> notes_;
  bool counting_ = false;
  unsigned threads_ = 1;
  Schedule schedule_ = Schedule::Eager;
  Model model_;
  uint64_t seed_ = 0, maxBranches_ = 0;
  int64_t noticeSeconds_ = 0;
  device::HandleTable<device::ModuleTag, LoadedModule> modules_{"module"};
  device::HandleTable<device::FunctionTag, LoadedFunction> functions_{"function"};
  device::HandleTable<device::StreamTag, StreamState> streams_{"stream"};
  StreamState defaultStream_;
  device::HandleTable<device::EventTag, EventState> events_{"event"};
};

} // namespace

std::shared_ptr<VirtualDevice> asVirtual(const std::shared_ptr<device::Device> &device) {
  return std::dynamic_pointer_cast<VirtualDevice>(device);
}

} // namespace tile::vgpu

namespace tile::device {

std::shared_ptr<Device> openVirtual(const VirtualOptions &options) {
  return std::make_shared<vgpu::VgpuDevice>(options);
}

} // namespace tile::device
