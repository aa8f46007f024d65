// Tensor copies: boxes that lie partly outside, swizzles, ranks, and maps that do not fit.
#include "tests/runtime/vgpu/negative/Faults.h"

#include "runtime/vgpu/machine/async/Swizzle.h"

namespace tile::vgpu {
namespace {

using device::TensorMapFill;
using device::TensorMapParams;
using device::TensorMapSwizzle;
using device::TensorMapType;

// The first 4096 words of the buffer as rows of 64.
TensorMapParams matrix(std::array<uint32_t, 2> box,
                       TensorMapSwizzle swizzle = TensorMapSwizzle::None,
                       TensorMapFill fill = TensorMapFill::Zero) {
  TensorMapParams map;
  map.type = fill == TensorMapFill::NaN ? TensorMapType::F32 : TensorMapType::U32;
  map.rank = 2;
  map.dims = {64, 64};
  map.strides = {256};
  map.box = {box[0], box[1]};
  map.swizzle = swizzle;
  map.fill = fill;
  return map;
}

// Copies the box at (x, y), of `bytes`, and writes the words of shared memory out as they lie there.
std::string load(const std::string &coordinates, uint32_t bytes, unsigned rank = 2) {
  return replaced(replaced(replaced(R"(  mov.u64 %rd3, map;
  cvta.param.u64 %rd3, %rd3;
  @%q15 mbarrier.init.shared.b64 [full], 1;
  bar.sync 0;
  @!%q15 bra WAIT;
  mbarrier.arrive.expect_tx.shared.b64 %rd1, [full], BYTES;
  cp.async.bulk.tensor.RANK.shared::cluster.global.tile.mbarrier::complete_tx::bytes [tile], [%rd3, {AT}], [full];
WAIT:
  mbarrier.try_wait.parity.shared.b64 %q1, [full], 0;
  @!%q1 bra WAIT;
  mov.u32 %r1, tile;
  mad.lo.u32 %r1, %t, 4, %r1;
  ld.shared.u32 %r2, [%r1];
  st.global.u32 [%a+16384], %r2;
)",
                                    "BYTES", std::to_string(bytes)),
                           "RANK", std::to_string(rank) + "d"),
                  "AT", coordinates);
}

TEST(NegativeTensor, BoxesPartlyOutside) {
  for (auto [x, y] : {std::pair(0, 0),
                      {60, 0},
                      {-4, 62},
                      {56, -3},
                      {-8, -8},
                      {64, 0},
                      {0, 1000},
                      {-2147483648, 5}})
    for (auto fill : {TensorMapFill::Zero, TensorMapFill::NaN}) {
      SCOPED_TRACE(std::to_string(x) + "," + std::to_string(y));
      auto expected = [&](size_t i) -> uint32_t {
        if (i < 4096 || i >= 4160)
          return static_cast<uint32_t>(i);
        int64_t column = int64_t{x} + static_cast<int64_t>(i - 4096) % 8,
                row = int64_t{y} + static_cast<int64_t>(i - 4096) / 8;
        bool inside = column >= 0 && column < 64 && row >= 0 && row < 64;
        return inside                       ? static_cast<uint32_t>(row * 64 + column)
               : fill == TensorMapFill::NaN ? 0x7ff77ff7u
                                            : 0u;
      };
      Shape shape{{1}, {64}, {}, matrix({8, 8}, TensorMapSwizzle::None, fill)};
      auto gpu = launch(hopper(load(std::to_string(x) + ", " + std::to_string(y), 256)),
                        Schedule::Lazy, 0, shape);
      gpu->expectClean();
      auto words = gpu->download<uint32_t>(gpu->data, kBufferWords);
      for (size_t i = 0; i < words.size(); ++i)
        ASSERT_EQ(words[i], expected(i)) << i;
    }
  ++CorpusSize::good;
}

TEST(NegativeTensor, SwizzlesAreReadBackByPlainLoads) {
  for (auto [swizzle, log2Chunks] : {std::pair(TensorMapSwizzle::None, 0u),
                                     {TensorMapSwizzle::Bytes32, 1u},
                                     {TensorMapSwizzle::Bytes64, 2u},
                                     {TensorMapSwizzle::Bytes128, 3u}}) {
    uint32_t width = 4u << log2Chunks, height = 64 / width * 4, words = width * height;
    if (log2Chunks == 0)
      width = 32, height = 8;
    SCOPED_TRACE(log2Chunks);
    Shape shape{{1}, {words}, {}, matrix({width, height}, swizzle)};
    // The tile begins at a multiple of 1024, so offsets in it are swizzled as addresses are.
    expectNoFault(
        hopper(load("8, 3", words * 4)),
        [&](size_t i) {
          if (i < 4096 || i >= 4096 + words)
            return static_cast<uint32_t>(i);
          uint32_t at = swizzled(static_cast<uint32_t>(i - 4096) * 4, log2Chunks) / 4;
          return (3 + at / width) * 64 + 8 + at % width;
        },
        shape);
  }
}

// Words of small numbers are subnormal floats: f32.ftz keeps them, tf32 drops the lower 13 bits.
TEST(NegativeTensor, TypesThatConvert) {
  for (auto type : {TensorMapType::F32Ftz, TensorMapType::TF32, TensorMapType::TF32Ftz})
    for (auto swizzle : {TensorMapSwizzle::None, TensorMapSwizzle::Bytes32}) {
      TensorMapParams map = matrix({8, 8}, swizzle);
      map.type = type;
      map.base = 4096 * 4;
      // Words of the tensor are 5000 times as large as their number.
      std::string ptx =
          hopper(replaced(load("8, 3", 256), "  @%q15 mbarrier.init", R"(  mov.u32 %r1, %t;
SET:
  mul.lo.u32 %r2, %r1, 5000;
  mad.wide.u32 %rd4, %r1, 4, %p;
  st.global.u32 [%rd4+16384], %r2;
  add.u32 %r1, %r1, 64;
  setp.lt.u32 %q1, %r1, 4096;
  @%q1 bra SET;
  fence.proxy.async;
  @%q15 mbarrier.init)"));
      ptx = replaced(ptx, "[%a+16384], %r2;\n  ret", "[%a], %r2;\n  ret");
      expectNoFault(ptx,
                    [&](size_t i) {
                      if (i >= 4096)
                        return static_cast<uint32_t>((i - 4096) * 5000);
                      if (i >= 64)
                        return static_cast<uint32_t>(i);
                      uint32_t at = swizzled(static_cast<uint32_t>(i) * 4,
                                             swizzle == TensorMapSwizzle::None ? 0 : 1) /
                                    4,
                               word = ((3 + at / 8) * 64 + 8 + at % 8) * 5000;
                      return type == TensorMapType::F32Ftz
                                 ? word
                                 : (word + 4095 + (word >> 13 & 1)) / 8192 * 8192;
                    },
                    {{1}, {64}, {}, map});
    }
}

TEST(NegativeTensor, AllRanks) {
  for (unsigned rank = 1; rank <= 5; ++rank) {
    SCOPED_TRACE(rank);
    TensorMapParams map;
    map.type = TensorMapType::U32;
    map.rank = rank;
    uint64_t stride = 4;
    std::string at;
    uint32_t first = 0, boxWords = 1;
    for (unsigned d = 0; d < rank; ++d) {
      map.dims[d] = d == 0 ? 8 : 4;
      map.box[d] = d == 0 ? 4 : 2;
      if (d)
        map.strides[d - 1] = stride;
      at += (d ? ", " : "") + std::to_string(d == 0 ? 4 : 1);
      first += static_cast<uint32_t>(stride / 4 * (d == 0 ? 4 : 1));
      boxWords *= map.box[d];
      stride *= map.dims[d];
    }
    Shape shape{{1}, {64}, {}, map};
    std::string ptx = hopper(
        replaced(load(at, boxWords * 4, rank), "  st.global",
                 "  setp.lt.u32 %q5, %t, " + std::to_string(boxWords) + ";\n  @%q5 st.global"));
    expectNoFault(
        ptx,
        [&](size_t i) {
          if (i < 4096 || i >= 4096 + boxWords)
            return static_cast<uint32_t>(i);
          uint32_t left = static_cast<uint32_t>(i - 4096), word = first, step = 1;
          for (unsigned d = 0; d < rank; ++d) {
            word += left % map.box[d] * step;
            left /= map.box[d];
            step *= static_cast<uint32_t>(map.dims[d]);
          }
          return word;
        },
        shape);
  }
}

TEST(NegativeTensor, Loads) {
  Shape shape{{1}, {64}, {}, matrix({8, 8})};
  expectFaults(
      hopper(load("8, 0", 256)),
      [](size_t i) {
        return static_cast<uint32_t>(
            i >= 4096 && i < 4160 ? (i - 4096) / 8 * 64 + 8 + (i - 4096) % 8 : i);
      },
      {
          {"no wait", {{"  @!%q1 bra WAIT;\n"}}, {AsyncRace, Race}},
          {"the bytes inside alone are expected",
           {{"256;", "128;"}, {"{8, 0}", "{8, -4}"}},
           {Deadlock, Async}}, // the phase may end when the first pieces have come
          {"too many bytes", {{"256;", "272;"}}, {Deadlock}, "", "16 bytes outstanding"},
          {"another rank",
           {{"tensor.2d", "tensor.3d"}, {"{8, 0}", "{8, 0, 0}"}},
           {Async},
           "cp.async.bulk.tensor",
           "has rank 2"},
          {"a coordinate that is no multiple of 16 bytes",
           {{"{8, 0}", "{6, 0}"}},
           {Async},
           "cp.async.bulk.tensor",
           "here of 4 elements, not 6"},
          {"no map",
           {{"cvta.param.u64 %rd3, %rd3", "mov.u64 %rd3, %p"}},
           {Async},
           "cp.async.bulk.tensor"},
          {"a map that is not aligned",
           {{"cvta.param.u64 %rd3, %rd3;",
             "cvta.param.u64 %rd3, %rd3;\n  add.u64 %rd3, %rd3, 32;"}},
           {Misaligned, OutOfBounds},
           "cp.async.bulk.tensor"},
          {"a tile that is not aligned",
           {{"[tile], [%rd3", "[tile+16], [%rd3"}},
           {Misaligned},
           "cp.async.bulk.tensor"},
          {"a tile outside",
           {{"[tile], [%rd3", "[tile+16384], [%rd3"}},
           {OutOfBounds},
           "cp.async.bulk.tensor"},
          {"no initialisation", {{"  @%q15 mbarrier.init.shared.b64 [full], 1;\n"}}, {Async}},
      },
      shape);
}

// All write the tile; one thread stores it as a box that is clipped at the right and at the bottom.
const std::string kStore = R"(  mov.u64 %rd3, map;
  cvta.param.u64 %rd3, %rd3;
  mov.u32 %r1, tile;
  mad.lo.u32 %r2, %t, 4, %r1;
  add.u32 %r3, %t, 5000;
  st.shared.u32 [%r2], %r3;
  fence.proxy.async.shared::cta;
  bar.sync 0;
  @!%q15 bra DONE;
  cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%rd3, {60, 58}], [tile];
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group.read 0;
DONE:
  bar.sync 1;
  st.shared.u32 [%r2], %t;
)";

