// wgmma.mma_async.sp against dense products of small integers, with A in registers and in shared memory and B in several
// layouts, and kernels with one synchronisation taken out.
#include "tests/runtime/vgpu/Twins.h"
#include "tests/runtime/vgpu/isa/tensor/ElementCodes.h"

#include <random>

namespace tile::vgpu {
namespace {

enum class LayoutB : uint8_t { Plain, Swizzled, SwizzledAcross };

struct SparseCase {
  std::string a, b, d;
  int bits = 16; // of an element of A or B
  int columns = 64, selector = 0;
  bool aInRegisters = false, accumulates = false, negates = false;
  LayoutB layout = LayoutB::Plain;

  int bytes() const { return bits / 8; }
  int depth() const { return 64 / bytes(); }
  int chunk() const { return bits == 32 ? 2 : 4; }
  bool halves() const { return d == "f16"; }
  int registers() const { return columns / (halves() ? 4 : 2); }
  std::string name() const {
    return a + " " + b + " to " + d + ", " + std::to_string(columns) + " columns, selector " +
           std::to_string(selector) + (aInRegisters ? ", A in registers" : "") + ", layout " +
           std::to_string(static_cast<int>(layout));
  }
};

constexpr int kRows = 64, kOffsetOfB = 2048;

// The operands as matrices, the image of shared memory, and A's fragments and metadata by thread.
struct Operands {
  std::vector<std::vector<int>> a, b; // dense
  std::vector<uint8_t> image;
  std::vector<uint32_t> fragments, metadata;

  explicit Operands(const SparseCase &test)
      : a(kRows, std::vector<int>(test.depth())), b(test.depth(), std::vector<int>(test.columns)),
        image(kOffsetOfB + std::max(test.columns * 128, 8192)), fragments(4 * 128), metadata(128) {
    std::mt19937 random(static_cast<unsigned>(test.columns + test.bits + test.selector));
    auto draw = [&](const std::string &type) {
      return type[0] == 'u' ? static_cast<int>(random() % 8) : static_cast<int>(random() % 7) - 3;
    };
    for (int k = 0; k < test.depth(); ++k)
      for (int n = 0; n < test.columns; ++n)
        put(test, kOffsetOfB + offsetOfB(test, k, n), test.b, b[k][n] = draw(test.b));
    // Each thread that the selector names has 8 chunks: four of each of two rows, or of bytes eight of one.
    bool pairs = test.bits >= 16;
    for (int thread = 0; thread < 128; ++thread) {
      int t = thread % 4 - (pairs ? 2 * test.selector : 0);
      if (t < 0 || t >= (pairs ? 2 : 4))
        continue;
      for (int nibble = 0; nibble < 8; ++nibble) {
        int row = thread / 32 * 16 + thread % 32 / 4 + 8 * (pairs ? nibble / 4 : t % 2),
            chunk = pairs ? nibble % 4 + 4 * t : nibble + 8 * (t / 2);
        int first = static_cast<int>(random() % 4), second = (first + 1 + random() % 3) % 4,
            code = test.bits == 32 ? (first % 2 ? 14 : 4) : first | second << 2;
        metadata[thread] |= static_cast<uint32_t>(code) << (4 * nibble);
        for (int i = 0; i < test.chunk() / 2; ++i) {
          int position = test.bits == 32 ? first % 2 : i ? second : first;
          keep(test, row, chunk * test.chunk() / 2 + i,
               a[row][chunk * test.chunk() + position] = draw(test.a));
        }
      }
    }
  }

