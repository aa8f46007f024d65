// st.async and red.async: every type and operation, against loops on the host.
#include "tests/runtime/vgpu/Hopper.h"

#include <functional>

namespace tile::vgpu {
namespace {

constexpr size_t kThreads = 64;
const Shape kPair{{2}, {kThreads}, {2, 1, 1}, {}};

struct Reduction {
  const char *operation, *type;
  std::function<uint64_t(uint64_t, uint64_t)> apply; // of two blocks in either order
};

template <class T> uint64_t wrap(T value) { return static_cast<std::make_unsigned_t<T>>(value); }
int32_t asSigned(uint64_t value) { return static_cast<int32_t>(value); }

const Reduction kReductionForms[] = {
    {"add", "u32", [](uint64_t a, uint64_t b) { return wrap(static_cast<uint32_t>(a + b)); }},
    {"add", "s32", [](uint64_t a, uint64_t b) { return wrap(static_cast<uint32_t>(a + b)); }},
    {"add", "u64", [](uint64_t a, uint64_t b) { return a + b; }},
    {"min", "u32", [](uint64_t a, uint64_t b) { return std::min(a, b); }},
    {"min", "s32", [](uint64_t a, uint64_t b) { return wrap(std::min(asSigned(a), asSigned(b))); }},
    {"max", "u32", [](uint64_t a, uint64_t b) { return std::max(a, b); }},
    {"max", "s32", [](uint64_t a, uint64_t b) { return wrap(std::max(asSigned(a), asSigned(b))); }},
    {"inc", "u32", [](uint64_t a, uint64_t b) { return a >= b ? 0 : a + 1; }},
    {"dec", "u32", [](uint64_t a, uint64_t b) { return a == 0 || a > b ? b : a - 1; }},
    {"and", "b32", [](uint64_t a, uint64_t b) { return a & b; }},
    {"or", "b32", [](uint64_t a, uint64_t b) { return a | b; }},
    {"xor", "b32", [](uint64_t a, uint64_t b) { return a ^ b; }},
};

// Edges of 32 and 64 bits, signs, and what lies between.
uint64_t sample(size_t i, bool wide) {
  static const uint64_t edges[] = {0, 1, 2, 0x7fffffff, 0x80000000, 0xffffffff, 0xfffffffe, 41};
  uint64_t value = i % 9 == 8 ? i * 0x9E3779B97F4A7C15u >> 32 : edges[i % 9];
  return wide ? value << 32 | (value ^ 0xfffffff0) : value;
}

// Each thread of both blocks reduces its operand into rank 0's element, which holds a start value.
std::string reductionKernel(const Reduction &form, unsigned bytes) {
  std::string bits = std::to_string(bytes * 8), reg = bytes == 8 ? "%rd" : "%r";
  auto value = [&](int i) { return reg + std::to_string(i); };
  return hopper(
      R"(  mul.lo.u32 %r1, %t, 8;
  mov.u32 %r2, tile;
  add.u32 %r2, %r2, %r1;
  mov.u32 %r3, full;
  mov.u32 %r4, %cluster_ctarank;
  mad.wide.u32 %rd1, %t, 8, %p;
  ld.global.b)" +
      bits + " " + value(12) + ", [%rd1];\n  st.shared.b" + bits + " [%r2], " + value(12) + R"(;
  setp.eq.and.u32 %q1, %r4, 0, %q15;
  @%q1 mbarrier.init.shared.b64 [full], 1;
  @%q1 mbarrier.arrive.expect_tx.shared.b64 _, [full], )" +
      std::to_string(2 * kThreads * bytes) + R"(;
  barrier.cluster.arrive.release.aligned;
  barrier.cluster.wait.acquire.aligned;
  mapa.shared::cluster.u32 %r5, %r2, 0;
  mapa.shared::cluster.u32 %r6, %r3, 0;
  ld.global.b)" +
      bits + " " + value(13) + ", [%rd1+512];\n" +
      "  red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes." + form.operation +
      "." + form.type + " [%r5], " + value(13) + R"(, [%r6];
  setp.ne.u32 %q2, %r4, 0;
  @%q2 bra DONE;
WAIT:
  mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %q3, [full], 0;
  @!%q3 bra WAIT;
  ld.shared.b)" +
      bits + " " + value(14) + ", [%r2];\n  st.global.b" + bits + " [%rd1+1024], " + value(14) +
      R"(;
DONE:
  barrier.cluster.arrive.release.aligned;
  barrier.cluster.wait.acquire.aligned;
)");
}

