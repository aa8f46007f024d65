// Matrix descriptors: which place in shared memory each element of A or B comes from. Shared memory holds the
// numbers of its half words, the other factor is an identity, so the product holds the numbers. Numbers are
// bytes, which f16 represents: a descriptor has two blocks, the first of which sees the low bytes.
#include "tests/hardware/Probe.h"
#include "tests/hardware/Text.h"

namespace tile::hardware {
namespace {

constexpr size_t kAreaBytes = 32768, kIdentityBytes = 1024;
constexpr size_t kThreads = 128;
constexpr uint64_t kHalfOne = 0x3c00; // 1 in f16

struct Layout {
  uint64_t start, leading, stride; // bytes
  unsigned swizzle = 0;            // bytes of the span
  unsigned baseOffset = 0;
};

uint64_t encode(const Layout &layout) {
  uint64_t mode = layout.swizzle == 128  ? 1
                  : layout.swizzle == 64 ? 2
                  : layout.swizzle == 32 ? 3
                                         : 0;
  return layout.start >> 4 | layout.leading >> 4 << 16 | layout.stride >> 4 << 32 |
         uint64_t{layout.baseOffset} << 49 | mode << 62;
}

// %a0 to %a3: ones where the row of a quarter of A is the column. Warp 0 has rows 0 to 15.
std::string identityInRegisters() {
  return fill(R"(
  shr.u32 %u, %t, 2;
  and.b32 %v, %t, 3;
  mad.lo.u32 %v, %v, -2, %u;
  setp.eq.u32 %p, %v, 0;
  selp.b32 %a0, $0, 0, %p;
  setp.eq.u32 %p, %v, 1;
  selp.b32 %v, $1, 0, %p;
  or.b32 %a0, %a0, %v;
  setp.lt.u32 %p, %t, 32;
  selp.b32 %a0, %a0, 0, %p;
  mov.b32 %a1, 0;
  mov.b32 %a2, 0;
  mov.b32 %a3, %a0;
)",
              kHalfOne, kHalfOne << 16);
}

// 16 x 16 ones on the diagonal after the area: core matrices of 8 rows of 16 bytes, K-major; columns 8 to 15
// after all rows.
std::string identityInShared() {
  constexpr size_t kElements = 256;
  return fill(R"(
  mov.u32 %i, %t;
ONES:
  shr.u32 %u, %i, 4;
  and.b32 %v, %i, 15;
  setp.eq.u32 %p, %u, %v;
  selp.b32 %n, $0, 0, %p;
  cvt.u16.u32 %h, %n;
  mad.lo.u32 %n, %u, 16, %tile;
  shr.u32 %u, %v, 3;
  mad.lo.u32 %n, %u, 256, %n;
  and.b32 %v, %v, 7;
  mad.lo.u32 %n, %v, 2, %n;
  st.shared.b16 [%n+$1], %h;
  add.u32 %i, %i, $2;
  setp.lt.u32 %p, %i, $3;
  @%p bra ONES;
)",
              kHalfOne, kAreaBytes, kThreads, kElements);
}

Probe descriptorProbe(const std::string &name, bool ofB, bool transposed,
                      const std::vector<Layout> &layouts) {
  size_t columns = ofB ? 64 : 16, registers = columns / 2;
  uint64_t identity = kAreaBytes >> 4 | uint64_t{256 >> 4} << 16 | uint64_t{128 >> 4} << 32;
  std::string body = fill(R"(
  .shared .align 1024 .b8 tile[$0];
  .reg .pred %p;
  .reg .b16 %h;
  .reg .b32 %t, %w, %tile, %i, %n, %u, %v, %shift, %a<4>, %d<$1>;
  .reg .b64 %x, %y, %da, %db;
  mov.u32 %t, %tid.x;
  mov.u32 %w, %ctaid.x;
  mov.u32 %tile, tile;
  and.b32 %shift, %w, 1;
  shl.b32 %shift, %shift, 3;
  mov.u32 %i, %t;
FILL:
  shr.u32 %n, %i, %shift;
  and.b32 %n, %n, 255;
  cvt.rn.f16.u32 %h, %n;
  mad.lo.u32 %u, %i, 2, %tile;
  st.shared.b16 [%u], %h;
  add.u32 %i, %i, $2;
  setp.lt.u32 %p, %i, $3;
  @%p bra FILL;
)",
                          kAreaBytes + kIdentityBytes, registers, kThreads, kAreaBytes / 2);
  body += ofB ? identityInRegisters() : identityInShared();
  body += repeat("  mov.b32 %d$0, 0;\n", registers) +
          fill(R"(
  ld.param.u64 %x, [p0];
  shr.u32 %u, %w, 1;
  mad.wide.u32 %x, %u, 8, %x;
  ld.global.b64 %da, [%x];
  shr.u32 %u, %tile, 4;
  cvt.u64.u32 %y, %u;
  add.u64 %da, %da, %y;
  add.u64 %db, %y, $0;
  fence.proxy.async.shared::cta;
  bar.sync 0;
  setp.ne.u32 %p, %t, %t;
  wgmma.fence.sync.aligned;
  wgmma.mma_async.sync.aligned.m64n$1k16.f32.f16.f16 $2, $3, %p, 1, 1, $4;
  wgmma.commit_group.sync.aligned;
  wgmma.wait_group.sync.aligned 0;
  ld.param.u64 %x, [p1];
  mad.lo.u32 %u, %w, $5, %t;
  mad.wide.u32 %x, %u, 4, %x;
)",
               identity, columns, vectorOf("d", registers),
               ofB ? vectorOf("a", 4) + ", %da" : "%da, %db",
               ofB ? fill("$0", int{transposed}) : fill("$0, 0", int{transposed}),
               registers * kThreads);
  for (size_t i = 0; i < registers; ++i)
    body += fill("  st.global.b32 [%x+$0], %d$1;\n", 4 * kThreads * i, i);
  Values encoded;
  for (const Layout &layout : layouts)
    encoded.push_back(encode(layout));
  auto blocks = static_cast<uint32_t>(2 * layouts.size());
  return {name,
          Entry{2}.around(body),
          {pack(encoded, 64)},
          {{4, blocks * registers * kThreads}},
          {{blocks}, {kThreads}, {}}};
}

