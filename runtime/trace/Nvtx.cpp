#include "runtime/trace/Nvtx.h"

#include "base/DynamicLibrary.h"
#include "base/Environment.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace tile::trace {
namespace {

// What tools know as NvtxFunctionPointer, NvtxFunctionTable, NvtxExportTableCallbacks, NvtxExportTableVersionInfo.
using Function = void (*)();
using Table = Function **;
struct Callbacks {
  size_t size;
  int (*tableOf)(int module, Table *table, unsigned *count);
};
struct VersionInfo {
  size_t size;
  uint32_t version, reserved;
  void (*setToolVersion)(uint32_t);
};

constexpr int kCore = 1, kModules = 7;               // modules are numbered from 1
constexpr unsigned kRangePushA = 9, kRangePop = 11;  // of the module core
constexpr uint32_t kCallbacks = 1, kVersionInfo = 3; // tables that a tool asks for
constexpr unsigned kSlots = 16;                      // no module has more functions

/// The functions of a module, which a tool sets through the pointers.
struct Module {
  std::array<Function, kSlots> functions = {};
  std::array<Function *, kSlots> slots = {};
};

/// Tools fill in modules that we do not call as well.
std::array<Module, kModules> &modules() {
  static auto *all = [] {
    auto *made = new std::array<Module, kModules>;
    for (Module &module : *made)
      for (size_t i = 1; i < kSlots; ++i) // 0 is no function
        module.slots[i] = &module.functions[i];
    return made;
  }();
  return *all;
}

int tableOf(int module, Table *table, unsigned *count) {
  bool isKnown = module > 0 && module < kModules;
  if (table)
    *table = isKnown ? modules()[static_cast<size_t>(module)].slots.data() : nullptr;
  if (count)
    *count = isKnown ? kSlots : 0;
  return isKnown;
}

const void *exportTable(uint32_t id) {
  static const Callbacks callbacks = {sizeof callbacks, tableOf};
  static const VersionInfo version = {sizeof version, 3, 0, [](uint32_t) {}};
  if (id == kCallbacks)
    return &callbacks;
  return id == kVersionInfo ? &version : nullptr;
}

} // namespace

Nvtx *Nvtx::ofProcess() {
  static Nvtx *nvtx = []() -> Nvtx * {
    constexpr const char *kVariable = "NVTX_INJECTION64_PATH";
    std::string path = base::environmentText(kVariable);
    if (path.empty())
      return nullptr;
    base::DynamicLibrary tool({path.c_str()});
    int (*initialize)(const void *(*)(uint32_t)) = nullptr;
    if (!tool || !tool.bind(initialize, "InitializeInjectionNvtx2")) {
      base::warnOfEnvironment(kVariable, path,
                              (tool ? "has no InitializeInjectionNvtx2" : tool.why()) +
                                  "; there are no ranges of NVTX");
      return nullptr;
    }
    if (!initialize(exportTable))
      return nullptr;
    const auto &core = modules()[kCore].functions;
    if (!core[kRangePushA] || !core[kRangePop])
      return nullptr;
    return new Nvtx(reinterpret_cast<Push>(core[kRangePushA]),
                    reinterpret_cast<Pop>(core[kRangePop]));
  }();
  return nvtx;
}

} // namespace tile::trace
