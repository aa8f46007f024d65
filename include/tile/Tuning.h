// Settings that are found by trying: a kernel says which values its constants may take, and
// launches of `tuned()` use those that were fastest for arguments like theirs.
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
// `tilec tune FILE.cpp a=f16[4096x4096] ...` tries them and keeps what it finds. A launch looks
// for a result for its problem: this process's, the database's, that of a table that was reviewed
// and shipped; where there is none it takes what the kernel's `otherwise` says, else the values
// that `tunable` names. docs/tuning.md is the whole story.
//
// Results are kept for a bucket of problems: the dtypes, the constants that are not tuned, the
// device, and of every extent the quarter of an octave it lies in (1, 2, ... 8, 10, 12, 14, 16, 20,
// ...) and whether rows of it can be copied in pieces of 16 bytes.
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

private:
  std::vector<int64_t> values_;
};

/// first, 2 first, 4 first, ... last. Error: InvalidArgument unless that is where it arrives.
Choices pow2(int64_t first, int64_t last, Loc where = Loc::here());
/// first, first + step, ... up to last. Error: InvalidArgument for a step below 1 or no value.
Choices steps(int64_t first, int64_t last, int64_t step = 1, Loc where = Loc::here());
/// 0 and 1: of a ConstOf<bool>, say.
Choices onOff();

/// A value for each setting of a kernel, in the order in which they were declared.
class Config {
public:
  Config() = default;
  Config(std::initializer_list<std::pair<std::string, int64_t>> values) : values_(values) {}

  /// The value of a setting. Error: InvalidArgument for a name there is not, with those there are.
  int64_t operator[](std::string_view name) const;
  /// The same, or `missing`.
  int64_t get(std::string_view name, int64_t missing) const;
  /// Gives a setting another value, or adds one.
  Config &set(std::string_view name, int64_t value);
  std::span<const std::pair<std::string, int64_t>> values() const { return values_; }
  /// "BM=128 BN=256 warps=8"
  std::string str() const;
  bool operator==(const Config &) const = default;

private:
  std::vector<std::pair<std::string, int64_t>> values_;
};

/// What a kernel is called with, as far as the best settings may depend on it.
class Problem {
public:
  /// For the runtime: `constants` are those of the kernel; of settings that are tuned they mean
  /// nothing.
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

/// What a launch with some settings has to do, from which the model of a device makes a time: by
/// that time the tuner decides what to try first, and on the virtual GPU, which has none, what is
/// best. All numbers but the last two are of one program; 0 where there is nothing of the kind.
struct Work {
  double multiplyAdds = 0; ///< of products, by tensor cores where the target has them for `factors`
  DType factors = f16;     ///< the dtype of what is multiplied: it decides the peak rate
  double productRate = 1;  ///< the part of that peak that products of this shape reach, 0 to 1
  double operations = 0;   ///< other arithmetic on elements, in f32
  double bytesRead = 0;    ///< of global memory, through the L2 cache
  double bytesWritten = 0;
  int64_t sharedBytes = 0; ///< of shared memory, if it is known to the kernel
  int registers = 0;       ///< of a thread, if they are
  int threads = 128;
  /// Does a program go on with the next piece of work without a pause? Then it loads what that
  /// needs while it stores the last.
  bool isPersistent = false;
  double programs = 1;      ///< of the launch, of a persistent one the pieces of work
  double distinctBytes = 0; ///< that the launch must read of memory and write to it at least once
};

/// The seconds that a model expects a launch to take on a GPU of that target with so many
/// multiprocessors: products, bytes through the L2 cache and bytes of memory at the rates of the
/// card that stands for the target, in rounds of programs. It serves to compare settings before
/// any is timed. Nothing for a target of which no card is known, or if a program cannot run there.
std::optional<double> predictedSeconds(const Work &work, std::string_view target,
                                       int multiprocessors);

/// What a launch of a tuned kernel takes.
struct TunedChoice {
  Config config;
  std::string source; ///< who says so: "the database", the name of a table, "the kernel"
};

} // namespace tile
