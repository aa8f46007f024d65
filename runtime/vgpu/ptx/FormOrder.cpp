// Whether modifiers stand where an order has them.
#include "runtime/vgpu/ptx/Forms.h"

#include "runtime/vgpu/ptx/ModifierLists.h"

namespace tile::vgpu {
namespace {

// Removes what stands before the separator.
std::string_view takeUpTo(char separator, std::string_view &text) {
  size_t end = text.find(separator);
  std::string_view part = text.substr(0, end);
  text = end == text.npos ? std::string_view() : text.substr(end + 1);
  return part;
}

// The lists between two ">", and those of which a modifier has been seen.
class Stage {
public:
  explicit Stage(std::string_view lists) : lists_(lists) {}

  /// False if the modifier is in none of the lists that are still free.
  bool take(std::string_view modifier) {
    std::string_view left = lists_;
    for (uint32_t bit = 1; !left.empty(); bit <<= 1)
      if (isInList(modifier, takeUpTo('|', left)) && !(taken_ & bit)) {
        taken_ |= bit;
        return true;
      }
    return false;
  }

private:
  std::string_view lists_;
  uint32_t taken_ = 0;
};

// The first modifier that does not stand where it may, or beside those before it; empty if all do.
std::string_view misplaced(std::span<const std::string_view> modifiers, const FormOrder &order) {
  std::string_view left = order.lists;
  Stage stage(takeUpTo('>', left));
  for (std::string_view modifier : modifiers) {
    if (!isInList(modifier, order.lists))
      continue;
    while (!stage.take(modifier)) {
      if (left.empty())
        return modifier;
      stage = Stage(takeUpTo('>', left));
    }
  }
  return {};
}

} // namespace

std::optional<std::string> brokenOrder(std::initializer_list<FormOrder> orders,
                                       std::string_view opcode,
                                       std::span<const std::string_view> modifiers) {
  for (const FormOrder &order : orders)
    if (isOf(opcode, modifiers, order.of))
      if (std::string_view modifier = misplaced(modifiers, order); !modifier.empty())
        return "." + std::string(modifier) + " does not stand here, or not beside those before it";
  return std::nullopt;
}

} // namespace tile::vgpu
