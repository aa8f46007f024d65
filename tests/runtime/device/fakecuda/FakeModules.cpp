// Modules and their functions.
#include "tests/runtime/device/fakecuda/FakeDriver.h"

#include <algorithm>
#include <cstring>

namespace fakecuda {
namespace {

constexpr int kSharedPerBlock = 8, kSharedPerBlockOptin = 97;

// The error log among the options of a load. The driver puts the length it has filled in place of the capacity.
void writeErrorLog(unsigned count, const int *options, void **values, const std::string &text) {
  constexpr int kErrorLog = 5, kErrorLogBytes = 6;
  char *log = nullptr;
  void **capacity = nullptr;
  for (unsigned i = 0; i < count; ++i) {
    if (options[i] == kErrorLog)
      log = static_cast<char *>(values[i]);
    if (options[i] == kErrorLogBytes)
      capacity = &values[i];
  }
  if (!log || !capacity)
    return;
  size_t room = reinterpret_cast<uintptr_t>(*capacity);
  size_t length = room ? std::min(text.size(), room - 1) : 0;
  if (room) {
    std::memcpy(log, text.data(), length);
    log[length] = '\0';
  }
  *capacity = reinterpret_cast<void *>(length);
}

} // namespace

FAKE_API cuModuleLoadDataEx(CUmodule *module, const void *data, unsigned count, int *options,
                            void **values) {
  state().images.push_back(fakecuda::isElf(data) ? "cubin" : "ptx");
  Call call("cuModuleLoadDataEx", Needs::Context);
  if (call.result != kSuccess) {
    writeErrorLog(count, options, values,
                  fakecuda::isElf(data) ? "" : "fake ptxas: the text was refused");
    return call.result;
  }
  fakecuda::Image image;
  std::string complaint;
  if (CUresult result = refuseUnsafe(); result != kSuccess)
    return result;
  bool isRead = fakecuda::isElf(data)
                    ? fakecuda::parseElf(data, image, complaint)
                    : fakecuda::parsePtx(static_cast<const char *>(data), image, complaint);
  writeErrorLog(count, options, values, complaint);
  if (!isRead)
    return fakecuda::isElf(data) ? kInvalidImage : kInvalidPtx;
  auto loaded = std::make_unique<CUmod_st>();
  for (auto &[name, kernel] : image) {
    long room = state().attributes[kSharedPerBlock] - static_cast<long>(kernel.sharedBytes);
    loaded->functions[name].reset(new CUfunc_st{name, kernel, std::max(room, 0L)});
  }
  *module = loaded.get();
  state().modules[loaded.get()] = std::move(loaded);
  return kSuccess;
}
FAKE_API cuModuleUnload(CUmodule module) {
  FAKE_ENTER("cuModuleUnload", Needs::Context);
  if (CUresult result = refuseUnsafe(); result != kSuccess)
    return result;
  auto found = state().modules.find(module);
  if (found == state().modules.end())
    return kInvalidHandle;
  for (auto &[name, function] : module->functions)
    state().functions.erase(function.get());
  state().modules.erase(found);
  return kSuccess;
}
FAKE_API cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name) {
  FAKE_ENTER("cuModuleGetFunction", Needs::Context);
  if (!state().modules.count(module))
    return kInvalidHandle;
  auto found = module->functions.find(name);
  if (found == module->functions.end())
    return kNotFound;
  *function = found->second.get();
  state().functions.insert(*function);
  return kSuccess;
}
FAKE_API cuFuncGetAttribute(int *value, int attribute, CUfunction function) {
  FAKE_ENTER("cuFuncGetAttribute", Needs::Context);
  if (!state().functions.count(function))
    return kInvalidHandle;
  const std::map<int, long> values = {{0, 1024},
                                      {1, static_cast<long>(function->image.sharedBytes)},
                                      {3, 16},
                                      {4, state().registers},
                                      {8, function->maxDynamicShared},
                                      {14, function->allowsLargeClusters}};
  auto found = values.find(attribute);
  if (found == values.end())
    return kInvalidValue;
  *value = static_cast<int>(found->second);
  return kSuccess;
}
FAKE_API cuFuncSetAttribute(CUfunction function, int attribute, int value) {
  constexpr int kMaxDynamicShared = 8, kNonPortableCluster = 14;
  FAKE_ENTER("cuFuncSetAttribute", Needs::Context);
  if (!state().functions.count(function))
    return kInvalidHandle;
  long room = state().attributes[kSharedPerBlockOptin] - long(function->image.sharedBytes);
  if (attribute == kMaxDynamicShared && value >= 0 && value <= room)
    function->maxDynamicShared = value;
  else if (attribute == kNonPortableCluster)
    function->allowsLargeClusters = value != 0;
  else
    return kInvalidValue;
  return kSuccess;
}
#ifndef FAKE_CUDA_OLD
FAKE_API cuFuncGetParamInfo(CUfunction function, size_t index, size_t *offset, size_t *size) {
  FAKE_ENTER("cuFuncGetParamInfo", Needs::Context);
  if (!state().functions.count(function))
    return kInvalidHandle;
  const std::vector<size_t> &sizes = function->image.paramSizes;
  if (index >= sizes.size())
    return kInvalidValue;
  *size = sizes[index];
  *offset = 0;
  for (size_t i = 0; i <= index; ++i) {
    size_t alignment = std::min<size_t>(sizes[i], 8);
    *offset = (*offset + alignment - 1) / alignment * alignment + (i < index ? sizes[i] : 0);
  }
  return kSuccess;
}
#endif

} // namespace fakecuda