  double expected(const SparseCase &test, int m, int n) const {
    int sum = 0;
    for (int k = 0; k < test.depth(); ++k)
      sum += a[m][k] * b[k][n];
    return (test.negates ? -1 : 1) * (test.accumulates ? 2 : 1) * sum;
  }

private:
  void put(const SparseCase &test, int at, const std::string &type, int value) {
    uint64_t code = elementCode(type, value);
    std::memcpy(image.data() + at, &code, test.bytes());
  }
  // Number i of what is kept of a row: in shared memory as core matrices of 8 rows of 16 bytes, and in registers.
  void keep(const SparseCase &test, int row, int i, int value) {
    int byte = i * test.bytes(), e = 4 / test.bytes();
    put(test, row % 8 * 16 + row / 8 * 128 + byte / 16 * (kRows * 16) + byte % 16, test.a, value);
    int word = i / e, thread = row / 16 * 32 + row % 8 * 4 + word % 4,
        reg = word / 4 * 2 + row % 16 / 8;
    fragments[thread * 4 + reg] |= static_cast<uint32_t>(elementCode(test.a, value))
                                   << (test.bits % 32 * (i % e));
  }
  static int offsetOfB(const SparseCase &test, int k, int n) {
    int byte = k * test.bytes();
    switch (test.layout) {
    case LayoutB::Plain:
      return n % 8 * 16 + n / 8 * 128 + byte / 16 * (test.columns * 16) + byte % 16;
    case LayoutB::Swizzled: // rows of 128 bytes, of which 64 are used
      return n * 128 + ((byte / 16) ^ (n % 8)) * 16 + byte % 16;
    case LayoutB::SwizzledAcross: // rows of 64 elements along n
      return n / 64 * 4096 + k * 128 + ((n % 64 / 8) ^ (k % 8)) * 16 + n % 8 * 2;
    }
    return 0;
  }
};

std::string kernelOf(const SparseCase &test) {
  auto field = [](uint64_t bytes, int at) { return (bytes >> 4) << at; };
  uint64_t descriptorA = field(kRows * 16, 16) | field(128, 32);
  uint64_t descriptorB =
      field(kOffsetOfB, 0) |
      (test.layout == LayoutB::Plain      ? field(test.columns * 16, 16) | field(128, 32)
       : test.layout == LayoutB::Swizzled ? field(1024, 32) | uint64_t{1} << 62
                                          : field(4096, 16) | field(1024, 32) | uint64_t{1} << 62);
  std::string d, scales, flags, stores;
  for (int i = 0; i < test.registers(); ++i) {
    d += (i ? ", %d" : "%d") + std::to_string(i);
    stores +=
        "  st.global.b32 [%rd7+" + std::to_string(4 * i) + "], %d" + std::to_string(i) + ";\n";
  }
  if (test.d != "s32")
    scales = test.negates ? ", -1, 1" : ", 1, 1";
  if (test.bits == 16)
    flags = std::string(test.aInRegisters ? "" : ", 0") +
            (test.layout == LayoutB::SwizzledAcross ? ", 1" : ", 0");
  auto mma = [&](const char *scale) {
    return "  wgmma.mma_async.sp.sync.aligned.m64n" + std::to_string(test.columns) + "k" +
           std::to_string(test.depth()) + "." + test.d + "." + test.a + "." + test.b + " {" + d +
           "}, " + (test.aInRegisters ? "{%a0, %a1, %a2, %a3}" : "%rd4") + ", %rd5, %m, " +
           std::to_string(test.selector) + ", " + scale + scales + flags + ";\n";
  };
  return R"(.version 8.4
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 p, .param .u64 f, .param .u64 m, .param .u64 q)
{
  .reg .pred %q<4>;
  .reg .b32 %t, %i, %r<8>, %m, %a<4>, %d<128>;
  .reg .b64 %p<4>, %rd<16>;
  .shared .align 1024 .b8 tile[65536];
  mov.u32 %t, %tid.x;
  ld.param.u64 %p0, [p];
  ld.param.u64 %p1, [f];
  ld.param.u64 %p2, [m];
  ld.param.u64 %p3, [q];
  mul.wide.u32 %rd1, %t, 16;
  add.u64 %rd1, %rd1, %p1;
  ld.global.v4.b32 {%a0, %a1, %a2, %a3}, [%rd1];
  mul.wide.u32 %rd1, %t, 4;
  add.u64 %rd1, %rd1, %p2;
  ld.global.b32 %m, [%rd1];
  shl.b32 %i, %t, 2;
COPY:
  cvt.u64.u32 %rd1, %i;
  add.u64 %rd2, %rd1, %p0;
  ld.global.b32 %r1, [%rd2];
  mov.u64 %rd2, tile;
  add.u64 %rd2, %rd2, %rd1;
  st.shared.b32 [%rd2], %r1;
  add.u32 %i, %i, 512;
  setp.lt.u32 %q1, %i, )" +
         std::to_string(kOffsetOfB + std::max(test.columns * 128, 8192)) + R"(;
  @%q1 bra COPY;
  fence.proxy.async;
  bar.sync 0;
  mov.u64 %rd1, tile;
  shr.u64 %rd2, %rd1, 4;
  add.u64 %rd4, %rd2, )" +
         std::to_string(descriptorA) + ";\n  add.u64 %rd5, %rd2, " +
         std::to_string(static_cast<int64_t>(descriptorB)) + R"(;
  setp.ne.u32 %q2, %t, %t;
  setp.eq.u32 %q3, %t, %t;
  wgmma.fence.sync.aligned;
)" + mma("%q2") +
         (test.accumulates ? mma("%q3") : "") + R"(  wgmma.commit_group.sync.aligned;
  mov.b32 %m, 0;
  wgmma.wait_group.sync.aligned 0;
  mul.wide.u32 %rd6, %t, )" +
         std::to_string(4 * test.registers()) + ";\n  add.u64 %rd7, %p3, %rd6;\n" + stores +
         "  ret;\n}\n";
}

