// wgmma of 64 rows, dense and sparse. A block has one product: A in shared memory or in registers, B in shared
// memory, both in core matrices of 8 rows of 16 bytes, without swizzle: all rows of 16 bytes along K, 8 rows
// every 128 bytes, then the next along K.
#include "tests/hardware/Probe.h"
#include "tests/hardware/TensorElements.h"
#include "tests/hardware/Text.h"

namespace tile::hardware {
namespace {

constexpr size_t kThreads = 128, kRows = 64, kColumns = 8, kBlocks = 4;
constexpr size_t kChunkBytes = 16, kChunkWords = kChunkBytes / 4, kGroupOfRows = 128;
constexpr size_t kChunksOfA = 2; // 32 bytes of each row of A are multiplied

struct Wgmma {
  const char *d, *a, *b;
  uint64_t seed;
  bool inRegisters = false; // A
  bool sparse = false;
  bool negated = false; // A
  bool fresh = false;   // D is not added
  bool places = false;  // small integers
};

// Words of matrices of `rows` rows, given row by row, chunk by chunk along K.
Values inChunks(const Values &words, size_t rows, size_t chunks) {
  Values result(words.size());
  size_t size = rows * chunks * kChunkWords;
  for (size_t i = 0; i < words.size(); ++i) {
    size_t matrix = i / size, row = i % size / (chunks * kChunkWords),
           chunk = i / kChunkWords % chunks;
    result[matrix * size + (chunk * rows + row) * kChunkWords + i % kChunkWords] = words[i];
  }
  return result;
}

// Words of A, given row by row, as register r of thread t: rows 16 w + g and 8 more, words t % 4 and 4 more.
Values inFragments(const Values &words) {
  constexpr size_t kRegisters = 4, kWordsOfRow = kChunksOfA * kChunkWords,
                   kSize = kRows * kWordsOfRow;
  Values result(words.size());
  for (size_t i = 0; i < words.size(); ++i) {
    size_t matrix = i / (kRegisters * kThreads), r = i / kThreads % kRegisters, t = i % kThreads;
    size_t row = t / 32 * 16 + r % 2 * 8 + t % 32 / 4, word = r / 2 * 4 + t % 4;
    result[i] = words[matrix * kSize + row * kWordsOfRow + word];
  }
  return result;
}

// Words of an input, `count` a block, into shared memory at `at`.
std::string toShared(size_t parameter, size_t count, size_t at) {
  return fill(R"(
  ld.param.u64 %x, [p$0];
  mad.wide.u32 %x, %w, $1, %x;
  mov.u32 %i, %t;
TAKE$0:
  setp.ge.u32 %p, %i, $2;
  @%p bra TAKEN$0;
  mad.wide.u32 %y, %i, 4, %x;
  ld.global.b32 %v, [%y];
  mad.lo.u32 %u, %i, 4, %tile;
  st.shared.b32 [%u+$3], %v;
  add.u32 %i, %i, $4;
  bra TAKE$0;
TAKEN$0:
)",
              parameter, 4 * count, count, at, kThreads);
}

// Registers of a thread, `count` of them, from or to an array.
std::string registersAt(size_t parameter, size_t count, std::string_view pattern) {
  std::string code = fill(
      "  ld.param.u64 %x, [p$0];\n  mad.lo.u32 %u, %w, $1, %t;\n  mad.wide.u32 %x, %u, 4, %x;\n",
      parameter, count * kThreads);
  for (size_t i = 0; i < count; ++i)
    code += fill(pattern, i, 4 * kThreads * i);
  return code;
}

uint64_t descriptorOf(size_t at, size_t rows) {
  size_t leading = rows * kChunkBytes;
  return at / kChunkBytes | leading / kChunkBytes << 16 |
         uint64_t{kGroupOfRows / kChunkBytes} << 32;
}

std::string instructionOf(const Wgmma &wgmma, size_t registers) {
  unsigned bits = elementBits(wgmma.a);
  std::string operands =
      fill("$0, $1, %db$2, %p", vectorOf("d", registers),
           wgmma.inRegisters ? vectorOf("a", 4) : "%da", wgmma.sparse ? ", %meta, 0" : "");
  if (std::string_view(wgmma.d) != "s32")
    operands += wgmma.negated ? ", -1, 1" : ", 1, 1";
  if (bits == 16)
    operands += wgmma.inRegisters ? ", 0" : ", 0, 0";
  return fill("wgmma.mma_async$0.sync.aligned.m64n$1k$2.$3.$4.$5 ", wgmma.sparse ? ".sp" : "",
              kColumns, (wgmma.sparse ? 512 : 256) / bits, wgmma.d, wgmma.a, wgmma.b) +
         operands;
}

std::string bodyOf(const Wgmma &wgmma, size_t registers, size_t chunksOfB) {
  constexpr size_t kBytesA = kRows * kChunksOfA * kChunkBytes;
  size_t bytesB = kColumns * chunksOfB * kChunkBytes;
  std::string body = fill(R"(
  .shared .align 1024 .b8 tile[$0];
  .reg .pred %p;
  .reg .b32 %t, %w, %tile, %i, %u, %v, %meta, %a<4>, %d<$1>;
  .reg .b64 %x, %y, %da, %db;
  mov.u32 %t, %tid.x;
  mov.u32 %w, %ctaid.x;
  mov.u32 %tile, tile;
)",
                          kBytesA + bytesB, registers);
  body += wgmma.inRegisters ? registersAt(0, 4, "  ld.global.b32 %a$0, [%x+$1];\n")
                            : toShared(0, kBytesA / 4, 0);
  body += toShared(1, bytesB / 4, kBytesA) +
          registersAt(2, registers, "  ld.global.b32 %d$0, [%x+$1];\n");
  if (wgmma.sparse)
    body += registersAt(3, 1, "  ld.global.b32 %meta, [%x];\n");
  body += fill(R"(
  fence.proxy.async.shared::cta;
  bar.sync 0;
  shr.u32 %u, %tile, 4;
  cvt.u64.u32 %y, %u;
  add.u64 %da, %y, $0;
  add.u64 %db, %y, $1;
  setp.$2.u32 %p, %t, %t;
  wgmma.fence.sync.aligned;
  $3;
  wgmma.commit_group.sync.aligned;
  wgmma.wait_group.sync.aligned 0;
)",
               descriptorOf(0, kRows), descriptorOf(kBytesA, kColumns), wgmma.fresh ? "ne" : "eq",
               instructionOf(wgmma, registers));
  return body + registersAt(wgmma.sparse ? 4 : 3, registers, "  st.global.b32 [%x+$1], %d$0;\n");
}

