// wgmma with matrices that begin anywhere in shared memory, of any layout: starts in the middle of a swizzle's pattern, base
// offsets, strides that are no whole patterns. Nothing but the chunks that the layout names is initialised.
#include "runtime/vgpu/isa/alu/HalfFormat.h"
#include "tests/runtime/vgpu/Twins.h"

#include <map>
#include <set>

namespace tile::vgpu {
namespace {

constexpr unsigned kRowsOfA = 64, kColumnsOfB = 24, kDepth = 16;

struct Layout {
  uint32_t start, leading, stride, span; // bytes; a span of 16: no swizzle
  uint32_t base = 0;
  bool mnMajor = false;

  // Where element (mn, k) of two bytes lies in shared memory.
  uint32_t address(uint32_t mn, uint32_t k) const {
    uint32_t rowOfEight, eights, along, span2 = span / 2;
    if (mnMajor)
      rowOfEight = k % 8, eights = k / 8, along = mn;
    else
      rowOfEight = mn % 8, eights = mn / 8, along = k;
    uint32_t x = start + rowOfEight * span;
    if (span == 16)
      x += mnMajor ? along / 8 * stride + eights * leading : along / 8 * leading + eights * stride;
    else
      x += (mnMajor ? along / span2 * leading : along / span2 * span) + eights * stride;
    x += along % span2 * 2;
    uint32_t row = x / 128 + 8 - base;
    return x ^ row % (span / 16) * 16;
  }
  uint64_t descriptor() const {
    uint64_t swizzle = span == 128 ? 1 : span == 64 ? 2 : span == 32 ? 3 : 0;
    return start / 16 | uint64_t{leading / 16} << 16 | uint64_t{stride / 16} << 32 |
           uint64_t{base} << 49 | swizzle << 62;
  }
};

int valueOfA(unsigned m, unsigned k) { return static_cast<int>((m * 3 + k * 5) % 7) - 3; }
int valueOfB(unsigned n, unsigned k) { return static_cast<int>((k * 2 + n * 7) % 5) - 2; }

// Copies listed chunks of 16 bytes from an image of shared memory into it, and multiplies.
std::string multiplyChunks(bool transposesA, bool transposesB) {
  std::string d, stores;
  for (unsigned i = 0; i < kColumnsOfB / 2; ++i) {
    d += (i ? ", %d" : "%d") + std::to_string(i);
    stores +=
        "  st.global.b32 [%rd1+" + std::to_string(4 * i) + "], %d" + std::to_string(i) + ";\n";
  }
  return R"(.version 8.3
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 image, .param .u64 list, .param .u64 out, .param .u32 count, .param .u64 a, .param .u64 b)
{
  .reg .pred %q<4>;
  .reg .b32 %t, %i, %r<8>, %d<16>;
  .reg .b64 %rd<8>;
  .shared .align 1024 .b8 all[65536];
  mov.u32 %t, %tid.x;
  mov.u32 %i, %t;
  ld.param.u32 %r0, [count];
  mov.u32 %r6, all; // what nobody names is not there
NEXT:
  setp.ge.u32 %q0, %i, %r0;
  @%q0 bra COPIED;
  ld.param.u64 %rd0, [list];
  mad.wide.u32 %rd0, %i, 4, %rd0;
  ld.global.u32 %r1, [%rd0];
  ld.param.u64 %rd0, [image];
  cvt.u64.u32 %rd1, %r1;
  add.u64 %rd0, %rd0, %rd1;
  ld.global.v4.b32 {%r2, %r3, %r4, %r5}, [%rd0];
  st.shared.v4.b32 [%r1], {%r2, %r3, %r4, %r5};
  add.u32 %i, %i, 128;
  bra NEXT;
COPIED:
  fence.proxy.async.shared::cta;
  bar.sync 0;
  ld.param.u64 %rd2, [a];
  ld.param.u64 %rd3, [b];
  setp.ne.u32 %q1, %t, %t;
  wgmma.fence.sync.aligned;
  wgmma.mma_async.sync.aligned.m64n24k16.f32.f16.f16 {)" +
         d + "}, %rd2, %rd3, %q1, 1, 1, " + std::to_string(transposesA) + ", " +
         std::to_string(transposesB) + R"(;
  wgmma.commit_group.sync.aligned;
  wgmma.wait_group.sync.aligned 0;
  ld.param.u64 %rd1, [out];
  mad.wide.u32 %rd1, %t, )" +
         std::to_string(2 * kColumnsOfB) + ", %rd1;\n" + stores + "  ret;\n}\n";
}

struct Subject {
  Layout a, b;
  std::vector<uint8_t> image = std::vector<uint8_t>(80 * 1024);
  std::map<uint32_t, bool> chunks; // whether they are copied
  std::set<uint32_t> places;       // of elements

