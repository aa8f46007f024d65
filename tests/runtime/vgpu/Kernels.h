// What the virtual GPU's tests share: devices, kernels from files or text, typed buffers, findings.
#pragma once

#include "runtime/vgpu/VgpuDevice.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace tile::vgpu {

/// The text of tests/runtime/vgpu/kernels/`name`.
inline std::string kernelText(const std::string &name) {
  std::ifstream file(std::string(TILE_TEST_KERNELS) + "/" + name);
  EXPECT_TRUE(file) << name;
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

/// A virtual GPU with one module loaded, and the findings of its launches.
class Gpu {
public:
  explicit Gpu(const std::string &ptx, const std::string &target = "sm_80",
               const std::string &checks = "all", int threads = 1) {
    device::VirtualOptions options;
    options.target = target;
    options.checks = checks;
    options.threads = threads;
    device = asVirtual(device::openVirtual(options));
    module = device->loadModule(ptx, {}, "test.ptx");
    device->setFindingSink([this](const std::vector<Finding> &found) { findings = found; });
  }

  template <class T> device::DevicePtr upload(const std::vector<T> &data) {
    device::DevicePtr pointer = device->alloc(data.size() * sizeof(T));
    device->copyToDevice(pointer, data.data(), data.size() * sizeof(T));
    return pointer;
  }
  template <class T> std::vector<T> download(device::DevicePtr pointer, size_t count) {
    std::vector<T> data(count);
    device->copyToHost(data.data(), pointer, count * sizeof(T));
    return data;
  }

  template <class... Args>
  void run(const std::string &kernel, device::Dim3 grid, device::Dim3 block, uint32_t dynamicShared,
           Args... args) {
    findings.clear();
    std::vector<device::Arg> list = {{&args, sizeof(args)}...};
    device->launch(device->getFunction(module, kernel), {grid, block, {}, dynamicShared}, list);
  }

  /// No finding, else a test failure that shows them.
  void expectClean() const {
    for (const Finding &finding : findings)
      ADD_FAILURE() << finding.text();
  }
  /// One of the findings is of `kind` and in `line` of the PTX.
  void expectFinding(FindingKind kind, int line) const { expectFindingIn(kind, {line}); }
  /// The same in any of `lines`: which of two accesses comes second depends on the schedule.
  void expectFindingIn(FindingKind kind, const std::vector<int> &lines) const {
    std::string all, places;
    for (const Finding &finding : findings) {
      if (finding.kind == kind && std::ranges::count(lines, finding.ptxLine))
        return;
      all += "\n" + finding.text();
    }
    for (int line : lines)
      places += (places.empty() ? "" : " or ") + std::to_string(line);
    ADD_FAILURE() << "no " << nameOf(kind) << " in line " << places << "; found:" << all;
  }

  std::shared_ptr<VirtualDevice> device;
  device::Module module;
  device::DevicePtr data = 0; // of tests with one buffer
  std::vector<Finding> findings;
};

/// The number, from 1, of the line of `text` that contains `part`.
inline int lineOf(const std::string &text, const std::string &part) {
  size_t at = text.find(part);
  EXPECT_NE(at, std::string::npos) << part;
  return 1 + static_cast<int>(
                 std::count(text.begin(), text.begin() + static_cast<ptrdiff_t>(at), '\n'));
}

} // namespace tile::vgpu
