// Where things are: kernel parameters, shared and local variables, special registers; and the suffix and
// type tables of decoding.
#include "runtime/vgpu/decode/Decode.h"

#include "runtime/vgpu/decode/Stack.h"
#include "runtime/vgpu/machine/Memory.h"

#include <algorithm>

namespace tile::vgpu {

static uint32_t alignUp(uint64_t value, uint32_t align) {
  return static_cast<uint32_t>((value + align - 1) / align * align);
}

struct TypeRow {
  std::string_view suffix;
  ScalarType type;
  uint8_t bytes;
};
static constexpr TypeRow kTypes[] = {
    {"pred", ScalarType::Pred, 0},    {"b8", ScalarType::B8, 1},
    {"b16", ScalarType::B16, 2},      {"b32", ScalarType::B32, 4},
    {"b64", ScalarType::B64, 8},      {"b128", ScalarType::B128, 16},
    {"u8", ScalarType::U8, 1},        {"u16", ScalarType::U16, 2},
    {"u32", ScalarType::U32, 4},      {"u64", ScalarType::U64, 8},
    {"s8", ScalarType::S8, 1},        {"s16", ScalarType::S16, 2},
    {"s32", ScalarType::S32, 4},      {"s64", ScalarType::S64, 8},
    {"u16x2", ScalarType::U16x2, 4},  {"s16x2", ScalarType::S16x2, 4},
    {"f16", ScalarType::F16, 2},      {"bf16", ScalarType::BF16, 2},
    {"f16x2", ScalarType::F16x2, 4},  {"bf16x2", ScalarType::BF16x2, 4},
    {"tf32", ScalarType::TF32, 4},    {"f32", ScalarType::F32, 4},
    {"f64", ScalarType::F64, 8},      {"e4m3x2", ScalarType::E4M3x2, 2},
    {"e5m2x2", ScalarType::E5M2x2, 2}};

unsigned bytesOf(ScalarType type) {
  auto row = std::ranges::find(kTypes, type, &TypeRow::type);
  return row == std::end(kTypes) ? 0 : row->bytes;
}

bool isSigned(ScalarType type) {
  return (type >= ScalarType::S8 && type <= ScalarType::S64) || type == ScalarType::S16x2;
}
bool isFloat(ScalarType type) { return type >= ScalarType::F16; }
bool isInteger(ScalarType type) { return type >= ScalarType::U8 && type <= ScalarType::S16x2; }

ScalarType scalarType(std::string_view suffix) {
  auto row = std::ranges::find(kTypes, suffix, &TypeRow::suffix);
  return row == std::end(kTypes) ? ScalarType::None : row->type;
}

bool Suffixes::take(std::string_view word) {
  auto found = std::ranges::find(rest_, word);
  if (found == rest_.end())
    return false;
  rest_.erase(found);
  return true;
}

std::string_view Suffixes::takeOneOf(std::initializer_list<std::string_view> words) {
  for (auto at = rest_.begin(); at != rest_.end(); ++at)
    if (auto word = std::ranges::find(words, *at); word != words.end()) {
      rest_.erase(at);
      return *word;
    }
  return {};
}

std::string_view Suffixes::takePrefix(std::string_view prefix) {
  auto found =
      std::ranges::find_if(rest_, [&](std::string_view word) { return word.starts_with(prefix); });
  if (found == rest_.end())
    return {};
  std::string_view word = *found;
  rest_.erase(found);
  return word;
}

ScalarType Suffixes::takeType() {
  auto found = std::ranges::find_if(
      rest_, [](std::string_view w) { return scalarType(w) != ScalarType::None; });
  if (found == rest_.end())
    return ScalarType::None;
  ScalarType type = scalarType(*found);
  rest_.erase(found);
  return type;
}

const OpcodeTable &opcodeTable() {
  static const OpcodeTable table = [] {
    OpcodeTable result;
    for (auto add :
         {registerInteger,   registerProducts,        registerCarry,         registerBits,
          registerFloat,     registerCompare,         registerConvert,       registerMove,
          registerLoadStore, registerAddressSpaces,   registerAtomics,       registerCacheHints,
          registerControl,   registerBarrier,         registerCluster,       registerMbarrier,
          registerTensorMap, registerDependentLaunch, registerWarpRegisters, registerWgmma,
          registerShuffle,   registerAsyncCopy,       registerMatrix,        registerMma,
          registerWmma,      registerStack,           registerFence})
      add(result);
    return result;
  }();
  return table;
}

// Of a kernel, since PTX 8.1; and of the local memory of a thread.
static constexpr uint64_t kMaxParamBytes = 32764, kMaxLocalBytes = 512 << 10;
// More than any block has, and less than a window of shared addresses.
static constexpr uint64_t kMaxSharedBytes = 1 << 23;

void Decoder::layoutParams() {
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

// Only what the kernel mentions takes space; dynamic shared memory follows the static variables.
void Decoder::layoutShared() {
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

uint32_t Decoder::localVariable(const Variable &variable) {
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

uint64_t Decoder::symbolAddress(const Operand &operand, std::optional<Space> &space) {
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

struct SpecialName {
  std::string_view name;
  Special what;
};
static constexpr SpecialName kSpecials[] = {
    {"%tid.x", Special::TidX},
    {"%tid.y", Special::TidY},
    {"%tid.z", Special::TidZ},
    {"%ntid.x", Special::NtidX},
    {"%ntid.y", Special::NtidY},
    {"%ntid.z", Special::NtidZ},
    {"%ctaid.x", Special::CtaidX},
    {"%ctaid.y", Special::CtaidY},
    {"%ctaid.z", Special::CtaidZ},
    {"%nctaid.x", Special::NctaidX},
    {"%nctaid.y", Special::NctaidY},
    {"%nctaid.z", Special::NctaidZ},
    {"%laneid", Special::LaneId},
    {"%warpid", Special::WarpId},
    {"%nwarpid", Special::NwarpId},
    {"%smid", Special::SmId},
    {"%nsmid", Special::NsmId},
    {"%gridid", Special::GridId},
    {"%lanemask_eq", Special::LaneMaskEq},
    {"%lanemask_le", Special::LaneMaskLe},
    {"%lanemask_lt", Special::LaneMaskLt},
    {"%lanemask_ge", Special::LaneMaskGe},
    {"%lanemask_gt", Special::LaneMaskGt},
    {"%dynamic_smem_size", Special::DynamicSharedSize},
    {"%total_smem_size", Special::TotalSharedSize},
    {"%clusterid.x", Special::ClusterIdX},
    {"%clusterid.y", Special::ClusterIdY},
    {"%clusterid.z", Special::ClusterIdZ},
    {"%nclusterid.x", Special::NclusterIdX},
    {"%nclusterid.y", Special::NclusterIdY},
    {"%nclusterid.z", Special::NclusterIdZ},
    {"%cluster_ctaid.x", Special::ClusterCtaidX},
    {"%cluster_ctaid.y", Special::ClusterCtaidY},
    {"%cluster_ctaid.z", Special::ClusterCtaidZ},
    {"%cluster_nctaid.x", Special::ClusterNctaidX},
    {"%cluster_nctaid.y", Special::ClusterNctaidY},
    {"%cluster_nctaid.z", Special::ClusterNctaidZ},
    {"%cluster_ctarank", Special::ClusterCtarank},
    {"%cluster_nctarank", Special::ClusterNctarank},
    {"%is_explicit_cluster", Special::IsExplicitCluster},
    {"%reserved_smem_offset_begin", Special::ReservedSharedBegin},
    {"%reserved_smem_offset_0", Special::ReservedSharedBegin},
    {"%reserved_smem_offset_1", Special::ReservedSharedBegin},
    {"%reserved_smem_offset_end", Special::ReservedSharedEnd},
    {"%reserved_smem_offset_cap", Special::ReservedSharedCap},
    {"%aggr_smem_size", Special::AggregateSharedSize}};

// Registers that the driver, a profiler or a graph would fill, and the fourth elements of vectors, hold zero here.
static bool isAlwaysZero(std::string_view name) {
  auto numbered = [&](std::string_view prefix, int below) {
    return name.starts_with(prefix) && name.size() > prefix.size() &&
           name.find_first_not_of("0123456789", prefix.size()) == name.npos &&
           (name[prefix.size()] != '0' || name.size() == prefix.size() + 1) &&
           std::atoi(std::string(name.substr(prefix.size())).c_str()) < below;
  };
  if (name.ends_with(".w")) {
    std::string first = std::string(name.substr(0, name.size() - 1)) + "x";
    return std::ranges::find(kSpecials, first, &SpecialName::name) != std::end(kSpecials);
  }
  bool isWide = name.ends_with("_64");
  return numbered("%envreg", 32) || name == "%current_graph_exec" || numbered("%pm", 8) ||
         (isWide && name.size() == 7 && name.starts_with("%pm") && name[3] >= '0' && name[3] < '8');
}

uint32_t Decoder::specialRow(const Operand &operand) {
  std::string name(operand.name);
  if (operand.axis)
    name += std::string(".") + "xyzw"[operand.axis - 1];
  auto known = std::ranges::find(kSpecials, name, &SpecialName::name);
  bool isZero = isAlwaysZero(name);
  if (known == std::end(kSpecials) && !isZero)
    unsupported("'" + name + "' is not declared, nor a special register known here");
  requireTarget(std::string_view(name).substr(0, name.find('.')), {});
  Special what = isZero ? Special::Zero : known->what;
  auto [found, isNew] = specials_.try_emplace(static_cast<uint8_t>(what), 0);
  if (isNew) {
    found->second = allocateRow(4);
    program_->specials.push_back({found->second, what});
  }
  return found->second;
}

} // namespace tile::vgpu
