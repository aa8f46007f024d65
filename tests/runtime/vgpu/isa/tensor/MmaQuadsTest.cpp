// mma.m8n8k4 of f16 against sums of small integers, placed by the formulas of the ISA text.
#include "runtime/vgpu/isa/alu/HalfFormat.h"
#include "tests/runtime/vgpu/Kernels.h"

namespace tile::vgpu {
namespace {

struct Case {
  bool rowA, rowB, halfC, halfD;
};

int elementA(int q, int row, int k) { return (3 * q + 5 * row + 7 * k) % 11 - 5; }
int elementB(int q, int k, int column) { return (2 * q + 3 * k + column * column) % 7 - 3; }
int elementC(int q, int row, int column) { return 10 * q + row - 3 * column; }

uint32_t half(int value) { return floatToHalf(static_cast<float>(value)); }

// What a lane has in element i, as the text says it: `lane < 16` is the first half of a product's eight lanes.
int laneA(const Case &test, int lane, int i) {
  int q = lane % 16 / 4;
  int row = test.rowA ? (lane < 16 ? lane % 4 : lane % 4 + 4) : (lane < 16 ? i % 4 : i % 4 + 4);
  return elementA(q, row, test.rowA ? i : lane % 4);
}
int laneB(const Case &test, int lane, int i) {
  int q = lane % 16 / 4;
  if (test.rowB)
    return elementB(q, lane % 4, lane < 16 ? i : i + 4);
  return elementB(q, i, lane < 16 ? lane % 4 : lane % 4 + 4);
}
std::pair<int, int> placeOfSum(bool isHalf, int lane, int i) {
  if (isHalf)
    return {lane < 16 ? lane % 4 : lane % 4 + 4, i};
  int x = (lane & 1) + (i & 2);
  return {lane < 16 ? x : x + 4, (i & 4) + (lane & 2) + (i & 1)};
}

std::string names(const char *prefix, int count) {
  std::string list = "{";
  for (int i = 0; i < count; ++i)
    list += std::string(i ? ", %" : "%") + prefix + std::to_string(i);
  return list + "}";
}

// Each thread has 16 words: A, B and C from word 0, 2 and 4 on; D replaces the words from 0 on.
std::string kernel(const Case &test, const std::string &before = "") {
  std::string ptx = R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p)
{
  .reg .pred %q;
  .reg .b32 %t, %a<2>, %b<2>, %c<8>, %d<8>;
  .reg .b64 %p;
  ld.param.u64 %p, [p];
  mov.u32 %t, %tid.x;
  mad.wide.u32 %p, %t, 64, %p;
)";
  auto load = [&](const char *name, int count, int word) {
    for (int i = 0; i < count; ++i)
      ptx += "  ld.global.b32 %" + std::string(name) + std::to_string(i) + ", [%p+" +
             std::to_string(4 * (word + i)) + "];\n";
  };
  load("a", 2, 0);
  load("b", 2, 2);
  load("c", test.halfC ? 4 : 8, 4);
  int results = test.halfD ? 4 : 8;
  ptx += before;
  ptx += std::string("  mma.sync.aligned.m8n8k4") + (test.rowA ? ".row" : ".col") +
         (test.rowB ? ".row" : ".col") + (test.halfD ? ".f16" : ".f32") + ".f16.f16" +
         (test.halfC ? ".f16 " : ".f32 ") + names("d", results) + ", " + names("a", 2) + ", " +
         names("b", 2) + ", " + names("c", test.halfC ? 4 : 8) + ";\n";
  for (int i = 0; i < results; ++i)
    ptx += "  st.global.b32 [%p+" + std::to_string(4 * i) + "], %d" + std::to_string(i) + ";\n";
  return ptx + "  ret;\n}\n";
}

std::vector<uint32_t> operands(const Case &test) {
  std::vector<uint32_t> words(32 * 16);
  for (int lane = 0; lane < 32; ++lane) {
    uint32_t *own = words.data() + lane * 16;
    for (int i = 0; i < 4; ++i) {
      own[i / 2] |= half(laneA(test, lane, i)) << (i % 2 * 16);
      own[2 + i / 2] |= half(laneB(test, lane, i)) << (i % 2 * 16);
    }
    for (int i = 0; i < 8; ++i) {
      auto [row, column] = placeOfSum(test.halfC, lane, i);
      int value = elementC(lane % 16 / 4, row, column);
      if (test.halfC)
        own[4 + i / 2] |= half(value) << (i % 2 * 16);
      else
        own[4 + i] = std::bit_cast<uint32_t>(static_cast<float>(value));
    }
  }
  return words;
}

TEST(MmaQuads, FourProductsOfAllLayoutsAndTypes) {
  for (bool rowA : {false, true})
    for (bool rowB : {false, true})
      for (auto [halfC, halfD] : {std::pair(false, false), {true, false}, {true, true}}) {
        Case test{rowA, rowB, halfC, halfD};
        Gpu gpu(kernel(test));
        uint64_t pointer = gpu.upload(operands(test));
        gpu.run("k", {1}, {32}, 0, pointer);
        gpu.expectClean();
        std::vector<uint32_t> found = gpu.download<uint32_t>(pointer, 32 * 16);
        for (int lane = 0; lane < 32; ++lane)
          for (int i = 0; i < 8; ++i) {
            int q = lane % 16 / 4;
            auto [row, column] = placeOfSum(halfD, lane, i);
            int sum = elementC(q, row, column);
            for (int k = 0; k < 4; ++k)
              sum += elementA(q, row, k) * elementB(q, k, column);
            uint32_t word = found[lane * 16 + (halfD ? i / 2 : i)];
            float value = halfD ? halfToFloat(static_cast<uint16_t>(word >> (i % 2 * 16)))
                                : std::bit_cast<float>(word);
            ASSERT_EQ(value, static_cast<float>(sum)) << lane << " " << i << " " << rowA << rowB;
          }
      }
}

TEST(MmaQuads, UninitialisedOperandsSpoilTheirRowsAlone) {
  Case test{true, false, false, false};
  // Lane 5 has row 1 of product 1: one of its elements of A was never written.
  std::string ptx =
      kernel(test, "  setp.eq.u32 %q, %t, 5;\n  .reg .b32 %u;\n  @%q mov.b32 %a1, %u;\n");
  Gpu gpu(ptx);
  uint64_t pointer = gpu.upload(operands(test));
  gpu.run("k", {1}, {32}, 0, pointer);
  ASSERT_FALSE(gpu.findings.empty());
  uint32_t lanes = 0;
  for (const Finding &finding : gpu.findings) {
    EXPECT_EQ(finding.kind, FindingKind::Uninitialised) << finding.text();
    lanes |= finding.lanes;
  }
  EXPECT_EQ(lanes, 0xa0u); // row 1 of f32 sums is in lanes 5 and 7
}

TEST(MmaQuads, OtherTypesAreRefused) {
  std::string good = kernel({true, false, true, true});
  for (auto [from, to] : {std::pair(".f16.f16.f16.f16", ".f16.f16.f16.f32"),
                          {".row.col", ".row.diag"},
                          {".row.col", ".row"}}) {
    std::string ptx = good;
    ptx.replace(ptx.find(from), std::string(from).size(), to);
    auto device = device::openVirtual({.target = "sm_80"});
    EXPECT_THROW(device->functionInfo(device->getFunction(device->loadModule(ptx), "k")), Error)
        << to;
  }
}

} // namespace
} // namespace tile::vgpu
