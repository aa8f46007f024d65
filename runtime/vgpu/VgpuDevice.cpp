// The Device seam over the interpreter: modules and launches.
#include "runtime/vgpu/VgpuDevice.h"

#include "base/Environment.h"
#include "runtime/vgpu/CallerReport.h"
#include "runtime/vgpu/HostRequests.h"
#include "runtime/vgpu/LaunchShape.h"
#include "runtime/vgpu/LaunchTally.h"
#include "runtime/vgpu/LoadedModule.h"
#include "runtime/vgpu/MemoryDevice.h"
#include "runtime/vgpu/PredictedLaunch.h"
#include "runtime/vgpu/VgpuGraphs.h"
#include "runtime/vgpu/decode/Decode.h"
#include "runtime/vgpu/machine/Launch.h"
#include "runtime/vgpu/machine/Targets.h"
#include "runtime/vgpu/machine/async/TensorMap.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <ctime>
#include <limits>
#include <thread>
#include <utility>

namespace tile::vgpu {
namespace {

constexpr unsigned kMaxThreads = 256; // of the host
// The limit for one warp, which is minutes of a tight loop.
constexpr int64_t kDefaultMaxBranches = int64_t{1} << 30;
constexpr int64_t kMostSeconds = 1'000'000;

// Reads a variable of the environment. One that cannot be read gives a warning and the default.
template <class T> T fromEnvironment(const char *name, T (*parse)(std::string_view), T usual = {}) {
  std::string value = base::environmentText(name);
  try {
    return value.empty() ? usual : parse(value);
  } catch (const Error &error) {
    base::warnOfEnvironment(name, value, "is not used: " + error.message());
    return usual;
  }
}

device::Work workBetween(const Counters &before, const Counters &after) {
  device::Work work;
  work.instructions = after.warpInstructions - before.warpInstructions;
  work.multiplyAdds = after.macs - before.macs;
  work.accessedBytes = after.globalBytesMoved() - before.globalBytesMoved();
  work.copiedBytes = after.asyncBytes - before.asyncBytes;
  work.distinctBytes = after.distinctBytes() - before.distinctBytes();
  work.bankConflicts = after.bankConflicts() - before.bankConflicts();
  return work;
}

class VgpuDevice final : public MemoryDevice {
public:
  explicit VgpuDevice(const device::VirtualOptions &options)
      : MemoryDevice(propsFor(options.target)),
        seed_(options.seed ? *options.seed : seedOfEnvironment()) {
    checks_ = options.checks ? parseChecks(*options.checks)
                             : fromEnvironment("TILE_VGPU_CHECK", parseChecks);
    schedule_ = options.schedule ? parseSchedule(*options.schedule)
                                 : fromEnvironment("TILE_VGPU_SCHEDULE", parseSchedule);
    model_ = fromEnvironment("TILE_VGPU_MODEL", parseModel);
    int64_t cores = std::clamp(std::thread::hardware_concurrency(), 1u, kMaxThreads);
    threads_ = static_cast<unsigned>(
        options.threads > 0 ? std::min<int64_t>(options.threads, kMaxThreads)
                            : base::environmentInteger("TILE_VGPU_THREADS", cores, 1, kMaxThreads));
    maxBranches_ = static_cast<uint64_t>(base::environmentInteger(
        "TILE_VGPU_MAX_BRANCHES", kDefaultMaxBranches, 1, std::numeric_limits<int64_t>::max()));
    noticeSeconds_ = base::environmentInteger("TILE_VGPU_NOTICE_SECONDS", 10, 0, kMostSeconds);
    streams_.setSchedule(schedule_, seed_);
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
    streams_.runAll();
    releaseVariables(*module, memory_);
    // Handles of its functions may live on, what they name does not.
    module->ptx = nullptr;
    for (const auto &function : module->functions)
      if (auto alive = function.lock())
        alive->forgetPrograms();
  }

