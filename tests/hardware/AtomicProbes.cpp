// Atomics, each of which has a place of its own: what was returned, and what the place holds then.
#include "tests/hardware/Probe.h"
#include "tests/hardware/Text.h"

namespace tile::hardware {
namespace {

constexpr size_t kThreads = 128; // one block
constexpr uint64_t kSeedsOfProbe = 8;

struct Atomic {
  std::string space;
  std::string name;
  std::string kind;    // of the place and the operands
  size_t operands = 1; // 2 for cas
  size_t vector = 0;   // elements of a vector
  uint64_t seed = 0;
};

// Calls line(i) for each element, one after the other.
template <class Line> std::string lines(size_t count, Line line) {
  std::string result;
  for (size_t i = 0; i < count; ++i)
    result += line(i);
  return result;
}

Probe atomicProbe(const Atomic &atomic) {
  unsigned bits = bitsOf(atomic.kind);
  size_t count = std::max<size_t>(1, atomic.vector), bytes = bits / 8 * count,
         arrays = 1 + atomic.operands;
  auto at = [&](size_t i) { return i * bits / 8; };
  auto element = [&](std::string_view name) {
    return atomic.vector ? vectorOf(name, count) : fill("%$00", name);
  };
  std::string body = fill(R"(
  .shared .align 16 .b8 tile[$0];
  .reg .b$1 %v<4>, %o<4>, %s<4>, %old<4>;
  .reg .b32 %t, %place;
  .reg .b64 %x, %out;
  mov.u32 %t, %tid.x;
)",
                          kThreads * bytes, bits);
  const char *registers[] = {"v", "o", "s"};
  for (size_t k = 0; k < arrays; ++k) {
    body += fill("  ld.param.u64 %x, [p$0];\n  mad.wide.u32 %x, %t, $1, %x;\n", k, bytes);
    body += lines(count, [&](size_t i) {
      return fill("  ld.global.b$0 %$1$2, [%x+$3];\n", bits, registers[k], i, at(i));
    });
  }
  body +=
      fill("  ld.param.u64 %out, [p$0];\n  mad.wide.u32 %out, %t, $1, %out;\n", arrays, 2 * bytes);
  body += fill("  mov.u32 %place, tile;\n  mad.lo.u32 %place, %t, $0, %place;\n", bytes);
  std::string place = atomic.space == "shared" ? "place" : "out";
  body += lines(count, [&](size_t i) {
    return fill("  st.$0.b$1 [%$2+$3], %v$4;\n", atomic.space, bits, place, at(i), i);
  });
  body += fill("  $0 $1, [%$2], $3$4;\n", atomic.name, element("old"), place, element("o"),
               atomic.operands > 1 ? ", " + element("s") : "");
  body += lines(count, [&](size_t i) {
    return fill("  ld.$0.b$1 %v$2, [%$3+$4];\n", atomic.space, bits, i, place, at(i)) +
           fill("  st.global.b$0 [%out+$1], %v$2;\n  st.global.b$0 [%out+$3], %old$2;\n", bits,
                at(i), i, bytes + at(i));
  });
  std::vector<Values> values;
  for (size_t k = 0; k < arrays; ++k)
    values.push_back(draw(atomic.kind, atomic.seed * kSeedsOfProbe + k, kThreads * count));
  correlate(values, atomic.kind, atomic.seed);
  Probe probe{atomic.name,
              Entry{arrays + 1}.around(body),
              {},
              {{bits / 8, 2 * kThreads * count}},
              {{1}, {kThreads}, {}}};
  for (const Values &array : values)
    probe.inputs.push_back(pack(array, bits));
  return probe;
}

} // namespace

std::vector<Probe> atomicProbes() {
  std::vector<Probe> result;
  uint64_t seed = 42000;
  for (const char *space : {"global", "shared"}) {
    auto add = [&](const char *operation, const char *kind, size_t operands) {
      result.push_back(atomicProbe(
          {space, fill("atom.relaxed.cta.$0.$1", space, operation), kind, operands, 0, ++seed}));
    };
    for (auto [operation, kind] : {std::pair{"add.f32", "f32"},
                                   {"add.f64", "f64"},
                                   {"add.noftz.f16", "f16"},
                                   {"add.noftz.bf16", "bf16"},
                                   {"add.noftz.f16x2", "f16x2"},
                                   {"add.noftz.bf16x2", "bf16x2"},
                                   {"add.u32", "u32"},
                                   {"add.u64", "u64"},
                                   {"min.s32", "u32"},
                                   {"max.u32", "u32"},
                                   {"min.s64", "u64"},
                                   {"max.u64", "u64"},
                                   {"inc.u32", "u32"},
                                   {"dec.u32", "u32"},
                                   {"and.b32", "u32"},
                                   {"or.b64", "u64"},
                                   {"xor.b32", "u32"},
                                   {"exch.b64", "u64"}})
      add(operation, kind, 1);
    for (const char *width : {"16", "32", "64"})
      add(fill("cas.b$0", width).c_str(), fill("u$0", width).c_str(), 2);
  }
  struct Vector {
    const char *operation, *kind;
    size_t count;
  };
  for (auto [operation, kind, count] : {Vector{"add", "f32", 2},
                                        {"add", "f32", 4},
                                        {"add.noftz", "f16", 2},
                                        {"add.noftz", "bf16x2", 4},
                                        {"min.noftz", "f16x2", 2},
                                        {"max.noftz", "bf16", 4}})
    result.push_back(
        atomicProbe({"global", fill("atom.relaxed.gpu.global.$0.v$1.$2", operation, count, kind),
                     kind, 1, count, ++seed}));
  return result;
}

} // namespace tile::hardware
