// Which element each register of a wmma fragment holds: the elements of a matrix are their own numbers in memory.
#include "tests/hardware/Probe.h"
#include "tests/hardware/Text.h"

#include <cstdio>
#include <numeric>

namespace tile::hardware {
namespace {

struct Fragment {
  const char *shape, *matrix, *layout, *type;
  size_t registers;
  unsigned bits; // of an element
};

Probe fragmentProbe(const Fragment &fragment) {
  size_t m = 0, n = 0, k = 0;
  std::sscanf(fragment.shape, "m%zun%zuk%zu", &m, &n, &k);
  size_t rows = *fragment.matrix == 'b' ? k : m, columns = *fragment.matrix == 'a' ? k : n;
  unsigned width = std::max(32u, fragment.bits);
  std::string registerType = width == 64 ? "f64" : "b32";
  std::string body = fill(R"(
  .reg .$0 %f<8>;
  .reg .b32 %lane;
  .reg .b64 %x;
  mov.u32 %lane, %laneid;
  ld.param.u64 %x, [p0];
  wmma.load.$1.sync.aligned.$2.$3.global.$4 $5, [%x], $6;
  ld.param.u64 %x, [p1];
  mad.wide.u32 %x, %lane, $7, %x;
)",
                          registerType, fragment.matrix, fragment.layout, fragment.shape,
                          fragment.type, vectorOf("f", fragment.registers),
                          *fragment.layout == 'r' ? columns : rows, fragment.registers * width / 8);
  for (size_t i = 0; i < fragment.registers; ++i)
    body += fill("  st.global.$0 [%x+$1], %f$2;\n", registerType, i * width / 8, i);
  Values numbers(rows * columns);
  std::iota(numbers.begin(), numbers.end(), uint64_t{0});
  return {fill("wmma.fragment.$0.$1.$2.$3", fragment.shape, fragment.matrix, fragment.layout,
               fragment.type),
          Entry{2}.around(body),
          {pack(numbers, fragment.bits)},
          {{width / 8, 32 * fragment.registers}},
          {{1}, {32}, {}}};
}

} // namespace

std::vector<Probe> fragmentProbes() {
  std::vector<Probe> result;
  for (const Fragment &fragment : {Fragment{"m16n16k16", "a", "row", "f16", 8, 16},
                                   {"m16n16k16", "a", "col", "f16", 8, 16},
                                   {"m16n16k16", "b", "row", "f16", 8, 16},
                                   {"m16n16k16", "b", "col", "f16", 8, 16},
                                   {"m16n16k16", "c", "row", "f16", 4, 16},
                                   {"m16n16k16", "c", "row", "f32", 8, 32},
                                   {"m32n8k16", "a", "row", "f16", 8, 16},
                                   {"m32n8k16", "b", "col", "f16", 8, 16},
                                   {"m32n8k16", "c", "row", "f32", 8, 32},
                                   {"m8n32k16", "a", "row", "f16", 8, 16},
                                   {"m8n32k16", "b", "col", "f16", 8, 16},
                                   {"m8n32k16", "c", "row", "f32", 8, 32},
                                   {"m16n16k16", "a", "row", "bf16", 4, 16},
                                   {"m16n16k16", "b", "col", "bf16", 4, 16},
                                   {"m16n16k8", "a", "row", "tf32", 4, 32},
                                   {"m16n16k8", "b", "col", "tf32", 4, 32},
                                   {"m16n16k16", "a", "row", "s8", 2, 8},
                                   {"m16n16k16", "b", "col", "s8", 2, 8},
                                   {"m16n16k16", "c", "row", "s32", 8, 32},
                                   {"m8n8k4", "a", "row", "f64", 1, 64},
                                   {"m8n8k4", "b", "col", "f64", 1, 64},
                                   {"m8n8k4", "c", "row", "f64", 2, 64}})
    result.push_back(fragmentProbe(fragment));
  return result;
}

} // namespace tile::hardware
