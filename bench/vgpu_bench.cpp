// How fast the virtual GPU is: the arithmetic of its tensor cores, by instruction set; then, with and without its checkers,
// vector add of 2^20 f32 and a 512^3 f16 matmul.
//
// Prints time per instruction or launch, the best of several. Kernels are those of tests/runtime/vgpu/kernels.
#include "runtime/vgpu/VgpuDevice.h"
#include "runtime/vgpu/isa/tensor/TensorCore.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <vector>

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

template <class Run> double bestOf(int runs, Run run) {
  return bestSeconds([&] {
           for (int i = 0; i < runs; ++i)
             run();
         }) /
         runs;
}

// Registers of a warp that hold small halves.
struct Registers {
  Registers() {
    for (uint32_t i = 0; i < std::size(words); ++i) {
      rows[i] = words[i];
      for (uint32_t &word : words[i])
        word = 0x30003400 + 0x10010 * (word % 64 + i);
    }
  }
  alignas(64) uint32_t words[128][32] = {};
  uint32_t *rows[128];
};

// mma.m16n8k16 with operands and sums in registers.
double mmaSeconds(const vgpu::TensorKernels &kernels) {
  static Registers a, b, sums;
  vgpu::ProductShape shape;
  return bestOf(20000, [&] {
    vgpu::PreparedA preparedA;
    vgpu::PreparedB preparedB;
    vgpu::prepareA(shape, a.rows, preparedA, kernels);
    vgpu::prepareB(shape, b.rows, preparedB, kernels);
    vgpu::multiply(shape, preparedA, preparedB, sums.rows, sums.rows, kernels);
  });
}

// wgmma.m64n256k16 of four warps, both operands in shared memory with 128-byte swizzle.
double wgmmaSeconds(const vgpu::TensorKernels &kernels) {
  constexpr uint32_t kStartA = 1024, kStartB = 32768, kPattern = 1024;
  static Registers sums;
  static const std::vector<uint8_t> bytes(160 * 1024, 0x34);
  vgpu::ProductShape shape;
  shape.blocks = 256 / 8;
  vgpu::SharedBytes shared{bytes, 0};
  vgpu::SharedMatrix matrixA{kStartA, 0, kPattern, 3, false},
      matrixB{kStartB, 0, kPattern, 3, false};
  return bestOf(200, [&] {
    vgpu::PreparedB preparedB;
    vgpu::prepareB(shape, matrixB, shared, preparedB, kernels);
    for (unsigned warp = 0; warp < 4; ++warp) {
      vgpu::PreparedA preparedA;
      vgpu::prepareA(shape, matrixA, shared, warp, preparedA, kernels);
      vgpu::multiply(shape, preparedA, preparedB, sums.rows, sums.rows, kernels);
    }
  });
}

} // namespace

int main() {
  for (const vgpu::TensorKernels *kernels : vgpu::tensorKernels())
    std::printf("%-8s mma m16n8k16 f16 %.0f ns   wgmma m64n256k16 f16 %.1f us\n", kernels->name,
                1e9 * mmaSeconds(*kernels), 1e6 * wgmmaSeconds(*kernels));
  for (const char *checks : {"none", "memory", "init", "race", "sync", "all"}) {
    device::VirtualOptions options;
    options.checks = checks;
    auto device = device::openVirtual(options);
    std::printf("checks %-7s vector add 1M f32 %.3f s   matmul 512^3 f16 %.3f s\n", checks,
                vectorAdd(*device), matmul(*device));
  }
}
