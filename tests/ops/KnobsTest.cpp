// The knobs of matmul and attention: what follows from their tables, and that every schedule that
// can be written is computed.
#include "ops/attention/AttentionProgram.h"
#include "runtime/tune/Space.h"

#include <tile/ops/Matmul.h>

#include <gtest/gtest.h>

#include <set>

namespace tile::ops {
namespace {

using detail::kMatmulKnobs, detail::MatmulSchedule, detail::MatmulTiles;

const auto matmulKernel =
    detail::tunedMatmul(kernel("matmul", detail::MatmulProgram<2, detail::NoEpilogue>())
                            .named(detail::matmulParameters(0)));

/// A kernel with the knobs of attention after a constant of its own.
template <class Knobs> struct AttentionLike;
template <class... Knobs> struct AttentionLike<detail::KnobParameters<Knobs...>> {
  void operator()(In<any, 4>, Const, Knobs...) const {}
};
const auto attentionLike = detail::tunable(
    kernel("attention_like", AttentionLike<detail::ParametersOfKnobs<kAttentionKnobs>>())
        .named(detail::withKnobNames({"q", "Head"}, kAttentionKnobs)),
    kAttentionKnobs);

/// Goes through a kernel's space: each Config is a plan, and the plan that Config; what the runtime
/// writes into the kernel's constants, of which `given` come first, is what the kernel takes out.
template <class Plan, class Knobs>
size_t combinations(const tile::detail::KernelRecord &record, const Knobs &knobs, size_t given,
                    int Plan::*ofLaunch) {
  const tune::TuningSpace &space = tune::spaceOf(record);
  std::set<std::string> seen;
  tune::forEachConfig(space, [&](const Config &config) {
    auto plan = detail::planOfConfig<Plan>(knobs, config);
    EXPECT_EQ(detail::configOf(knobs, plan), config);
    EXPECT_EQ(detail::configOf(knobs, plan).str(), config.str());
    std::vector<int64_t> constants(16, -1);
    tile::detail::CompileSettings settings;
    tune::apply(space, config, constants, settings);
    EXPECT_EQ(settings.warps, plan.*ofLaunch);
    Plan inKernel = detail::withConstants(knobs, plan, [&](auto... values) {
      std::vector<int64_t> taken(constants.begin() + static_cast<ptrdiff_t>(given),
                                 constants.begin() +
                                     static_cast<ptrdiff_t>(given + sizeof...(values)));
      EXPECT_EQ(taken, (std::vector<int64_t>{static_cast<int64_t>(values)...}));
      EXPECT_EQ(constants[given + sizeof...(values)], -1) << "there are more";
      return detail::planOfConstants<Plan>(knobs, values...);
    });
    inKernel.*ofLaunch = plan.*ofLaunch;
    EXPECT_EQ(detail::configOf(knobs, inKernel), config);
    seen.insert(config.str());
    return !testing::Test::HasFailure();
  });
  return seen.size();
}

TEST(Knobs, OfMatmulAreTilesAndBack) {
  EXPECT_EQ(combinations(matmulKernel.record(), kMatmulKnobs, 3, &MatmulTiles::warps),
            5u * 5 * 4 * 2 * 15);
}

TEST(Knobs, OfAttentionArePlansAndBack) {
  EXPECT_EQ(combinations(attentionLike.record(), kAttentionKnobs, 1, &AttentionTiles::warps),
            4u * 9 * 4 * 2);
}

TEST(AttentionSchedules, AreOverlappedWithTeams) {
  std::string text;
  for (AttentionSchedule schedule : kAttentionSchedules) {
    AttentionTiles tiles{.schedule = schedule};
    text += std::string(nameOf(schedule)) + " " + std::to_string(tiles.teams()) +
            (tiles.overlaps() ? " overlaps\n" : "\n");
  }
  EXPECT_EQ(text, "serial 1\noverlapped 1 overlaps\noverlapped_two_teams 2 overlaps\n"
                  "overlapped_three_teams 3 overlaps\n");
}

/// The sum of products of small integers, which f16 holds.
std::vector<half> productOf(const std::vector<half> &a, const std::vector<half> &b, size_t m,
                            size_t n, size_t k) {
  std::vector<half> c;
  for (size_t row = 0; row < m; ++row)
    for (size_t column = 0; column < n; ++column) {
      float sum = 0;
      for (size_t i = 0; i < k; ++i)
        sum += static_cast<float>(a[row * k + i]) * static_cast<float>(b[i * n + column]);
      c.push_back(half(sum));
    }
  return c;
}

std::vector<half> smallIntegers(size_t count, unsigned seed) {
  std::vector<half> values;
  for (size_t i = 0; i < count; ++i) {
    seed = seed * 1664525 + 1013904223;
    values.push_back(half(static_cast<float>(seed >> 24 & 3) - 1));
  }
  return values;
}

// Whatever a schedule's row says, programs, warps and blocks share the work so that each tile is
// computed once.
TEST(MatmulSchedules, EachComputesTheProduct) {
  constexpr int64_t m = 256, n = 128, k = 512;
  Device device = Device::open("virtual:sm_90a");
  Stream stream = device.stream();
  std::vector<half> a = smallIntegers(m * k, 1), b = smallIntegers(k * n, 2),
                    expected = productOf(a, b, m, n, k);
  auto deviceA = device.tensor<half>({m, k}), deviceB = device.tensor<half>({k, n});
  deviceA.upload(a), deviceB.upload(b);
  for (MatmulSchedule schedule : detail::kMatmulSchedules) {
    SCOPED_TRACE(nameOf(schedule));
    auto c = device.tensor<half>({m, n});
    c.upload(std::vector<half>(m * n, half(77.0f)));
    MatmulTiles tiles{64, 64, 64, 4, schedule};
    detail::withConstants(kMatmulKnobs, tiles, [&](auto... knobs) {
      matmulKernel.consts(Precision::tf32x3, false, false, knobs...)
          .warps(tiles.warps)(stream, deviceA, deviceB, c);
    });
    stream.synchronize();
    std::vector<half> result = c.download();
    size_t wrong = 0;
    for (size_t i = 0; i < result.size(); ++i)
      wrong += static_cast<float>(result[i]) != static_cast<float>(expected[i]);
    EXPECT_EQ(wrong, 0u);
  }
}

// Parts of a schedule that only go with others.
TEST(MatmulSchedules, HaveNoPartsThatContradictEachOther) {
  for (const detail::MatmulScheduleRow &row : detail::kMatmulScheduleRows) {
    SCOPED_TRACE(row.name);
    bool isSplit = row.split.parts > 1;
    EXPECT_TRUE(!row.isPingPong || (row.isPersistent && row.hasProducer));
    EXPECT_TRUE(row.multicast == 1 || row.hasProducer);
    EXPECT_TRUE(!isSplit || (!row.isPersistent && !row.isPingPong && row.multicast == 1));
    EXPECT_TRUE(!row.addsUpInCluster() || (row.split.parts == 2 && !row.hasProducer));
    EXPECT_EQ(row.addsUpInCluster() + row.addsUpInMemory(), isSplit);
  }
}

} // namespace
} // namespace tile::ops