TEST(AsyncStore, ReductionsOfAllOperationsAndTypes) {
  for (const Reduction &form : kReductionForms)
    for (auto [schedule, seed] : kSchedules) {
      SCOPED_TRACE(std::string(form.operation) + "." + form.type + " " + nameOf(schedule));
      bool isWide = form.type[1] == '6';
      Gpu gpu(reductionKernel(form, isWide ? 8 : 4), "sm_90a");
      gpu.device->setSchedule(schedule, seed);
      std::vector<uint64_t> data(3 * kThreads);
      for (size_t i = 0; i < kThreads; ++i) {
        data[i] = sample(i, isWide);
        data[kThreads + i] = sample(i / 9 + 3 * i, isWide);
      }
      auto buffer = gpu.upload(data);
      device::TensorMap map;
      device::Arg args[] = {{&buffer, sizeof buffer}, {&map, sizeof map}};
      gpu.device->launch(gpu.device->getFunction(gpu.module, "k"), {{2}, {kThreads}, {2, 1, 1}, 0},
                         args);
      gpu.expectClean();
      auto found = gpu.download<uint64_t>(buffer, 3 * kThreads);
      for (size_t i = 0; i < kThreads; ++i) {
        uint64_t operand = data[kThreads + i];
        ASSERT_EQ(found[2 * kThreads + i], form.apply(form.apply(data[i], operand), operand)) << i;
      }
    }
}

// Each thread stores `count` elements of `bits` into the other block.
std::string storeKernel(const std::string &form, unsigned bits, unsigned count) {
  std::string reg = bits == 64 ? "%rd" : "%r", list, loads, stores;
  for (unsigned i = 0; i < count; ++i) {
    std::string name = reg + std::to_string(12 + i - (bits == 64 ? 4 : 0)),
                at = std::to_string(i * bits / 8);
    list += (i ? ", " : "") + name;
    loads += "  ld.global.b" + std::to_string(bits) + " " + name + ", [%rd1+" + at + "];\n";
    stores += "  ld.shared.b" + std::to_string(bits) + " " + name + ", [%r2+" + at +
              "];\n  st.global.b" + std::to_string(bits) + " [%rd2+" + at + "], " + name + ";\n";
  }
  if (count > 1)
    list = "{" + list + "}";
  std::string bytes = std::to_string(bits / 8 * count);
  return hopper(R"(  @%q15 mbarrier.init.shared.b64 [full], 1;
  barrier.cluster.arrive.release.aligned;
  barrier.cluster.wait.acquire.aligned;
  @%q15 mbarrier.arrive.expect_tx.shared.b64 _, [full], )" +
                std::to_string(kThreads * bits / 8 * count) + R"(;
  mov.u32 %r2, tile;
  mad.lo.u32 %r2, %t, )" +
                bytes + R"(, %r2;
  mov.u32 %r3, full;
  mov.u32 %r4, %cluster_ctarank;
  xor.b32 %r5, %r4, 1;
  mapa.shared::cluster.u32 %r6, %r2, %r5;
  mapa.shared::cluster.u32 %r7, %r3, %r5;
  mad.lo.u32 %r8, %r4, 64, %t;
  mad.wide.u32 %rd1, %r8, )" +
                bytes + ", %p;\n  add.u64 %rd2, %rd1, 16384;\n" + loads +
                "  st.async.weak.shared::cluster.mbarrier::complete_tx::bytes." + form +
                " [%r6], " + list + R"(, [%r7];
WAIT:
  mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %q3, [full], 0;
  @!%q3 bra WAIT;
)" + stores + R"(  barrier.cluster.arrive.release.aligned;
  barrier.cluster.wait.acquire.aligned;
)");
}

TEST(AsyncStore, StoresOfAllTypesAndVectors) {
  for (const char *type : {"b32", "u32", "s32", "f32", "b64", "u64", "s64", "f64"})
    for (unsigned count : {1u, 2u, 4u}) {
      unsigned bits = type[1] == '6' ? 64 : 32, words = bits / 32 * count * kThreads;
      if (bits * count > 128)
        continue;
      std::string form = (count > 1 ? "v" + std::to_string(count) + "." : "") + type;
      SCOPED_TRACE(form);
      expectRuns(
          storeKernel(form, bits, count), kBufferWords,
          [&](size_t i) {
            size_t at = i - 4096;
            return static_cast<uint32_t>(
                i < 4096 || at >= 2 * words ? i : (at < words ? at + words : at - words));
          },
          kPair);
    }
}

TEST(AsyncStore, FormsThatPtxHasNot) {
  const Reduction &add = kReductionForms[0];
  for (auto [operation, type] : {std::pair("add", "s64"),
                                 {"min", "u64"},
                                 {"and", "b64"},
                                 {"inc", "s32"},
                                 {"add", "f32"},
                                 {"exch", "b32"}}) {
    std::string ptx = replaced(reductionKernel(add, 4), "add.u32 [%r5]",
                               std::string(operation) + "." + type + " [%r5]");
    EXPECT_THROW(launch(ptx, Schedule::Eager, 0, kPair), Error) << operation << "." << type;
  }
}

} // namespace
} // namespace tile::vgpu
