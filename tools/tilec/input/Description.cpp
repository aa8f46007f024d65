#include "tools/tilec/input/Description.h"

#include <charconv>

namespace tile::tilec {

std::optional<DType> dtypeNamed(std::string_view name) {
  for (int i = 0; i < static_cast<int>(any); ++i)
    if (name == nameOf(static_cast<DType>(i)))
      return static_cast<DType>(i);
  return std::nullopt;
}

template <class T> static bool parse(std::string_view text, T &value) {
  auto [stop, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  return fault == std::errc() && stop == text.data() + text.size();
}

std::optional<std::vector<int64_t>> extentsOf(std::string_view word) {
  std::vector<int64_t> extents;
  for (size_t start = 0; start <= word.size();) {
    size_t end = std::min(word.find('x', start), word.size());
    int64_t extent = 0;
    if (!parse(word.substr(start, end - start), extent) || extent < 0)
      return std::nullopt;
    extents.push_back(extent);
    start = end + 1;
  }
  return extents;
}

std::optional<TensorSpec> tensorSpec(std::string_view word) {
  size_t split = word.find_first_of("[:");
  if (split == word.npos)
    return std::nullopt;
  std::string_view shape = word.substr(split + 1);
  if (word[split] == '[') {
    if (!shape.ends_with(']'))
      return std::nullopt;
    shape.remove_suffix(1);
  }
  std::optional<DType> dtype = dtypeNamed(word.substr(0, split));
  std::optional<std::vector<int64_t>> extents = extentsOf(shape);
  if (!dtype || !extents)
    return std::nullopt;
  return TensorSpec{*dtype, std::move(*extents)};
}

namespace {

[[noreturn]] void refuse(DType dtype, std::string_view number) {
  throw Error(Fault::User, ErrorCode::InvalidArgument,
              "'" + std::string(number) + "' is no " + nameOf(dtype));
}

uint64_t bitsOfFloat(DType dtype, double value) {
  switch (dtype) {
  case f64:
    return std::bit_cast<uint64_t>(value);
  case f32:
    return std::bit_cast<uint32_t>(static_cast<float>(value));
  case f16:
    return half(static_cast<float>(value)).bits;
  default:
    return bfloat16(static_cast<float>(value)).bits;
  }
}

} // namespace

detail::HostArg scalarOf(DType dtype, std::string_view number) {
  detail::HostArg arg = exampleScalar(dtype);
  arg.hasValue = true;
  if (dtype == f64 || dtype == f32 || dtype == f16 || dtype == bf16) {
    double value = 0;
    if (!parse(number, value))
      refuse(dtype, number);
    arg.bits = bitsOfFloat(dtype, value);
    return arg;
  }
  if (isFloat(dtype))
    refuse(dtype, number);
  int bits = dtype == i1 ? 1 : static_cast<int>(sizeOf(dtype)) * 8;
  if (isUnsigned(dtype) || dtype == i1) {
    if (!parse(number, arg.bits) || (bits < 64 && arg.bits >> bits))
      refuse(dtype, number);
    return arg;
  }
  int64_t value = 0, most = static_cast<int64_t>(~uint64_t(0) >> (65 - bits));
  if (!parse(number, value) || value > most || value < -most - 1)
    refuse(dtype, number);
  arg.bits = static_cast<uint64_t>(value) & (~uint64_t(0) >> (64 - bits));
  return arg;
}

} // namespace tile::tilec