  device::Function getFunction(device::Module handle, std::string_view name) override {
    std::lock_guard lock(mutex_);
    auto module = modules_.get(handle);
    auto found = module->ptx->byName.find(name);
    if (found != module->ptx->byName.end() && found->second->isEntry && found->second->hasBody) {
      auto function = std::make_shared<LoadedFunction>(module, *found->second);
      module->functions.push_back(function);
      return functions_.insert(std::move(function));
    }
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
    tell([&] {
      requireLoaded(*function);
      std::shared_ptr<StreamQueue> queue = queueOf(stream);
      std::shared_ptr<Predictions> predictions = PredictionScope::current(*this);
      auto setup =
          std::make_shared<LaunchSetup>(setupOf(*function, config, args, predictions != nullptr));
      std::shared_ptr<const device::Caller> caller = device::CallerScope::current();
      StreamWork work = streams_.next(*queue, Kind::Launch, config.where);
      work.kernel = setup->program->entry->name;
      if (predictions)
        return streams_.give(*queue, [setup, function, predictions, queue = queue.get()] {
          queue->inFlight = nullptr;
          predictions->launches.push_back(predicted(*function, std::move(*setup), *predictions));
        });
      auto run = [this, setup, caller, queue = queue.get(), work = std::move(work)]() mutable {
        runLaunch(*queue, std::move(*setup), std::move(work), caller.get());
      };
      streams_.give(*queue, std::move(run));
    });
  }

  device::TensorMap encodeTensorMap(const device::TensorMapParams &params) override {
    return vgpu::encodeTensorMap(params, props_.arch);
  }

  device::Graph createGraph(std::shared_ptr<const device::GraphWork> work) override {
    return graphs_.insert(std::make_shared<VgpuGraph>(*this, std::move(work)));
  }
  void updateGraph(device::Graph graph, std::shared_ptr<const device::GraphWork> work) override {
    graphs_.get(graph)->update(std::move(work));
  }
  void replay(device::Graph graph, device::Stream stream) override {
    graphs_.get(graph)->replay(stream);
  }
  void destroyGraph(device::Graph graph) override { graphs_.remove(graph); }

  uint64_t faults() const override { return faults_; }

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
    streams_.setSchedule(schedule, seed);
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
    tally_.clearCounters();
  }
  Counters counters() const override {
    std::lock_guard lock(mutex_);
    return tally_.counters();
  }
  std::vector<LineCounters> countersByLine() const override {
    std::lock_guard lock(mutex_);
    return tally_.countersByLine();
  }
  std::vector<Note> notes() const override {
    std::lock_guard lock(mutex_);
    return tally_.notes();
  }
  LaunchStatistics statistics() const override {
    std::lock_guard lock(mutex_);
    return tally_.statistics();
  }

  device::Work countWork(const std::function<void()> &give) override {
    synchronize();    // what was given before is not counted
    struct Counting { // until the end, also by an error
      explicit Counting(VgpuDevice &device) : device(device) {
        std::lock_guard lock(device.mutex_);
        wasOn = std::exchange(device.counting_, true);
      }
      ~Counting() {
        std::lock_guard lock(device.mutex_);
        device.counting_ = wasOn;
      }
      VgpuDevice &device;
      bool wasOn;
    } counting(*this);
    Counters before = counters();
    uint64_t launches = statistics().launches;
    give();
    synchronize();
    device::Work work = workBetween(before, counters());
    work.launches = statistics().launches - launches;
    return work;
  }

