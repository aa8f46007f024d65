// Kernels for the checkers: each good one has a broken twin, with one line taken out or changed.
#pragma once

#include "tests/runtime/vgpu/Kernels.h"

namespace tile::vgpu {

// A kernel `k(.param .u64 p)` with the usual registers; `%t` is the thread, `%a` the address p + 4t.
inline std::string kernel(const std::string &body, const std::string &before = "") {
  return R"(.version 7.8
.target sm_80
.address_size 64
)" + before +
         R"(
.visible .entry k(.param .u64 p)
{
  .reg .pred %q<8>;
  .reg .b32 %t, %l, %w, %r<16>;
  .reg .b64 %p, %a, %rd<8>;
  .reg .f32 %f<8>;
  .shared .align 16 .b8 buffer[4096];
  ld.param.u64 %p, [p];
  mov.u32 %t, %tid.x;
  and.b32 %l, %t, 31;
  shr.u32 %w, %t, 5;
  mad.wide.u32 %a, %t, 4, %p;
)" + body +
         "  ret;\n}\n";
}

// Neighbours exchange through shared memory.
inline const std::string kExchange = R"(  mov.u32 %r1, buffer;
  mad.lo.u32 %r2, %t, 4, %r1;
  st.shared.u32 [%r2], %t;
  bar.sync 0;
  xor.b32 %r3, %t, 32;
  mad.lo.u32 %r4, %r3, 4, %r1;
  ld.shared.u32 %r5, [%r4];
  st.global.u32 [%a], %r5;
)";

inline std::string without(std::string text, const std::string &line, size_t occurrence = 0) {
  size_t at = text.find(line);
  for (; occurrence > 0; --occurrence)
    at = text.find(line, at + 1);
  EXPECT_NE(at, std::string::npos) << line;
  return text.replace(at, line.size(), "");
}

inline std::string replaced(std::string text, const std::string &from, const std::string &to) {
  EXPECT_NE(text.find(from), std::string::npos) << from;
  return text.replace(text.find(from), from.size(), to);
}

// Runs `k` with a buffer of `words` initialised words.
inline std::unique_ptr<Gpu> run(const std::string &ptx, uint32_t threads, size_t words = 1024,
                                const std::string &checks = "all") {
  auto gpu = std::make_unique<Gpu>(ptx, "sm_80", checks);
  std::vector<uint32_t> data(words);
  for (size_t i = 0; i < words; ++i)
    data[i] = static_cast<uint32_t>(i);
  gpu->run("k", {1}, {threads}, 0, gpu->upload(data));
  return gpu;
}

inline void expectTwin(const std::string &good, const std::string &broken, uint32_t threads,
                       FindingKind kind, const std::string &where) {
  run(good, threads)->expectClean();
  run(broken, threads)->expectFinding(kind, lineOf(broken, where));
}

} // namespace tile::vgpu
