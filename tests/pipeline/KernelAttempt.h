// Launches of one kernel, as this compiler makes it or with another text, each on a device of its own.
#pragma once

#include "tests/pipeline/StagedLoops.h"

#include "runtime/jit/Compile.h"
#include "runtime/jit/Launch.h"

#include <array>
#include <map>

namespace tile::test {

using Bytes = std::vector<unsigned char>;

struct Order {
  vgpu::Schedule schedule;
  uint64_t seed;
};
/// One launch of a kernel, whole or mutated, on a device of its own.
class Attempt {
public:
  Attempt(const std::string &target, Order order, const codegen::CompiledKernel *kernel)
      : target_(target), kernel_(kernel) {
    device::VirtualOptions options;
    options.target = target;
    options.checks = "all";
    std::shared_ptr<device::Device> raw = device::openVirtual(options);
    vgpu::asVirtual(raw)->setSchedule(order.schedule, order.seed);
    device_ = Device::wrap(raw, "virtual:" + target);
  }

  /// Small integers, in rows between which lie NaNs.
  template <class T> TensorOf<T> input(std::vector<int64_t> extents, uint64_t seed) {
    constexpr int64_t kPadding = 16;
    int64_t width = extents.back(), pitch = (width / kPadding + 1) * kPadding,
            rows = countOf(extents) / width;
    const std::vector<T> &padded = paddedIntegers<T>(rows, width, pitch, seed);
    std::vector<int64_t> strides(extents.size(), 1);
    for (size_t dim = extents.size() - 1; dim-- > 0;)
      strides[dim] = dim + 2 == extents.size() ? pitch : strides[dim + 1] * extents[dim + 1];
    return device_->tensor<T>({rows * pitch}, padded).withStrides(std::move(extents), strides);
  }
  template <class T> TensorOf<T> output(std::vector<int64_t> extents) {
    int64_t count = countOf(extents);
    auto tensor = device_->tensor<T>(std::move(extents), paddedIntegers<T>(1, count, count, 99));
    outputs_.push_back(tensor);
    return tensor;
  }

  /// Compiles what was not compiled before, and launches.
  void launch(const KernelRequest &request, const detail::LaunchOptions &options) {
    if (!kernel_) {
      codegen::CompileOptions compile;
      compile.target = target_;
      compiled_ = jit::compileRequest(request, compile);
      kernel_ = &compiled_;
    }
    jit::launchCompiled(*device_, *kernel_, request.arguments, options);
  }
  template <class Launcher, class... X> void run(const Launcher &launcher, const X &...tensors) {
    launch(KernelRequest(launcher, {toHostArg(tensors)...}), launcher.options());
  }
  /// The kernel of an op, with arguments of its own.
  void runOp(const std::string &op, std::map<std::string, std::string> settings,
             std::vector<HostArg> arguments) {
    OpSettings given(std::move(settings));
    KernelRequest request = findOp(op)->kernel(given);
    request.arguments = std::move(arguments);
    detail::LaunchOptions options;
    options.compile = request.settings;
    launch(request, options);
  }

  const codegen::CompiledKernel &compiled() const { return compiled_; }
  Bytes results() const {
    Bytes all;
    for (const Tensor &tensor : outputs_) {
      Bytes bytes(tensor.bytes());
      tensor.downloadBytes(bytes.data(), bytes.size());
      all.insert(all.end(), bytes.begin(), bytes.end());
    }
    return all;
  }

private:
  /// Rows of small integers with NaNs behind each up to `pitch`. Made once, since mutants are launched by the thousand.
  template <class T>
  static const std::vector<T> &paddedIntegers(int64_t rows, int64_t width, int64_t pitch,
                                              uint64_t seed) {
    static std::map<std::array<int64_t, 4>, std::vector<T>> known;
    std::vector<T> &padded = known[{rows, width, pitch, static_cast<int64_t>(seed)}];
    if (padded.empty()) {
      std::vector<T> values = smallIntegers<T>(rows * width, seed);
      padded.assign(static_cast<size_t>(rows * pitch), T(std::numeric_limits<float>::quiet_NaN()));
      for (int64_t row = 0; row < rows; ++row)
        std::copy_n(values.begin() + row * width, width, padded.begin() + row * pitch);
    }
    return padded;
  }

  static int64_t countOf(const std::vector<int64_t> &extents) {
    return std::accumulate(extents.begin(), extents.end(), int64_t(1), std::multiplies<>());
  }

  std::string target_;
  const codegen::CompiledKernel *kernel_;
  codegen::CompiledKernel compiled_;
  std::optional<Device> device_;
  std::vector<Tensor> outputs_;
};

} // namespace tile::test
