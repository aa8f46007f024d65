// The table of scalar types, and suffixes taken from a list.
#include "runtime/vgpu/decode/Suffixes.h"

#include <algorithm>

namespace tile::vgpu {

struct TypeRow {
  std::string_view suffix;
  ScalarType type;
  uint8_t bytes;
};
static constexpr TypeRow kTypes[] = {
    {"pred", ScalarType::Pred, 0},    {"b8", ScalarType::B8, 1},
    {"b16", ScalarType::B16, 2},      {"b32", ScalarType::B32, 4},
    {"b64", ScalarType::B64, 8},      {"b128", ScalarType::B128, 16},
    {"u8", ScalarType::U8, 1},        {"u16", ScalarType::U16, 2},
    {"u32", ScalarType::U32, 4},      {"u64", ScalarType::U64, 8},
    {"s8", ScalarType::S8, 1},        {"s16", ScalarType::S16, 2},
    {"s32", ScalarType::S32, 4},      {"s64", ScalarType::S64, 8},
    {"u16x2", ScalarType::U16x2, 4},  {"s16x2", ScalarType::S16x2, 4},
    {"f16", ScalarType::F16, 2},      {"bf16", ScalarType::BF16, 2},
    {"f16x2", ScalarType::F16x2, 4},  {"bf16x2", ScalarType::BF16x2, 4},
    {"tf32", ScalarType::TF32, 4},    {"f32", ScalarType::F32, 4},
    {"f64", ScalarType::F64, 8},      {"e4m3x2", ScalarType::E4M3x2, 2},
    {"e5m2x2", ScalarType::E5M2x2, 2}};

unsigned bytesOf(ScalarType type) {
  auto row = std::ranges::find(kTypes, type, &TypeRow::type);
  return row == std::end(kTypes) ? 0 : row->bytes;
}

bool isSigned(ScalarType type) {
  return (type >= ScalarType::S8 && type <= ScalarType::S64) || type == ScalarType::S16x2;
}
bool isFloat(ScalarType type) { return type >= ScalarType::F16; }
bool isInteger(ScalarType type) { return type >= ScalarType::U8 && type <= ScalarType::S16x2; }

ScalarType scalarType(std::string_view suffix) {
  auto row = std::ranges::find(kTypes, suffix, &TypeRow::suffix);
  return row == std::end(kTypes) ? ScalarType::None : row->type;
}

bool Suffixes::take(std::string_view word) {
  auto found = std::ranges::find(rest_, word);
  if (found == rest_.end())
    return false;
  rest_.erase(found);
  return true;
}

std::string_view Suffixes::takeOneOf(std::initializer_list<std::string_view> words) {
  for (auto at = rest_.begin(); at != rest_.end(); ++at)
    if (auto word = std::ranges::find(words, *at); word != words.end()) {
      rest_.erase(at);
      return *word;
    }
  return {};
}

std::string_view Suffixes::takePrefix(std::string_view prefix) {
  auto found =
      std::ranges::find_if(rest_, [&](std::string_view word) { return word.starts_with(prefix); });
  if (found == rest_.end())
    return {};
  std::string_view word = *found;
  rest_.erase(found);
  return word;
}

ScalarType Suffixes::takeType() {
  auto found = std::ranges::find_if(
      rest_, [](std::string_view w) { return scalarType(w) != ScalarType::None; });
  if (found == rest_.end())
    return ScalarType::None;
  ScalarType type = scalarType(*found);
  rest_.erase(found);
  return type;
}

} // namespace tile::vgpu
