// By which numbers the tiles and schedules of attention are chosen, and where these come from.
#pragma once

#include "ops/Threshold.h"

#include <cstdint>

namespace tile::ops {

// --- Forward -------------------------------------------------------------------------------------

inline constexpr Threshold kWarpgroupQueries{
    33, "queries", "a warpgroup's 64 rows are more than half used", kNotTimed, "2026-11-24"};
inline constexpr Threshold kTeamHead{64, "of the head dimension, at most",
                                     "wider heads leave a thread no registers for a third consumer",
                                     kNotTimed, "2026-11-25"};
inline constexpr Threshold kTeamQueries{8 * 3 * 64, "queries",
                                        "from eight programs of three teams on, at most a ninth of "
                                        "the rows is idle",
                                        kNotTimed, "2026-11-25"};
inline constexpr Threshold kManyKeys{
    8192, "keys",
    "head dimension 128: tiles of 176 keys are 5 % faster than of 128 at 16384 keys, 2 % with a "
    "causal mask; 2 to 4 % slower at 4096",
    kOnH100, "2026-11-26"};
inline constexpr Threshold kHeadsAtOnce{16, "heads whose longest tiles start first, at most",
                                        "causal attention is 7 % faster", kOnH100, "2026-11-25"};
inline constexpr Threshold kScoresOfBranch{64 * 64, "scores per tile",
                                           "a branch costs less than the comparisons that it saves",
                                           kNotTimed, "2026-11-23"};

// --- Backward ------------------------------------------------------------------------------------

inline constexpr Threshold kWarpgroupGradientHead{
    128, "of the head dimension, at most", "no reason is on record", kNotTimed, "2026-11-25"};
inline constexpr Threshold kGradientHeadsAtOnce{4, "heads whose longest tiles start first, at most",
                                                "the causal gradient is 5 to 8 % faster", kOnH100,
                                                "2026-11-25"};

// --- Decoding: one query per sequence ------------------------------------------------------------

inline constexpr Threshold kEnoughPrograms{
    int64_t{512}, "programs", "with fewer, keys are split: about four per multiprocessor",
    kNotTimed, "2026-11-22"};
inline constexpr Threshold kLeastTilesOfPart{int64_t{4}, "tiles of keys per part",
                                             "no reason is on record", kNotTimed, "2026-11-22"};

} // namespace tile::ops
