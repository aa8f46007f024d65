// Knobs of an op's kernel as words of a command line: BM=64 schedule=ping_pong.
#pragma once

#include <tile/OpSettings.h>
#include <tile/detail/ops/Knobs.h>

namespace tile::ops {

/// The choice of this name. Error: InvalidArgument, with all names.
template <class T, size_t N>
T choiceNamed(const OpSettings &settings, const char *knob, const std::array<T, N> &choices,
              T chosen) {
  std::string given = settings.text(knob, nameOf(chosen));
  std::vector<std::string> names;
  for (T choice : choices) {
    if (given == nameOf(choice))
      return choice;
    names.emplace_back(nameOf(choice));
  }
  OpSetting::word(knob, std::move(names)).check(given);
  return chosen;
}

/// Knobs that are given; the others are those of `plan`.
template <class Plan, class... K>
Plan withSettings(const std::tuple<K...> &knobs, Plan plan, const OpSettings &settings) {
  auto take = [&]<class Knob>(const Knob &knob) {
    auto &member = plan.*knob.member;
    if constexpr (std::is_enum_v<std::remove_reference_t<decltype(member)>>)
      member = choiceNamed(settings, knob.name, knob.choices, member);
    else
      member = settings.smallInteger(knob.name, member);
  };
  std::apply([&](const auto &...knob) { (take(knob), ...); }, knobs);
  return plan;
}

} // namespace tile::ops
