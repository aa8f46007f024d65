// A few thousand hostile kernels in the tests; fuzz_addresses runs any number, under the sanitizers in the preset asan.
#include "tests/fuzz/addresses/HostileMachine.h"

#include <gtest/gtest.h>

namespace tile::fuzz {
namespace {

TEST(HostileAddresses, NoneLeavesTheKernelsMemory) {
  constexpr uint64_t kCount = 2000;
  HostileMachine machine;
  testing::internal::CaptureStdout(); // of printf
  for (uint64_t seed = 0; seed < kCount; ++seed)
    machine.run(seed);
  testing::internal::GetCapturedStdout();
  for (const auto &[seed, words] : machine.faults)
    ADD_FAILURE() << "seed " << seed << ": " << words;
  // They are kernels that run: few are refused, and most are reported.
  EXPECT_LT(machine.refusals, kCount / 50);
  EXPECT_GT(machine.withFindings, kCount / 2);
  EXPECT_GT(machine.clean, kCount / 50);
}

} // namespace
} // namespace tile::fuzz