  std::vector<PredictedLaunch> predict(const std::function<void()> &give,
                                       const PredictionRequest &request) override {
    synchronize(); // errors of what was given before are of this call
    auto predictions = std::make_shared<Predictions>(request);
    PredictionScope scope(*this, predictions);
    give();
    synchronize();
    return std::move(predictions->launches);
  }

private:
  LaunchSetup setupOf(LoadedFunction &function, const device::LaunchConfig &config,
                      std::span<const device::Arg> args, bool isPredicted) {
    LaunchSetup setup;
    setup.program = isPredicted ? timedProgramOf(function) : programOf(function);
    checkShape(*setup.program, config, props_);
    setup.params = packArguments(*setup.program, args);
    setup.memory = &memory_;
    setup.config = config;
    setup.checks = isPredicted ? Checks::none() : checks_;
    setup.counting = counting_;
    setup.threads = threads_;
    setup.seed = seed_;
    setup.schedule = schedule_;
    setup.maxBranches = maxBranches_;
    setup.noticeSeconds = noticeSeconds_;
    setup.props = props_;
    return setup;
  }

  void runLaunch(StreamQueue &queue, LaunchSetup setup, StreamWork work,
                 const device::Caller *caller) {
    // Launches before this one in the stream have ended, but for those that it need not have waited
    // for.
    std::unique_ptr<GridsInFlight> before = std::exchange(queue.inFlight, nullptr);
    if (setup.config.programmaticDependent)
      setup.before = std::move(before);
    Launch run(std::move(setup));
    auto start = std::chrono::steady_clock::now();
    std::clock_t cpuStart = std::clock();
    run.run();
    LaunchStatistics done = run.statistics();
    done.launches = 1;
    done.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    done.cpuSeconds = static_cast<double>(std::clock() - cpuStart) / CLOCKS_PER_SEC;
    tally_.add(run, done);
    if (run.checks().race)
      work.touched = run.takeTouched();
    queue.inFlight = run.leaveInFlight();
    if (!run.findings().empty())
      ++faults_;
    const std::vector<Finding> findings =
        caller ? forCaller(run.findings(), *caller, memory_) : run.findings();
    untold_.insert(untold_.end(), findings.begin(), findings.end());
    noteWork(std::move(work));
  }

  /// The program for the present settings.
  std::shared_ptr<const Program> programOf(LoadedFunction &function) const {
    DecodeOptions options;
    options.trackInit = checks_.init;
    // Under the eager schedule a wgmma computes at once, so only the check takes its registers for
    // being in flight.
    options.watchMatrices = checks_.async || schedule_ != Schedule::Eager;
    options.model = model_;
    options.arch = props_.arch;
    return function.program(std::move(options));
  }

  /// The program for predictions, which checks nothing.
  std::shared_ptr<const Program> timedProgramOf(LoadedFunction &function) const {
    DecodeOptions options;
    options.watchMatrices = false;
    options.keepsInstructions = true;
    options.model = model_;
    options.arch = props_.arch;
    return function.program(std::move(options));
  }

  static PredictedLaunch predicted(LoadedFunction &function, LaunchSetup setup,
                                   const Predictions &predictions) {
    TimeOptions options;
    options.clockGhz = predictions.request.clockGhz;
    options.isDirty = predictions.request.isDirty;
    options.assembler = function.figures(predictions.request);
    return predictLaunch(std::move(setup), predictions.calibration, options);
  }

  void requireLoaded(const LoadedFunction &function) const {
    if (!function.module->ptx)
      fail(ErrorCode::InvalidHandle,
           "the module of kernel '" + function.name + "' has been unloaded");
  }

  LaunchTally tally_;
  std::atomic<uint64_t> faults_ = 0;
  bool counting_ = false;
  unsigned threads_ = 1;
  Schedule schedule_ = Schedule::Eager;
  Model model_;
  uint64_t seed_ = 0, maxBranches_ = 0;
  int64_t noticeSeconds_ = 0;
  device::HandleTable<device::ModuleTag, LoadedModule> modules_{"module"};
  device::HandleTable<device::FunctionTag, LoadedFunction> functions_{"function"};
  device::HandleTable<device::GraphTag, VgpuGraph> graphs_{
      "graph"}; // ends first: it uses the device
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
