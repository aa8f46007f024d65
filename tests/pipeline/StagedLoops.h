// The harness of kernels whose loops ask for stages: each launch is repeated under every schedule of the virtual GPU, as sm_80
// and as sm_90a, with all checks and with shared memory that is aligned no better than declared. Operands are small integers,
// so that sums are exact in any order and a reference on the host has the same bits.
#pragma once

#include "codegen/CompileOptions.h"
#include "runtime/vgpu/VgpuDevice.h"
#include "tests/execution/Numbers.h"

#include <tile/Registry.h>
#include <tile/tile.h>

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace tile::test {

/// Numbers of iterations for which loads that run `stages` - 1 ahead begin, end or never start; the last is kMostSteps.
std::vector<int> iterationsAround(int stages);
inline constexpr int kMostSteps = 7;

/// Integers from -3 to 3, a different list for each seed.
template <class T> std::vector<T> smallIntegers(int64_t count, uint64_t seed) {
  Random random(seed);
  std::vector<T> values(static_cast<size_t>(count));
  for (T &value : values)
    value = T(static_cast<Wide<T>>(std::floor(random.uniform(-3, 4))));
  return values;
}

/// A tensor that a kernel writes, and what it holds before.
class Written {
public:
  template <class T>
  Written(const TensorOf<T> &tensor, const std::vector<T> &values)
      : tensor_(tensor), initial_(values.size() * sizeof(T)) {
    std::memcpy(initial_.data(), values.data(), initial_.size());
  }

  void reset() { tensor_.uploadBytes(initial_.data(), initial_.size()); }
  std::vector<unsigned char> bytes() const {
    std::vector<unsigned char> bytes(initial_.size());
    tensor_.downloadBytes(bytes.data(), bytes.size());
    return bytes;
  }

private:
  Tensor tensor_;
  std::vector<unsigned char> initial_;
};

/// Each test runs once a target.
class StagedLoops : public testing::TestWithParam<std::string> {
protected:
  void SetUp() override;

  template <class T>
  TensorOf<T> input(std::vector<int64_t> extents, const std::vector<T> &values) const {
    return device_->tensor<T>(std::move(extents), values);
  }

  static bool has(const std::string &text, const std::string &part) {
    return text.find(part) != std::string::npos;
  }

  /// Calls `loop` with numbers of stages, and for each the numbers of iterations round it.
  static void forEveryLoop(const std::function<void(int stages, int steps)> &loop);
  /// The same, and with rotation where the stages allow it as well.
  static void
  forEveryRotation(const std::function<void(int stages, int steps, bool rotates)> &loop);

  /// Launches under every schedule, from the same contents of what is written, and calls `check` each time. Where the
  /// compiler has passes that run loads ahead, the results of kMostSteps without them must have the same bits: of fewer
  /// steps as well, which follows from the checks and would take a compile each.
  template <class Launcher, class... X>
  void runUnderEverySchedule(const Launcher &launcher, int steps, std::vector<Written> written,
                             const std::function<void()> &check, const X &...arguments) {
    auto launch = [&] { launcher(stream_, arguments...); };
    runAll(launch, written, check);
    if (!HasFailure() && steps == kMostSteps && hasPipelinePasses())
      compareWithoutPasses(KernelRequest(launcher, {toHostArg(arguments)...}), launcher.options(),
                           written);
  }

  /// Launches once, with the virtual GPU in these models.
  template <class Launcher, class... X>
  void runInModel(const std::string &words, const Launcher &launcher, const X &...arguments) {
    virtualDevice_->setModel(vgpu::parseModel(words));
    launcher(stream_, arguments...);
    stream_.synchronize();
  }

  /// Expects the elements of a tensor, compared as bits. References take longer than launches: the same bits as under the
  /// schedule before are right if those were.
  template <class T, class Reference>
  void expectAll(const TensorOf<T> &tensor, Reference expected) {
    std::vector<T> values = tensor.download();
    std::vector<unsigned char> bits(values.size() * sizeof(T));
    std::memcpy(bits.data(), values.data(), bits.size());
    if (isComparedAlready(bits))
      return;
    for (size_t i = 0; i < values.size(); ++i) {
      T wanted = T(expected(static_cast<int64_t>(i)));
      ASSERT_EQ(std::memcmp(&values[i], &wanted, sizeof(T)), 0)
          << "element " << i << " is " << show(values[i]) << ", expected " << show(wanted);
    }
    noteCompared(std::move(bits));
  }

  /// Whether the test runs as sm_90a, where kernels have instructions to look for.
  static bool isHopper() { return GetParam() == "sm_90a"; }

  /// The PTX of a launch with these tensors on sm_90a.
  template <class Launcher, class... X>
  static std::string hopperPtxOf(const Launcher &launcher, const X &...tensors) {
    return hopperPtxOf(KernelRequest(launcher, {toHostArg(tensors)...}));
  }
  static std::string hopperPtxOf(const KernelRequest &request);

  /// Whether one of the passes that run loads ahead is in this compiler.
  static bool hasPipelinePasses();

private:
  void runAll(const std::function<void()> &launch, std::vector<Written> &written,
              const std::function<void()> &check);
  void noteCompared(std::vector<unsigned char> bits);
  bool isComparedAlready(const std::vector<unsigned char> &bits);
  void compareWithoutPasses(const KernelRequest &request, const detail::LaunchOptions &options,
                            std::vector<Written> &written);

  std::shared_ptr<vgpu::VirtualDevice> virtualDevice_;
  std::optional<Device> device_;
  Stream stream_;
  /// What the comparisons of a check found right, in their order, under the schedules so far; and how many of them the check has
  /// made under this one.
  std::vector<std::vector<unsigned char>> compared_;
  size_t comparisons_ = 0;
};

/// Declares a suite of staged loops.
#define STAGED_LOOPS_SUITE(suite)                                                                  \
  INSTANTIATE_TEST_SUITE_P(Targets, suite, ::testing::Values("sm_80", "sm_90a"),                   \
                           [](const auto &run) { return run.param; })

} // namespace tile::test
