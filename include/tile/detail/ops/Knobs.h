// The knobs of an op. One constexpr tuple of them is the only list: the kernel's constants and
// their names, what is tuned, and the way from a plan (tiles, a schedule, warps) to a Config and
// back follow from it.
//
//   inline constexpr std::tuple kKnobs{Knob{"BM", &Tiles::m, std::array{64, 128}, 128},
//                                      Knob{"schedule", &Tiles::schedule, kSchedules, kOneTile},
//                                      LaunchKnob{"warps", &Tiles::warps, std::array{4, 8}, 8}};
#pragma once

#include <tile/Kernel.h>

#include <array>
#include <string>
#include <tuple>
#include <vector>

namespace tile::ops::detail {

/// A member of a plan that is a constant of the kernel, the values that the tuner may choose, and
/// the one of them where nothing is known. An enum has all its enumerators, which are 0, 1, 2, ...,
/// and `nameOf` of each for text.
template <class Plan, class T, size_t N> struct Knob {
  const char *name;
  T Plan::*member;
  std::array<T, N> choices;
  T otherwise;
};
/// A member that is a setting of the launch.
template <class Plan, class T, size_t N> struct LaunchKnob {
  const char *name;
  T Plan::*member;
  std::array<T, N> choices;
  T otherwise;
};

template <class K> inline constexpr bool kIsConstant = false;
template <class Plan, class T, size_t N> inline constexpr bool kIsConstant<Knob<Plan, T, N>> = true;

/// The knobs that are constants of the kernel, in order.
template <class... K> constexpr auto constantKnobs(const std::tuple<K...> &knobs) {
  auto one = []<class Single>(const Single &knob) {
    if constexpr (kIsConstant<Single>)
      return std::tuple(knob);
    else
      return std::tuple();
  };
  return std::apply([&](const auto &...knob) { return std::tuple_cat(one(knob)...); }, knobs);
}

// --- The kernel's parameters ---------------------------------------------------------------------

/// The types of parameters that follow from knobs.
template <class... P> struct KnobParameters {};

template <class T> struct ParameterOfKnob { using type = ConstOf<T>; };
template <> struct ParameterOfKnob<int> { using type = Const; };
template <class... Plan, class... T, size_t... N>
KnobParameters<typename ParameterOfKnob<T>::type...>
parametersOf(const std::tuple<Knob<Plan, T, N>...> &constants);
/// KnobParameters<Const, ConstOf<Schedule>, ...> of the constants in a tuple of knobs.
template <const auto &knobs> using ParametersOfKnobs = decltype(parametersOf(constantKnobs(knobs)));

/// The names of the constants behind `names`, those of the other parameters.
template <class... K>
std::vector<std::string> withKnobNames(std::vector<std::string> names,
                                       const std::tuple<K...> &knobs) {
  std::apply([&](const auto &...knob) { (names.push_back(knob.name), ...); }, constantKnobs(knobs));
  return names;
}

/// The plan as a kernel sees it: what is a setting of the launch keeps its initial value.
template <class Plan, class... K, class... Constants>
Plan planOfConstants(const std::tuple<K...> &knobs, const Constants &...constants) {
  Plan plan{};
  std::apply([&](const auto &...knob) { ((plan.*knob.member = constants), ...); },
             constantKnobs(knobs));
  return plan;
}

/// Calls `take` with the values of a plan's constants, in order.
template <class Plan, class... K, class Take>
auto withConstants(const std::tuple<K...> &knobs, const Plan &plan, const Take &take) {
  return std::apply([&](const auto &...knob) { return take(plan.*knob.member...); },
                    constantKnobs(knobs));
}

// --- What is tuned -------------------------------------------------------------------------------

template <class T, size_t N> Choices choicesOf(const std::array<T, N> &values) {
  if constexpr (std::is_enum_v<T>) {
    std::vector<std::string> names;
    for (T value : values)
      names.emplace_back(nameOf(value));
    return words(std::move(names));
  } else {
    return Choices(std::vector<int64_t>(values.begin(), values.end()));
  }
}

/// The kernel with each knob `tunable`.
template <class... P, class... K>
const Kernel<P...> &tunable(const Kernel<P...> &kernel, const std::tuple<K...> &knobs) {
  auto add = [&](const auto &knob) {
    kernel.tunable(knob.name, choicesOf(knob.choices), static_cast<int64_t>(knob.otherwise));
  };
  std::apply([&](const auto &...knob) { (add(knob), ...); }, knobs);
  return kernel;
}

template <class Plan, class... K> Config configOf(const std::tuple<K...> &knobs, const Plan &plan) {
  Config config;
  auto add = [&]<class T>(const char *name, T value) {
    if constexpr (std::is_enum_v<T>)
      config.set(name, nameOf(value), static_cast<int64_t>(value));
    else
      config.set(name, value);
  };
  std::apply([&](const auto &...knob) { (add(knob.name, plan.*knob.member), ...); }, knobs);
  return config;
}

/// The plan of a Config that has a value for each knob; other members keep their initial values.
template <class Plan, class... K>
Plan planOfConfig(const std::tuple<K...> &knobs, const Config &config) {
  Plan plan{};
  auto take = [&]<class T>(const char *name, T Plan::*member) {
    plan.*member = static_cast<T>(config[name]);
  };
  std::apply([&](const auto &...knob) { (take(knob.name, knob.member), ...); }, knobs);
  return plan;
}

} // namespace tile::ops::detail