Values drawRows(const Wgmma &wgmma, std::string_view type, uint64_t seed, uint64_t seedOfPlaces,
                size_t words) {
  unsigned bits = elementBits(type);
  return wgmma.places ? drawSmallWords(type, seedOfPlaces, words)
                      : packElements(drawElements(type, seed, kBlocks, words * 32 / bits), bits);
}

std::string nameOf(const Wgmma &wgmma) {
  unsigned bits = elementBits(wgmma.a);
  std::string name =
      wgmma.sparse
          ? fill("wgmma.sp.m64n$0k$1.$2.$3", kColumns, 512 / bits, wgmma.d, wgmma.a)
          : fill("wgmma.m64n$0k$1.$2.$3.$4", kColumns, 256 / bits, wgmma.d, wgmma.a, wgmma.b);
  return name + (wgmma.inRegisters ? ".rs" : ".ss") + (wgmma.negated ? ".negated" : "") +
         (wgmma.fresh ? ".fresh" : "") + (wgmma.places ? "@places" : "");
}

Probe wgmmaProbe(const Wgmma &wgmma) {
  // Seeds of B, C and the metadata; of small integers those of A and B.
  constexpr uint64_t kSeedB = 1, kSeedC = 2, kSeedMetadata = 5, kSeedPlacesA = 10,
                     kSeedPlacesB = 30;
  unsigned bitsOfSum = elementBits(wgmma.d);
  size_t registers = kRows * kColumns * bitsOfSum / 32 / kThreads, chunksOfB = wgmma.sparse ? 4 : 2;
  size_t sums = kBlocks * kThreads * registers;
  Values a = drawRows(wgmma, wgmma.a, wgmma.seed, wgmma.seed + kSeedPlacesA,
                      kBlocks * kRows * kChunksOfA * kChunkWords);
  Values b = drawRows(wgmma, wgmma.b, wgmma.seed + kSeedB, wgmma.seed + kSeedPlacesB,
                      kBlocks * kColumns * chunksOfB * kChunkWords);
  Values c =
      wgmma.places
          ? Values(sums)
          : packElements(drawElements(wgmma.d, wgmma.seed + kSeedC, kBlocks, sums * 32 / bitsOfSum),
                         bitsOfSum);
  Probe probe{nameOf(wgmma),
              Entry{wgmma.sparse ? 5u : 4u}.around(bodyOf(wgmma, registers, chunksOfB)),
              {pack(wgmma.inRegisters ? inFragments(a) : inChunks(a, kRows, kChunksOfA), 32),
               pack(inChunks(b, kColumns, chunksOfB), 32), pack(c, 32)},
              {{4, sums}},
              {{kBlocks}, {kThreads}, {}}};
  if (wgmma.sparse)
    probe.inputs.push_back(
        pack(drawMetadata(wgmma.a, wgmma.seed + kSeedMetadata, kBlocks * kThreads), 32));
  probe.sums = !wgmma.places;
  return probe;
}

} // namespace

std::vector<Probe> wgmmaProbes() {
  std::vector<Probe> result;
  uint64_t seed = 20000;
  struct Types {
    const char *d, *a, *b;
  };
  for (auto [d, a, b] : {Types{"f32", "f16", "f16"},
                         {"f16", "f16", "f16"},
                         {"f32", "bf16", "bf16"},
                         {"f32", "tf32", "tf32"},
                         {"f32", "e4m3", "e4m3"},
                         {"f32", "e5m2", "e5m2"},
                         {"f32", "e4m3", "e5m2"},
                         {"f16", "e4m3", "e4m3"},
                         {"s32", "s8", "s8"},
                         {"s32", "u8", "u8"}})
    for (bool inRegisters : {false, true})
      result.push_back(wgmmaProbe({d, a, b, seed += 100, inRegisters}));
  result.push_back(
      wgmmaProbe({.d = "f32", .a = "f16", .b = "f16", .seed = seed + 100, .negated = true}));
  result.push_back(
      wgmmaProbe({.d = "f32", .a = "f16", .b = "f16", .seed = seed + 200, .fresh = true}));
  return result;
}

std::vector<Probe> sparseWgmmaProbes() {
  std::vector<Probe> result;
  uint64_t seed = 30000;
  for (auto [d, a] : {std::pair{"f32", "f16"},
                      {"f32", "bf16"},
                      {"f32", "tf32"},
                      {"f32", "e4m3"},
                      {"s32", "s8"}}) {
    for (bool inRegisters : {false, true})
      for (bool places : {true, false})
        result.push_back(wgmmaProbe({.d = d,
                                     .a = a,
                                     .b = a,
                                     .seed = seed + 10 * inRegisters + 50 * places,
                                     .inRegisters = inRegisters,
                                     .sparse = true,
                                     .places = places}));
    seed += 100;
  }
  return result;
}

} // namespace tile::hardware
