#include "runtime/device/CudaKernels.h"

#include "base/StackArray.h"
#include "runtime/device/CudaProps.h"
#include "runtime/device/PtxEntries.h"

#include <algorithm>

namespace tile::device {

using namespace cuda;

// "; its kernels are a, b" from the PTX, as the driver cannot be asked before version 12.4.
static std::string kernelsOf(std::string_view ptx) {
  std::string names;
  for (const PtxEntry &entry : ptxEntries(ptx))
    names += (names.empty() ? "; its kernels are " : ", ") + entry.name;
  return names;
}

static std::string describeLaunch(const CudaFunction &function,
                                  const device::LaunchConfig &config) {
  auto text = [](const Dim3 &dim) {
    return std::to_string(dim.x) + "x" + std::to_string(dim.y) + "x" + std::to_string(dim.z);
  };
  return "launch of " + function.name + " (grid " + text(config.grid) + ", block " +
         text(config.block) + ", cluster " + text(config.cluster) + ", " +
         std::to_string(config.dynamicSharedBytes) + " bytes of dynamic shared memory)";
}

// Tries one image; the driver's complaints go to the notes.
CUresult CudaKernels::loadImage(CudaModule &module, const void *image,
                                std::vector<std::string> &notes) const {
  constexpr size_t kLogBytes = 16 * 1024;
  std::string log(kLogBytes, '\0');
  int options[] = {kJitErrorLog, kJitErrorLogBytes};
  // The driver replaces the size by the length it has filled: good for one load only.
  void *values[] = {log.data(), reinterpret_cast<void *>(log.size())};
  CUresult result = context_.driver().moduleLoadDataEx(&module.handle, image, 2, options, values);
  if (result != kSuccess && log[0])
    notes.push_back(log.c_str());
  return result;
}

std::shared_ptr<CudaFunction> CudaKernels::loaded(Function handle) const {
  auto function = functions_.get(handle);
  if (!function->module->loaded)
    refuse(ErrorCode::InvalidHandle,
           "the module of kernel '" + function->name + "' has been unloaded");
  return function;
}

int CudaKernels::attributeOf(const CudaFunction &function, int which) const {
  int value = 0;
  context_.check(context_.driver().functionGetAttribute(&value, which, function.handle),
                 "asking about kernel '" + function.name + "'");
  return value;
}

// Asking until there is no further parameter would end with a call that fails, which tools that watch the driver report.
void CudaKernels::readParameters(CudaFunction &function) const {
  std::vector<PtxEntry> entries = ptxEntries(function.module->ptx);
  auto entry = std::ranges::find(entries, function.name, &PtxEntry::name);
  if (!context_.driver().functionGetParamInfo || entry == entries.end())
    return;
  function.paramSizes.emplace(entry->parameters);
  size_t offset = 0;
  for (size_t i = 0; i < entry->parameters; ++i)
    context_.check(context_.driver().functionGetParamInfo(function.handle, i, &offset,
                                                          &(*function.paramSizes)[i]),
                   "asking about kernel '" + function.name + "'");
}

// The data of arguments as the driver takes them. Whether all have some.
static bool writePointers(std::span<const Arg> args, void **to) {
  size_t missing = 0;
  for (size_t i = 0; i < args.size(); ++i) {
    to[i] = const_cast<void *>(args[i].data);
    missing += args[i].data == nullptr;
  }
  return missing == 0;
}

// Whether arguments have the sizes of the kernel's parameters, as far as those are known.
static bool hasSizesOf(const CudaFunction &function, std::span<const Arg> args) {
  if (!function.paramSizes)
    return true;
  const std::vector<size_t> &sizes = *function.paramSizes;
  if (args.size() != sizes.size())
    return false;
  size_t differences = 0;
  for (size_t i = 0; i < args.size(); ++i)
    differences |= args[i].size ^ sizes[i];
  return differences == 0;
}

// Says which of the arguments is not one of the kernel.
[[noreturn]] static void refuseArguments(const CudaFunction &function, std::span<const Arg> args) {
  std::string what = "launch of " + function.name + ": ";
  for (size_t i = 0; i < args.size(); ++i)
    if (!args[i].data)
      refuse(ErrorCode::InvalidArgument, what + "argument " + std::to_string(i) + " has no data");
  const std::vector<size_t> &sizes = *function.paramSizes;
  if (args.size() != sizes.size())
    refuse(ErrorCode::InvalidArgument, what + std::to_string(args.size()) +
                                           " arguments, the kernel has " +
                                           std::to_string(sizes.size()) + " parameters");
  size_t i = 0;
  while (args[i].size == sizes[i])
    ++i;
  refuse(ErrorCode::InvalidArgument, what + "argument " + std::to_string(i) + " has " +
                                         std::to_string(args[i].size) +
                                         " bytes, the parameter has " + std::to_string(sizes[i]));
}

// Shared memory above 48 KB, static and dynamic together, and clusters above 8 blocks must be asked for once per function.
void CudaKernels::prepareLimits(CudaFunction &function, const device::LaunchConfig &config) const {
  bool isLarge = config.cluster.count() > kPortableClusterSize;
  if (config.dynamicSharedBytes <= function.dynamicShared && (!isLarge || function.largeClusters))
    return;
  std::lock_guard lock(function.mutex);
  if (config.dynamicSharedBytes > function.dynamicShared) {
    if (config.dynamicSharedBytes + function.staticShared > props_.sharedPerBlockOptin)
      throw Error(Fault::User, ErrorCode::ResourceExceeded,
                  describeLaunch(function, config) + ": with " +
                      std::to_string(function.staticShared) +
                      " bytes of static shared memory that is more than the device's " +
                      std::to_string(props_.sharedPerBlockOptin) + " a block");
    context_.check(
        context_.driver().functionSetAttribute(function.handle, kFunctionMaxDynamicShared,
                                               static_cast<int>(config.dynamicSharedBytes)),
        describeLaunch(function, config));
    function.dynamicShared = config.dynamicSharedBytes;
  }
  if (isLarge && !function.largeClusters) {
    context_.check(
        context_.driver().functionSetAttribute(function.handle, kFunctionNonPortableCluster, 1),
        describeLaunch(function, config));
    function.largeClusters = true;
  }
}

Module CudaKernels::load(std::string_view ptx, std::span<const std::byte> cubin,
                         std::string_view name) {
  CudaContext::Current current(context_);
  auto module = std::make_shared<CudaModule>();
  module->name = name;
  module->ptx = ptx;
  std::vector<std::string> notes;
  CUresult result = kNoBinaryForGpu;
  if (!cubin.empty())
    result = loadImage(*module, cubin.data(), notes);
  // A cubin for another architecture or of a newer format is no fault as long as there is PTX.
  if ((result == kNoBinaryForGpu || result == kInvalidImage) && !ptx.empty())
    result = loadImage(*module, module->ptx.c_str(), notes);
  if (result == kInvalidPtx || result == kInvalidImage)
    throw Error(Fault::Compiler, ErrorCode::Parse,
                "loading " + module->name + ": " + context_.driver().describe(result), {}, notes);
  if (result == kUnsupportedPtxVersion || result == kNoBinaryForGpu)
    throw Error(Fault::Device, ErrorCode::Unsupported,
                "loading " + module->name + ": " + context_.driver().describe(result) +
                    ": update the driver, or install ptxas so that machine code is loaded",
                {}, notes);
  context_.check(result, "loading " + module->name);
  return modules_.insert(module);
}

void CudaKernels::unload(Module handle) {
  CudaContext::Current current(context_);
  auto module = modules_.remove(handle);
  module->loaded = false;
  context_.check(context_.driver().moduleUnload(module->handle), "unloading " + module->name);
}

Function CudaKernels::find(Module handle, std::string_view name) {
  CudaContext::Current current(context_);
  auto module = modules_.get(handle);
  auto function = std::make_shared<CudaFunction>();
  function->module = module;
  function->name = name;
  CUresult result = context_.driver().moduleGetFunction(&function->handle, module->handle,
                                                        function->name.c_str());
  if (result == kNotFound)
    refuse(ErrorCode::InvalidArgument, "module " + module->name + " has no kernel '" +
                                           function->name + "'" + kernelsOf(module->ptx));
  context_.check(result, "looking up kernel '" + function->name + "'");
  readParameters(*function);
  function->staticShared = static_cast<size_t>(attributeOf(*function, kFunctionSharedBytes));
  // Static and dynamic memory share the bytes that need no opt-in.
  function->dynamicShared =
      props_.sharedPerBlock - std::min(props_.sharedPerBlock, function->staticShared);
  return functions_.insert(function);
}

FunctionInfo CudaKernels::infoOf(Function handle) const {
  CudaContext::Current current(context_);
  auto function = loaded(handle);
  FunctionInfo info;
  info.name = function->name;
  info.paramSizes = function->paramSizes.value_or(std::vector<size_t>());
  info.staticSharedBytes = function->staticShared;
  info.localBytes = static_cast<size_t>(attributeOf(*function, kFunctionLocalBytes));
  info.registers = attributeOf(*function, kFunctionRegisters);
  info.maxThreadsPerBlock = attributeOf(*function, kFunctionMaxThreads);
  return info;
}

namespace {

/// A launch as the driver takes it.
struct DriverLaunch {
  DriverLaunch(const device::LaunchConfig &config, CUstream on)
      : shape{config.grid.x,
              config.grid.y,
              config.grid.z,
              config.block.x,
              config.block.y,
              config.block.z,
              config.dynamicSharedBytes,
              on,
              attributes,
              0} {
    if (config.cluster.count() != 1) {
      LaunchAttribute &cluster = attributes[shape.attributeCount++];
      cluster.id = kLaunchClusterDimension;
      cluster.value.cluster = {config.cluster.x, config.cluster.y, config.cluster.z};
    }
    if (config.programmaticDependent) {
      LaunchAttribute &dependent = attributes[shape.attributeCount++];
      dependent.id = kLaunchProgrammaticSerialization;
      dependent.value.programmaticStreamSerialization = 1;
    }
  }
  DriverLaunch(const DriverLaunch &) = delete; // the shape points to the attributes
  DriverLaunch &operator=(const DriverLaunch &) = delete;

