// Says at the end how large the corpus was.
#include "tests/runtime/vgpu/negative/Faults.h"

namespace tile::vgpu {
namespace {

class CountCorpus : public testing::Environment {
  void TearDown() override {
    std::printf("%d correct kernels, %d broken ones, each under %zu schedules\n", CorpusSize::good,
                CorpusSize::broken, std::size(kSchedules));
  }
};

const testing::Environment *const counting = testing::AddGlobalTestEnvironment(new CountCorpus);

} // namespace
} // namespace tile::vgpu
