// The negative corpus: correct kernels, which must be clean and right under every schedule, and their faults, each of
// which must be reported with its kind under every schedule.
#pragma once

#include "tests/runtime/vgpu/PipelineKernels.h"

namespace tile::vgpu {

using enum FindingKind;

// Replaces the first `from`.
struct Edit {
  std::string from, to = {};
};

// What a correct kernel lacks or has wrong.
struct Fault {
  std::string what;
  std::vector<Edit> edits;
  std::vector<FindingKind> kinds; // one of these is reported: the order of warps may decide which
  std::string where = {};         // in this line of the broken kernel; empty: wherever
  std::string says = {};          // part of its message
  bool needsDelay = false;        // all is well if nothing is late, as under the eager schedule
};

struct CorpusSize {
  static inline int good = 0, broken = 0;
};

inline std::string edited(std::string text, const std::vector<Edit> &edits) {
  for (const Edit &edit : edits)
    text = replaced(text, edit.from, edit.to);
  return text;
}

inline void expectFault(const std::string &good, const Fault &fault, const Shape &shape = {}) {
  SCOPED_TRACE(fault.what);
  ++CorpusSize::broken;
  std::string broken = edited(good, fault.edits);
  underEachSchedule(broken, shape, [&](Gpu &gpu) {
    if (fault.needsDelay && gpu.device->schedule() != Schedule::Lazy)
      return;
    std::string all;
    bool found = false;
    for (const Finding &finding : gpu.findings) {
      found |= std::ranges::count(fault.kinds, finding.kind) > 0 &&
               (fault.where.empty() || finding.ptxLine == lineOf(broken, fault.where)) &&
               finding.message.find(fault.says) != std::string::npos;
      all += "\n" + finding.text();
    }
    EXPECT_TRUE(found) << "found:" << all;
  });
}

// Word i of the buffer becomes expected(i) in the correct kernel.
template <class Expected>
void expectFaults(const std::string &good, Expected expected, const std::vector<Fault> &faults,
                  const Shape &shape = {}) {
  ++CorpusSize::good;
  expectRuns(good, kBufferWords, expected, shape);
  for (const Fault &fault : faults)
    expectFault(good, fault, shape);
}

// A correct kernel that has no broken twin of its own.
template <class Expected>
void expectNoFault(const std::string &good, Expected expected, const Shape &shape = {}) {
  expectFaults(good, expected, {}, shape);
}

constexpr auto unchanged = [](size_t i) { return static_cast<uint32_t>(i); };

} // namespace tile::vgpu
