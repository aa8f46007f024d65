// What a launch of a tuned kernel does about settings, as the environment asks.
//
//   TILE_TUNE=off      takes what the kernel says otherwise, whatever is known
//   TILE_TUNE=cached   (default) takes what is known of the problem, else what the kernel says
//   TILE_TUNE=quick    tries 8 settings of a problem of which nothing is known, when it is met, and keeps what it finds
//   TILE_TUNE=full     the same with 64; both for TILE_TUNE_SECONDS at most (10). No crash of a kernel is survived
//   TILE_TUNE=pinned   takes what tables say; of a problem that they do not have the launch is an error
//   TILE_TUNE=record   as cached, and writes problems of which nothing is known to TILE_TUNE_RECORD, for `tilec tune`
//
//   TILE_TUNE_TABLE    files of results, separated by colons, which count for more than the database
//   TILE_TUNE_SHIPPED  a folder of tables which count for less, in place of those that come with the library; off: none
#pragma once

#include <cstdint>

namespace tile::tune {

enum class Mode : uint8_t { Off, Cached, Quick, Full, Pinned, Record };

/// The mode the environment asks for; one it does not know is a warning, and Cached. It is read once.
Mode modeOfProcess();

} // namespace tile::tune
