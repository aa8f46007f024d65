#include "tools/tilec/time/Calls.h"

#include "ir/target/Target.h"
#include "tools/tilec/input/Description.h"
#include "tools/tilec/input/KernelFile.h"
#include "tools/tilec/input/Refuse.h"
#include "tools/tilec/input/Settings.h"

#include <filesystem>

namespace tile::tilec {
namespace {

using detail::HostArg;

constexpr const char *kTargetOfCalibration = "sm_90a";

Device openTarget(const std::string &target) {
  device::VirtualOptions options;
  options.target = target.empty() ? kTargetOfCalibration : target;
  options.checks = "none"; // nothing runs
  return Device::wrap(device::openVirtual(options), "virtual:" + options.target);
}

std::vector<Tensor> tensorsOf(const Device &device, const std::vector<TensorSpec> &specs) {
  std::vector<Tensor> tensors;
  for (const TensorSpec &spec : specs)
    tensors.emplace_back(device, spec.dtype, spec.extents);
  return tensors;
}

/// The arguments of a request with memory, whose contents no prediction looks at. Numbers without a
/// value are 1.
struct Arguments {
  std::vector<Tensor> tensors;
  std::vector<HostArg> args;

  Arguments(const Device &device, const KernelRequest &request) : args(request.arguments) {
    for (HostArg &arg : args)
      arg.kind == HostArg::Scalar ? setNumber(arg) : setMemory(device, arg);
  }

private:
  static void setNumber(HostArg &arg) {
    if (!arg.hasValue)
      arg = scalarOf(arg.dtype, "1");
  }
  void setMemory(const Device &device, HostArg &arg) {
    int64_t last = 0;
    for (int dim = 0; dim < arg.rank; ++dim)
      last += std::max<int64_t>(arg.extents[dim] - 1, 0) * arg.strides[dim];
    tensors.emplace_back(device, arg.dtype, std::array{last + 1});
    arg.pointer = tensors.back().data(), arg.device = device.handle();
  }
};

TimedCall callOf(const Device &device, KernelRequest request) {
  auto kept = std::make_shared<Arguments>(device, request);
  TimedCall call{device, {}, {}, kept};
  call.request = [request](size_t number) -> std::optional<KernelRequest> {
    return number == 0 ? std::optional(request) : std::nullopt;
  };
  call.launch = [device, request, kept] {
    detail::LaunchOptions options;
    options.compile = request.settings;
    Stream stream = device.stream();
    detail::launch(*request.record, stream, kept->args, request.constants, options);
    stream.synchronize();
  };
  return call;
}

/// The kernel of one of the launches of the op, asked for by the words of the command line.
KernelRequest requestOf(const OpEntry &op, std::vector<std::string> words,
                        const std::string &target, size_t number) {
  words.push_back("launch=" + std::to_string(number));
  OpSettings settings = takeSettings(words);
  settings.setTarget(target);
  return op.kernel(settings);
}

/// An op that says what its inputs may be is called as a user calls it: it may launch several
/// kernels.
TimedCall callOfExample(const Device &device, const OpEntry &op, const OpSettings &settings,
                        const std::vector<std::string> &words) {
  struct Call {
    std::vector<Tensor> inputs, outputs;
    OpSettings settings;
  };
  auto kept = std::make_shared<Call>();
  kept->inputs = tensorsOf(device, op.example(settings));
  kept->settings = settings.forExample(op.settings);
  kept->outputs = tensorsOf(device, op.outputs(kept->inputs, kept->settings));
  TimedCall call{device, {}, {}, kept};
  call.request = [&op, words, target = device.target()](size_t number) {
    return std::optional(requestOf(op, words, target, number));
  };
  call.launch = [device, &op, kept] {
    Stream stream = device.stream();
    op.run(stream, kept->inputs, kept->outputs, kept->settings);
    stream.synchronize();
  };
  return call;
}

TimedCall callOfOp(const CallOptions &options, const OpEntry &op) {
  std::vector<std::string> words = options.words;
  OpSettings settings = takeSettings(words);
  if (words.size() != 1)
    refuse("'" + words[1] + "': op:" + op.name + " takes settings alone, such as M=4096");
  Device device = openTarget(options.target);
  settings.setTarget(device.target());
  TimedCall call = op.example ? callOfExample(device, op, settings, options.words)
                              : callOf(device, op.kernel(settings));
  refuseUnused(settings);
  return call;
}

TimedCall callOfFile(const CallOptions &options) {
  std::vector<std::string> words = options.words;
  OpSettings settings = takeSettings(words);
  if (words.size() != 1)
    refuse("'" + words[1] + "': a kernel's arguments are given by name, such as x=f32[1000x777]");
  BoundKernel bound = loadKernel(words[0], options.kernel, settings);
  KernelRequest request = exampleRequest(bound, settings);
  refuseUnused(settings);
  return callOf(openTarget(options.target), std::move(request));
}

TimedCall callOfPtx(const CallOptions &options) {
  SessionOptions session;
  session.device = options.target.empty() ? "virtual" : "virtual:" + options.target;
  session.checks = "none";
  std::vector<std::string> arguments(options.words.begin() + 1, options.words.end());
  PtxLaunch launch = options.ptx;
  launch.entry = options.kernel;
  auto kept = std::make_shared<PtxCall>(session, options.words[0], launch, arguments);
  TimedCall call{kept->session().device(), {}, {}, kept};
  call.request = [](size_t) { return std::optional<KernelRequest>(); };
  call.launch = [kept] { kept->launch(); };
  return call;
}

/// Options of PTX, which says nothing of its launch, are mistakes elsewhere.
void refuseOptionsOfPtx(const PtxLaunch &ptx) {
  const char *given = ptx.grid          ? "--grid"
                      : ptx.block       ? "--block"
                      : ptx.cluster     ? "--cluster"
                      : ptx.sharedBytes ? "--shared"
                                        : nullptr;
  if (given)
    refuse(std::string(given) + " is for FILE.ptx: other kernels know it themselves");
}

} // namespace

TimedCall timedCall(const CallOptions &options) {
  if (options.words.empty())
    refuse("the first word names what to time: op:NAME, FILE.cpp, LIB.so or FILE.ptx");
  if (!options.target.empty() && !ir::findTarget(options.target))
    refuse("--target " + options.target + ": there are " + ir::knownTargets());
  const std::string &input = options.words[0];
  if (std::filesystem::path(input).extension() == ".ptx")
    return callOfPtx(options);
  refuseOptionsOfPtx(options.ptx);
  if (isKernelFile(input))
    return callOfFile(options);
  if (!options.kernel.empty())
    refuse("--kernel chooses among the kernels of a FILE.cpp, LIB.so or FILE.ptx");
  if (const OpEntry *op = opOf(input))
    return callOfOp(options, *op);
  refuse("'" + input + "' is neither op:NAME nor a file called something.cpp, .so or .ptx");
}

} // namespace tile::tilec