TEST(NegativeTensor, Stores) {
  Shape shape{{1}, {64}, {}, matrix({8, 8})};
  auto clipped = [](size_t i) {
    size_t row = i / 64, column = i % 64;
    return static_cast<uint32_t>(
        row >= 58 && row < 64 && column >= 60 ? 5000 + (row - 58) * 8 + column - 60 : i);
  };
  expectFaults(hopper(kStore), clipped,
               {
                   {"no proxy fence",
                    {{"  fence.proxy.async.shared::cta;\n"}},
                    {Proxy},
                    "cp.async.bulk.tensor"},
                   {"no barrier", {{"  bar.sync 0;\n"}}, {Race, AsyncRace, Proxy}},
                   {"no wait", {{"  cp.async.bulk.wait_group.read 0;\n"}}, {AsyncRace}},
                   {"a negative coordinate",
                    {{"{60, 58}", "{60, -2}"}},
                    {Async},
                    "cp.async.bulk.tensor",
                    "coordinate 1 is -2"},
                   {"a coordinate that is no multiple of 16 bytes",
                    {{"{60, 58}", "{62, 58}"}},
                    {Async},
                    "cp.async.bulk.tensor",
                    "not 62"},
                   {"no commit", {{"  cp.async.bulk.commit_group;\n"}}, {AsyncRace}},
                   {"part of the tile was never written",
                    {{"  st.shared.u32 [%r2], %r3;\n",
                      "  setp.gt.u32 %q3, %t, 3;\n  @%q3 st.shared.u32 [%r2], %r3;\n"}},
                    {Uninitialised}},
                   {"another warp reads the tensor",
                    {{"  bar.sync 1;\n", "  bar.sync 1;\n  ld.global.u32 %r9, [%p+15088];\n  "
                                         "st.shared.u32 [%r2+1024], %r9;\n"}},
                    {AsyncRace}},
               },
               shape);
  std::string sums =
      replaced(hopper(kStore), "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group",
               "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group");
  auto added = [&](size_t i) {
    return static_cast<uint32_t>(clipped(i) == i ? i : i + clipped(i));
  };
  expectFaults(sums, added,
               {{"no proxy fence", {{"  fence.proxy.async.shared::cta;\n"}}, {Proxy}},
                {"a negative coordinate",
                 {{"{60, 58}", "{-4, 58}"}},
                 {Async},
                 "cp.reduce",
                 "coordinate 0 is -4"}},
               shape);
  for (auto type : {TensorMapType::S64, TensorMapType::F32Ftz}) {
    TensorMapParams map = matrix({4, 8});
    map.type = type;
    map.dims[0] = 32;
    Fault refused{"no sums of this type", {}, {Async}, "cp.reduce"};
    refused.says = type == TensorMapType::S64 ? "there is no reduction .add of s64"
                                              : "only loads are modelled";
    expectFault(sums, refused, {{1}, {64}, {}, map});
  }
}

