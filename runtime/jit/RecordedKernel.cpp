#include "runtime/jit/RecordedKernel.h"

#include "frontend/call/ArgFacts.h"
#include "runtime/device/Device.h"
#include "runtime/host/State.h"
#include "runtime/launch/Overlap.h"

namespace tile::jit {
namespace {

using detail::HostArg;

/// Without memory; it keeps which arguments are one view, and how well they are aligned.
std::vector<HostArg> asExamples(const detail::KernelRecord &record, std::span<const HostArg> args) {
  std::vector<HostArg> marks;
  args = launch::markSameViews(record, args, marks);
  std::vector<HostArg> examples(args.begin(), args.end());
  for (HostArg &arg : examples) {
    arg.pointer =
        reinterpret_cast<void *>(reinterpret_cast<uintptr_t>(arg.pointer) % frontend::kAlignment);
    arg.device = 0;
  }
  return examples;
}

/// A virtual GPU that checks nothing: what kernels would have written is not there.
Device quietDevice(const std::string &target) {
  device::VirtualOptions options;
  if (!target.empty())
    options.target = target;
  options.checks = "none";
  return Device::wrap(device::openVirtual(options), "of an example");
}

std::vector<Tensor> tensorsOf(const Stream &stream, const std::vector<TensorSpec> &specs) {
  std::vector<Tensor> tensors;
  for (const TensorSpec &spec : specs)
    tensors.push_back(stream.tensor(spec.dtype, spec.extents));
  return tensors;
}

} // namespace

KernelRequest recordedKernel(const OpEntry &op, const OpSettings &settings) {
  auto wanted = static_cast<size_t>(settings.extent("launch", 0));
  OpSettings call = settings.forExample(op.settings);
  Stream stream = quietDevice(settings.target()).stream();
  std::vector<KernelRequest> launches;
  detail::LaunchTaker take = [&](const detail::KernelRecord &record, std::span<const HostArg> args,
                                 std::span<const int64_t> constants,
                                 const detail::CompileSettings &compile) {
    launches.emplace_back(record, std::vector(constants.begin(), constants.end()), compile,
                          asExamples(record, args));
  };
  std::vector<Tensor> inputs = tensorsOf(stream, op.example(settings));
  std::vector<Tensor> outputs = tensorsOf(stream, op.outputs(inputs, call));
  stream.state().taker = &take;
  op.run(stream, inputs, outputs, call);
  stream.state().taker = nullptr;
  if (wanted >= launches.size())
    throw Error(Fault::User, ErrorCode::InvalidArgument,
                "launch=" + std::to_string(wanted) + ": the op launches " +
                    std::to_string(launches.size()) +
                    (launches.size() == 1 ? " kernel" : " kernels") + " here, numbered from 0");
  return std::move(launches[wanted]);
}

} // namespace tile::jit
