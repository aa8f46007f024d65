// wgmma of single bits against a count written from the ISA text.
#include "tests/runtime/vgpu/Hopper.h"

#include <array>
#include <bit>
#include <random>

namespace tile::vgpu {
namespace {

constexpr unsigned kRows = 64, kWords = 8;
using Bits = std::array<uint32_t, kWords>; // bit k of a row is bit k%32 of word k/32

struct Product {
  unsigned columns = 8;
  bool inRegisters = false;
  int times = 1; // the second time onto the first
  std::vector<Bits> a, b;

  Product(unsigned columns, bool inRegisters, int times)
      : columns(columns), inRegisters(inRegisters), times(times), a(kRows), b(columns) {
    std::mt19937 random(columns);
    for (auto *matrix : {&a, &b})
      for (Bits &row : *matrix)
        for (uint32_t &word : row)
          word = random() & random();
    a[3] = {}, b[1].fill(~0u), a[5].fill(~0u);
  }

  // Core matrices of 8 rows of 16 bytes: A, then B, each first the lower half of k.
  std::vector<uint32_t> image() const {
    std::vector<uint32_t> words(kRows * kWords + columns * kWords);
    auto put = [&](const std::vector<Bits> &matrix, size_t base) {
      for (size_t row = 0; row < matrix.size(); ++row)
        for (size_t word = 0; word < kWords; ++word)
          words[base + word / 4 * matrix.size() * 4 + row * 4 + word % 4] = matrix[row][word];
    };
    put(a, 0);
    put(b, kRows * kWords);
    return words;
  }

  // A's four registers of each of 128 threads: rows of warp w begin at 16w.
  std::vector<uint32_t> fragments() const {
    std::vector<uint32_t> words;
    for (unsigned thread = 0; thread < 128; ++thread)
      for (unsigned r = 0; r < 4; ++r) {
        unsigned warp = thread / 32, group = thread % 32 / 4, member = thread % 4;
        words.push_back(a[16 * warp + group + (r % 2 ? 8 : 0)][member + (r / 2 ? 4 : 0)]);
      }
    return words;
  }

  uint32_t expected(unsigned thread, unsigned v) const {
    unsigned row = thread / 32 * 16 + thread % 32 / 4 + (v % 4 / 2 ? 8 : 0),
             column = v / 4 * 8 + thread % 4 * 2 + v % 2;
    int common = 0;
    for (unsigned k = 0; k < 32 * kWords; ++k)
      common += a[row][k / 32] >> (k % 32) & b[column][k / 32] >> (k % 32) & 1;
    return static_cast<uint32_t>(common * times);
  }

  std::string ptx() const {
    std::string d, stores, copies;
    for (unsigned i = 0; i < columns / 2; ++i) {
      d += (i ? ", %d" : "%d") + std::to_string(i);
      stores +=
          "  st.global.u32 [%rd7+" + std::to_string(4 * i) + "], %d" + std::to_string(i) + ";\n";
    }
    for (size_t chunk = 0; chunk < (kRows + columns) * 2; chunk += 128) {
      std::string at = std::to_string(chunk * 16);
      copies += "  add.u32 %r1, %t, " + std::to_string(chunk) + ";\n  setp.lt.u32 %q2, %r1, " +
                std::to_string((kRows + columns) * 2) +
                ";\n  @%q2 ld.global.v4.u32 {%r4,%r5,%r6,%r7}, [%rd1+" + at +
                "];\n  @%q2 st.shared.v4.u32 [%r3+" + at + "], {%r4,%r5,%r6,%r7};\n";
    }
    auto strides = [](uint64_t leading) { return std::to_string(leading / 16 << 16 | 8ull << 32); };
    std::string operandA = inRegisters ? "{%r10,%r11,%r12,%r13}" : "%rd4";
    auto product = [&](const char *scale) {
      return "  wgmma.mma_async.sync.aligned.m64n" + std::to_string(columns) +
             "k256.s32.b1.b1.and.popc {" + d + "}, " + operandA + ", %rd5, " + scale + ";\n";
    };
    return hopper("  .reg .b32 %d<128>;\n  mad.wide.u32 %rd1, %t, 16, %p;\n  shl.b32 %r2, %t, 4;\n"
                  "  mov.u32 %r3, tile;\n  add.u32 %r3, %r3, %r2;\n" +
                  copies +
                  "  ld.global.v4.u32 {%r10,%r11,%r12,%r13}, [%rd1+16384];\n"
                  "  fence.proxy.async;\n  bar.sync 0;\n  mov.u64 %rd2, tile;\n"
                  "  shr.u64 %rd2, %rd2, 4;\n  add.u64 %rd4, %rd2, " +
                  strides(kRows * 16) + ";\n  add.u64 %rd5, %rd2, " + strides(columns * 16) +
                  ";\n  add.u64 %rd5, %rd5, 128;\n  setp.ne.u32 %q3, %t, %t;\n"
                  "  setp.eq.u32 %q4, %t, %t;\n  wgmma.fence.sync.aligned;\n" +
                  product("%q3") + (times == 2 ? product("%q4") : "") +
                  "  wgmma.commit_group.sync.aligned;\n  wgmma.wait_group.sync.aligned 0;\n"
                  "  mad.wide.u32 %rd6, %t, " +
                  std::to_string(2 * columns) + ", %p;\n  add.u64 %rd7, %rd6, 32768;\n" + stores);
  }
};

void expectProduct(const Product &product, Schedule schedule) {
  Gpu gpu(product.ptx(), "sm_90a");
  gpu.device->setSchedule(schedule, 1);
  std::vector<uint32_t> data(8192 + 128 * product.columns / 2), image = product.image(),
                                                                fragments = product.fragments();
  std::ranges::copy(image, data.begin());
  std::ranges::copy(fragments, data.begin() + 4096);
  uint64_t pointer = gpu.upload(data);
  gpu.run("k", {1}, {128}, 0, pointer, device::TensorMap());
  gpu.expectClean();
  std::vector<uint32_t> found = gpu.download<uint32_t>(pointer, data.size());
  for (unsigned thread = 0; thread < 128; ++thread)
    for (unsigned v = 0; v < product.columns / 2; ++v)
      ASSERT_EQ(found[8192 + thread * product.columns / 2 + v], product.expected(thread, v))
          << thread << " " << v;
}

TEST(WgmmaBits, CountsCommonBits) {
  for (unsigned columns : {8u, 24u, 64u, 144u})
    for (bool inRegisters : {false, true})
      for (int times : {1, 2})
        for (Schedule schedule : {Schedule::Eager, Schedule::Lazy}) {
          SCOPED_TRACE(std::to_string(columns) + (inRegisters ? " registers" : " descriptors"));
          expectProduct(Product(columns, inRegisters, times), schedule);
        }
}

TEST(WgmmaBits, OtherFormsAreRefused) {
  std::string good = Product(8, false, 1).ptx();
  for (auto [from, to] : {std::pair(".and.popc", ".xor.popc"),
                          {".and.popc", ""},
                          {".b1.b1", ".b1.u8"},
                          {"m64n8k256", "m64n8k32"},
                          {"m64n8k256", "m64n40k256"}}) {
    std::string ptx = good;
    size_t at = ptx.find(from);
    ASSERT_NE(at, std::string::npos);
    ptx.replace(at, std::string(from).size(), to);
    auto device = device::openVirtual({.target = "sm_90a"});
    EXPECT_THROW(device->functionInfo(device->getFunction(device->loadModule(ptx), "k")), Error)
        << to;
  }
}

} // namespace
} // namespace tile::vgpu
