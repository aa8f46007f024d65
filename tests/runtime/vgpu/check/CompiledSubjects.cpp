// Kernels compiled from CUDA C++ that synchronise, each with inputs for one launch.
#include "tests/runtime/vgpu/check/Mutants.h"

namespace tile::vgpu {
namespace {

template <class T> Bytes bytesOf(Gpu &gpu, device::DevicePtr pointer, size_t count) {
  return gpu.download<uint8_t>(pointer, count * sizeof(T));
}

std::vector<int> numbers(size_t count) {
  std::vector<int> values(count);
  for (size_t i = 0; i < count; ++i)
    values[i] = static_cast<int>(i * 2654435761u >> 20) - 1000;
  return values;
}
std::vector<float> fractions(size_t count) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i)
    values[i] = static_cast<float>(i * 2654435761u >> 24) / 32 - 3;
  return values;
}

// One entry of a compiled module.
Subject compiled(const std::string &file, const std::string &entry, Runner run,
                 const std::string &target = "sm_80") {
  return {entry, kernelText(file + ".ptx"), target, std::move(run)};
}

} // namespace

std::vector<Subject> compiledSubjects() {
  std::vector<Subject> all;
  all.push_back(compiled("block_sum", "block_sum", [](Gpu &gpu) {
    auto in = gpu.upload(fractions(512)), out = gpu.upload(std::vector<float>(2));
    gpu.run("block_sum", {2}, {256}, 0, in, out, 512);
    return bytesOf<float>(gpu, out, 2);
  }));
  all.push_back(compiled("control", "last_block", [](Gpu &gpu) {
    auto in = gpu.upload(numbers(512)), partial = gpu.upload(std::vector<int>(4)),
         out = gpu.upload(std::vector<int>(1));
    gpu.run("last_block", {4}, {128}, 0, in, partial, out, 512);
    return bytesOf<int>(gpu, out, 1);
  }));
  all.push_back(compiled("reduce", "block_tree", [](Gpu &gpu) {
    auto in = gpu.upload(numbers(512)), out = gpu.upload(std::vector<int>(2));
    gpu.run("block_tree", {2}, {128}, 512, in, out, 512);
    return bytesOf<int>(gpu, out, 2);
  }));
  all.push_back(compiled("reduce", "grid_fence", [](Gpu &gpu) {
    std::vector<double> values(512);
    std::iota(values.begin(), values.end(), 0.25);
    auto in = gpu.upload(values), partial = gpu.upload(std::vector<double>(4)),
         out = gpu.upload(std::vector<double>(1));
    gpu.run("grid_fence", {4}, {256}, 0, in, partial, out, 512);
    return bytesOf<double>(gpu, out, 1);
  }));
  all.push_back(compiled("scan", "scan_block", [](Gpu &gpu) {
    auto in = gpu.upload(numbers(256)), out = gpu.upload(std::vector<int>(256));
    gpu.run("scan_block", {2}, {128}, 0, in, out, 256);
    return bytesOf<int>(gpu, out, 256);
  }));
  all.push_back(compiled("scan", "scan_hillis_steele", [](Gpu &gpu) {
    auto in = gpu.upload(fractions(128)), out = gpu.upload(std::vector<float>(128));
    gpu.run("scan_hillis_steele", {1}, {128}, 1024, in, out);
    return bytesOf<float>(gpu, out, 128);
  }));
  all.push_back(compiled("softmax", "softmax", [](Gpu &gpu) {
    auto in = gpu.upload(fractions(600)), out = gpu.upload(std::vector<float>(600));
    gpu.run("softmax", {2}, {256}, 0, in, out, 300);
    return bytesOf<float>(gpu, out, 600);
  }));
  all.push_back(compiled("normalise", "softmax_online", [](Gpu &gpu) {
    auto in = gpu.upload(fractions(600)), out = gpu.upload(std::vector<float>(600));
    gpu.run("softmax_online", {2}, {256}, 0, in, out, 300);
    return bytesOf<float>(gpu, out, 600);
  }));
  all.push_back(compiled("sort", "bitonic", [](Gpu &gpu) {
    auto data = gpu.upload(numbers(256));
    gpu.run("bitonic", {1}, {256}, 1024, data);
    return bytesOf<int>(gpu, data, 256);
  }));
  all.push_back(compiled("sort", "radix_pass", [](Gpu &gpu) {
    auto in = gpu.upload(numbers(256)), out = gpu.upload(std::vector<int>(256));
    gpu.run("radix_pass", {1}, {256}, 0, in, out, 4);
    return bytesOf<int>(gpu, out, 256);
  }));
  all.push_back(compiled("tables", "histogram", [](Gpu &gpu) {
    auto in = gpu.upload(numbers(64)), bins = gpu.upload(std::vector<int>(256));
    gpu.run("histogram", {2}, {128}, 0, in, bins, 256);
    return bytesOf<int>(gpu, bins, 256);
  }));
  all.push_back(compiled("tables", "transpose_padded", [](Gpu &gpu) {
    auto in = gpu.upload(fractions(64 * 32)), out = gpu.upload(std::vector<float>(64 * 32));
    gpu.run("transpose_padded", {1, 2}, {32, 8}, 0, in, out, 64, 32);
    return bytesOf<float>(gpu, out, 64 * 32);
  }));
  all.push_back(compiled("tables", "stencil", [](Gpu &gpu) {
    auto in = gpu.upload(fractions(1024)), out = gpu.upload(std::vector<float>(1024));
    gpu.run("stencil", {2, 2}, {16, 16}, 0, in, out, 32, 32);
    return bytesOf<float>(gpu, out, 1024);
  }));
  all.push_back(compiled("memory", "reverse_dynamic", [](Gpu &gpu) {
    auto in = gpu.upload(numbers(128)), out = gpu.upload(std::vector<int>(128));
    gpu.run("reverse_dynamic", {2}, {64}, 64 * 12, in, out, 128);
    return bytesOf<int>(gpu, out, 128);
  }));
  all.push_back(compiled("memory", "chain", [](Gpu &gpu) {
    auto flags = gpu.upload(std::vector<int>(6)), values = gpu.upload(std::vector<int>(6));
    gpu.run("chain", {6}, {32}, 0, flags, values);
    return bytesOf<int>(gpu, values, 6);
  }));
  all.push_back(compiled("memory", "locked", [](Gpu &gpu) {
    auto lock = gpu.upload(std::vector<int>(1)), counter = gpu.upload(std::vector<int>(1)),
         history = gpu.upload(std::vector<int>(64, -1));
    gpu.run("locked", {2}, {32}, 0, lock, counter, history);
    return bytesOf<int>(gpu, counter, 1);
  }));
  all.push_back(compiled("matmul_stages", "matmul_stages", [](Gpu &gpu) {
    int n = 64, k = 64;
    auto a = gpu.upload(fractions(64 * 64)), b = gpu.upload(fractions(64 * 64)),
         c = gpu.upload(std::vector<float>(64 * 64));
    gpu.run("matmul_stages", {2, 2}, {64}, 0, a, b, c, n, k);
    return bytesOf<float>(gpu, c, 64 * 64);
  }));
  all.push_back(compiled("matmul_mma", "matmul_mma", [](Gpu &gpu) {
    int m = 64, n = 64, k = 128;
    auto a = gpu.upload(std::vector<uint16_t>(64 * 128, 0x3c00)),
         b = gpu.upload(std::vector<uint16_t>(64 * 128, 0x3800)),
         c = gpu.upload(std::vector<float>(64 * 64));
    gpu.run("matmul_mma", {1}, {128}, 0, a, b, c, m, n, k);
    return bytesOf<float>(gpu, c, 64 * 64);
  }));
  all.push_back(compiled("matmul_wmma", "wmma_shared", [](Gpu &gpu) {
    auto a = gpu.upload(std::vector<uint16_t>(256, 0x3c00)),
         b = gpu.upload(std::vector<uint16_t>(256, 0x3800)),
         c = gpu.upload(std::vector<float>(256));
    gpu.run("wmma_shared", {1}, {32}, 0, a, b, c);
    return bytesOf<float>(gpu, c, 256);
  }));
  all.push_back(compiled(
      "hopper_warp", "store_matrices",
      [](Gpu &gpu) {
        auto in = gpu.upload(numbers(64)), out = gpu.upload(std::vector<int>(64));
        gpu.run("store_matrices", {1}, {32}, 0, in, out);
        return bytesOf<int>(gpu, out, 64);
      },
      "sm_90a"));
  all.push_back(compiled(
      "bulk_scale", "bulk_scale",
      [](Gpu &gpu) {
        auto in = gpu.upload(fractions(512)), out = gpu.upload(std::vector<float>(512));
        gpu.run("bulk_scale", {2}, {256}, 0, in, out, 0.5f);
        return bytesOf<float>(gpu, out, 512);
      },
      "sm_90a"));
  return all;
}

} // namespace tile::vgpu
