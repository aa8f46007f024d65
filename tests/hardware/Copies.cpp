#include "tests/hardware/Copies.h"
#include "tests/hardware/Text.h"

#include <algorithm>
#include <numeric>
#include <stdexcept>

namespace tile::hardware {
namespace {

constexpr size_t kWordBytes = 4;

// Runs `code` for the words %u0 = t, t + 128, ... below `words`.
std::string forWords(std::string_view label, size_t words, const std::string &code) {
  return fill("  mov.u32 %u0, %t;\n$0:\n", label) + code +
         fill("  add.u32 %u0, %u0, 128;\n  setp.lt.u32 %q, %u0, $1;\n  @%q bra $0;\n", label,
              words);
}

// %x becomes the address of word %u0 of the block's part of an array.
std::string placeOfWord(size_t words, size_t parameter) {
  return fill(
      "  mad.lo.u32 %u1, %w, $0, %u0;\n  ld.param.u64 %x, [p$1];\n  mad.wide.u32 %x, %u1, 4, %x;\n",
      words, parameter);
}

} // namespace

std::string beginCopies(size_t tileBytes) {
  return fill(R"(
  .shared .align 1024 .b8 tile[$0];
  .shared .align 8 .b64 full;
  .reg .pred %p, %q, %one;
  .reg .b32 %t, %w, %tile, %full, %done, %c<5>, %u<4>;
  .reg .b64 %x, %y, %map;
  mov.u32 %t, %tid.x;
  mov.u32 %w, %ctaid.x;
  mov.u32 %tile, tile;
  mov.u32 %full, full;
  setp.eq.u32 %one, %t, 0;
)",
              tileBytes) +
         forWords("FILL", tileBytes / kWordBytes,
                  "  mad.lo.u32 %u1, %u0, 4, %tile;\n  st.shared.b32 [%u1], 0xcdcdcdcd;\n") +
         "  fence.proxy.async.shared::cta;\n  bar.sync 0;\n";
}

std::string waitForPhase(std::string_view label, size_t tries) {
  return fill(R"(
  mov.u32 %u3, $1;
$0:
  mbarrier.try_wait.parity.shared::cta.b64 %p, [%full], 0;
  selp.b32 %done, 1, 0, %p;
  sub.u32 %u3, %u3, 1;
  setp.ne.and.u32 %q, %u3, 0, !%p;
  @%q bra $0;
)",
              label, tries);
}

std::string storeDone(size_t parameter, size_t words, size_t word) {
  return fill("  ld.param.u64 %x, [p$0];\n  mad.wide.u32 %x, %w, $1, %x;\n  @%one st.global.b32 "
              "[%x+$2], %done;\n",
              parameter, kWordBytes * words, kWordBytes * word);
}

std::string dumpTile(size_t tileBytes, size_t parameter) {
  return forWords("DUMP", tileBytes / kWordBytes,
                  placeOfWord(tileBytes / kWordBytes, parameter) +
                      "  mad.lo.u32 %u1, %u0, 4, %tile;\n  ld.shared.b32 %u2, [%u1];\n  "
                      "st.global.b32 [%x], %u2;\n");
}

std::string loadTile(size_t tileBytes, size_t parameter) {
  return forWords("TAKE", tileBytes / kWordBytes,
                  placeOfWord(tileBytes / kWordBytes, parameter) +
                      "  ld.global.b32 %u2, [%x];\n  mad.lo.u32 %u1, %u0, 4, %tile;\n  "
                      "st.shared.b32 [%u1], %u2;\n") +
         "  fence.proxy.async.shared::cta;\n  bar.sync 0;\n";
}

std::string expectBytes(size_t bytes) {
  return fill(R"(
  @%one mbarrier.init.shared::cta.b64 [%full], 1;
  fence.mbarrier_init.release.cluster;
  fence.proxy.async;
  @%one mbarrier.arrive.expect_tx.shared::cta.b64 _, [%full], $0;
)",
              bytes);
}

Buffer drawElements(std::string_view type, uint64_t seed, size_t count) {
  std::string kind(type.substr(0, type.find('.')));
  if (kind == "tf32")
    kind = "f32";
  if (kind[0] == 's' || (kind[0] == 'b' && kind[1] != 'f'))
    kind[0] = 'u';
  return pack(draw(kind, seed, count), bitsOf(kind));
}

size_t BoxedTensor::elementBytes() const { return device::sizeOf(params().type); }

size_t BoxedTensor::elements() const {
  return std::accumulate(shape.begin(), shape.end() - 1, size_t{1}, std::multiplies<>()) *
         (shape.back() + padding);
}

size_t BoxedTensor::boxBytes() const {
  return std::accumulate(box.begin(), box.end(), elementBytes(), std::multiplies<>());
}

device::TensorMapParams BoxedTensor::params() const {
  device::TensorMapParams result;
  result.type = device::TensorMapType::U8;
  while (device::nameOf(result.type) != type) {
    if (device::sizeOf(result.type) == 0)
      throw std::invalid_argument("there is no element type " + type);
    result.type = static_cast<device::TensorMapType>(static_cast<int>(result.type) + 1);
  }
  result.rank = static_cast<uint32_t>(shape.size());
  std::reverse_copy(shape.begin(), shape.end(), result.dims.begin());
  std::reverse_copy(box.begin(), box.end(), result.box.begin());
  uint64_t stride = (shape.back() + padding) * device::sizeOf(result.type);
  for (size_t d = 0; d + 1 < shape.size(); ++d) {
    result.strides[d] = strides.empty() ? stride : strides[strides.size() - 1 - d];
    stride *= result.dims[d + 1];
  }
  while (device::spanOf(result.swizzle) != swizzle)
    result.swizzle = static_cast<device::TensorMapSwizzle>(static_cast<int>(result.swizzle) + 1);
  result.fill = fillNaN ? device::TensorMapFill::NaN : device::TensorMapFill::Zero;
  return result;
}

Buffer packPlaces(const Places &places) {
  Values values;
  for (const std::vector<int32_t> &place : places)
    for (size_t d = place.size(); d-- > 0;)
      values.push_back(static_cast<uint32_t>(place[d]));
  return pack(values, 32);
}

std::string loadCoordinates(size_t rank, size_t parameter) {
  return fill("  ld.param.u64 %x, [p$0];\n  mad.wide.u32 %x, %w, $1, %x;\n", parameter,
              kWordBytes * rank) +
         [&] {
           std::string loads;
           for (size_t d = 0; d < rank; ++d)
             loads += fill("  ld.global.b32 %c$0, [%x+$1];\n", d, kWordBytes * d);
           return loads;
         }();
}

std::string takeMap() { return "  mov.b64 %map, m0;\n  cvta.param.u64 %map, %map;\n"; }

std::string coordinates(size_t rank) { return vectorOf("c", rank); }

} // namespace tile::hardware