std::unique_ptr<Gpu> runSparse(const SparseCase &test, const std::string &ptx,
                               const Operands &operands, Schedule schedule = Schedule::Eager,
                               const std::string &checks = "all") {
  auto gpu = std::make_unique<Gpu>(ptx, "sm_90a", checks);
  gpu->device->setSchedule(schedule, static_cast<uint64_t>(test.columns));
  auto image = gpu->upload(operands.image), fragments = gpu->upload(operands.fragments),
       metadata = gpu->upload(operands.metadata);
  gpu->data = gpu->device->alloc(128 * 4 * test.registers());
  gpu->run("k", {1}, {128}, 0, image, fragments, metadata, gpu->data);
  return gpu;
}

void checkSparse(const SparseCase &test, Schedule schedule) {
  SCOPED_TRACE(test.name() + ", " + nameOf(schedule));
  Operands operands(test);
  auto gpu =
      runSparse(test, kernelOf(test), operands, schedule, test.columns == 24 ? "none" : "all");
  gpu->expectClean();
  auto words = gpu->download<uint32_t>(gpu->data, 128 * test.registers());
  for (int thread = 0; thread < 128; ++thread)
    for (int v = 0; v < test.columns / 2; ++v) {
      int m = thread / 32 * 16 + thread % 32 / 4 + 8 * (v / 2 % 2),
          n = v / 4 * 8 + 2 * (thread % 4) + v % 2;
      uint32_t word = words[thread * test.registers() + (test.halves() ? v / 2 : v)];
      double result = test.d == "s32" ? static_cast<int32_t>(word)
                      : test.halves() ? halfToFloat(static_cast<uint16_t>(word >> (16 * (v % 2))))
                                      : std::bit_cast<float>(word);
      ASSERT_EQ(result, operands.expected(test, m, n)) << "row " << m << " column " << n;
    }
}

TEST(WgmmaSparse, AllTypesAndOperands) {
  const SparseCase types[] = {{"f16", "f16", "f32"},      {"bf16", "bf16", "f32"},
                              {"f16", "f16", "f16"},      {"tf32", "tf32", "f32", 32},
                              {"s8", "u8", "s32", 8},     {"u8", "s8", "s32", 8},
                              {"e4m3", "e5m2", "f32", 8}, {"e5m2", "e4m3", "f16", 8}};
  for (SparseCase test : types)
    for (int columns : {8, 24, 64, 256})
      for (bool inRegisters : {false, true})
        for (Schedule schedule : {Schedule::Eager, Schedule::Lazy, Schedule::Random}) {
          test.columns = columns;
          test.aInRegisters = inRegisters;
          test.selector = test.bits >= 16 ? columns / 8 % 2 : 0;
          test.accumulates = columns >= 64;
          test.negates = test.d != "s32" && columns == 24;
          checkSparse(test, schedule);
        }
}

TEST(WgmmaSparse, MatricesBHaveTwiceTheDepthInEveryLayout) {
  for (LayoutB layout : {LayoutB::Plain, LayoutB::Swizzled, LayoutB::SwizzledAcross})
    for (int columns : {64, 128}) {
      SparseCase test{"f16", "f16", "f32"};
      test.layout = layout;
      test.columns = columns;
      checkSparse(test, Schedule::Lazy);
    }
}

TEST(WgmmaSparse, EveryMissingSynchronisationIsReported) {
  SparseCase test{"f16", "f16", "f32"};
  test.accumulates = true;
  std::string good = kernelOf(test);
  struct Broken {
    const char *line;
    FindingKind kind;
    const char *where;
  };
  for (auto [line, kind, where] :
       {Broken{"  wgmma.fence.sync.aligned;\n", FindingKind::Async, "wgmma.mma_async"},
        Broken{"  wgmma.wait_group.sync.aligned 0;\n", FindingKind::Async, "st.global.b32"},
        Broken{"  fence.proxy.async;\n", FindingKind::Proxy, "wgmma.mma_async"},
        Broken{"  bar.sync 0;\n", FindingKind::Race, "wgmma.mma_async"}})
    for (Schedule schedule : {Schedule::Eager, Schedule::Lazy, Schedule::Random}) {
      std::string broken = without(good, line);
      SCOPED_TRACE(std::string(line) + nameOf(schedule));
      runSparse(test, broken, Operands(test), schedule)->expectFinding(kind, lineOf(broken, where));
    }
}

