// The version of tilec that these headers are of. CMake reads it here.
#pragma once

#define TILE_VERSION_MAJOR 0
#define TILE_VERSION_MINOR 1
#define TILE_VERSION_PATCH 0

/// One number, to compare: `#if TILE_VERSION >= 100`. 0.1.0 is 100, 1.2.3 is 10203.
#define TILE_VERSION (TILE_VERSION_MAJOR * 10000 + TILE_VERSION_MINOR * 100 + TILE_VERSION_PATCH)
/// "0.1.0"
#define TILE_VERSION_STRING                                                                        \
  TILE_VERSION_JOIN(TILE_VERSION_MAJOR, TILE_VERSION_MINOR, TILE_VERSION_PATCH)

// The second step lets the numbers take their names' place before they become text.
#define TILE_VERSION_JOIN(major, minor, patch) TILE_VERSION_TEXT(major, minor, patch)
#define TILE_VERSION_TEXT(major, minor, patch) #major "." #minor "." #patch
