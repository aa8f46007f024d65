#include <tile/Number.h>

#include <charconv>
#include <cmath>

namespace tile {

bool Number::isWithin(int64_t least, uint64_t most) const {
  if (const int64_t *value = std::get_if<int64_t>(&value_))
    return *value >= least && (*value < 0 || static_cast<uint64_t>(*value) <= most);
  if (const uint64_t *value = std::get_if<uint64_t>(&value_))
    return *value <= most && (least <= 0 || *value >= static_cast<uint64_t>(least));
  double value = std::get<double>(value_);
  if (value != std::trunc(value) || !(value >= -0x1p63 && value < 0x1p64))
    return false;
  return value < 0 ? Number(static_cast<int64_t>(value)).isWithin(least, most)
                   : Number(static_cast<uint64_t>(value)).isWithin(least, most);
}

uint64_t Number::asBits() const {
  if (const double *value = std::get_if<double>(&value_))
    return *value < 0 ? static_cast<uint64_t>(static_cast<int64_t>(*value))
                      : static_cast<uint64_t>(*value);
  const int64_t *value = std::get_if<int64_t>(&value_);
  return value ? static_cast<uint64_t>(*value) : std::get<uint64_t>(value_);
}

std::string Number::str() const {
  return std::visit(
      [](auto value) {
        char text[32];
        return std::string(text, std::to_chars(text, std::end(text), value).ptr);
      },
      value_);
}

} // namespace tile
