// Settings of ops by name: each kind of value is read, and its range checked, in one function here.
#include "runtime/jit/OpSettings.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace tile {
namespace {

using Kind = OpSetting::Kind;

[[noreturn]] void refuse(const std::string &name, const std::string &value,
                         const std::string &expected) {
  throw Error(Fault::User, ErrorCode::InvalidArgument, name + "=" + value + ": " + expected);
}

/// The whole word as a number that T holds, or nothing.
template <class T> std::optional<T> parsed(const std::string &word) {
  T result;
  const char *end = word.data() + word.size();
  auto [stop, fault] = std::from_chars(word.data(), end, result);
  return fault == std::errc() && stop == end ? std::optional(result) : std::nullopt;
}

/// "-0" is a double: integers have one zero.
std::optional<Number> parsedNumber(const std::string &word) {
  if (auto value = parsed<int64_t>(word); value && (*value != 0 || word[0] != '-'))
    return *value;
  if (auto value = parsed<uint64_t>(word))
    return *value;
  auto value = parsed<double>(word);
  return value ? std::optional<Number>(*value) : std::nullopt;
}

std::optional<bool> parsedFlag(const std::string &word) {
  bool isTrue = word == "1" || word == "true";
  return isTrue || word == "0" || word == "false" ? std::optional(isTrue) : std::nullopt;
}

std::optional<std::vector<int64_t>> parsedList(const std::string &word) {
  std::vector<int64_t> list;
  for (size_t begin = 0; begin <= word.size() && !word.empty();) {
    size_t end = std::min(word.find_first_of(",x", begin), word.size());
    auto one = parsed<int64_t>(word.substr(begin, end - begin));
    if (!one)
      return {};
    list.push_back(*one);
    begin = end + 1;
  }
  return list;
}

std::string joined(std::span<const std::string> words, const char *last) {
  std::string text;
  for (size_t i = 0; i < words.size(); ++i)
    text += (i == 0 ? "" : i + 1 == words.size() ? last : ", ") + words[i];
  return text;
}

/// "an integer from 1 to 8"
std::string boundedText(const OpSetting &setting, const std::string &what) {
  using Limits = std::numeric_limits<int64_t>;
  bool hasLeast = setting.least != Limits::min(), hasMost = setting.most != Limits::max();
  if (hasMost)
    return what + " from " + std::to_string(setting.least) + " to " + std::to_string(setting.most);
  return hasLeast ? what + " from " + std::to_string(setting.least) + " on" : what;
}

template <class T>
const T &expected(const std::optional<T> &value, const std::string &name, const std::string &word,
                  const std::string &what) {
  if (!value)
    refuse(name, word, what + " is expected");
  return *value;
}

DType dtypeNamed(const std::string &name, const std::string &word) {
  std::vector<std::string> known;
  for (int i = 0; i < static_cast<int>(any); ++i) {
    auto dtype = static_cast<DType>(i);
    if (word == nameOf(dtype))
      return dtype;
    known.emplace_back(nameOf(dtype));
  }
  refuse(name, word, "a dtype is expected: " + joined(known, " or "));
}

} // namespace

// --- What an op states ---------------------------------------------------------------------------

