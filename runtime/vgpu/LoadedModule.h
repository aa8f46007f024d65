// A module on the device: its variables have memory, its kernels programs.
#pragma once

#include "runtime/vgpu/PredictionRequest.h"
#include "runtime/vgpu/decode/Decode.h"
#include "runtime/vgpu/machine/Memory.h"
#include "runtime/vgpu/ptx/Ptx.h"
#include "runtime/vgpu/time/Occupancy.h"

namespace tile::vgpu {

class LoadedFunction;

struct LoadedModule {
  std::shared_ptr<const Module> ptx;              // null once it is unloaded
  std::map<std::string_view, uint64_t> addresses; // of module variables
  std::vector<std::weak_ptr<LoadedFunction>> functions;
};

/// A kernel of a module, and what has been decoded of it.
class LoadedFunction {
public:
  LoadedFunction(std::shared_ptr<LoadedModule> module, const Function &function)
      : module(std::move(module)), name(function.name), function_(function) {}

  /// The program for these options, of which `globalAddress` is filled in. The module is loaded.
  std::shared_ptr<const Program> program(DecodeOptions options);
  /// What an assembler says of the kernel, asked once. Nothing if the module holds other kernels.
  AssemblerFigures figures(const PredictionRequest &request);
  void forgetPrograms();

  const std::shared_ptr<LoadedModule> module;
  const std::string name;

private:
  const Function &function_; // lives while the module is loaded
  /// By whether initialisation is tracked, and whether the registers of wgmma are watched.
  std::shared_ptr<const Program> programs_[2][2];
  std::shared_ptr<const Program> timed_; ///< with what the time model needs
  std::optional<AssemblerFigures> figures_;
  Model model_; // that all are for
};

/// Gives the variables memory and their initial values, in which addresses of others may occur.
void placeVariables(LoadedModule &module, GlobalMemory &memory);
/// Gives their memory back, also where not all have some.
void releaseVariables(LoadedModule &module, GlobalMemory &memory);

} // namespace tile::vgpu
