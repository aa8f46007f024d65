// Matrices between shared memory and registers. A warp's 2 KiB of shared memory hold sums of its first operands
// and constants.
#include "tests/hardware/Lanes.h"
#include "tests/hardware/Text.h"

namespace tile::hardware {
namespace {

constexpr const char *kTile = "  .shared .align 16 .b8 tile[2048];\n";

std::string fillTile() {
  constexpr size_t kRounds = 16, kBytesOfRound = 128, kStep = 0x01020305;
  std::string code = "  mov.u32 %r0, tile;\n  mad.lo.u32 %r1, %lane, 4, %r0;\n";
  for (size_t k = 0; k < kRounds; ++k)
    code += fill("  add.u32 %r2, %a, $0;\n  st.shared.b32 [%r1+$1], %r2;\n", k * kStep,
                 k * kBytesOfRound);
  return code + "  bar.warp.sync -1;\n";
}

// Word i goes into %d if i is even, else into %e.
std::string mixInto(size_t i, size_t factor, const std::string &word) {
  return fill("  mad.lo.u32 %$0, %$0, $1, %$2;\n", i % 2 ? "e" : "d", factor, word);
}

// Rows at random places, some of them the same.
std::string loadCode(size_t count, const char *trans) {
  std::string code = fillTile() + fill(R"(
  and.b32 %r1, %b, 63;
  mad.lo.u32 %r1, %r1, 16, %r0;
  ldmatrix.sync.aligned.m8n8.x$0$1.shared.b16 $2, [%r1];
)",
                                       count, trans, vectorOf("f", count));
  for (size_t i = 0; i < count; ++i)
    code += mixInto(i, 3, "f" + std::to_string(i));
  return code;
}

std::string storeCode(size_t count, const char *trans) {
  constexpr size_t kWordsOfRow = 4;
  std::string code = fillTile();
  for (size_t i = 0; i < count; ++i)
    code += fill("  mad.lo.u32 %f$0, %b, $1, %a;\n", i, 2 * i + 3);
  code += fill(R"(
  mad.lo.u32 %r1, %lane, 16, %r0;
  stmatrix.sync.aligned.m8n8.x$0$1.shared.b16 [%r1], $2;
  bar.warp.sync -1;
)",
               count, trans, vectorOf("f", count));
  for (size_t i = 0; i < kWordsOfRow; ++i)
    code += fill("  ld.shared.b32 %r2, [%r1+$0];\n", 4 * i) + mixInto(i, 5, "r2");
  return code;
}

} // namespace

std::vector<Probe> matrixMoveProbes() {
  constexpr uint64_t kLoadSeed = 41001, kStoreSeed = 41051, kMoveSeed = 41096;
  std::vector<Probe> result;
  uint64_t number = 0;
  LaneOptions options{.kinds = {"u32", "u32"}, .declarations = kTile};
  for (size_t count : {1, 2, 4})
    for (const char *trans : {"", ".trans"}) {
      result.push_back(laneProbe(fill("ldmatrix.x$0$1", count, trans), loadCode(count, trans),
                                 kLoadSeed + number, options));
      result.push_back(laneProbe(fill("stmatrix.x$0$1", count, trans), storeCode(count, trans),
                                 kStoreSeed + number, options));
      ++number;
    }
  result.push_back(laneProbe("movmatrix.trans", "  movmatrix.sync.aligned.m8n8.trans.b16 %d, %a;\n",
                             kMoveSeed, {.kinds = {"u32"}}));
  return result;
}

} // namespace tile::hardware