OpSetting OpSetting::integer(std::string name, int64_t fallback) {
  return {.name = std::move(name), .kind = Kind::Integer, .fallback = std::to_string(fallback)};
}
OpSetting OpSetting::natural(std::string name, uint64_t fallback) {
  return {.name = std::move(name), .kind = Kind::Natural, .fallback = std::to_string(fallback)};
}
OpSetting OpSetting::number(std::string name, double fallback) {
  return {.name = std::move(name), .kind = Kind::Number, .fallback = tile::Number(fallback).str()};
}
OpSetting OpSetting::value(std::string name, int64_t fallback) {
  return {.name = std::move(name), .kind = Kind::Value, .fallback = std::to_string(fallback)};
}
OpSetting OpSetting::flag(std::string name, bool fallback) {
  return {.name = std::move(name), .kind = Kind::Flag, .fallback = fallback ? "1" : "0"};
}
OpSetting OpSetting::word(std::string name, std::vector<std::string> words) {
  std::string first = words.front();
  return {.name = std::move(name),
          .kind = Kind::Word,
          .fallback = std::move(first),
          .words = std::move(words)};
}
OpSetting OpSetting::dtype(std::string name, std::initializer_list<DType> dtypes) {
  OpSetting setting = {.name = std::move(name), .kind = Kind::Dtype, .absence = Absence::Open};
  for (DType dtype : dtypes)
    setting.words.emplace_back(nameOf(dtype));
  return setting;
}
OpSetting OpSetting::integers(std::string name) {
  return {.name = std::move(name), .kind = Kind::Integers, .absence = Absence::Open};
}
OpSetting OpSetting::text(std::string name) {
  return {.name = std::move(name), .kind = Kind::Text, .absence = Absence::Open};
}

OpSetting OpSetting::from(int64_t first) && {
  least = first;
  return std::move(*this);
}
OpSetting OpSetting::to(int64_t last) && {
  most = last;
  return std::move(*this);
}
OpSetting OpSetting::ofF32() && {
  largest = std::numeric_limits<float>::max();
  return std::move(*this);
}
OpSetting OpSetting::open() && {
  absence = Absence::Open, fallback.clear();
  return std::move(*this);
}
OpSetting OpSetting::needed(std::string what, std::string example) && {
  absence = Absence::Refused, meaning = std::move(what), fallback = std::move(example);
  return std::move(*this);
}

void OpSetting::check(const std::string &given) const {
  auto isWithin = [this](int64_t value) { return value >= least && value <= most; };
  auto require = [&](bool holds, const std::string &what) {
    if (!holds)
      refuse(name, given, what + " expected");
  };
  switch (kind) {
  case Kind::Integer: {
    auto value = parsed<int64_t>(given);
    return require(value && isWithin(*value), boundedText(*this, "an integer") + " is");
  }
  case Kind::Natural:
    return require(parsed<uint64_t>(given).has_value(),
                   "an integer from 0 to 18446744073709551615 is");
  case Kind::Number: {
    auto value = parsed<double>(given);
    bool isTooLarge = value && (*value > largest || *value < -largest);
    return require(value && !isTooLarge, isTooLarge ? "a number that f32 holds is" : "a number is");
  }
  case Kind::Value:
    return require(parsedNumber(given).has_value(), "a number is");
  case Kind::Flag:
    return require(parsedFlag(given).has_value(), "0 or 1 is");
  case Kind::Dtype:
    dtypeNamed(name, given);
    return require(words.empty() || std::ranges::count(words, given),
                   joined(words, " or ") + " is");
  case Kind::Word:
    return require(std::ranges::count(words, given) > 0, joined(words, " or ") + " is");
  case Kind::Integers: {
    auto list = parsedList(given);
    require(list.has_value(), "integers, as 4x1024 or 0,2, are");
    return require(std::ranges::all_of(*list, isWithin), boundedText(*this, "integers") + " are");
  }
  case Kind::Text:
    return;
  }
}

// --- Getters -------------------------------------------------------------------------------------

const std::string *OpSettings::find(const std::string &name) const {
  auto found = values_.find(name);
  return found == values_.end() ? nullptr : &found->second;
}

const std::string &OpSettings::stated(const std::string &name) const {
  if (const std::string *value = find(name))
    return *value;
  throw Error(Fault::User, ErrorCode::InvalidArgument,
              "the op asks for the setting '" + name +
                  "', which has no value: OpEntry::settings must state it with a default");
}

