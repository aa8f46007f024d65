// Copies of bytes: bulk copies and reductions between global and shared memory, and cp.async.
#include "tests/hardware/Copies.h"
#include "tests/hardware/Text.h"

namespace tile::hardware {
namespace {

constexpr size_t kTries = 2000;

// Blocks of 1 KiB of global memory take those of another array.
Probe reduceProbe(const std::string &operation, const std::string &type, uint64_t seed) {
  constexpr size_t kElements = 512, kTileBytes = 1024;
  constexpr uint64_t kSeedsOfProbe = 8;
  std::string kind = type[0] == 's' || type == "b32" || type == "b64" ? "u" + type.substr(1) : type;
  std::vector<Values> values{draw(kind, seed * kSeedsOfProbe, kElements),
                             draw(kind, seed * kSeedsOfProbe + 1, kElements)};
  correlate(values, kind, seed);
  std::string body = beginCopies(kTileBytes) + loadTile(kTileBytes, 1) +
                     fill(R"(
  ld.param.u64 %x, [p0];
  mad.wide.u32 %x, %w, $0, %x;
  @%one cp.reduce.async.bulk.global.shared::cta.bulk_group.$1.$2 [%x], [%tile], $0;
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group 0;
)",
                          kTileBytes, operation, type);
  unsigned bits = bitsOf(kind);
  return {fill("bulk.reduce.$0.$1", operation, type),
          Entry{2}.around(body),
          {pack(values[0], bits), pack(values[1], bits)},
          {},
          {{static_cast<uint32_t>(kElements * bits / 8 / kTileBytes)}, {128}, {}},
          {},
          {0}};
}

// From 32 bytes on to 16 bytes after the beginning of the tile.
Probe copyProbe(size_t bytes) {
  constexpr size_t kTileBytes = 4096, kElements = 2048;
  constexpr uint64_t kSeed = 63100;
  std::string body = beginCopies(kTileBytes) + expectBytes(bytes) +
                     fill(R"(
  ld.param.u64 %x, [p0];
  add.u32 %u0, %tile, 16;
  @%one cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%u0], [%x+32], $0, [%full];
  bar.sync 0;
)",
                          bytes);
  body += waitForPhase("WAIT", kTries) + storeDone(2) + dumpTile(kTileBytes, 1);
  return {fill("bulk.load.$0", bytes),
          Entry{3}.around(body),
          {drawElements("u32", kSeed, kElements)},
          {{4, kTileBytes / 4}, {4, 1}},
          {{1}, {128}, {}}};
}

// Copies of 4, 8 and 16 bytes that take fewer and fill up with zeros, each to 16 bytes of its own.
Probe partialCopyProbe() {
  constexpr size_t kTileBytes = 2048, kPlaceBytes = 16, kElements = 128;
  constexpr uint64_t kSeed = 63000;
  std::string body = beginCopies(kTileBytes) + "  ld.param.u64 %x, [p0];\n";
  size_t place = 0;
  for (size_t bytes : {4, 8, 16})
    for (size_t taken = 0; taken <= bytes; ++taken, place += kPlaceBytes)
      body += fill("  add.u32 %u0, %tile, $0;\n  mov.u32 %u1, $1;\n  @%one "
                   "cp.async.ca.shared.global [%u0], [%x+$0], "
                   "$2, %u1;\n",
                   place, taken, bytes);
  body += "  cp.async.wait_all;\n  bar.sync 0;\n" + dumpTile(kTileBytes, 1);
  return {"cp.async.sizes",
          Entry{2}.around(body),
          {drawElements("u32", kSeed, kElements)},
          {{4, kTileBytes / 4}},
          {{1}, {128}, {}}};
}

} // namespace

std::vector<Probe> bulkProbes() {
  std::vector<Probe> result;
  uint64_t seed = 62000;
  for (auto [operation, types] : {std::pair{"add.noftz", "f16 bf16"},
                                  {"add", "f32 f64"},
                                  {"min max", "f16"},
                                  {"min max", "bf16"},
                                  {"add", "u32 s32 u64"},
                                  {"min", "s32"},
                                  {"max", "u32"},
                                  {"min", "s64"},
                                  {"max", "u64"},
                                  {"inc dec", "u32"},
                                  {"and or", "b32"},
                                  {"xor and", "b64"}})
    for (const std::string &one : wordsOf(operation))
      for (const std::string &type : wordsOf(types))
        result.push_back(reduceProbe(one, type, seed++));
  for (size_t bytes : {16, 48, 112, 1024, 4080})
    result.push_back(copyProbe(bytes));
  result.push_back(partialCopyProbe());
  return result;
}

} // namespace tile::hardware
