// The settings of ops by name: the NAME=VALUE words of a command line, and what an op says of them.
#pragma once

#include <tile/Error.h>
#include <tile/Number.h>
#include <tile/Types.h>

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace tile {

/// A setting that calls of an op take: what its value may be, and what it is if none is given.
struct OpSetting {
  enum class Kind {
    Integer,  ///< of 64 bits, `least` to `most`
    Natural,  ///< of 64 bits without a sign
    Number,   ///< a double, -`largest` to `largest`
    Value,    ///< a tile::Number: any of these, exactly
    Flag,     ///< 0 or 1, or false or true
    Dtype,    ///< one of `words`, any dtype if there are none
    Word,     ///< one of `words`
    Integers, ///< a list as 0,2 or 4x1024, each `least` to `most`; an empty one has none
    Text,
  };
  /// What a call without it means.
  enum class Absence {
    Default, ///< it is `fallback`
    Open,    ///< something of its own, as the op's manual says
    Refused, ///< it must be given; examples, as `tilec build` makes them, take `fallback`
  };

  std::string name;
  Kind kind = Kind::Text;
  std::string fallback = ""; ///< as a word
  Absence absence = Absence::Default;
  int64_t least = std::numeric_limits<int64_t>::min(), most = std::numeric_limits<int64_t>::max();
  double largest = std::numeric_limits<double>::infinity();
  std::vector<std::string> words = {};
  std::string meaning = ""; ///< of one that must be given: what it is, for the error

  static OpSetting integer(std::string name, int64_t fallback);
  static OpSetting natural(std::string name, uint64_t fallback);
  static OpSetting number(std::string name, double fallback);
  static OpSetting value(std::string name, int64_t fallback);
  static OpSetting flag(std::string name, bool fallback);
  static OpSetting word(std::string name, std::vector<std::string> words); ///< the first if absent
  /// These are open unless something else is said.
  static OpSetting dtype(std::string name, std::initializer_list<DType> dtypes = {});
  static OpSetting integers(std::string name);
  static OpSetting text(std::string name);

  /// With these bounds, which are among the values.
  OpSetting from(int64_t first) &&;
  OpSetting to(int64_t last) &&;
  /// Numbers that f32 holds.
  OpSetting ofF32() &&;
  OpSetting open() &&;
  /// "seed= is needed: `meaning`"
  OpSetting needed(std::string meaning, std::string example) &&;

  /// Throws InvalidArgument, "k=-1: an integer from 1 on is expected", unless it may be that.
  void check(const std::string &given) const;
};

/// The NAME=VALUE words of a call or a command line. Errors of all getters: InvalidArgument for a
/// value of the wrong kind.
class OpSettings {
public:
  OpSettings() = default;
  explicit OpSettings(std::map<std::string, std::string> values) : values_(std::move(values)) {}

  // What an entry states (OpEntry::settings): given by the call or by default.
  bool has(const std::string &name) const { return values_.contains(name); }
  int64_t integer(const std::string &name) const;
  uint64_t natural(const std::string &name) const;
  double number(const std::string &name) const;
  Number value(const std::string &name) const;
  bool flag(const std::string &name) const;
  std::vector<int64_t> integers(const std::string &name) const;
  std::string text(const std::string &name) const;

  // What else examples and kernels ask for. Each getter names its default, and what no getter asked
  // for is a mistake that `unused` finds.
  int64_t integer(const std::string &name, int64_t fallback) const;
  int smallInteger(const std::string &name, int fallback) const;
  /// Not negative.
  int64_t extent(const std::string &name, int64_t fallback) const;
  double number(const std::string &name, double fallback) const;
  bool flag(const std::string &name, bool fallback) const;
  DType dtype(const std::string &name, DType fallback) const;
  std::string text(const std::string &name, std::string fallback) const;

  /// The GPU that the kernel is compiled for, "sm_90a", where that is known before it is traced;
  /// else empty. Ops choose tiles by it.
  const std::string &target() const { return target_; }
  void setTarget(std::string target) { target_ = std::move(target); }

  /// All that an op states, for a call of it: those that were given, which must be values that it
  /// takes, and defaults. Errors: InvalidArgument, also for one that is not stated.
  OpSettings forCall(std::span<const OpSetting> stated) const;
  /// The same for an example, where others may be given and nothing must.
  OpSettings forExample(std::span<const OpSetting> stated) const;

  /// Names that were given and not asked for.
  std::vector<std::string> unused() const;
  /// Names that were asked for, with their values.
  const std::map<std::string, std::string> &used() const { return used_; }

private:
  const std::string *find(const std::string &name) const;
  const std::string &stated(const std::string &name) const;

  std::map<std::string, std::string> values_;
  std::string target_;
  mutable std::map<std::string, std::string> used_;
};

} // namespace tile