TEST(WgmmaSparse, ReadsOfTheWholeDepthAreChecked) {
  SparseCase test{"f16", "f16", "f32"};
  Operands operands(test);
  // What B has beyond the depth of a dense product is not written.
  std::string broken = replaced(kernelOf(test), "  @%q1 bra COPY;\n",
                                "  setp.lt.u32 %q1, %i, 4608;\n  @%q1 bra COPY;\n");
  auto gpu = runSparse(test, broken, operands);
  gpu->expectFinding(FindingKind::Uninitialised, lineOf(broken, "st.global.b32"));
}

// 64 bytes along k do not fit into a span of 32.
TEST(WgmmaSparse, SpansThatAreTooNarrowForBAreReported) {
  SparseCase test{"f16", "f16", "f32"};
  test.layout = LayoutB::Swizzled;
  std::string good = kernelOf(test), shift = "  setp.ne.u32 %q2, %t, %t;\n";
  std::string broken = replaced(good, shift, "  or.b64 %rd5, %rd5, 0xc000000000000000;\n" + shift);
  auto gpu = runSparse(test, broken, Operands(test));
  gpu->expectFinding(FindingKind::Async, lineOf(broken, "wgmma.mma_async"));
  EXPECT_NE(gpu->findings[0].message.find("has swizzle 32B, but rows of 64 bytes"),
            std::string::npos);
}

TEST(WgmmaSparse, MeaninglessMetadataAreReported) {
  SparseCase test{"f16", "f16", "f32"};
  Operands operands(test);
  operands.metadata[37] = operands.metadata[37] & ~0xf0u; // warp 1, lane 5
  std::string ptx = kernelOf(test);
  auto gpu = runSparse(test, ptx, operands);
  gpu->expectFinding(FindingKind::Undefined, lineOf(ptx, "wgmma.mma_async"));
  EXPECT_EQ(gpu->findings[0].warp, 1u);
  EXPECT_EQ(gpu->findings[0].lane, 5u);
}

// In each row of A and column of B a one, then small numbers that a chain of f32 sums keeps, of fp8, or loses, of f16; hardware
// the other way round: it cuts 13 and 25 bits below the one.
TEST(WgmmaSparse, SumsAreThoseOfTheArchitecture) {
  auto sum = [](const SparseCase &test, bool sums, uint32_t one, uint32_t small) {
    Operands operands(test);
    uint32_t all = 0;
    for (int at = 0; at < 32; at += test.bits)
      all |= small << at;
    uint32_t first = (all & ~(~0u >> (32 - test.bits))) | one;
    for (size_t i = 0; i < operands.fragments.size(); ++i) // word 0 of each row: registers 0 and 1
      operands.fragments[i] = i / 4 % 4 == 0 && i % 4 < 2 ? first : all;
    for (int at = kOffsetOfB; at < kOffsetOfB + test.columns * 64; at += 4) {
      bool isFirst = at < kOffsetOfB + test.columns * 16 && at % 16 == 0; // of a column's chunks
      std::memcpy(operands.image.data() + at, isFirst ? &first : &all, 4);
    }
    std::ranges::fill(operands.metadata, 0x44444444); // the first two of each four
    auto gpu = std::make_unique<Gpu>(kernelOf(test), "sm_90a");
    gpu->device->setModel({.sums = sums});
    auto image = gpu->upload(operands.image), fragments = gpu->upload(operands.fragments),
         metadata = gpu->upload(operands.metadata);
    gpu->data = gpu->device->alloc(128 * 4 * test.registers());
    gpu->run("k", {1}, {128}, 0, image, fragments, metadata, gpu->data);
    gpu->expectClean();
    auto values = gpu->download<float>(gpu->data, 128 * test.registers());
    EXPECT_EQ(std::ranges::count(values, values[0]), static_cast<ptrdiff_t>(values.size()));
    return values[0];
  };
  SparseCase fp8{"e4m3", "e4m3", "f32", 8, 8, 0, true}, halves{"f16", "f16", "f32", 16, 8, 0, true};
  EXPECT_EQ(sum(fp8, false, 0x38, 0x04), 1 + 31 * 0x1p-14f); // 2^-7 twice
  EXPECT_EQ(sum(fp8, true, 0x38, 0x04), 1.0f);
  EXPECT_EQ(sum(halves, false, 0x3c00, 0x0a00), 1.0f);
  EXPECT_EQ(sum(halves, true, 0x3c00, 0x0a00), 1 + 3 * 0x1p-23f); // 15 times 2^-25, cut
}

} // namespace
} // namespace tile::vgpu
