// Ops by name, for the command line, C and Python: `tilec build op:matmul BM=64`, `tilec run op:add
// a.npy b.npy c.npy`, `tilec.ops.add(a, b)`. A library registers what it offers in a static
// initialiser:
//
//   const bool registered = registerOp({
//       .name = "scale",
//       .summary = "y = factor x",
//       .inputs = 1,
//       .settings = {OpSetting::number("factor", 1)},
//       .example = [](const OpSettings &s) {
//         return std::vector{TensorSpec{s.dtype("dtype", f32), {s.extent("N", 1 << 20)}}}; },
//       .outputs = [](std::span<const Tensor> in, const OpSettings &) {
//         return std::vector{TensorSpec::of(in[0])}; },
//       .run = [](const Stream &stream, std::span<const Tensor> in, std::span<const Tensor> out,
//                 const OpSettings &s) { scale(stream, in[0], s.number("factor"), out[0]); }});
#pragma once

#include <tile/OpSettings.h>
#include <tile/Tensor.h>
#include <tile/TileIr.h>

#include <functional>
#include <string>
#include <vector>

namespace tile {

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
///
/// `outputs` and `run` of a registered op, which `findOp` gives, first check all that the entry
/// says: how many tensors there are, that each setting is one of `settings` and a value that it
/// takes, and that no output has more than kMaxRank extents or a negative one. Nothing is launched
/// before, and the functions of the entry see every setting that has a default. Errors:
/// InvalidArgument, InvalidShape, in one line that begins with the op's name.
struct OpEntry {
  std::string name;
  std::string summary;    ///< one line
  int inputs = 0;         ///< how many tensors `run` needs
  int optionalInputs = 0; ///< how many more it takes, after those
  /// The inputs that it changes in place, by their numbers from 0. `outputs` returns none for an op
  /// without other outputs.
  std::vector<int> changed = {};
  /// All that `outputs` and `run` may ask their settings for. `kernel` and `example` may ask for
  /// more, mostly extents.
  std::vector<OpSetting> settings = {};
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