int64_t OpSettings::integer(const std::string &name) const {
  const std::string &word = stated(name);
  return expected(parsed<int64_t>(word), name, word, "an integer");
}
uint64_t OpSettings::natural(const std::string &name) const {
  const std::string &word = stated(name);
  return expected(parsed<uint64_t>(word), name, word, "an integer from 0 on");
}
double OpSettings::number(const std::string &name) const {
  const std::string &word = stated(name);
  return expected(parsed<double>(word), name, word, "a number");
}
Number OpSettings::value(const std::string &name) const {
  const std::string &word = stated(name);
  return expected(parsedNumber(word), name, word, "a number");
}
bool OpSettings::flag(const std::string &name) const {
  const std::string &word = stated(name);
  return expected(parsedFlag(word), name, word, "0 or 1");
}
std::vector<int64_t> OpSettings::integers(const std::string &name) const {
  const std::string &word = stated(name);
  return expected(parsedList(word), name, word, "a list of integers");
}
std::string OpSettings::text(const std::string &name) const { return stated(name); }

int64_t OpSettings::integer(const std::string &name, int64_t fallback) const {
  int64_t result = has(name) ? integer(name) : fallback;
  used_[name] = std::to_string(result);
  return result;
}

int OpSettings::smallInteger(const std::string &name, int fallback) const {
  using Limits = std::numeric_limits<int>;
  if (has(name))
    OpSetting::integer(name, fallback).from(Limits::min()).to(Limits::max()).check(stated(name));
  return static_cast<int>(integer(name, int64_t{fallback}));
}

int64_t OpSettings::extent(const std::string &name, int64_t fallback) const {
  if (has(name))
    OpSetting::integer(name, fallback).from(0).check(stated(name));
  return integer(name, fallback);
}

double OpSettings::number(const std::string &name, double fallback) const {
  double result = has(name) ? number(name) : fallback;
  used_[name] = has(name) ? stated(name) : Number(fallback).str();
  return result;
}

bool OpSettings::flag(const std::string &name, bool fallback) const {
  bool result = has(name) ? flag(name) : fallback;
  used_[name] = result ? "1" : "0";
  return result;
}

DType OpSettings::dtype(const std::string &name, DType fallback) const {
  const std::string *word = find(name);
  used_[name] = word ? *word : nameOf(fallback);
  return word ? dtypeNamed(name, *word) : fallback;
}

std::string OpSettings::text(const std::string &name, std::string fallback) const {
  const std::string *value = find(name);
  return used_[name] = value ? *value : std::move(fallback);
}

// --- Calls ---------------------------------------------------------------------------------------

OpSettings OpSettings::forCall(std::span<const OpSetting> stated) const {
  for (auto &[name, value] : values_)
    if (!std::ranges::count(stated, name, &OpSetting::name))
      throw Error(Fault::User, ErrorCode::InvalidArgument,
                  "nothing is called '" + name + "'; " + jit::settingsText(stated));
  for (const OpSetting &setting : stated)
    if (setting.absence == OpSetting::Absence::Refused && !has(setting.name))
      throw Error(Fault::User, ErrorCode::InvalidArgument,
                  setting.name + "= is needed: " + setting.meaning);
  return forExample(stated);
}

OpSettings OpSettings::forExample(std::span<const OpSetting> stated) const {
  OpSettings call;
  call.target_ = target_;
  for (const OpSetting &setting : stated) {
    if (const std::string *given = find(setting.name)) {
      setting.check(*given);
      call.values_[setting.name] = used_[setting.name] = *given;
    } else if (setting.absence != OpSetting::Absence::Open) {
      call.values_[setting.name] = used_[setting.name] = setting.fallback;
    }
  }
  return call;
}

std::vector<std::string> OpSettings::unused() const {
  std::vector<std::string> names;
  for (auto &[name, value] : values_)
    if (!used_.contains(name))
      names.push_back(name);
  return names;
}

std::string jit::settingsText(std::span<const OpSetting> stated) {
  std::string text;
  for (const OpSetting &setting : stated)
    text += (text.empty() ? "" : ", ") + setting.name +
            (setting.absence == OpSetting::Absence::Default ? "=" + setting.fallback : "");
  return text.empty() ? "the op has no settings" : "settings are " + text;
}

} // namespace tile