  Subject(const Layout &layoutA, const Layout &layoutB) : a(layoutA), b(layoutB) {
    place(a, kRowsOfA, valueOfA);
    place(b, kColumnsOfB, valueOfB);
  }
  void place(const Layout &layout, unsigned rows, int (*value)(unsigned, unsigned)) {
    for (unsigned mn = 0; mn < rows; ++mn)
      for (unsigned k = 0; k < kDepth; ++k) {
        uint32_t address = layout.address(mn, k);
        uint16_t half = floatToHalf(static_cast<float>(value(mn, k)));
        EXPECT_TRUE(places.insert(address).second) << "two elements at " << address;
        std::memcpy(&image[address], &half, 2);
        chunks[address / 16 * 16] = true;
      }
  }
  std::unique_ptr<Gpu> launch(Schedule schedule, const char *checks) const {
    auto gpu = std::make_unique<Gpu>(multiplyChunks(a.mnMajor, b.mnMajor), "sm_90a", checks);
    gpu->device->setSchedule(schedule, 1);
    std::vector<uint32_t> list;
    for (auto [chunk, isCopied] : chunks)
      if (isCopied)
        list.push_back(chunk);
    gpu->data = gpu->device->alloc(128 * 2 * kColumnsOfB);
    auto memory = gpu->upload(image), places = gpu->upload(list);
    gpu->run("k", {1}, {128}, 0, memory, places, gpu->data, static_cast<uint32_t>(list.size()),
             a.descriptor(), b.descriptor());
    return gpu;
  }
};

void expectProducts(const Subject &run, Schedule schedule, const char *checks) {
  SCOPED_TRACE(std::string(nameOf(schedule)) + " " + checks);
  auto gpu = run.launch(schedule, checks);
  gpu->expectClean();
  auto sums = gpu->download<float>(gpu->data, 128 * kColumnsOfB / 2);
  for (unsigned thread = 0; thread < 128; ++thread)
    for (unsigned v = 0; v < kColumnsOfB / 2; ++v) {
      unsigned lane = thread % 32, m = thread / 32 * 16 + lane / 4 + 8 * (v / 2 % 2),
               n = v / 4 * 8 + 2 * (lane % 4) + v % 2;
      int expected = 0;
      for (unsigned k = 0; k < kDepth; ++k)
        expected += valueOfA(m, k) * valueOfB(n, k);
      ASSERT_EQ(sums[thread * kColumnsOfB / 2 + v], expected) << m << " " << n;
    }
}

std::vector<Layout> layouts(uint32_t from) {
  std::vector<Layout> all = {{from, 2048, 128, 16}, {from + 48, 1168, 144, 16, 3}};
  for (uint32_t span : {32u, 64u, 128u}) {
    all.push_back({from, 16, 8 * span, span});                  // whole patterns
    all.push_back({from + span - 32, 16, 8 * span, span});      // a later step along K
    all.push_back({from + 5 * span, 0, 8 * span, span});        // later rows of a tile
    all.push_back({from + 3 * 128, 16, 8 * span, span, 3});     // a pattern that begins there
    all.push_back({from + 2 * span, 16, 8 * span, span, 7});    // or elsewhere
    all.push_back({from + span - 16, 16, 8 * span + 48, span}); // rows that leave their span
  }
  return all;
}

std::vector<Layout> layoutsAlongMn(uint32_t from) {
  std::vector<Layout> all = {{from, 2048, 128, 16, 0, true}, {from + 16, 2064, 144, 16, 5, true}};
  for (uint32_t span : {32u, 64u, 128u}) {
    all.push_back({from, 16 * span, 8 * span, span, 0, true});
    all.push_back({from + 2 * 128, 4096, 1024, span, 2, true});
    all.push_back({from + 3 * span, 4096, 1024, span, 0, true});
    all.push_back({from, 16 * span + 16, 8 * span + 16, span, 0, true});
    all.push_back({from + 48, 16 * span + 16, 8 * span + 16, span, 1, true});
  }
  return all;
}

TEST(MatrixDescriptor, BeginsAndStridesAnywhere) {
  constexpr uint32_t kPlaceOfA = 1024, kPlaceOfB = 40 * 1024;
  auto kMajorA = layouts(kPlaceOfA), kMajorB = layouts(kPlaceOfB),
       mnMajorA = layoutsAlongMn(kPlaceOfA), mnMajorB = layoutsAlongMn(kPlaceOfB);
  const Schedule schedules[] = {Schedule::Eager, Schedule::Lazy, Schedule::Random};
  size_t count = 0;
  auto check = [&](const Layout &a, const Layout &b) {
    SCOPED_TRACE(testing::Message()
                 << a.start << " " << a.span << " " << a.base << " " << a.mnMajor << ", " << b.start
                 << " " << b.span << " " << b.base << " " << b.mnMajor);
    ++count;
    expectProducts(Subject(a, b), schedules[count % 3], count % 4 ? "all" : "none");
  };
  for (size_t i = 0; i < kMajorA.size(); ++i) {
    check(kMajorA[i], kMajorB[(i * 7 + 3) % kMajorB.size()]);
    check(kMajorA[i], mnMajorB[i % mnMajorB.size()]);
    check(mnMajorA[i % mnMajorA.size()], kMajorB[i]);
  }
  for (size_t i = 0; i < mnMajorA.size(); ++i)
    check(mnMajorA[i], mnMajorB[(i * 5 + 1) % mnMajorB.size()]);
}

// One chunk that was not copied is read by a row or column of the product.
TEST(MatrixDescriptor, EveryChunkIsChecked) {
  for (const Layout &a : {Layout{1024 + 112, 16, 1024 + 48, 128, 3},
                          Layout{1024 + 48, 2064, 1040, 128, 1, true}, Layout{1024, 16, 512, 64}}) {
    Subject run(a, {40 * 1024 + 32, 2048, 528, 64, 2, true});
    size_t index = 0;
    for (auto &[chunk, isCopied] : run.chunks) {
      if (index++ % 5)
        continue;
      SCOPED_TRACE(chunk);
      isCopied = false;
      auto gpu = run.launch(Schedule::Eager, "all");
      ASSERT_FALSE(gpu->findings.empty());
      EXPECT_EQ(gpu->findings[0].kind, FindingKind::Uninitialised);
      isCopied = true;
    }
  }
}

// The last chunk of the matrix is the last of shared memory, or the first behind it.
TEST(MatrixDescriptor, MatricesStayInSharedMemory) {
  constexpr uint32_t kEnd = 1024 + 65536;
  for (Layout a :
       {Layout{kEnd, 16, 256, 32}, Layout{kEnd, 16, 1024, 128}, Layout{kEnd, 16, 528, 64, 5},
        Layout{kEnd, 4096, 1040, 128, 2, true}, Layout{kEnd, 128, 256, 16}}) {
    SCOPED_TRACE(a.stride);
    auto lastOf = [&] {
      uint32_t last = 0;
      for (unsigned mn = 0; mn < kRowsOfA; ++mn)
        for (unsigned k = 0; k < kDepth; ++k)
          last = std::max(last, a.address(mn, k) / 16 * 16 + 16);
      return last;
    };
    while (lastOf() > kEnd)
      a.start -= 16;
    Layout b{1024, 2048, 512, 64, 0, true};
    expectProducts(Subject(a, b), Schedule::Eager, "all");
    while (lastOf() <= kEnd)
      a.start += 16;
    Subject run(a, b);
    std::erase_if(run.chunks, [](const auto &chunk) { return chunk.first >= kEnd; });
    for (const char *checks : {"all", "none"}) {
      auto gpu = run.launch(Schedule::Eager, checks);
      ASSERT_FALSE(gpu->findings.empty());
      EXPECT_EQ(gpu->findings[0].kind, FindingKind::OutOfBounds);
    }
  }
}

} // namespace
} // namespace tile::vgpu
