// What is behind the functions of a kernel that say what is tuned. Users need Kernel.h alone.
#pragma once

#include <tile/Tuning.h>

#include <functional>
#include <optional>

namespace tile {

namespace detail {

using TuningRule = std::function<bool(const Config &, const Problem &)>;
using TuningObjection = std::function<std::string(const Config &, const Problem &)>;
using TuningDefault = std::function<Config(const Problem &)>;
using TuningWork = std::function<Work(const Config &, const Problem &)>;

/// What is behind Kernel::tunable and the functions that follow it.
void addTunable(KernelRecord &record, std::string name, Choices choices,
                std::optional<int64_t> otherwise, Loc where);
void addTuningObjection(KernelRecord &record, TuningObjection objection);
void setTuningDefault(KernelRecord &record, TuningDefault otherwise);
void setTuningWork(KernelRecord &record, TuningWork work);

/// The place of a constant among those of a kernel. Error: InvalidArgument if it has none of this
/// name, or if that is tuned.
int givenConstant(const KernelRecord &record, std::string_view name, Loc where);

/// The constants of a call of which some are tuned.
struct TunedConstants {
  std::span<int64_t> values; ///< of all constants; those that are tuned are filled in
  uint64_t given = 0;        ///< a bit for each that the call gives
};
/// Fills in what is tuned, without an allocation for a call like an earlier one. Errors:
/// InvalidArgument for a constant that is neither given nor tuned; NotTuned where only tuned
/// problems are allowed and this is none.
void chooseTuned(const KernelRecord &record, const Device &device, std::span<const HostArg> args,
                 TunedConstants constants, CompileSettings &settings, Loc call);
/// Launches with what chooseTuned chooses; a call like an earlier one of this thread costs no more
/// than that of a kernel whose settings are given.
void launchTuned(const KernelRecord &record, const Stream &stream, std::span<const HostArg> args,
                 TunedConstants constants, Loc call);
/// The same without launching.
void prepareTuned(const KernelRecord &record, const CallPlace &place, std::span<const HostArg> args,
                  TunedConstants constants);
/// The same, told.
TunedChoice tunedChoice(const KernelRecord &record, const Device &device,
                        std::span<const HostArg> args, TunedConstants constants);

} // namespace detail

} // namespace tile
