// Mutants of correct kernels must be reported, refused, or give other bytes under some schedule. Those that do not are
// listed, with the reason.
#include "tests/runtime/vgpu/check/Mutants.h"

namespace tile::vgpu {
namespace {

// Mutants that do not show: most order and count as much as the original does, a few are missed.
struct Silent {
  std::string subject, part, reason;
  bool isMissed = false;
};
const Silent kSilent[] = {
    {"multicast", "deleted: fence.mbarrier_init.release.cluster",
     "the barrier.cluster.arrive.release after it orders as much"},
    {"multicast", "line 42 deleted: barrier.cluster.wait.aligned",
     "a block waits for its own bytes, so none exits before the copy is done"},
    {"grid_fence", "line 151 deleted", "another barrier stands before the words are written again"},
    {"grid_fence", "line 295 deleted", "nothing is written to the words after it"},
    {"softmax", "line 315 deleted", "nothing is written to the words after it"},
    {"wmma_shared", "line 148 deleted", "another bar.warp.sync stands before the first load"},
    {"products of descriptors", "line 93 deleted: bar.sync 1, 128",
     "wgmma.wait_group waits for the products of all four warps"},
    {"remote sums", "line 43 deleted: barrier.cluster.wait.acquire.aligned",
     "rank 0 waits for the bytes, and nobody touches what is rank 1's"},
    {"locked", "line 31 deleted: membar.gl",
     "counter and lock are strong, so they do not race, and they are executed in program order",
     true},
    {"locked", "line 38 deleted: membar.gl", "the same", true},
};

// True if something shows: a refusal, a finding, other bytes.
bool shows(const Subject &subject, const std::string &ptx, const Bytes &expected) {
  for (auto [schedule, seed] : kSchedules) {
    try {
      Gpu gpu(ptx, subject.target);
      gpu.device->setSchedule(schedule, seed);
      if (subject.run(gpu) != expected || !gpu.findings.empty())
        return true;
    } catch (const Error &) {
      return true;
    }
  }
  return false;
}

const Silent *silence(const Subject &subject, const Mutant &mutant) {
  for (const Silent &known : kSilent)
    if (subject.name == known.subject && mutant.what.find(known.part) != std::string::npos)
      return &known;
  return nullptr;
}

struct Tally {
  int killed = 0, equivalent = 0, missed = 0;
};

void tryMutants(const Subject &subject, Tally &tally) {
  Gpu gpu(subject.ptx, subject.target);
  Bytes expected = subject.run(gpu);
  gpu.expectClean();
  ASSERT_FALSE(shows(subject, subject.ptx, expected)) << subject.name;
  for (const Mutant &mutant : mutantsOf(subject)) {
    bool found = shows(subject, mutant.ptx, expected);
    const Silent *known = silence(subject, mutant);
    if (known) {
      EXPECT_FALSE(found) << subject.name << ": shows, though " << known->reason << ": "
                          << mutant.what;
      (known->isMissed ? tally.missed : tally.equivalent) += 1;
      continue;
    }
    tally.killed += found;
    EXPECT_TRUE(found) << subject.name << ": survives: " << mutant.what;
  }
}

TEST(Mutations, EveryMutantShows) {
  Tally tally;
  std::vector<Subject> subjects = compiledSubjects();
  for (Subject &subject : pipelineSubjects())
    subjects.push_back(std::move(subject));
  for (const Subject &subject : subjects)
    tryMutants(subject, tally);
  std::printf("%d mutants, %d equivalent; of the others %d show and %d are missed: %.1f %%\n",
              tally.killed + tally.equivalent + tally.missed, tally.equivalent, tally.killed,
              tally.missed, 100.0 * tally.killed / (tally.killed + tally.missed));
}

} // namespace
} // namespace tile::vgpu
