// Tensor copies into shared memory, stores and reductions out of it.
#include "tests/hardware/Copies.h"
#include "tests/hardware/Text.h"

namespace tile::hardware {
namespace {

constexpr size_t kTileBytes = 8192;
constexpr size_t kTries = 2000, kEarlyTries = 64;

// Block i loads the box at place i to the tile + `at`. With `more` the barrier expects more bytes than the box
// has, must still wait, and ends when they are completed.
Probe loadProbe(const std::string &name, const BoxedTensor &tensor, const Places &places,
                uint64_t seed, size_t at = 0, size_t more = 0) {
  size_t rank = tensor.shape.size();
  std::string body = beginCopies(kTileBytes) + loadCoordinates(rank, 1) +
                     expectBytes(tensor.boxBytes() + more) + takeMap();
  body +=
      fill("  add.u32 %u0, %tile, $0;\n  @%one cp.async.bulk.tensor.$1d.shared::cluster.global.tile"
           ".mbarrier::complete_tx::bytes [%u0], [%map, $2], [%full];\n  bar.sync 0;\n",
           at, rank, coordinates(rank));
  if (more)
    body += waitForPhase("EARLY", kEarlyTries) + storeDone(3, 2, 0) +
            fill("  bar.sync 0;\n  @%one mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%full], "
                 "$0;\n",
                 more);
  body += waitForPhase("WAIT", kTries) + storeDone(3, 2, 1) + "  bar.sync 0;\n" +
          dumpTile(kTileBytes, 2);
  auto blocks = static_cast<uint32_t>(places.size());
  return {name,
          Entry{4, 1}.around(body),
          {drawElements(tensor.type, seed, tensor.elements()), packPlaces(places)},
          {{4, blocks * kTileBytes / 4}, {4, 2 * blocks}},
          {{blocks}, {128}, {}},
          {{0, tensor.params()}}};
}

// Block i stores box i of its tile, or combines it by `operation` with what is there. Boxes do not overlap.
Probe storeProbe(const std::string &name, const BoxedTensor &tensor, const std::string &operation,
                 const Places &places, uint64_t seed, size_t at = 0) {
  constexpr uint64_t kSeedOfSource = 3000;
  size_t rank = tensor.shape.size();
  std::string copy = operation.empty() ? "cp.async.bulk.tensor" : "cp.reduce.async.bulk.tensor";
  std::string body =
      beginCopies(kTileBytes) + loadCoordinates(rank, 1) + loadTile(kTileBytes, 2) + takeMap();
  body += fill(R"(  add.u32 %u0, %tile, $0;
  @%one $1.$2d.global.shared::cta$3.tile.bulk_group [%map, $4], [%u0];
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group 0;
)",
               at, copy, rank, operation.empty() ? "" : "." + operation, coordinates(rank));
  return {name,
          Entry{3, 1}.around(body),
          {drawElements(tensor.type, seed, tensor.elements()), packPlaces(places),
           drawElements(tensor.type, seed + kSeedOfSource,
                        places.size() * kTileBytes / tensor.elementBytes())},
          {},
          {{static_cast<uint32_t>(places.size())}, {128}, {}},
          {{0, tensor.params()}},
          {0}};
}

// The innermost coordinate is a multiple of 16 bytes: hardware takes no other.
void addLoadsOfTypes(std::vector<Probe> &result) {
  struct Case {
    const char *type;
    std::vector<uint32_t> box;
  };
  uint64_t seed = 50001;
  for (const Case &of : {Case{"u8", {8, 64}},
                         {"u16", {8, 16}},
                         {"f16", {16, 32}},
                         {"bf16", {7, 24}},
                         {"u32", {8, 8}},
                         {"s32", {3, 4}},
                         {"f32", {8, 8}},
                         {"u64", {8, 4}},
                         {"s64", {8, 8}},
                         {"f64", {5, 6}}}) {
    bool bytes = of.type == std::string("u8");
    BoxedTensor tensor{of.type, {61, bytes ? 96u : 50u}, of.box};
    tensor.padding = bytes ? 0 : 14;
    auto step = static_cast<int32_t>(16 / tensor.elementBytes());
    result.push_back(loadProbe(fill("tensor.load.$0", of.type), tensor,
                               {{0, 0},
                                {-3, -step},
                                {5, step},
                                {60, 48 / step * step},
                                {63, 4 * step},
                                {1000, 1000 * step},
                                {-100, step},
                                {-8, -8 * step},
                                {2, -2 * step}},
                               seed++));
  }
  for (const char *type : {"f16", "bf16", "f32", "f64"})
    result.push_back(
        loadProbe(fill("tensor.load.$0.nan", type),
                  {.type = type, .shape = {20, 30}, .box = {8, 8}, .fillNaN = true, .padding = 2},
                  {{0, 0}, {16, 24}, {-4, -8}, {100, 0}}, seed++));
}

void addSwizzledLoads(std::vector<Probe> &result) {
  uint64_t seed = 50015;
  for (unsigned swizzle : {32u, 64u, 128u})
    for (size_t at : {0, 128, 256, 512, 640, 1024, 896})
      result.push_back(loadProbe(fill("tensor.load.swizzle$0.at$1", swizzle, at),
                                 {"f16", {40, 64}, {13, swizzle / 2}, swizzle},
                                 {{0, 0}, {3, 16}, {35, 40}, {-5, -8}}, seed++, at));
  const Places places{{0, 0}, {3, 16}, {35, 40}};
  result.push_back(
      loadProbe("tensor.load.swizzle128.narrow", {"f16", {40, 64}, {13, 32}, 128}, places, 50036));
  result.push_back(
      loadProbe("tensor.load.swizzle64.narrow", {"f16", {40, 64}, {13, 8}, 64}, places, 50037));
  result.push_back(loadProbe("tensor.load.swizzle128.3d", {"bf16", {5, 9, 64}, {3, 4, 64}, 128},
                             {{0, 0, 0}, {-1, 2, 8}, {3, 7, 16}}, 50042));
}

void addLoadsOfRanks(std::vector<Probe> &result) {
  result.push_back(
      loadProbe("tensor.load.1d", {"f32", {1000}, {64}}, {{0}, {-8}, {988}, {5000}}, 50038));
  result.push_back(loadProbe("tensor.load.3d", {"f16", {5, 9, 16}, {3, 4, 8}},
                             {{0, 0, 0}, {-1, 2, 8}, {3, 7, 8}, {4, -3, -8}, {5, 0, 0}}, 50039));
  result.push_back(loadProbe("tensor.load.4d", {"u8", {3, 4, 5, 32}, {2, 2, 3, 16}},
                             {{0, 0, 0, 0}, {-1, 1, 4, 16}, {2, 3, 3, 16}, {0, -1, -2, -16}},
                             50040));
  result.push_back(loadProbe("tensor.load.5d", {"f32", {3, 2, 4, 5, 8}, {2, 2, 2, 3, 4}},
                             {{0, 0, 0, 0, 0}, {-1, 1, 1, 4, 4}, {2, 0, -1, 3, -4}}, 50041));
  // Rows that share memory.
  BoxedTensor tensor{.type = "f32", .shape = {16, 8}, .box = {8, 8}, .strides = {16}};
  result.push_back(loadProbe("tensor.load.overlapping", tensor, {{0, 0}, {12, 4}}, 50043));
  tensor.strides = {0};
  result.push_back(loadProbe("tensor.load.same", tensor, {{0, 0}, {12, 4}}, 50044));
}

void addLoadsThatConvert(std::vector<Probe> &result) {
  for (const char *type : {"tf32", "tf32.ftz", "f32.ftz"})
    result.push_back(loadProbe(fill("tensor.load.$0", type), {type, {20, 32}, {8, 8}},
                               {{0, 0}, {4, 8}, {8, 16}, {12, 24}, {18, 28}}, 50045));
}

void addLoadsThatCount(std::vector<Probe> &result) {
  constexpr size_t kMore = 16;
  const Places places{{0, 0}, {18, 24}, {100, 104}, {-100, 0}, {-4, -8}};
  result.push_back(loadProbe("tensor.bytes", {"f16", {20, 32}, {8, 16}}, places, 50046, 0, kMore));
  result.push_back(
      loadProbe("tensor.bytes.swizzle", {"f16", {20, 32}, {8, 32}, 128}, places, 50047, 0, kMore));
}

} // namespace

