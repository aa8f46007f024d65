#include "tools/tilec/run/TensorMapWord.h"

#include "tools/tilec/input/Description.h"

#include <algorithm>
#include <charconv>

namespace tile::tilec {
namespace {

using device::TensorMapFill;
using device::TensorMapSwizzle;
using device::TensorMapType;

[[noreturn]] void refuse(const TensorMapWord &map, const std::string &why) {
  throw Error(Fault::User, ErrorCode::InvalidArgument, "argument '" + map.word + "': " + why);
}

std::vector<std::string> split(const std::string &text, char separator) {
  std::vector<std::string> parts;
  for (size_t start = 0; start <= text.size();) {
    size_t end = std::min(text.find(separator, start), text.size());
    parts.push_back(text.substr(start, end - start));
    start = end + 1;
  }
  return parts;
}

/// "128x64" or, of strides, "4096,128".
std::vector<int64_t> numbers(const TensorMapWord &map, const std::string &option,
                             const std::string &text, char separator) {
  std::vector<int64_t> values;
  for (const std::string &part : split(text, separator)) {
    int64_t value = 0;
    auto [stop, fault] = std::from_chars(part.data(), part.data() + part.size(), value);
    if (fault != std::errc() || stop != part.data() + part.size() || value < 0)
      refuse(map, option + "=" + text + " is no list of numbers such as " +
                      (separator == 'x' ? "128x64" : "4096,128"));
    values.push_back(value);
  }
  return values;
}

template <class Value> struct Choice {
  const char *name;
  Value value;
};
constexpr Choice<TensorMapSwizzle> kSwizzles[] = {{"none", TensorMapSwizzle::None},
                                                  {"32B", TensorMapSwizzle::Bytes32},
                                                  {"64B", TensorMapSwizzle::Bytes64},
                                                  {"128B", TensorMapSwizzle::Bytes128}};
constexpr Choice<TensorMapFill> kFills[] = {{"zero", TensorMapFill::Zero},
                                            {"nan", TensorMapFill::NaN}};

template <class Value, size_t N>
Value choose(const TensorMapWord &map, const std::string &option, const std::string &text,
             const Choice<Value> (&choices)[N]) {
  std::string known;
  for (const Choice<Value> &choice : choices) {
    if (text == choice.name)
      return choice.value;
    known += (known.empty() ? "" : ", ") + std::string(choice.name);
  }
  refuse(map, option + "=" + text + " is none of " + known);
}

void takeOption(TensorMapWord &map, const std::string &option) {
  size_t equals = option.find('=');
  std::string name = option.substr(0, equals),
              value = equals == option.npos ? "" : option.substr(equals + 1);
  if (name == "box")
    map.box = numbers(map, name, value, 'x');
  else if (name == "shape")
    map.shape = numbers(map, name, value, 'x');
  else if (name == "strides")
    map.strides = value.empty() ? std::vector<int64_t>() : numbers(map, name, value, ',');
  else if (name == "swizzle")
    map.swizzle = choose(map, name, value, kSwizzles);
  else if (name == "oob")
    map.fill = choose(map, name, value, kFills);
  else
    refuse(map, "'" + option + "' is none of box=, swizzle=, oob=, shape=, strides=");
}

TensorMapType typeOf(const TensorMapWord &map, const RunArgument &array) {
  static constexpr Choice<TensorMapType> types[] = {
      {"f16", TensorMapType::F16},        {"bf16", TensorMapType::BF16},
      {"f32", TensorMapType::F32},        {"f64", TensorMapType::F64},
      {"tf32", TensorMapType::TF32},      {"tf32.ftz", TensorMapType::TF32Ftz},
      {"f32.ftz", TensorMapType::F32Ftz}, {"e4m3", TensorMapType::U8},
      {"e5m2", TensorMapType::U8},        {"i1", TensorMapType::U8},
      {"i8", TensorMapType::U8},          {"u8", TensorMapType::U8},
      {"i16", TensorMapType::U16},        {"u16", TensorMapType::U16},
      {"i32", TensorMapType::S32},        {"u32", TensorMapType::U32},
      {"i64", TensorMapType::S64},        {"u64", TensorMapType::U64}};
  return choose(map, "element type", array.element, types);
}

/// Row-major, of all axes but the innermost.
std::vector<int64_t> contiguousStrides(const std::vector<int64_t> &shape, int64_t elementBytes) {
  std::vector<int64_t> strides(shape.size() - 1);
  int64_t bytes = elementBytes;
  for (size_t axis = shape.size() - 1; axis > 0; --axis)
    strides[axis - 1] = bytes *= shape[axis];
  return strides;
}

/// The bytes from the first element to the end of the last, as a double: extents may be anything.
double spanBytes(const std::vector<int64_t> &shape, const std::vector<int64_t> &strides,
                 int64_t elementBytes) {
  double bytes = static_cast<double>(shape.back()) * static_cast<double>(elementBytes);
  for (size_t axis = 0; axis < strides.size(); ++axis)
    bytes += static_cast<double>(std::max<int64_t>(shape[axis], 1) - 1) *
             static_cast<double>(strides[axis]);
  return bytes;
}

} // namespace

bool isTensorMapWord(const std::string &word) {
  return word.starts_with("tmap:") || word.starts_with("tmapptr:");
}

TensorMapWord parseTensorMapWord(const std::string &word) {
  TensorMapWord map;
  map.word = word;
  std::vector<std::string> parts = split(word, ':');
  map.isPointer = parts[0] == "tmapptr";
  if (parts[1].size() < 2 || parts[1][0] != '@')
    refuse(map, "@K, the number of an argument, or @NAME of a buf:NAME= is expected after ':'");
  map.array = parts[1].substr(1);
  for (size_t i = 2; i < parts.size(); ++i)
    takeOption(map, parts[i]);
  if (map.box.empty())
    refuse(map, "box= is needed, such as box=128x64");
  return map;
}

device::TensorMapParams paramsOf(const TensorMapWord &map, const RunArgument &array) {
  const Tensor &tensor = array.tensor;
  std::vector<int64_t> shape =
      map.shape.value_or(std::vector<int64_t>(tensor.extents().begin(), tensor.extents().end()));
  if (shape.empty() || shape.size() > device::kMaxTensorRank)
    refuse(map, "the array has " + std::to_string(shape.size()) +
                    " dimensions, a tensor map has 1 to 5");
  if (map.box.size() != shape.size())
    refuse(map, "the box has " + std::to_string(map.box.size()) + " dimensions, the array has " +
                    std::to_string(shape.size()));
  auto elementBytes = static_cast<int64_t>(sizeOf(tensor.dtype()));
  std::vector<int64_t> strides = map.strides.value_or(contiguousStrides(shape, elementBytes));
  if (strides.size() + 1 != shape.size())
    refuse(map, std::to_string(strides.size()) + " strides are given, " +
                    std::to_string(shape.size() - 1) + " are needed: the innermost axis has none");
  if (spanBytes(shape, strides, elementBytes) > static_cast<double>(tensor.bytes()))
    refuse(map, "shape and strides reach beyond the " + std::to_string(tensor.bytes()) +
                    " bytes of the array");
  device::TensorMapParams params;
  params.type = typeOf(map, array);
  params.rank = static_cast<uint32_t>(shape.size());
  params.base = reinterpret_cast<uint64_t>(tensor.data());
  for (size_t d = 0; d < shape.size(); ++d) {
    size_t axis = shape.size() - 1 - d;
    params.dims[d] = static_cast<uint64_t>(shape[axis]);
    params.box[d] = static_cast<uint32_t>(std::min<int64_t>(map.box[axis], UINT32_MAX));
    if (d > 0)
      params.strides[d - 1] = static_cast<uint64_t>(strides[axis]);
  }
  params.swizzle = map.swizzle;
  params.fill = map.fill;
  return params;
}

} // namespace tile::tilec