// Boxes of fewer chunks than a span: rows begin at spans, the chunks that the box has not are left alone, and the barrier
// hears of the box.
TEST(NegativeTensor, NarrowBoxesTakeWholeSpans) {
  constexpr uint32_t kRows = 8;
  for (auto [swizzle, log2Chunks, chunks] : {std::tuple(TensorMapSwizzle::Bytes32, 1u, 1u),
                                             {TensorMapSwizzle::Bytes64, 2u, 1u},
                                             {TensorMapSwizzle::Bytes64, 2u, 3u},
                                             {TensorMapSwizzle::Bytes128, 3u, 2u},
                                             {TensorMapSwizzle::Bytes128, 3u, 7u}}) {
    SCOPED_TRACE(std::to_string(16 << log2Chunks) + " " + std::to_string(chunks));
    uint32_t span = 4u << log2Chunks, width = 4 * chunks, words = kRows * span;
    // The word of the box that lies at a word of the tile, if any; the tile begins at a multiple of 1024.
    auto boxWordAt = [=](size_t word) -> std::optional<uint32_t> {
      uint32_t at = swizzled(static_cast<uint32_t>(word) * 4, log2Chunks) / 4;
      if (at % span >= width)
        return std::nullopt;
      return (3 + at / span) * 64 + 8 + at % span;
    };
    Shape shape{{1}, {words}, {}, matrix({width, kRows}, swizzle)};
    expectNoFault(
        hopper(replaced(load("8, 3", width * 4 * kRows), "  bar.sync 0;", R"(  mov.u32 %r1, tile;
  mad.lo.u32 %r1, %t, 4, %r1;
  st.shared.u32 [%r1], 77;
  fence.proxy.async.shared::cta;
  bar.sync 0;)")),
        [&](size_t i) {
          return i < 4096 || i >= 4096 + words ? static_cast<uint32_t>(i)
                                               : boxWordAt(i - 4096).value_or(77);
        },
        shape);
    std::vector<uint32_t> stored(kBufferWords);
    std::iota(stored.begin(), stored.end(), 0u);
    for (uint32_t word = 0; word < words; ++word)
      if (auto place = boxWordAt(word))
        stored[*place] = 5000 + word;
    expectNoFault(
        hopper(replaced(kStore, "{60, 58}", "{8, 3}")), [&](size_t i) { return stored[i]; }, shape);
  }
}

// The tile is a single chunk in the second row of the swizzle, which moves it by 16 bytes, to the end of shared memory or
// beyond.
TEST(NegativeTensor, SwizzledTilesStayInSharedMemory) {
  Shape shape{{1}, {64}, {}, matrix({4, 1}, TensorMapSwizzle::Bytes128)};
  const std::string end = "  .shared .align 1024 .b8 end[160];\n";
  Edit shorter{"end[160]", "end[144]"};
  auto atEnd = [&](const std::string &text) {
    return hopper(end + edited(text, {{"[tile]", "[end+128]"}, {"tile;", "end+128;"}}));
  };
  std::string loads = atEnd(edited(
      load("8, 0", 16), {{"%t, 4, %r1;", "%t, 4, %r1;\n  setp.gt.u32 %q7, %t, 3;\n  @%q7 bra END;"},
                         {"[%r1]", "[%r1+16]"},
                         {"%r2;\n", "%r2;\nEND:\n"}}));
  expectFaults(
      loads,
      [](size_t i) { return static_cast<uint32_t>(i >= 4096 && i < 4100 ? i - 4096 + 8 : i); },
      {{"the chunk lies beyond the end",
        {shorter},
        {OutOfBounds},
        "cp.async.bulk.tensor",
        "in rows of 128"}},
      shape);
  Edit toCluster{"::bytes [end", "::bytes.multicast::cluster [end"},
      mask{"cp.async.bulk.tensor", "mov.b16 %h1, 1;\n  @%q15 cp.async.bulk.tensor"},
      masked{", [full];\nWAIT", ", [full], %h1;\nWAIT"};
  expectFault(loads,
              {"so does that of a multicast",
               {shorter, toCluster, mask, masked},
               {OutOfBounds},
               "cp.async.bulk.tensor",
               "in rows of 128"},
              shape);
  std::string first = "  setp.lt.u32 %q7, %t, 8;\n  @%q7 st.shared.u32 [%r2], ";
  std::string stores =
      atEnd(edited(kStore, {{"{60, 58}", "{8, 0}"},
                            {"  st.shared.u32 [%r2], ", first},
                            {"  st.shared.u32 [%r2], %t;", "  @%q7 st.shared.u32 [%r2], %t;"}}));
  std::vector<Edit> within{shorter, {"%t, 8;", "%t, 4;"}};
  Fault reaches{
      "the chunk lies beyond the end", within, {OutOfBounds}, "bulk.tensor", "in rows of 128"};
  expectFaults(
      stores, [](size_t i) { return static_cast<uint32_t>(i >= 8 && i < 12 ? 5004 + i - 8 : i); },
      {reaches}, shape);
  expectFaults(
      replaced(stores, "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group",
               "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group"),
      [](size_t i) { return static_cast<uint32_t>(i >= 8 && i < 12 ? 5004 + i - 8 + i : i); },
      {reaches}, shape);
}

// Bytes of a box are not counted in 32 bits.
TEST(NegativeTensor, BoxesLargerThanAllSharedMemory) {
  TensorMapParams map;
  map.type = TensorMapType::U8;
  map.rank = 4;
  map.dims = {256, 8, 8, 8};
  map.strides = {256, 2048, 16384};
  map.box = {256, 256, 256, 256};
  for (auto swizzle : {TensorMapSwizzle::None, TensorMapSwizzle::Bytes128}) {
    map.swizzle = swizzle;
    if (swizzle != TensorMapSwizzle::None)
      map.box = {16, 256, 256, 256};
    expectFault(hopper(load("0, 0, 0, 0", 16, 4)),
                {"too large", {}, {OutOfBounds}, "cp.async.bulk.tensor", "leaves the block's"},
                {{1}, {64}, {}, map});
  }
}

// A map in global memory, changed by the kernel: nothing tells the readers.
TEST(NegativeTensor, ChangedMaps) {
  std::string body = edited(load("0, 0", 256), {{"  @%q15 mbarrier.init", R"(  mov.u64 %rd5, copied;
  mad.wide.u32 %rd6, %t, 8, %rd3;
  mad.wide.u32 %rd7, %t, 8, %rd5;
  setp.lt.u32 %q6, %t, 16;
  @%q6 ld.param.u64 %rd8, [map];
  @%q6 ld.u64 %rd8, [%rd6];
  @%q6 st.global.u64 [%rd7], %rd8;
  bar.sync 3;
  add.u64 %rd9, %p, 256;
  @%q15 tensormap.replace.tile.global_address.global.b1024.b64 [%rd5], %rd9;
  fence.proxy.tensormap::generic.release.gpu;
  bar.sync 4;
  fence.proxy.tensormap::generic.acquire.gpu [%rd5], 128;
  mov.u64 %rd3, %rd5;
  @%q15 mbarrier.init)"}});
  Shape shape{{1}, {64}, {}, matrix({8, 8})};
  const char *memory = ".visible .global .align 128 .b8 copied[128];";
  auto expected = [](size_t i) {
    return static_cast<uint32_t>(i >= 4096 && i < 4160 ? 64 + (i - 4096) / 8 * 64 + (i - 4096) % 8
                                                       : i);
  };
  // A barrier passes on what another warp has acquired.
  std::string acquire = "fence.proxy.tensormap::generic.acquire.gpu [%rd5], 128;\n";
  std::string byAnother = "  setp.ge.u32 %q7, %t, 32;\n  @%q7 " + acquire;
  expectFaults(hopper(replaced(body, "  " + acquire, byAnother), memory), expected,
               {{"acquired by another warp after the barrier",
                 {{byAnother, ""}, {"  bar.sync 0;\n", "  bar.sync 0;\n" + byAnother}},
                 {Async},
                 "cp.async.bulk.tensor",
                 "generic.acquire of it since"}},
               shape);
  expectFaults(
      hopper(body, memory), expected,
      {
          {"replaced before the copy is complete", {{"  bar.sync 3;\n"}}, {Race, WarpRace, Async}},
          {"copied in part", {{"%t, 16;\n", "%t, 15;\n"}}, {Async}, "tensormap.replace"},
          {"an entry that would be the first if 24 bits of its number counted",
           {{"global_address.global.b1024.b64 [%rd5], %rd9;",
             "box_dim.global.b1024.b32 [%rd5], 16777216, 8;"}},
           {Async},
           "tensormap.replace",
           "field box_dim has no entry 16777216"},
          {"not released",
           {{"  fence.proxy.tensormap::generic.release.gpu;\n"}},
           {Async},
           "cp.async.bulk.tensor",
           "generic.release by the warp that changed it"},
          {"released before the change",
           {{"  fence.proxy.tensormap::generic.release.gpu;\n"},
            {"  add.u64 %rd9,", "  fence.proxy.tensormap::generic.release.gpu;\n  add.u64 %rd9,"}},
           {Async},
           "cp.async.bulk.tensor",
           "generic.release by the warp that changed it"},
          {"not acquired",
           {{"  fence.proxy.tensormap::generic.acquire.gpu [%rd5], 128;\n"}},
           {Async},
           "cp.async.bulk.tensor",
           "generic.acquire of it since"},
          {"another map is acquired",
           {{"acquire.gpu [%rd5]", "acquire.gpu [%p]"}},
           {Async},
           "cp.async.bulk.tensor",
           "generic.acquire of it since"},
      },
      shape);
}

} // namespace
} // namespace tile::vgpu
