// For C: versions, and what went wrong. Part of tile/tile_c.h, which says what holds for all.
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The version of this header. A library of version N serves programs of all lower versions.
#define TILE_ABI_VERSION 1
/// The version that the library has: to be compared with TILE_ABI_VERSION by whoever loads it.
int32_t tile_abi_version(void);
/// The version of tilec, "0.1.0".
const char *tile_version(void);

/// TILE_OK or one of the other codes of tile_code.
typedef int32_t tile_status;
enum tile_code {
  TILE_OK = 0,
  TILE_INVALID_ARGUMENT = 1,
  TILE_INVALID_SHAPE = 2,
  TILE_INVALID_HANDLE = 3,
  TILE_WRONG_DEVICE = 4, ///< a tensor or stream is of another device
  TILE_USE_AFTER_FREE = 5,
  TILE_ALIASING = 6, ///< an output overlaps itself or an input
  TILE_UNSUPPORTED = 7,
  TILE_NOT_TUNED = 8,
  TILE_RESOURCE_EXCEEDED = 9,
  TILE_TIMEOUT = 10,
  TILE_OUT_OF_MEMORY = 11,
  TILE_IO_ERROR = 12,
  TILE_LINK_ERROR = 13,
  TILE_PARSE = 14,
  TILE_VERIFY = 15,
  TILE_TOOL_MISSING = 16,
  TILE_TOOL_FAILED = 17,
  TILE_INTERNAL_ERROR = 18, ///< a fault of tilec: report it
  TILE_NO_DEVICE = 19,
  TILE_DEVICE_FINDING = 20, ///< the virtual GPU's checks found a fault of the kernel
  TILE_DEVICE_ASSERT = 21,
  TILE_DEVICE_LOST = 22,
  TILE_CONTEXT_LOST = 23,
  TILE_NOT_PREPARED_FOR_CAPTURE = 24, ///< cannot be part of a capture
  TILE_FORKED_CONTEXT = 25            ///< a CUDA device opened before fork() and used in the child
};

/// The name of a code, "InvalidArgument"; "?" for a number that is none.
const char *tile_status_name(tile_status status);

/// The last error of this thread: the code, TILE_OK if there was none yet or it was cleared.
/// Functions that succeed leave it as it is.
tile_status tile_last_error_code(void);
/// One to three lines for a user: "file:line: error: fault, values, remedy", then the notes.
const char *tile_last_error_text(void);
/// The message alone.
const char *tile_last_error_message(void);
/// Further lines, each a sentence, and how many there are; NULL beyond.
size_t tile_last_error_note_count(void);
const char *tile_last_error_note(size_t index);
/// The line of the program or of the kernel that the error is about; "" and 0 if unknown.
const char *tile_last_error_file(void);
int32_t tile_last_error_line(void);
/// Whose fault it is: 1 the caller's, 2 the compiler's, 3 the device's; 0 if there is no error.
int32_t tile_last_error_fault(void);
/// Forgets the last error.
void tile_clear_last_error(void);

/// The line of your program that errors and reports name for what this thread calls from here on;
/// NULL and 0: none. The text is copied. Where every line counts: `#define AT(call)
/// (tile_at(__FILE__, __LINE__), (call))`.
void tile_at(const char *file, int32_t line);

#ifdef __cplusplus
} // extern "C"
#endif