struct Layouts {
  std::vector<Layout> aligned; // whose pattern begins where the swizzle's does
  std::vector<Layout> other;
};

// K is the fastest dimension: groups of 8 rows of a span.
Layouts rowsAlongK() {
  Layouts result;
  for (uint64_t start : {0, 1024, 4096})
    for (auto [leading, stride] : {std::pair{128, 256}, {1024, 128}, {2048, 512}})
      result.aligned.push_back(
          {start, static_cast<uint64_t>(leading), static_cast<uint64_t>(stride)});
  for (unsigned span : {32, 64, 128}) {
    uint64_t group = 8 * span;
    for (uint64_t leading : {0, 16, 32, 128, 1024})
      result.aligned.push_back({0, leading, group, span});
    result.aligned.push_back({2 * group, 16, 2 * group, span});
    result.aligned.push_back({group, 16, group, span});
    for (unsigned k = 32; k < span; k += 32) // further along K
      result.aligned.push_back({k, 16, group, span});
    for (unsigned row : {1, 2, 4})
      for (unsigned base : {0, 1, 2, 4, 7})
        result.other.push_back({row * span, 16, group, span, base});
    for (unsigned row : {3, 8, 12, 16})
      for (unsigned base = 0; base < 8; ++base)
        result.other.push_back({row * span, 16, group, span, base});
    for (unsigned base = 1; base < 8; ++base)
      result.other.push_back({0, 16, group, span, base});
    for (unsigned more : {16, 32, 128, 512})
      result.other.push_back({0, 16, group + more, span});
    for (unsigned k : {16u, span - 16, 48u})
      result.other.push_back({k, 16, group, span});
  }
  return result;
}

// The other dimension is: spans of it, 8 rows along K.
Layouts rowsAcrossK() {
  Layouts result;
  for (uint64_t start : {0, 1024})
    for (auto [leading, stride] : {std::pair{128, 1024}, {1024, 128}, {2048, 512}})
      result.aligned.push_back(
          {start, static_cast<uint64_t>(leading), static_cast<uint64_t>(stride)});
  for (unsigned span : {32, 64, 128}) {
    uint64_t group = 8 * span;
    result.aligned.push_back({0, group, 4096, span});
    result.aligned.push_back({0, 2048, group, span});
    result.aligned.push_back({0, 1024, 8192, span});
    result.aligned.push_back({0, 4096, 1024, span});
    result.aligned.push_back({2 * group, 4096, 1024, span});
    for (unsigned row : {1, 2, 4, 8})
      for (unsigned base : {0, 1, 2, 4})
        result.other.push_back({row * span, 4096, 1024, span, base});
    for (unsigned k : {16, 32, 64})
      result.other.push_back({k, 4096, 1024, span});
  }
  return result;
}

std::vector<Layout> everyNth(const std::vector<Layout> &layouts, size_t first, size_t step) {
  std::vector<Layout> result;
  for (size_t i = first; i < layouts.size(); i += step)
    result.push_back(layouts[i]);
  return result;
}

} // namespace

std::vector<Probe> descriptorProbes() {
  std::vector<Probe> result;
  for (bool ofB : {true, false})
    for (bool transposed : {false, true}) {
      Layouts layouts = transposed ? rowsAcrossK() : rowsAlongK();
      std::string name = fill("descriptors.$0.$1", ofB ? "b" : "a", transposed ? "mn" : "k");
      result.push_back(descriptorProbe(name, ofB, transposed, everyNth(layouts.aligned, 0, 2)));
      // The virtual GPU refused these when the recording was made, which names them.
      result.push_back(descriptorProbe(name + ".unmodelled", ofB, transposed,
                                       everyNth(layouts.other, ofB ? 0 : 1, 4)));
    }
  return result;
}

} // namespace tile::hardware
