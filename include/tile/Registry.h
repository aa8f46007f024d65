// Ops by name, for the command line, C and Python: `tilec build op:matmul BM=64`, `tilec run op:add
// a.npy b.npy c.npy`, `tilec.ops.add(a, b)`. A library registers what it offers in a static
// initialiser:
//
//   const bool registered = registerOp({
//       .name = "add",
//       .summary = "c = a + b, elementwise",
//       .inputs = 2,
//       .example = [](const OpSettings &s) {
//         return std::vector(2, TensorSpec{s.dtype("dtype", f32), {s.integer("N", 1 << 20)}}); },
//       .outputs = [](std::span<const Tensor> in, const OpSettings &) {
//         return std::vector{TensorSpec::of(in[0])}; },
//       .run = [](const Stream &stream, std::span<const Tensor> in, std::span<const Tensor> out,
//                 const OpSettings &) { ops::add(stream, in[0], in[1], out[0]); }});
#pragma once

#include <tile/Tensor.h>
#include <tile/TileIr.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace tile {

/// The NAME=VALUE words of a command line. Each getter names its default, and what no getter asked
/// for is a mistake that `unused` finds. Errors: InvalidArgument for a value of the wrong kind.
class OpSettings {
public:
  OpSettings() = default;
  explicit OpSettings(std::map<std::string, std::string> values) : values_(std::move(values)) {}

  int64_t integer(const std::string &name, int64_t fallback) const;
  double number(const std::string &name, double fallback) const;
  bool flag(const std::string &name, bool fallback) const;
  DType dtype(const std::string &name, DType fallback) const;
  /// Integers, as in axes=0,2 or shape=4x1024.
  std::vector<int64_t> integers(const std::string &name, std::vector<int64_t> fallback) const;
  std::string text(const std::string &name, std::string fallback) const;

  /// The GPU that the kernel is compiled for, "sm_90a", where that is known before it is traced;
  /// else empty. Ops choose tiles by it.
  const std::string &target() const { return target_; }
  void setTarget(std::string target) { target_ = std::move(target); }

  /// Names that were given and not asked for.
  std::vector<std::string> unused() const;
  /// Names that were asked for, with their values.
  const std::map<std::string, std::string> &used() const { return used_; }

private:
  const std::string *find(const std::string &name) const;

  std::map<std::string, std::string> values_;
  std::string target_;
  mutable std::map<std::string, std::string> used_;
};

/// Dtype and extents of a tensor.
struct TensorSpec {
  DType dtype = any;
  std::vector<int64_t> extents;

  /// Those of a tensor.
  static TensorSpec of(const Tensor &tensor) {
    return {tensor.dtype(), {tensor.extents().begin(), tensor.extents().end()}};
  }
};

/// One specialisation of a kernel: what a launch with these arguments would compile. The kernel
/// must live as long as the process, as kernels in static variables do.
struct KernelRequest {
  template <bool HasConsts, class... P>
  KernelRequest(const Launcher<HasConsts, P...> &launcher, std::vector<HostArg> arguments)
      : record(&launcher.record()),
        constants(launcher.constants().begin(), launcher.constants().end()),
        settings(launcher.options().compile), arguments(std::move(arguments)) {}
  KernelRequest(const detail::KernelRecord &record, std::vector<int64_t> constants,
                const detail::CompileSettings &settings, std::vector<HostArg> arguments)
      : record(&record), constants(std::move(constants)), settings(settings),
        arguments(std::move(arguments)) {}

  const detail::KernelRecord *record;
  std::vector<int64_t> constants;
  detail::CompileSettings settings;
  std::vector<HostArg> arguments; ///< exampleView, exampleScalar
};

/// An op by name. It has `kernel`, or `example`, or neither, and is then only run.
struct OpEntry {
  std::string name;
  std::string summary;    ///< one line
  int inputs = 0;         ///< how many tensors `run` needs
  int optionalInputs = 0; ///< how many more it takes, behind those
  /// Which of all these it changes in place, by their numbers from 0. Of an op that has no other
  /// outputs `outputs` returns none.
  std::vector<int> changed = {};
  /// The kernel it launches for these settings.
  std::function<KernelRequest(const OpSettings &)> kernel = {};
  /// Inputs as the settings say. If there is no `kernel` it is the first that `run` launches for
  /// them on a virtual GPU, or with launch=1 the second and so on.
  std::function<std::vector<TensorSpec>(const OpSettings &)> example = {};
  /// What the outputs must be for these inputs.
  std::function<std::vector<TensorSpec>(std::span<const Tensor> inputs, const OpSettings &)>
      outputs = {};
  /// Computes them.
  std::function<void(const Stream &, std::span<const Tensor> inputs,
                     std::span<const Tensor> outputs, const OpSettings &)>
      run = {};
};

/// Adds an op; of two with one name the later counts. Returns true, for static initialisers.
bool registerOp(OpEntry op);
/// The op, or null.
const OpEntry *findOp(const std::string &name);
/// All names, sorted.
std::vector<std::string> opNames();

} // namespace tile
