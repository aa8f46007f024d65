// By which numbers a matmul's tiles and schedule are chosen, and where these come from. Columns and
// rows are those of C after it was transposed for small M (isComputedTransposed).
#pragma once

#include "ops/Threshold.h"

#include <cstdint>

namespace tile::ops::detail {

// --- One column (GEMV) and a few (small N) -------------------------------------------------------

inline constexpr Threshold kGemvLoads{
    8, "16-byte loads in flight per thread",
    "8 % faster than tensor cores, of whose columns all but one would be empty", kOnH100,
    "2026-11-25"};
inline constexpr Threshold kSmallNColumns{8, "columns",
                                          "one mma.sync from operands loaded straight into "
                                          "fragments is 2 % faster than wgmma from shared "
                                          "memory; 8 is the narrowest instruction's N",
                                          kHandWrittenOnH100, "2026-11-26"};
inline constexpr Threshold kSmallNRows{64, "rows", "no reason is on record", kNotTimed,
                                       "2026-11-26"};

// --- Skinny: bound by reading the operand with the rows ------------------------------------------

inline constexpr Threshold kSkinnyColumns{128, "columns",
                                          "up to these, reading A takes longer than multiplying",
                                          kNotTimed, "2026-11-25"};
inline constexpr Threshold kSkinnyRows{64, "rows", "the M of one wgmma", kNotTimed, "2026-11-25"};
inline constexpr Threshold kRowsForFullWidth{
    6400, "rows", "with fewer, tiles of 64 rows leave SMs idle: the columns are split as well",
    kNotTimed, "2026-11-25"};
inline constexpr Threshold kSkinnyLongStep{
    128, "of K per iteration",
    "half as many copies and waits; more programs per multiprocessor are no faster",
    kHandWrittenOnH100, "2026-11-25"};
inline constexpr Threshold kSkinnyStages{4, "stages that a long step must leave room for",
                                         "a long step is taken where that many fit", kNotTimed,
                                         "2026-11-25"};
inline constexpr Threshold kOneWaveColumns{
    256, "columns",
    "above kSkinnyColumns, tiles of one wave: if both operands are K-major the tile with more rows "
    "is faster, else the one with fewer",
    kHandWrittenOnH100, "2026-11-26"};

// --- Split-K -------------------------------------------------------------------------------------

inline constexpr Threshold kClusterSplitKDepth{int64_t{8192}, "of K",
                                               "4096 x 14336, up to 16 columns: two blocks of a "
                                               "cluster are 4 % faster than one block per tile, "
                                               "2 % if not K-major; with K = 4096 no faster",
                                               kHandWrittenOnH100, "2026-11-26"};
inline constexpr Threshold kClusterSplitKFewest{
    9, "columns", "as kClusterSplitKDepth: slower with 4", kHandWrittenOnH100, "2026-11-26"};
inline constexpr Threshold kClusterSplitKMost{
    16, "columns", "as kClusterSplitKDepth: no faster with 32", kHandWrittenOnH100, "2026-11-26"};
inline constexpr Threshold kMemorySplitKDepth{
    int64_t{8192}, "of K",
    "4096 x 14336, 256 columns: two programs per tile of 128 x 128 are 11 % faster than smaller "
    "tiles, and 14 % faster than a cluster",
    kHandWrittenOnH100, "2026-11-26"};
inline constexpr Threshold kLeastDepthOfPart{int64_t{1024}, "of K per part",
                                             "shorter parts do not pay for adding up", kNotTimed,
                                             "2026-11-26"};
inline constexpr Threshold kLeastGainOfSplitK{
    1.25, "times as fast by the estimate",
    "the time of adding up is computed from bytes and cycles, and may be wrong by that much",
    kNotTimed, "2026-11-26"};

// --- Warpgroups and ping-pong --------------------------------------------------------------------

inline constexpr Threshold kWarpgroupExtent{33, "rows and columns",
                                            "the smallest tile of 64 x 64 is more than half full",
                                            kNotTimed, "2026-11-24"};
inline constexpr Threshold kPingPongDepth{
    int64_t{1024}, "of K, at most",
    "ping-pong is 8 % faster than cuBLAS at K = 1024, other schedules 3 to 6 %", kOnH100,
    "2026-11-25"};
inline constexpr Threshold kPingPongExtent{
    int64_t{4096}, "rows and columns",
    "with few columns (65536 x 1024) its smaller tiles read too much: 12 % slower", kOnH100,
    "2026-11-25"};

// --- Warps by themselves -------------------------------------------------------------------------

inline constexpr Threshold kBusyPrograms{int64_t{128}, "programs",
                                         "about one per multiprocessor of a large GPU", kNotTimed,
                                         "2026-11-21"};

} // namespace tile::ops::detail
