// How fast the virtual GPU is, with and without its checkers: vector add of 2^20 f32 and a 512^3 f16 matmul.
//
// Prints seconds per launch, the best of several. Kernels are those of tests/runtime/vgpu/kernels.
#include "runtime/vgpu/VgpuDevice.h"

#include <chrono>
#include <cstdio>
#include <fstream>
#include <sstream>

using namespace tile;

namespace {

std::string readKernel(const char *name) {
  std::ifstream file(std::string(TILE_TEST_KERNELS) + "/" + name);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

template <class Run> double bestSeconds(Run run) {
  double best = 1e9;
  for (int i = 0; i < 5; ++i) {
    auto start = std::chrono::steady_clock::now();
    run();
    best = std::min(
        best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return best;
}

device::DevicePtr filled(device::Device &device, size_t bytes) {
  device::DevicePtr pointer = device.alloc(bytes);
  device.fill(pointer, 0x11, bytes);
  return pointer;
}

template <class... Args>
void launch(device::Device &device, device::Function function, device::Dim3 grid,
            device::Dim3 block, Args... args) {
  device::Arg list[] = {{&args, sizeof args}...};
  device.launch(function, {grid, block, {}, 0}, list);
}

double vectorAdd(device::Device &device) {
  int n = 1 << 20;
  auto function = device.getFunction(device.loadModule(readKernel("vector_add.ptx")), "vector_add");
  auto a = filled(device, 4 * n), b = filled(device, 4 * n), c = filled(device, 4 * n);
  return bestSeconds(
      [&] { launch(device, function, {static_cast<uint32_t>(n / 256)}, {256}, a, b, c, n); });
}

double matmul(device::Device &device) {
  int n = 512;
  auto function = device.getFunction(device.loadModule(readKernel("matmul_mma.ptx")), "matmul_mma");
  auto a = filled(device, 2 * n * n), b = filled(device, 2 * n * n), c = filled(device, 4 * n * n);
  uint32_t tiles = static_cast<uint32_t>(n / 64);
  return bestSeconds([&] { launch(device, function, {tiles, tiles}, {128}, a, b, c, n, n, n); });
}

} // namespace

int main() {
  for (const char *checks : {"none", "memory", "init", "race", "sync", "all"}) {
    device::VirtualOptions options;
    options.checks = checks;
    auto device = device::openVirtual(options);
    std::printf("checks %-7s vector add 1M f32 %.3f s   matmul 512^3 f16 %.3f s\n", checks,
                vectorAdd(*device), matmul(*device));
  }
}