  LaunchAttribute attributes[2] = {};
  cuda::LaunchConfig shape;
};

} // namespace

std::optional<int64_t> CudaKernels::clustersAtOnce(Function handle,
                                                   const device::LaunchConfig &config) const {
  auto *ask = context_.driver().occupancyMaxActiveClusters;
  if (!ask)
    return std::nullopt;
  CudaContext::Current current(context_);
  auto function = loaded(handle);
  prepareLimits(*function, config);
  DriverLaunch launch(config, nullptr);
  int clusters = 0;
  if (ask(&clusters, function->handle, &launch.shape) != kSuccess)
    return std::nullopt;
  return clusters;
}

void CudaKernels::launch(std::shared_ptr<CudaFunction> function, const device::LaunchConfig &config,
                         std::span<const Arg> args, CUstream on) {
  constexpr size_t kUsualArgs = 64;
  base::StackArray<void *, kUsualArgs> pointers(args.size());
  if (!writePointers(args, pointers.data()) || !hasSizesOf(*function, args))
    refuseArguments(*function, args);
  prepareLimits(*function, config);
  DriverLaunch launch(config, on);
  CUresult result =
      context_.driver().launchKernelEx(&launch.shape, function->handle, pointers.data(), nullptr);
  if (result != kSuccess)
    context_.check(result, describeLaunch(*function, config));
  const std::string *name = &function->name;
  context_.noteLaunch(std::shared_ptr<const std::string>(std::move(function), name), config, args);
}

void CudaKernels::unloadAll() {
  for (const auto &module : modules_.all())
    context_.driver().moduleUnload(module->handle);
}

} // namespace tile::device
