#include "runtime/tune/Space.h"

#include <algorithm>
#include <atomic>

namespace tile {

using detail::KernelRecord;
using detail::ParamSpec;
using detail::TuningSpace;

namespace {

[[noreturn]] void refuse(const std::string &message, Loc where) {
  throw Error(Fault::User, ErrorCode::InvalidArgument, message, where);
}

/// The settings of a launch that can be tuned beside constants, and where they are kept.
struct LaunchSetting {
  const char *name;
  int detail::CompileSettings::*member;
};
constexpr LaunchSetting kLaunchSettings[] = {{"warps", &detail::CompileSettings::warps},
                                             {"maxnreg", &detail::CompileSettings::maxRegisters},
                                             {"occupancy", &detail::CompileSettings::occupancy}};

const LaunchSetting *launchSetting(std::string_view name) {
  const auto *found = std::ranges::find(kLaunchSettings, name, &LaunchSetting::name);
  return found == std::end(kLaunchSettings) ? nullptr : found;
}

/// A kernel's constants by their names, in order; unnamed ones are empty.
std::vector<std::string> constantNames(const KernelRecord &record) {
  std::vector<std::string> names;
  for (size_t i = 0; i < record.params.size(); ++i)
    if (record.params[i].kind == ParamSpec::Const)
      names.push_back(i < record.paramNames.size() ? record.paramNames[i] : "");
  return names;
}

// Without an allocation: launches ask.
int constantNamed(const KernelRecord &record, std::string_view name) {
  int place = 0;
  for (size_t i = 0; i < std::min(record.params.size(), record.paramNames.size()); ++i) {
    if (record.params[i].kind != ParamSpec::Const)
      continue;
    if (record.paramNames[i] == name)
      return place;
    ++place;
  }
  return -1;
}

std::string listed(const std::vector<std::string> &names) {
  std::string text;
  for (const std::string &name : names)
    if (!name.empty())
      text += (text.empty() ? "" : ", ") + name;
  return text.empty() ? "none that has a name: give them with .named(...)" : text;
}

TuningSpace &spaceToChange(KernelRecord &record) {
  static std::atomic<uint64_t> changes = 0;
  if (!record.tuning)
    record.tuning = std::make_shared<TuningSpace>();
  record.tuning->id = ++changes;
  return *record.tuning;
}

const TuningSpace::Setting *settingNamed(const TuningSpace &space, std::string_view name) {
  auto found = std::ranges::find(space.settings, name, &TuningSpace::Setting::name);
  return found == space.settings.end() ? nullptr : &*found;
}

/// The name of a value; empty if it has none.
std::string wordOf(const TuningSpace::Setting &setting, int64_t value) {
  auto at = std::ranges::find(setting.values, value) - setting.values.begin();
  return static_cast<size_t>(at) < setting.words.size() ? setting.words[static_cast<size_t>(at)]
                                                        : std::string();
}

std::string valuesOf(const TuningSpace::Setting &setting) {
  std::string text;
  for (int64_t value : setting.values)
    text += (text.empty() ? "" : ", ") + tune::textOf(setting, value);
  return text;
}

/// Gives `config` a value of this setting, by its word if it has one.
void setBy(Config &config, const TuningSpace::Setting &setting, int64_t value) {
  if (std::string word = wordOf(setting, value); !word.empty())
    config.set(setting.name, word, value);
  else
    config.set(setting.name, value);
}

/// Gives `config` the value of this setting that `from` has, with its number. Words that the
/// setting does not have stay without one.
void setFrom(Config &config, const TuningSpace::Setting &setting, const Config &from) {
  std::string_view word = from.word(setting.name);
  if (word.empty())
    return setBy(config, setting, from[setting.name]);
  auto found = std::ranges::find(setting.words, word);
  bool isKnown = found != setting.words.end();
  config.set(setting.name, word,
             isKnown ? setting.values[static_cast<size_t>(found - setting.words.begin())]
                     : Config::kUnnumbered);
}

bool hasSetting(const Config &config, std::string_view name) {
  return std::ranges::any_of(config.values(),
                             [&](const auto &value) { return value.first == name; });
}

/// The settings as text has them: words by their names.
std::string valueText(const Config &config, std::string_view name) {
  std::string_view word = config.word(name);
  return word.empty() ? std::to_string(config[name]) : std::string(word);
}

} // namespace

// --- Values --------------------------------------------------------------------------------------

Choices pow2(int64_t first, int64_t last, Loc where) {
  std::vector<int64_t> values;
  constexpr int64_t kMost = int64_t{1} << 40;
  for (int64_t value = first; value > 0 && value <= last && value <= kMost; value *= 2)
    values.push_back(value);
  if (values.empty() || values.back() != last)
    refuse("pow2(" + std::to_string(first) + ", " + std::to_string(last) +
               "): the last value must be the first, doubled some times",
           where);
  return Choices(std::move(values));
}

Choices steps(int64_t first, int64_t last, int64_t step, Loc where) {
  constexpr int64_t kMostValues = 4096;
  if (step < 1 || first > last || (last - first) / step >= kMostValues)
    refuse("steps(" + std::to_string(first) + ", " + std::to_string(last) + ", " +
               std::to_string(step) + "): 1 to " + std::to_string(kMostValues) +
               " values are expected, and a step of at least 1",
           where);
  std::vector<int64_t> values;
  for (int64_t value = first; value <= last; value += step)
    values.push_back(value);
  return Choices(std::move(values));
}

Choices onOff() { return {0, 1}; }

Choices words(std::vector<std::string> names) {
  std::vector<int64_t> values;
  for (size_t i = 0; i < names.size(); ++i)
    values.push_back(static_cast<int64_t>(i));
  Choices choices(std::move(values));
  choices.names_ = std::move(names);
  return choices;
}

int64_t Config::operator[](std::string_view name) const {
  for (const auto &[known, value] : values_)
    if (known == name)
      return value;
  refuse("there is no setting '" + std::string(name) + "' in: " + str(), {});
}

int64_t Config::get(std::string_view name, int64_t missing) const {
  for (const auto &[known, value] : values_)
    if (known == name)
      return value;
  return missing;
}

Config &Config::set(std::string_view name, std::string_view word, int64_t value) {
  set(name, value);
  words_.emplace_back(name, word);
  return *this;
}

std::string_view Config::word(std::string_view name) const {
  for (const auto &[known, word] : words_)
    if (known == name)
      return word;
  return {};
}

bool Config::operator==(const Config &other) const {
  if (values_ != other.values_)
    return false;
  return std::ranges::all_of(values_, [&](const auto &value) {
    return value.second != kUnnumbered || word(value.first) == other.word(value.first);
  });
}

Config &Config::set(std::string_view name, int64_t value) {
  std::erase_if(words_, [&](const auto &word) { return word.first == name; });
  for (auto &[known, old] : values_)
    if (known == name) {
      old = value;
      return *this;
    }
  values_.emplace_back(name, value);
  return *this;
}

std::string Config::str() const {
  std::string text;
  for (const auto &[name, value] : values_)
    text += (text.empty() ? "" : " ") + name + "=" + valueText(*this, name);
  return text;
}

// --- Problems ------------------------------------------------------------------------------------

const HostArg &Problem::argument(size_t index) const {
  if (index >= arguments_.size())
    refuse("kernel '" + record_.name + "' has no argument " + std::to_string(index) +
               ": they count from 0 to " + std::to_string(arguments_.size()) + " - 1",
           record_.where);
  return arguments_[index];
}

int64_t Problem::extent(size_t index, int dim) const {
  const HostArg &view = argument(index);
  if (view.kind != HostArg::Tensor || dim < 0 || dim >= view.rank)
    refuse("argument " + std::to_string(index) + " of kernel '" + record_.name +
               "' has no dimension " + std::to_string(dim),
           record_.where);
  return view.extents[dim];
}

int64_t Problem::constant(std::string_view name) const {
  int place = constantNamed(record_, name);
  if (place < 0)
    refuse("kernel '" + record_.name + "' has no constant '" + std::string(name) +
               "'; there are: " + listed(constantNames(record_)),
           record_.where);
  return constants_[static_cast<size_t>(place)];
}

// --- Declarations --------------------------------------------------------------------------------

namespace detail {

void addTunable(KernelRecord &record, std::string name, Choices choices,
                std::optional<int64_t> otherwise, Loc where) {
  int place = constantNamed(record, name);
  if (place < 0 && !launchSetting(name))
    refuse("kernel '" + record.name + "' has no constant '" + name + "' to tune; there are: " +
               listed(constantNames(record)) + "; and warps, maxnreg and occupancy of the launch",
           where);
  if (record.tuning && settingNamed(*record.tuning, name))
    refuse("'" + name + "' of kernel '" + record.name + "' is tuned already", where);
  if (choices.values().empty())
    refuse("'" + name + "' of kernel '" + record.name + "' has no values to choose from", where);
  TuningSpace::Setting setting{std::move(name),
                               {choices.values().begin(), choices.values().end()},
                               {choices.names().begin(), choices.names().end()},
                               otherwise.value_or(choices.values().front()),
                               place};
  if (!std::ranges::count(setting.values, setting.otherwise))
    refuse("'" + setting.name + "' is " + std::to_string(setting.otherwise) +
               " where nothing better is known, which is none of its values: " + valuesOf(setting),
           where);
  spaceToChange(record).settings.push_back(std::move(setting));
}

void addTuningObjection(KernelRecord &record, TuningObjection objection) {
  spaceToChange(record).objections.push_back(std::move(objection));
}
void setTuningDefault(KernelRecord &record, TuningDefault otherwise) {
  spaceToChange(record).otherwise = std::move(otherwise);
}
void setTuningWork(KernelRecord &record, TuningWork work) {
  spaceToChange(record).work = std::move(work);
}

int givenConstant(const KernelRecord &record, std::string_view name, Loc where) {
  int place = constantNamed(record, name);
  if (place < 0)
    refuse("kernel '" + record.name + "' has no constant '" + std::string(name) +
               "'; there are: " + listed(constantNames(record)),
           where);
  if (record.tuning && settingNamed(*record.tuning, name))
    refuse("'" + std::string(name) + "' of kernel '" + record.name +
               "' is tuned: call the kernel with .consts(...) to choose it",
           where);
  return place;
}

} // namespace detail

// --- The space -----------------------------------------------------------------------------------

namespace tune {

std::string textOf(const TuningSpace::Setting &setting, int64_t value) {
  std::string word = wordOf(setting, value);
  return word.empty() ? std::to_string(value) : word;
}

const TuningSpace &spaceOf(const KernelRecord &record, Loc where) {
  if (!record.tuning || record.tuning->settings.empty())
    refuse("nothing of kernel '" + record.name +
               "' is tuned: say what may be, as in .tunable(\"BM\", pow2(32, 256))",
           where.line ? where : record.where);
  return *record.tuning;
}

Config defaultOf(const KernelRecord &record, const TuningSpace &space, const Problem &problem) {
  Config config;
  for (const TuningSpace::Setting &setting : space.settings)
    setBy(config, setting, setting.otherwise);
  if (!space.otherwise)
    return config;
  const Config chosen = space.otherwise(problem);
  for (const auto &[name, value] : chosen.values()) {
    const TuningSpace::Setting *setting = settingNamed(space, name);
    if (!setting)
      refuse("the settings that kernel '" + record.name + "' takes otherwise have '" + name +
                 "', which is not tuned",
             record.where);
    setFrom(config, *setting, chosen);
  }
  return config;
}

std::string refusalOf(const TuningSpace &space, const Config &config, const Problem &problem) {
  for (const TuningSpace::Setting &setting : space.settings) {
    if (!hasSetting(config, setting.name))
      return setting.name + " is missing";
    if (!std::ranges::count(setting.values, config[setting.name]))
      return setting.name + " = " + valueText(config, setting.name) + " is none of " +
             valuesOf(setting);
  }
  if (config.values().size() != space.settings.size())
    return "there are settings that are not tuned in: " + config.str();
  for (const detail::TuningObjection &objection : space.objections)
    if (std::string why = objection(config, problem); !why.empty())
      return why;
  return {};
}

Config numbered(const TuningSpace &space, const Config &config) {
  Config result = config;
  for (const TuningSpace::Setting &setting : space.settings)
    if (hasSetting(config, setting.name))
      setFrom(result, setting, config);
  return result;
}

Config inOrder(const TuningSpace &space, const Config &config) {
  Config ordered;
  for (const TuningSpace::Setting &setting : space.settings)
    if (hasSetting(config, setting.name))
      setFrom(ordered, setting, config);
  return ordered;
}

void forEachConfig(const TuningSpace &space, const std::function<bool(const Config &)> &take) {
  std::vector<size_t> at(space.settings.size(), 0);
  Config config;
  for (const TuningSpace::Setting &setting : space.settings)
    setBy(config, setting, setting.values.front());
  while (take(config)) {
    size_t place = at.size();
    while (place > 0) {
      const TuningSpace::Setting &setting = space.settings[--place];
      bool isLast = ++at[place] == setting.values.size();
      at[place] = isLast ? 0 : at[place];
      setBy(config, setting, setting.values[at[place]]);
      if (!isLast)
        break;
      if (place == 0)
        return;
    }
  }
}

double sizeOf(const TuningSpace &space) {
  double size = 1;
  for (const TuningSpace::Setting &setting : space.settings)
    size *= static_cast<double>(setting.values.size());
  return size;
}

std::vector<Config> neighboursOf(const TuningSpace &space, const Config &config) {
  std::vector<Config> all;
  for (const TuningSpace::Setting &setting : space.settings) {
    auto at = std::ranges::find(setting.values, config[setting.name]);
    if (at == setting.values.end())
      continue;
    bool hasOrder = setting.words.empty();
    for (auto other = setting.values.begin(); other != setting.values.end(); ++other)
      if (other != at && (!hasOrder || std::abs(other - at) == 1))
        setBy(all.emplace_back(config), setting, *other);
  }
  return all;
}

void apply(const TuningSpace &space, const Config &config, std::span<int64_t> constants,
           detail::CompileSettings &settings) {
  for (const TuningSpace::Setting &setting : space.settings) {
    int64_t value = config[setting.name];
    if (setting.constant >= 0)
      constants[static_cast<size_t>(setting.constant)] = value;
    else
      settings.*launchSetting(setting.name)->member = static_cast<int>(value);
  }
}

} // namespace tune

} // namespace tile
