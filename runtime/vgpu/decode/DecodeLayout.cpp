// Lays out the variables of a kernel: parameters, shared and local ones.
#include "runtime/vgpu/decode/OperandReader.h"

#include "runtime/vgpu/machine/Memory.h"

#include <algorithm>

namespace tile::vgpu {

static uint32_t alignUp(uint64_t value, uint32_t align) {
  return static_cast<uint32_t>((value + align - 1) / align * align);
}

// The parameters of a kernel have a limit since PTX 8.1; the local memory of a thread is what CUDA gives it at most.
static constexpr uint64_t kMaxParamBytes = 32764, kMaxLocalBytes = 512 << 10;
// More than any block has, and less than a window of shared addresses.
static constexpr uint64_t kMaxSharedBytes = 1 << 23;

void OperandReader::layoutParams() {
  for (const Variable *param : program_->entry->params) {
    uint32_t offset = alignUp(program_->paramBytes, param->align);
    paramOffsets_[param] = offset;
    if (offset > kMaxParamBytes || param->bytes > kMaxParamBytes - offset)
      throw Error(Fault::User, ErrorCode::ResourceExceeded,
                  "the parameters of '" + std::string(program_->entry->name) + "' take more than " +
                      std::to_string(kMaxParamBytes) + " bytes",
                  {program_->module->name.c_str(), param->line});
    program_->params.push_back({param->name, offset, static_cast<uint32_t>(param->bytes)});
    program_->paramBytes = offset + static_cast<uint32_t>(param->bytes);
  }
}

// Variables take space only if the kernel mentions them; dynamic shared memory follows the static ones.
void OperandReader::layoutShared() {
  std::vector<const Variable *> candidates;
  for (const auto &[name, variable] : program_->module->globals)
    candidates.push_back(variable);
  for (const Function &function : program_->module->functions)
    candidates.insert(candidates.end(), function.variables.begin(), function.variables.end());
  std::erase_if(candidates,
                [](const Variable *variable) { return variable->space != Space::Shared; });
  std::ranges::sort(candidates, {}, [](const Variable *variable) {
    return std::pair(variable->line, variable->name);
  });
  std::vector<const Variable *> used;
  auto mentions = [&](auto &self, const Operand &operand) -> void {
    if (operand.variable && std::ranges::count(candidates, operand.variable) &&
        !std::ranges::count(used, operand.variable))
      used.push_back(operand.variable);
    for (const Operand &part : operand.parts)
      self(self, part);
  };
  for (const Function &function : program_->module->functions)
    if (&function == program_->entry || !function.isEntry)
      for (const Instruction &instruction : function.body)
        for (const Operand &operand : instruction.operands)
          mentions(mentions, operand);
  uint32_t address = kSharedBase, dynamicAlign = 16;
  for (const Variable *variable : candidates) {
    if (variable->isExtern)
      dynamicAlign = std::max(dynamicAlign, variable->align);
    if (variable->isExtern || !std::ranges::count(used, variable))
      continue;
    address = alignUp(address, variable->align);
    if (address > kMaxSharedBytes || variable->bytes > kMaxSharedBytes - address)
      throw Error(Fault::User, ErrorCode::ResourceExceeded,
                  "with shared variable '" + std::string(variable->name) + "' of " +
                      std::to_string(variable->bytes) +
                      " bytes the kernel needs more than any shared memory has",
                  {program_->module->name.c_str(), variable->line});
    sharedAddresses_[variable] = address;
    program_->shared.push_back({variable->name, address, variable->bytes});
    address += static_cast<uint32_t>(variable->bytes);
  }
  program_->staticSharedBytes = address - kSharedBase;
  program_->dynamicSharedAddress = alignUp(address, dynamicAlign);
  if (options_.model.shift && program_->dynamicSharedAddress % (2 * dynamicAlign) == 0)
    program_->dynamicSharedAddress += dynamicAlign;
  for (const Variable *variable : candidates)
    if (variable->isExtern)
      sharedAddresses_[variable] = program_->dynamicSharedAddress;
}

uint32_t OperandReader::localVariable(const Variable &variable) {
  auto [found, isNew] = frame_->localOffsets.try_emplace(&variable, 0);
  if (!isNew)
    return found->second;
  found->second = alignUp(program_->localBytes, std::max(variable.align, 4u));
  if (found->second > kMaxLocalBytes || variable.bytes > kMaxLocalBytes - found->second)
    malformed("with local variable '" + std::string(variable.name) + "' of " +
              std::to_string(variable.bytes) + " bytes a thread needs more than its " +
              std::to_string(kMaxLocalBytes) + " bytes of local memory");
  program_->localBytes = found->second + static_cast<uint32_t>(variable.bytes);
  return found->second;
}

uint64_t OperandReader::symbolAddress(const Operand &operand, std::optional<Space> &space) {
  const Variable *variable = operand.variable;
  if (!variable) {
    if (std::optional<uint64_t> function = program_->module->functionAddress(operand.name))
      return *function;
    malformed("'" + std::string(operand.name) + "' is not declared");
  }
  space = variable->space;
  if (variable->space == Space::Shared)
    return sharedAddresses_.at(variable) + operand.value;
  if (auto param = paramOffsets_.find(variable); param != paramOffsets_.end())
    return param->second + operand.value;
  if (variable->space == Space::Local || variable->space == Space::Param) {
    space = Space::Local;
    return localVariable(*variable) + operand.value;
  }
  uint64_t address = options_.globalAddress ? options_.globalAddress(variable->name) : 0;
  if (address == 0)
    malformed("variable '" + std::string(operand.name) +
              "' has no memory: is it defined in this module?");
  return address + operand.value;
}

} // namespace tile::vgpu
