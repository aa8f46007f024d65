// Kernels for sm_90a under every schedule: how they are written and launched.
#pragma once

#include "tests/runtime/vgpu/Twins.h"

#include <algorithm>
#include <initializer_list>
#include <numeric>
#include <optional>
#include <utility>

namespace tile::vgpu {

// A kernel `k(.param .u64 p, MAP)`: `%t` is the thread, `%l` its lane, `%w` its warp, `%a` the address p + 4t, `%q15` says
// that it is thread 0. Its tensor map, if it is launched with one, is the parameter `map`.
inline std::string hopper(const std::string &body, const std::string &before = "") {
  return R"(.version 8.6
.target sm_90a
.address_size 64
)" + before +
         R"(
.visible .entry k(.param .u64 p, .param .align 64 .b8 map[128])
{
  .reg .pred %q<16>;
  .reg .b16 %h<4>;
  .reg .b32 %t, %l, %w, %r<32>;
  .reg .b64 %p, %a, %rd<16>;
  .shared .align 1024 .b8 tile[8192];
  .shared .align 8 .b64 full[4];
  .shared .align 8 .b64 empty[4];
  ld.param.u64 %p, [p];
  mov.u32 %t, %tid.x;
  and.b32 %l, %t, 31;
  shr.u32 %w, %t, 5;
  mad.wide.u32 %a, %t, 4, %p;
  setp.eq.u32 %q15, %t, 0;
)" + body +
         "  ret;\n}\n";
}

// How a kernel is launched. The base of `map` is an offset into the buffer.
struct Shape {
  device::Dim3 grid{1}, block{64}, cluster{};
  std::optional<device::TensorMapParams> map{};
};

constexpr size_t kBufferWords = 8192; // word i of the buffer holds i

inline std::unique_ptr<Gpu> launch(const std::string &ptx, Schedule schedule, uint64_t seed = 0,
                                   const Shape &shape = {}, int threads = 1,
                                   const std::string &checks = "all") {
  auto gpu = std::make_unique<Gpu>(ptx, "sm_90a", checks, threads);
  gpu->device->setSchedule(schedule, seed);
  std::vector<uint32_t> data(kBufferWords);
  std::iota(data.begin(), data.end(), 0u);
  gpu->data = gpu->upload(data);
  device::TensorMap map;
  if (shape.map) {
    device::TensorMapParams params = *shape.map;
    params.base += gpu->data;
    map = gpu->device->encodeTensorMap(params);
  }
  device::Function function = gpu->device->getFunction(gpu->module, "k");
  device::Arg args[] = {{&gpu->data, sizeof gpu->data}, {&map, sizeof map}};
  size_t count = ptx.find(" map[128]") == std::string::npos ? 1 : 2;
  gpu->device->launch(function, {shape.grid, shape.block, shape.cluster, 0},
                      std::span(args, count));
  return gpu;
}

constexpr std::pair<Schedule, uint64_t> kSchedules[] = {{Schedule::Eager, 0},
                                                        {Schedule::Lazy, 0},
                                                        {Schedule::Random, 1},
                                                        {Schedule::Random, 2},
                                                        {Schedule::Random, 3}};

// Calls run(gpu) with a launch under each schedule.
template <class Check>
void underEachSchedule(const std::string &ptx, const Shape &shape, Check check) {
  for (auto [schedule, seed] : kSchedules) {
    SCOPED_TRACE(std::string(nameOf(schedule)) + " " + std::to_string(seed));
    check(*launch(ptx, schedule, seed, shape));
  }
}

// Clean and right under every schedule, with checks and without: word i of the buffer becomes expected(i).
template <class Expected>
void expectRuns(const std::string &ptx, size_t words, Expected expected, const Shape &shape = {}) {
  for (const char *checks : {"all", "none"})
    for (auto [schedule, seed] : kSchedules) {
      SCOPED_TRACE(std::string(checks) + " " + nameOf(schedule) + " " + std::to_string(seed));
      std::unique_ptr<Gpu> gpu = launch(ptx, schedule, seed, shape, 1, checks);
      gpu->expectClean();
      auto found = gpu->download<uint32_t>(gpu->data, words);
      for (size_t i = 0; i < words; ++i)
        ASSERT_EQ(found[i], expected(i)) << i;
    }
}

inline void expectBroken(const std::string &ptx, FindingKind kind, const std::string &where,
                         const Shape &shape = {}) {
  underEachSchedule(ptx, shape, [&](Gpu &gpu) { gpu.expectFinding(kind, lineOf(ptx, where)); });
}

// Some finding of one of these kinds under every schedule; which comes first depends on the order of warps.
inline void expectCaught(const std::string &ptx, std::initializer_list<FindingKind> kinds,
                         const Shape &shape = {}) {
  underEachSchedule(ptx, shape, [&](Gpu &gpu) {
    std::string all;
    bool found = false;
    for (const Finding &finding : gpu.findings) {
      found |= std::count(kinds.begin(), kinds.end(), finding.kind) > 0;
      all += "\n" + finding.text();
    }
    EXPECT_TRUE(found) << "found:" << all;
  });
}

} // namespace tile::vgpu
