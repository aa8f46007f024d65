// Gives modules memory for their variables, and programs for their kernels.
#include "runtime/vgpu/LoadedModule.h"

#include "runtime/vgpu/isa/Opcodes.h"

#include <tile/Error.h>

#include <algorithm>
#include <cstring>

namespace tile::vgpu {

std::shared_ptr<const Program> LoadedFunction::program(DecodeOptions options) {
  if (model_ != options.model)
    forgetPrograms();
  model_ = options.model;
  std::shared_ptr<const Program> &slot =
      options.keepsInstructions ? timed_ : programs_[options.trackInit][options.watchMatrices];
  if (!slot) {
    options.globalAddress = [this](std::string_view name) {
      auto found = module->addresses.find(name);
      return found == module->addresses.end() ? 0 : found->second;
    };
    slot = Decoder(module->ptx, function_, opcodes(), std::move(options)).decode();
  }
  return slot;
}

AssemblerFigures LoadedFunction::figures(const PredictionRequest &request) {
  const Module &ptx = *module->ptx;
  bool isAlone = std::ranges::count_if(ptx.functions, &Function::isEntry) == 1;
  if (!request.assembler || !isAlone)
    return {};
  if (!figures_)
    figures_ = request.assembler(ptx.text, ptx.target);
  return *figures_;
}

void LoadedFunction::forgetPrograms() {
  timed_ = nullptr;
  for (auto &programs : programs_)
    std::ranges::fill(programs, nullptr);
}

void placeVariables(LoadedModule &module, GlobalMemory &memory) {
  for (auto [name, variable] : module.ptx->globals) {
    if (variable->space == Space::Shared)
      continue;
    uint64_t address = memory.allocate(variable->bytes, std::string(name));
    if (address == 0)
      throw Error(Fault::User, ErrorCode::OutOfMemory,
                  "no memory for variable '" + std::string(name) + "' of " +
                      std::to_string(variable->bytes) + " bytes");
    module.addresses[name] = address;
    memory.clear(address, variable->bytes);
    if (!variable->init.empty())
      std::memcpy(memory.host(address, variable->init.size()), variable->init.data(),
                  std::min<size_t>(variable->init.size(), variable->bytes));
    memory.valid().setRange(address - kGlobalBase, variable->bytes, true);
  }
  for (auto [name, variable] : module.ptx->globals)
    for (const Variable::Reference &reference : variable->references) {
      auto found = module.addresses.find(reference.symbol);
      std::optional<uint64_t> target = found == module.addresses.end()
                                           ? module.ptx->functionAddress(reference.symbol)
                                           : std::optional(found->second);
      if (!target)
        throw Error(Fault::User, ErrorCode::Unsupported,
                    "the initialiser of '" + std::string(name) + "' names '" +
                        std::string(reference.symbol) +
                        "', which is no variable or function of this module",
                    {module.ptx->name.c_str(), variable->line});
      uint64_t value = (*target + static_cast<uint64_t>(reference.addend)) >> reference.shift;
      size_t bytes = std::min<size_t>(8, variable->elementBytes);
      std::memcpy(memory.host(module.addresses[name] + reference.offset, bytes), &value, bytes);
    }
}

void releaseVariables(LoadedModule &module, GlobalMemory &memory) {
  for (auto [name, address] : module.addresses)
    memory.release(address);
  module.addresses.clear();
}

} // namespace tile::vgpu
