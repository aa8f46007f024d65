// mma of one warp, dense and sparse: sums of many kinds of factors, and small integers that tell where elements
// belong.
#include "tests/hardware/Probe.h"
#include "tests/hardware/TensorElements.h"
#include "tests/hardware/Text.h"

#include <cstdio>

namespace tile::hardware {
namespace {

constexpr uint32_t kWarps = 8;

struct Mma {
  const char *shape, *d, *a, *b;
  uint64_t seed;
  const char *suffix = ""; // of the name: .satfinite, or the operation on bits
  bool sparse = false;
  int selector = 0;
  bool places = false; // small integers
};

constexpr const char *kSparse = ".sp::ordered_metadata";

// 32 lanes' registers of a matrix, register by register.
struct Fragment {
  std::string_view type;
  size_t registers;
  unsigned bits; // of a register

  Fragment(std::string_view type, size_t elements)
      : type(type), bits(elementBits(type) == 64 ? 64 : 32) {
    registers = elements * elementBits(type) / 32 / bits;
  }
  size_t words(uint32_t warps) const { return 32 * registers * warps; }
  Buffer draw(uint64_t seed, uint32_t warps) const {
    return pack(
        packElements(drawElements(type, seed, warps, words(warps) * bits / elementBits(type)),
                     elementBits(type)),
        bits);
  }
  Buffer drawPlaces(uint64_t seed, uint32_t warps) const {
    return pack(drawSmallWords(type, seed, words(warps)), bits);
  }
  Buffer zeros(uint32_t warps) const { return pack(Values(words(warps)), bits); }
  // %x becomes the lane's place in an array of such fragments.
  std::string place(size_t parameter) const {
    return fill("  ld.param.u64 %x, [p$0];\n  mad.lo.u32 %u, %w, $1, %lane;\n  mad.wide.u32 %x, "
                "%u, $2, %x;\n",
                parameter, 32 * registers, bits / 8);
  }
  std::string load(std::string_view name, size_t parameter) const {
    std::string code = fill("  .reg .b$0 %$1<$2>;\n", bits, name, registers) + place(parameter);
    for (size_t r = 0; r < registers; ++r)
      code += fill("  ld.global.b$0 %$1$2, [%x+$3];\n", bits, name, r, 32 * r * bits / 8);
    return code;
  }
  std::string store(std::string_view name, size_t parameter) const {
    std::string code = place(parameter);
    for (size_t r = 0; r < registers; ++r)
      code += fill("  st.global.b$0 [%x+$1], %$2$3;\n", bits, 32 * r * bits / 8, name, r);
    return code;
  }
};

std::string instructionOf(const Mma &mma) {
  bool ofBits = std::string_view(mma.a) == "b1";
  return fill("mma$0.sync.aligned.$1.row.col$2.$3.$4.$5.$3$6", mma.sparse ? kSparse : "", mma.shape,
              ofBits ? "" : mma.suffix, mma.d, mma.a, mma.b,
              ofBits ? mma.suffix + std::string(".popc") : "");
}

std::string nameOf(const Mma &mma) {
  return fill("mma$0.$1.$2.$3.$4$5", mma.sparse ? kSparse : "", mma.shape, mma.d, mma.a, mma.b,
              mma.suffix) +
         (mma.sparse ? "@" + std::to_string(mma.selector) : "") + (mma.places ? "@places" : "");
}

Probe mmaProbe(const Mma &mma) {
  // Seeds of A, B, C and the metadata; of small integers those of A and B.
  constexpr uint64_t kSeedB = 1, kSeedC = 2, kSeedMetadata = 5, kSeedPlacesA = 10,
                     kSeedPlacesB = 30;
  size_t m = 0, n = 0, k = 0;
  std::sscanf(mma.shape, "m%zun%zuk%zu", &m, &n, &k);
  uint32_t warps = mma.places ? 4 : kWarps;
  Fragment a(mma.a, m * k / (mma.sparse ? 2 : 1)), b(mma.b, n * k), c(mma.d, m * n);
  std::string body = R"(
  .reg .b32 %lane, %w, %u, %meta;
  .reg .b64 %x;
  mov.u32 %lane, %tid.x;
  mov.u32 %w, %ctaid.x;
)" + a.load("a", 0) + b.load("b", 1) +
                     c.load("c", 2);
  std::vector<Buffer> inputs;
  if (mma.places)
    inputs = {a.drawPlaces(mma.seed + kSeedPlacesA, warps),
              b.drawPlaces(mma.seed + kSeedPlacesB, warps), c.zeros(warps)};
  else
    inputs = {a.draw(mma.seed, warps), b.draw(mma.seed + kSeedB, warps),
              c.draw(mma.seed + kSeedC, warps)};
  std::string tail;
  if (mma.sparse) {
    body += "  ld.param.u64 %x, [p3];\n  mad.lo.u32 %u, %w, 32, %lane;\n  mad.wide.u32 %x, %u, 4, "
            "%x;\n  ld.global.b32 %meta, [%x];\n";
    inputs.push_back(pack(drawMetadata(mma.a, mma.seed + kSeedMetadata, 32 * warps), 32));
    tail = ", %meta, " + std::to_string(mma.selector);
  }
  body += fill("  .reg .b$0 %d<$1>;\n  $2 $3, $4, $5, $6$7;\n", c.bits, c.registers,
               instructionOf(mma), vectorOf("d", c.registers), vectorOf("a", a.registers),
               vectorOf("b", b.registers), vectorOf("c", c.registers), tail);
  body += c.store("d", inputs.size());
  Probe probe{nameOf(mma),
              Entry{inputs.size() + 1, 0, "8.7"}.around(body),
              {},
              {{c.bits / 8, c.words(warps)}},
              {{warps}, {32}, {}}};
  probe.inputs = std::move(inputs);
  probe.sums = !mma.places;
  return probe;
}

void addDense(std::vector<Probe> &result) {
  uint64_t seed = 5000;
  for (Mma mma : {Mma{"m16n8k8", "f32", "f16", "f16", 0},
                  {"m16n8k16", "f32", "f16", "f16", 0},
                  {"m16n8k8", "f16", "f16", "f16", 0},
                  {"m16n8k16", "f16", "f16", "f16", 0},
                  {"m16n8k8", "f32", "bf16", "bf16", 0},
                  {"m16n8k16", "f32", "bf16", "bf16", 0},
                  {"m16n8k4", "f32", "tf32", "tf32", 0},
                  {"m16n8k8", "f32", "tf32", "tf32", 0},
                  {"m16n8k32", "f32", "e4m3", "e4m3", 0},
                  {"m16n8k32", "f16", "e4m3", "e4m3", 0},
                  {"m16n8k32", "f32", "e5m2", "e5m2", 0},
                  {"m16n8k32", "f16", "e5m2", "e5m2", 0},
                  {"m16n8k32", "f32", "e4m3", "e5m2", 0},
                  {"m16n8k32", "f16", "e4m3", "e5m2", 0},
                  {"m16n8k16", "f32", "e4m3", "e4m3", 0},
                  {"m16n8k16", "s32", "s8", "s8", 0},
                  {"m16n8k32", "s32", "s8", "s8", 0},
                  {"m16n8k32", "s32", "u8", "s8", 0, ".satfinite"},
                  {"m16n8k64", "s32", "s4", "u4", 0},
                  {"m16n8k256", "s32", "b1", "b1", 0, ".xor"},
                  {"m16n8k256", "s32", "b1", "b1", 0, ".and"},
                  {"m8n8k4", "f64", "f64", "f64", 0},
                  {"m16n8k4", "f64", "f64", "f64", 0},
                  {"m16n8k8", "f64", "f64", "f64", 0},
                  {"m16n8k16", "f64", "f64", "f64", 0}}) {
    mma.seed = seed += 100;
    result.push_back(mmaProbe(mma));
  }
}

void addSparse(std::vector<Probe> &result) {
  struct Form {
    const char *shape, *d, *a;
    int selectors;
  };
  uint64_t seed = 9000;
  for (auto [shape, d, a, selectors] : {Form{"m16n8k16", "f32", "f16", 4},
                                        {"m16n8k32", "f32", "f16", 2},
                                        {"m16n8k32", "f32", "bf16", 2},
                                        {"m16n8k8", "f32", "tf32", 4},
                                        {"m16n8k16", "f32", "tf32", 2},
                                        {"m16n8k32", "s32", "s8", 2},
                                        {"m16n8k64", "s32", "s8", 1},
                                        {"m16n8k64", "s32", "s4", 2},
                                        {"m16n8k128", "s32", "s4", 1},
                                        {"m16n8k64", "f32", "e4m3", 1}}) {
    for (int selector = 0; selector < selectors; ++selector)
      result.push_back(mmaProbe({shape, d, a, a, seed += 100, "", true, selector, true}));
    if (std::string_view(d) == "f32")
      result.push_back(mmaProbe({shape, d, a, a, seed += 100, "", true}));
  }
}

} // namespace

std::vector<Probe> mmaProbes() {
  std::vector<Probe> result;
  addDense(result);
  addSparse(result);
  return result;
}

} // namespace tile::hardware
