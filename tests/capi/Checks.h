/* What the C programs of these tests check with. */
#pragma once

#include <tile/tile_c.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/// The call succeeds.
#define OK(call)                                                                                   \
  do {                                                                                             \
    tile_at(__FILE__, __LINE__);                                                                   \
    if ((call) != TILE_OK) {                                                                       \
      fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, tile_last_error_text());       \
      exit(1);                                                                                     \
    }                                                                                              \
  } while (0)

/// The condition holds.
#define CHECK(condition)                                                                           \
  do {                                                                                             \
    if (!(condition)) {                                                                            \
      fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #condition);                \
      exit(1);                                                                                     \
    }                                                                                              \
  } while (0)

/// The call fails with this status, at this line.
#define FAILS(status, call)                                                                        \
  do {                                                                                             \
    tile_at(__FILE__, __LINE__);                                                                   \
    CHECK((call) == (status));                                                                     \
    CHECK(tile_last_error_code() == (status));                                                     \
    CHECK(tile_last_error_line() == __LINE__);                                                     \
  } while (0)
