// A kernel as the compiler and the runtime see it, and what they do for it. Users need Kernel.h
// alone.
#pragma once

#include <tile/Error.h>
#include <tile/HostArg.h>
#include <tile/Value.h>

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace tile {

class Device;
class Stream;
struct CallPlace;

namespace detail {

/// One parameter of a kernel, as its lambda declares it.
struct ParamSpec {
  enum Kind : uint8_t { In, Out, InOut, Scalar, Const } kind;
  DType dtype; ///< `any` for views of any dtype and for Const
  int rank;    ///< of views
};

/// What a kernel's body asks for its parameters while it is traced.
struct ParamSource {
  Value value(int param) const;
  int constant(int param) const;
};

struct TuningSpace;

class KernelBody {
public:
  virtual ~KernelBody() = default;
  virtual void run(const ParamSource &source) const = 0;
};

/// A kernel as the compiler sees it. `id` identifies it in memory for the life of the process.
struct KernelRecord {
  uint64_t id = 0;
  std::string name;
  Loc where;
  std::vector<ParamSpec> params;
  std::vector<std::string> paramNames; ///< empty, or one a parameter
  std::unique_ptr<KernelBody> body;
  std::shared_ptr<TuningSpace> tuning; ///< null unless something of the kernel is tuned
};

/// What a kernel is known by: kernels of one name and identity share compiled code.
struct KernelIdentity {
  const void *type = nullptr; ///< of a lambda without captures: an address that no other type has
  std::string key;            ///< of kernel_capturing, with what is captured
  auto operator<=>(const KernelIdentity &) const = default;
};

/// A new record with the id that identity and name had before, or a fresh one. Error: a name that
/// is not an identifier.
std::shared_ptr<KernelRecord> makeRecord(std::string name, KernelIdentity identity,
                                         std::vector<ParamSpec> params,
                                         std::unique_ptr<KernelBody> body, Loc where);

/// The records of all kernels there are, oldest first: what tools find in a library they have
/// loaded.
std::vector<std::shared_ptr<const KernelRecord>> liveRecords();

/// What a kernel is compiled with, besides its constants. Kernels that differ here are compiled
/// apart; a kernel's own hints count for more.
struct CompileSettings {
  int warps = 4;
  int maxRegisters = 0; ///< of a thread; 0: the assembler decides
  int occupancy = 1;    ///< blocks that must fit a multiprocessor together
  bool fpFusion = true; ///< a * b + c may round once
  bool flushDenormals = false;
  bool checked = false; ///< what the kernel takes for granted is asserted
  bool assume = true;   ///< alignments and strides of arguments are part of the specialisation
  bool operator==(const CompileSettings &) const = default;
};

/// How to launch: `grid` is used only if `hasGrid`, else it follows from the kernel's grid helper.
struct LaunchOptions {
  CompileSettings compile;
  bool hasGrid = false;
  int64_t grid[3] = {1, 1, 1};
  Loc call; ///< the line that launches
};

/// Checks number, kind, dtype and rank of the arguments against the kernel. Throws Error,
/// InvalidArgument, naming the argument: "arg 2 'b': expected ptr<f16>, got ptr<f32>".
void checkArguments(const KernelRecord &record, std::span<const HostArg> args);

/// The text of a kernel's tile IR; `anyTypes` are the dtypes of its views of `any` dtype, in order.
std::string tileIr(const KernelRecord &record, std::span<const int64_t> consts,
                   const CompileSettings &settings, const std::vector<DType> &anyTypes);
/// The same for these arguments, of which dtypes, extents and numbers count.
std::string tileIr(const KernelRecord &record, std::span<const int64_t> consts,
                   const CompileSettings &settings, std::span<const HostArg> args);

/// Checks the arguments, compiles on first use and launches; part of the runtime. Errors get a note
/// with `options.call`.
void launch(const KernelRecord &record, const Stream &stream, std::span<const HostArg> args,
            std::span<const int64_t> consts, const LaunchOptions &options);
/// The same without launching.
void prepare(const KernelRecord &record, const CallPlace &place, std::span<const HostArg> args,
             std::span<const int64_t> consts, const LaunchOptions &options);

} // namespace detail

} // namespace tile
