// Modules and kernels of a CUDA device: loading from cubin or PTX, what a kernel asks for, launches.
#pragma once

#include "runtime/device/CudaContext.h"
#include "runtime/device/Handles.h"

#include <atomic>
#include <mutex>
#include <optional>

namespace tile::device {

struct CudaModule {
  cuda::CUmodule handle = nullptr;
  std::string name, ptx;
  std::atomic<bool> loaded = true;
};
struct CudaFunction {
  std::shared_ptr<CudaModule> module;
  cuda::CUfunction handle = nullptr;
  std::string name;
  // An old driver cannot tell, nor can any how many they are: of a cubin without PTX they are unknown.
  std::optional<std::vector<size_t>> paramSizes;
  size_t staticShared = 0;
  // What the function has been allowed so far; written with the mutex held.
  std::mutex mutex;
  std::atomic<size_t> dynamicShared = 0;
  std::atomic<bool> largeClusters = false;
};

class CudaKernels {
public:
  CudaKernels(const CudaContext &context, const DeviceProps &props)
      : context_(context), props_(props) {}

  Module load(std::string_view ptx, std::span<const std::byte> cubin, std::string_view name);
  void unload(Module handle);
  /// Unloads all, when the device ends.
  void unloadAll();

  Function find(Module handle, std::string_view name);
  FunctionInfo infoOf(Function handle) const;
  /// Nothing if the driver is too old to tell, or refuses.
  std::optional<int64_t> clustersAtOnce(Function handle, const LaunchConfig &config) const;
  /// The function, unless its module is gone.
  std::shared_ptr<CudaFunction> loaded(Function handle) const;
  /// In the current context. Refuses arguments that are not those of the kernel.
  void launch(std::shared_ptr<CudaFunction> function, const LaunchConfig &config,
              std::span<const Arg> args, cuda::CUstream on);

private:
  cuda::CUresult loadImage(CudaModule &module, const void *image,
                           std::vector<std::string> &notes) const;
  int attributeOf(const CudaFunction &function, int which) const;
  void readParameters(CudaFunction &function) const;
  void prepareLimits(CudaFunction &function, const LaunchConfig &config) const;

  const CudaContext &context_;
  const DeviceProps &props_;
  HandleTable<ModuleTag, CudaModule> modules_{"module"};
  HandleTable<FunctionTag, CudaFunction> functions_{"function"};
};

} // namespace tile::device
