// Which checkers run, and what they find.
#pragma once

#include "runtime/device/Device.h"
#include "runtime/vgpu/check/CodeLocation.h"
#include "runtime/vgpu/ptx/Ptx.h"

#include <functional>
#include <optional>
#include <string>

namespace tile::vgpu {

/// The switchable checkers. Unmapped addresses, misalignment, deadlock and `trap` are always
/// reported.
struct Checks {
  bool memory =
      true; // accesses outside every allocation, after free, into red zones: with the allocation's name
  bool init =
      true; // uninitialised bytes and registers that reach an address, a branch or a global store
  bool race =
      true; // unordered conflicting accesses to shared and global memory, and between lanes of a warp
  bool sync = true; // barriers met by part of a warp, lanes missing from masks
  bool async =
      true; // asynchronous operations: use before their wait, missing proxy fences, misused mbarriers, wgmma

  // Not part of all:
  bool strict =
      false;          // writes of the value that is there are races too, and barriers are no fences
  bool proxy = false; // asynchronous writes need fence.proxy.async after generic reads too

  static Checks none() { return {false, false, false, false, false, false, false}; }
  /// Both need to know who touched memory last.
  bool tracksAccesses() const { return race || async; }
  bool operator==(const Checks &) const = default;
};

/// Parses "none" or a comma list of all, memory, init, race, sync, async, strict, proxy. Throws
/// InvalidArgument for other words.
Checks parseChecks(std::string_view list);
/// The words of the checks that run.
std::vector<std::string> wordsOf(const Checks &checks);
const char *nameOf(Space space);
/// "(x,y,z)" of a block.
std::string textOf(const device::Dim3 &block);

/// The kind of a finding, as printed in brackets.
enum class FindingKind : uint8_t {
  OutOfBounds,
  UseAfterFree,
  Misaligned,
  Uninitialised,
  Race,
  WarpRace,
  AsyncRace,
  Proxy,
  Async,
  Divergence,
  Deadlock,
  Barrier,
  Trap,
  Assert,
  StepLimit,
  Undefined,
};
const char *nameOf(FindingKind kind);

/// The allocation or variable that an address lies in or is nearest to.
struct MemoryLocation {
  std::string name;   // empty: none is near
  int64_t offset = 0; // of the address; negative: so many bytes before it
  uint64_t bytes = 0; // of all of it
};

/// The earlier of the two accesses of a race. Of one that is not known by its line, `ptxLine` is 0.
struct OtherAccess : CodeLocation {
  std::string access;           // "write", "asynchronous read"
  bool inEarlierLaunch = false; // which this one need not have waited for
  bool isAsynchronous = false;  // completed by no thread: what follows is not known
  std::string kernel;
  device::Dim3 cta = {0, 0, 0};
  uint64_t ctaIndex = 0, clusterIndex = 0;
  uint32_t warp = 0;
  std::optional<uint32_t> lane; // nothing: several
};

/// One fault of a kernel, with everything needed to find it again; or one of the host's program,
/// which has the line of that as its source, and none of PTX.
struct Finding : CodeLocation {
  FindingKind kind = FindingKind::OutOfBounds;
  std::string message; // what happened, with values
  std::string kernel;
  device::Dim3 cta = {0, 0, 0};
  uint64_t ctaIndex = 0, clusterIndex = 0;
  uint32_t warp = 0, lane = 0;
  uint32_t lanes = 1; // bitmap of all lanes of the warp concerned; `lane` is the first
  Space space = Space::Generic;
  uint64_t address = 0;
  uint32_t bytes = 0;
  MemoryLocation allocation;
  std::optional<OtherAccess> other; // of a race
  uint64_t count = 1;               // how often it was seen in the launch
  uint64_t seed = 0;

  /// Three lines: what, at the line of the source if that is known, and what to do; who; the
  /// instruction.
  std::string text() const;
  /// "the other: warp 1, lane 3, line 9 `...`"; empty without one.
  std::string otherText() const;
};

/// Something a kernel does that is no fault, but may not be meant. Each line has one at most.
struct Note : CodeLocation {
  std::string message;

  /// One line: "file.ptx:12: ..., from file.cu:5; `...`".
  std::string text() const;
};

/// Receives the findings of a launch, most serious order: by block, then by time.
using FindingSink = std::function<void(const std::vector<Finding> &)>;

} // namespace tile::vgpu
