// Tuned settings: a kernel lists the values that its constants may take, and launches of `tuned()`
// use those that were fastest for similar arguments.
//
//   auto matmul = kernel("matmul", [](In<f16, 2> a, In<f16, 2> b, Out<f16, 2> c, Const BM,
//                                     Const BN, Const BK, Const stages) { ... })
//                     .named("a", "b", "c", "BM", "BN", "BK", "stages")
//                     .tunable("BM", pow2(32, 256), 128)
//                     .tunable("BN", pow2(32, 256), 128)
//                     .tunable("BK", {32, 64})
//                     .tunable("stages", steps(2, 5))
//                     .tunable("warps", {4, 8})
//                     .where("a thread holds at most 128 sums",
//                            [](const Config &c, const Problem &) {
//                              return c["BM"] * c["BN"] <= 128 * 32 * c["warps"];
//                            });
//   matmul.tuned()(stream, a, b, c);
//
// `tilec tune FILE.cpp a=f16[4096x4096] ...` tries them and stores what it finds. A launch looks
// for a result for its problem: in this process, in the database, in a table that was reviewed and
// shipped. If there is none it uses what the kernel's `otherwise` returns, or the values that
// `tunable` names. docs/tuning.md describes all of it.
//
// Results are stored per bucket of problems: the dtypes, the constants that are not tuned, the
// device, every extent rounded up to a quarter of an octave (1, 2, ... 8, 10, 12, 14, 16, 20, ...)
// and whether rows can be copied 16 bytes at a time.
#pragma once

#include <tile/HostArg.h>
#include <tile/detail/KernelRecord.h>

#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tile {

/// The values that a setting may take.
class Choices {
public:
  Choices(std::initializer_list<int64_t> values) : values_(values) {}
  explicit Choices(std::vector<int64_t> values) : values_(std::move(values)) {}
  std::span<const int64_t> values() const { return values_; }
  /// The name of each value; none for numbers.
  std::span<const std::string> names() const { return names_; }

private:
  friend Choices words(std::vector<std::string> names);
  std::vector<int64_t> values_;
  std::vector<std::string> names_;
};

/// first, 2 first, 4 first, ... last. Error: InvalidArgument if doubling does not reach `last`.
Choices pow2(int64_t first, int64_t last, Loc where = Loc::here());
/// first, first + step, ... up to last. Error: InvalidArgument for a step below 1 or no value.
Choices steps(int64_t first, int64_t last, int64_t step = 1, Loc where = Loc::here());
/// 0 and 1: for example for a ConstOf<bool>.
Choices onOff();
/// 0, 1, 2, ... with these names, for a ConstOf<T> of an enum. Settings are printed and stored by
/// name, and all other words are neighbours of one.
Choices words(std::vector<std::string> names);

/// A value for each setting of a kernel, in the order in which they were declared. A value of
/// `words` has its name beside it.
class Config {
public:
  Config() = default;
  Config(std::initializer_list<std::pair<std::string, int64_t>> values) : values_(values) {}

  /// The value of a setting. Error: InvalidArgument for an unknown name, with the known ones.
  int64_t operator[](std::string_view name) const;
  /// The same, or `missing`.
  int64_t get(std::string_view name, int64_t missing) const;
  /// Gives a setting another value, or adds one.
  Config &set(std::string_view name, int64_t value);
  /// The same, by a word: its number is kUnnumbered where only the kernel knows that.
  Config &set(std::string_view name, std::string_view word, int64_t value);
  static constexpr int64_t kUnnumbered = -1;
  std::span<const std::pair<std::string, int64_t>> values() const { return values_; }
  /// The name of a setting's value; empty for a number.
  std::string_view word(std::string_view name) const;
  /// "BM=128 BN=256 schedule=ping_pong warps=8"
  std::string str() const;
  /// Equal names and values, in the same order.
  bool operator==(const Config &other) const;

private:
  std::vector<std::pair<std::string, int64_t>> values_;
  std::vector<std::pair<std::string, std::string>> words_; ///< of the settings that have one
};

/// What a kernel is called with, as far as the best settings may depend on it.
class Problem {
public:
  /// For the runtime: `constants` are those of the kernel, without meaning for tuned ones.
  Problem(const detail::KernelRecord &record, std::span<const HostArg> arguments,
          std::span<const int64_t> constants, std::string_view target, int multiprocessors)
      : record_(record), arguments_(arguments), constants_(constants), target_(target),
        multiprocessors_(multiprocessors) {}

  /// An argument by its number, without the constants. Error: InvalidArgument.
  const HostArg &argument(size_t index) const;
  /// The extent of a view along a dimension; `index` counts arguments.
  int64_t extent(size_t index, int dim) const;
  /// A constant that is not tuned, by its name in `named(...)`. Error: InvalidArgument.
  int64_t constant(std::string_view name) const;
  /// The GPU that kernels are compiled for, "sm_90a", and how many multiprocessors it has.
  std::string_view target() const { return target_; }
  int multiprocessors() const { return multiprocessors_; }

private:
  const detail::KernelRecord &record_;
  std::span<const HostArg> arguments_;
  std::span<const int64_t> constants_;
  std::string_view target_;
  int multiprocessors_;
};

/// The work of a launch with given settings, from which the model of a device predicts a time. The
/// tuner orders its trials by that time and, on the virtual GPU, which has no time, chooses by it.
/// All numbers but the last two are per program; 0 means none.
struct Work {
  double multiplyAdds = 0; ///< of dots, on tensor cores where the target has them for `factors`
  DType factors = f16;     ///< the dtype of the dots' operands: it decides the peak rate
  double productRate = 1;  ///< the part of that peak that dots of this shape reach, 0 to 1
  double operations = 0;   ///< other arithmetic on elements, in f32
  double bytesRead = 0;    ///< from global memory, through the L2 cache
  double bytesWritten = 0;
  int64_t sharedBytes = 0; ///< of shared memory, if the kernel knows it
  int registers = 0;       ///< per thread, if the kernel knows it
  int threads = 128;
  /// Whether a program continues with the next tile without a pause: it loads for that tile while
  /// it stores the previous one.
  bool isPersistent = false;
  double programs = 1;      ///< of the launch; the number of tiles if it is persistent
  double distinctBytes = 0; ///< that the launch must read from and write to memory at least once
};

/// The seconds that a model predicts for a launch on a GPU of that target with that many
/// multiprocessors: dots, bytes through the L2 cache and bytes of memory at the rates of the
/// target's reference card, in waves of programs. It serves to compare settings before any is
/// timed. Empty for a target without a reference card, or if a program cannot run there.
std::optional<double> predictedSeconds(const Work &work, std::string_view target,
                                       int multiprocessors);

/// The settings that a launch of a tuned kernel uses.
struct TunedChoice {
  Config config;
  std::string source; ///< where they come from: "the database", a table's name, "the kernel"
};

} // namespace tile