std::vector<Probe> tensorLoadProbes() {
  std::vector<Probe> result;
  addLoadsOfTypes(result);
  addSwizzledLoads(result);
  addLoadsOfRanks(result);
  addLoadsThatConvert(result);
  addLoadsThatCount(result);
  return result;
}

std::vector<Probe> tensorStoreProbes() {
  std::vector<Probe> result;
  uint64_t seed = 60001;
  for (const auto &[type, box] : {std::pair<const char *, std::vector<uint32_t>>{"u8", {8, 16}},
                                  {"f16", {8, 16}},
                                  {"u64", {4, 4}}}) {
    BoxedTensor tensor{type, {62, 48}, box};
    tensor.padding = tensor.elementBytes() == 1 ? 0 : 16;
    auto step = static_cast<int32_t>(16 / tensor.elementBytes());
    result.push_back(storeProbe(
        fill("tensor.store.$0", type), tensor, "",
        {{0, 0}, {10, 2 * step}, {20, step}, {60, 48 / step * step}, {30, 1000 * step}, {1000, 0}},
        seed++));
  }
  for (unsigned swizzle : {32u, 64u, 128u})
    for (size_t at : {0, 384})
      result.push_back(storeProbe(fill("tensor.store.swizzle$0.at$1", swizzle, at),
                                  {"f16", {40, 64}, {11, swizzle / 2}, swizzle}, "",
                                  {{0, 0}, {32, 16}}, seed++, at));
  for (auto [type, operations] : {std::pair{"f16", "add min max"},
                                  {"bf16", "add min max"},
                                  {"f32", "add"},
                                  {"u32", "add min max inc dec and or xor"},
                                  {"s32", "add min max and"},
                                  {"u64", "add min max and or xor"},
                                  {"s64", "min max"},
                                  {"f64", "add"}})
    for (const std::string &operation : wordsOf(operations))
      result.push_back(storeProbe(fill("tensor.reduce.$0.$1", operation, type),
                                  {type, {8, 16}, {8, 16}}, operation, {{0, 0}}, seed++));
  return result;
}

} // namespace tile::hardware
