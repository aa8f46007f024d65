// Runs one instruction on many operands: a kernel with one thread per element loads the operands, applies the instruction
// and stores the result.
#pragma once

#include "tests/runtime/vgpu/Kernels.h"

#include <limits>

namespace tile::vgpu {

/// The PTX register class letter and load type of a C++ type's width.
template <class T> std::string bitsOf() { return "b" + std::to_string(8 * sizeof(T)); }

/// Applies `code`, in which %d is the result and %x, %y, %z the operands, to each element. Registers are untyped and
/// as wide as the C++ types.
template <class D, class S, class S2 = S, class S3 = S>
std::vector<D> applyPtx(const std::string &code, const std::vector<S> &x,
                        const std::vector<S2> &y = {}, const std::vector<S3> &z = {},
                        const std::string &target = "sm_80") {
  auto declare = [](const std::string &name, const std::string &bits) {
    return "  .reg ." + (bits == "b8" ? "b16" : bits) + " " + name + ";\n";
  };
  auto load = [](const std::string &name, size_t bytes, const std::string &bits, int param) {
    return "  ld.param.u64 %q, [p" + std::to_string(param) + "];\n  mad.wide.u32 %q, %i, " +
           std::to_string(bytes) + ", %q;\n  ld.global." + bits + " " + name + ", [%q];\n";
  };
  std::string ptx = ".version 8.4\n.target " + target +
                    "\n.address_size 64\n.visible .entry k(.param .u64 p0, .param .u64 p1, "
                    ".param .u64 p2, .param .u64 p3, .param .u32 n)\n{\n  .reg .pred %p, %o;\n  "
                    ".reg .b32 %i, %m, %c;\n  .reg .b64 %q;\n";
  ptx += declare("%d", bitsOf<D>()) + declare("%x", bitsOf<S>()) + declare("%y", bitsOf<S2>()) +
         declare("%z", bitsOf<S3>());
  ptx += "  mov.u32 %i, %tid.x;\n  mov.u32 %c, %ctaid.x;\n  mad.lo.u32 %i, %c, 256, %i;\n  "
         "ld.param.u32 %m, [n];\n"
         "  setp.ge.u32 %o, %i, %m;\n  @%o ret;\n";
  ptx += load("%x", sizeof(S), bitsOf<S>(), 1);
  if (!y.empty())
    ptx += load("%y", sizeof(S2), bitsOf<S2>(), 2);
  if (!z.empty())
    ptx += load("%z", sizeof(S3), bitsOf<S3>(), 3);
  ptx += "  " + code + "\n  ld.param.u64 %q, [p0];\n  mad.wide.u32 %q, %i, " +
         std::to_string(sizeof(D)) + ", %q;\n  st.global." + bitsOf<D>() +
         " [%q], %d;\n  ret;\n}\n";
  Gpu gpu(ptx, target);
  auto n = static_cast<uint32_t>(x.size());
  auto result = gpu.device->alloc(n * sizeof(D));
  uint64_t dx = gpu.upload(x), dy = gpu.upload(y), dz = gpu.upload(z);
  gpu.run("k", {(n + 255) / 256}, {256}, 0, result, dx, dy, dz, n);
  gpu.expectClean();
  return gpu.download<D>(result, n);
}

/// Integers at which carries, signs and counts go wrong first.
template <class T> std::vector<T> integerEdges() {
  using L = std::numeric_limits<T>;
  return {0,
          1,
          2,
          3,
          7,
          31,
          32,
          33,
          63,
          64,
          100,
          static_cast<T>(-1),
          static_cast<T>(-2),
          static_cast<T>(-7),
          L::min(),
          static_cast<T>(L::min() + 1),
          L::max(),
          static_cast<T>(L::max() - 1),
          static_cast<T>(L::max() / 2),
          static_cast<T>(0x5a5a5a5a5a5a5a5aull),
          static_cast<T>(0x123456789abcdef0ull)};
}

/// All pairs of `values`, as two vectors.
template <class T>
std::pair<std::vector<T>, std::vector<T>> allPairs(const std::vector<T> &values) {
  std::pair<std::vector<T>, std::vector<T>> result;
  for (const T &a : values)
    for (const T &b : values) {
      result.first.push_back(a);
      result.second.push_back(b);
    }
  return result;
}

} // namespace tile::vgpu
