// What is tuned of a kernel: its settings with their values, the rules that these obey, and the work
// that a launch with them does.
#pragma once

#include <tile/detail/Tuning.h>

#include <functional>
#include <string>
#include <vector>

namespace tile::detail {

/// Behind Kernel::tunable and the functions that follow it.
struct TuningSpace {
  struct Setting {
    std::string name;
    std::vector<int64_t> values;
    std::vector<std::string> words; ///< the names of the values; none for numbers
    int64_t otherwise = 0;
    int constant = -1; ///< its place among the kernel's constants; -1: a setting of the launch
  };
  /// Of this space as it is: another one after each change. Choices are remembered by it, since kernels that share their code,
  /// made twice from one lambda, may be tuned differently.
  uint64_t id = 0;
  std::vector<Setting> settings;
  std::vector<TuningObjection> objections;
  TuningDefault otherwise; ///< may be empty
  TuningWork work;         ///< may be empty
};

} // namespace tile::detail

namespace tile::tune {

using detail::TuningSpace;

/// The space of a kernel. Error: InvalidArgument if nothing of it is tuned.
const TuningSpace &spaceOf(const detail::KernelRecord &record, Loc where = {});

/// A value of a setting as text: its word, or its number.
std::string textOf(const TuningSpace::Setting &setting, int64_t value);

/// The settings to take for a problem of which nothing is known. Error: InvalidArgument, at the kernel's line, if its
/// `otherwise` gives a setting that there is none of, or leaves one out.
Config defaultOf(const detail::KernelRecord &record, const TuningSpace &space,
                 const Problem &problem);

/// Why settings are none of this space for a problem, as a sentence: a name, a value, a rule. Empty if they are.
std::string refusalOf(const TuningSpace &space, const Config &config, const Problem &problem);

/// The same settings with the numbers of their words, as the kernel declares them.
Config numbered(const TuningSpace &space, const Config &config);
/// The same in the order in which the kernel declares them; those it does not have are left out.
Config inOrder(const TuningSpace &space, const Config &config);

/// Calls `take` with each combination of values, the last setting changing fastest, until that returns false.
void forEachConfig(const TuningSpace &space, const std::function<bool(const Config &)> &take);
/// How many combinations there are.
double sizeOf(const TuningSpace &space);

/// The combinations that differ from `config` in one setting: by one step in its list of values, or
/// by any other of its words, which have no order.
std::vector<Config> neighboursOf(const TuningSpace &space, const Config &config);

/// Writes settings into the constants of a kernel and the settings of a launch.
void apply(const TuningSpace &space, const Config &config, std::span<int64_t> constants,
           detail::CompileSettings &settings);

} // namespace tile::tune
