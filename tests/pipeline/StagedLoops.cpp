#include "tests/pipeline/StagedLoops.h"

#include "passes/PassSwitches.h"
#include "runtime/jit/Compile.h"
#include "runtime/jit/Launch.h"
#include "tests/execution/Assembly.h"

#include <algorithm>
#include <set>

namespace tile::test {

const bool gate = assembleEverything(Spills::Forbidden);

namespace {

/// The optional passes that run loads ahead of their use; a compiler need not have them all.
constexpr const char *kPipelinePasses[] = {"schedule-loops", "pipeline-loops", "skew-loops",
                                           "reorder-dots", "specialize-warps"};

std::vector<std::string> knownPipelinePasses() {
  std::vector<std::string> known;
  std::ranges::copy_if(kPipelinePasses, std::back_inserter(known), passes::isOptionalPass);
  return known;
}

struct Order {
  vgpu::Schedule schedule;
  uint64_t seed;
};
constexpr Order kOrders[] = {{vgpu::Schedule::Eager, 0},
                             {vgpu::Schedule::Lazy, 0},
                             {vgpu::Schedule::Random, 1},
                             {vgpu::Schedule::Random, 2},
                             {vgpu::Schedule::Random, 3}};

} // namespace

std::vector<int> iterationsAround(int stages) {
  std::set<int> counts = {0, 1, stages - 1, stages, stages + 1, kMostSteps};
  return {counts.begin(), counts.end()};
}

void StagedLoops::forEveryLoop(const std::function<void(int stages, int steps)> &loop) {
  for (int stages : {1, 2, 3, 5})
    for (int steps : iterationsAround(stages)) {
      SCOPED_TRACE(std::to_string(stages) + " stages, " + std::to_string(steps) + " steps");
      loop(stages, steps);
    }
}

void StagedLoops::forEveryRotation(
    const std::function<void(int stages, int steps, bool rotates)> &loop) {
  forEveryLoop([&](int stages, int steps) {
    loop(stages, steps, false);
    if (stages >= 2) {
      SCOPED_TRACE("rotated");
      loop(stages, steps, true);
    }
  });
}

void StagedLoops::SetUp() {
  device::VirtualOptions options;
  options.target = GetParam();
  options.checks = "all";
  std::shared_ptr<device::Device> raw = device::openVirtual(options);
  virtualDevice_ = vgpu::asVirtual(raw);
  virtualDevice_->setModel(vgpu::parseModel("shift"));
  device_ = Device::wrap(raw, "virtual:" + GetParam());
  stream_ = device_->stream();
}

bool StagedLoops::hasPipelinePasses() { return !knownPipelinePasses().empty(); }

// The comparison that comes next in the check.
bool StagedLoops::isComparedAlready(const std::vector<unsigned char> &bits) {
  if (comparisons_ >= compared_.size() || compared_[comparisons_] != bits)
    return false;
  ++comparisons_;
  return true;
}

void StagedLoops::noteCompared(std::vector<unsigned char> bits) {
  if (comparisons_ == compared_.size())
    compared_.emplace_back();
  compared_[comparisons_++] = std::move(bits);
}

std::string StagedLoops::hopperPtxOf(const KernelRequest &request) {
  codegen::CompileOptions options;
  options.target = "sm_90a";
  return jit::compileRequest(request, options).ptx;
}

void StagedLoops::runAll(const std::function<void()> &launch, std::vector<Written> &written,
                         const std::function<void()> &check) {
  compared_.clear();
  for (const Order &order : kOrders) {
    SCOPED_TRACE(std::string(vgpu::nameOf(order.schedule)) + ", seed " +
                 std::to_string(order.seed));
    virtualDevice_->setSchedule(order.schedule, order.seed);
    for (Written &each : written)
      each.reset();
    launch();
    stream_.synchronize();
    comparisons_ = 0;
    check();
    if (HasFatalFailure())
      return;
  }
}

void StagedLoops::compareWithoutPasses(const KernelRequest &request,
                                       const detail::LaunchOptions &options,
                                       std::vector<Written> &written) {
  std::vector<std::vector<unsigned char>> whole;
  for (const Written &each : written)
    whole.push_back(each.bytes());
  codegen::CompileOptions compile;
  compile.target = GetParam();
  compile.passes = {knownPipelinePasses(), -1};
  for (Written &each : written)
    each.reset();
  jit::launchCompiled(*device_, jit::compileRequest(request, compile), request.arguments, options);
  for (size_t i = 0; i < written.size(); ++i)
    EXPECT_EQ(written[i].bytes(), whole[i]) << "result " << i << " differs without the passes";
}

} // namespace tile::test
