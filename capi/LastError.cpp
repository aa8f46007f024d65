// Status and last error of a thread, and the line that it is at.
#include "capi/Guard.h"

#include <tile/Version.h>

#include <iterator>
#include <mutex>
#include <new>
#include <optional>
#include <set>

namespace tile::capi {
namespace {

thread_local std::optional<Error> lastError;
// Where there was no memory for an error: its status, and a text that needs none.
thread_local tile_status statusWithoutError = TILE_OK;
thread_local Loc line;

constexpr const char *kNoMemory = "the host has no memory";

/// Named from here on, since the numbers of the C API are fixed and those of C++ are not.
tile_status statusOf(ErrorCode code) {
  switch (code) {
  case ErrorCode::InvalidArgument:
    return TILE_INVALID_ARGUMENT;
  case ErrorCode::InvalidShape:
    return TILE_INVALID_SHAPE;
  case ErrorCode::InvalidHandle:
    return TILE_INVALID_HANDLE;
  case ErrorCode::WrongDevice:
    return TILE_WRONG_DEVICE;
  case ErrorCode::UseAfterFree:
    return TILE_USE_AFTER_FREE;
  case ErrorCode::Aliasing:
    return TILE_ALIASING;
  case ErrorCode::Unsupported:
    return TILE_UNSUPPORTED;
  case ErrorCode::NotTuned:
    return TILE_NOT_TUNED;
  case ErrorCode::ResourceExceeded:
    return TILE_RESOURCE_EXCEEDED;
  case ErrorCode::Timeout:
    return TILE_TIMEOUT;
  case ErrorCode::OutOfMemory:
    return TILE_OUT_OF_MEMORY;
  case ErrorCode::IoError:
    return TILE_IO_ERROR;
  case ErrorCode::LinkError:
    return TILE_LINK_ERROR;
  case ErrorCode::Parse:
    return TILE_PARSE;
  case ErrorCode::Verify:
    return TILE_VERIFY;
  case ErrorCode::ToolMissing:
    return TILE_TOOL_MISSING;
  case ErrorCode::ToolFailed:
    return TILE_TOOL_FAILED;
  case ErrorCode::InternalCompilerError:
    return TILE_INTERNAL_ERROR;
  case ErrorCode::NoDevice:
    return TILE_NO_DEVICE;
  case ErrorCode::DeviceFinding:
    return TILE_DEVICE_FINDING;
  case ErrorCode::DeviceAssert:
    return TILE_DEVICE_ASSERT;
  case ErrorCode::DeviceLost:
    return TILE_DEVICE_LOST;
  case ErrorCode::ContextLost:
    return TILE_CONTEXT_LOST;
  case ErrorCode::NotPreparedForCapture:
    return TILE_NOT_PREPARED_FOR_CAPTURE;
  case ErrorCode::ForkedContext:
    return TILE_FORKED_CONTEXT;
  }
  return TILE_INTERNAL_ERROR;
}

/// Errors that have no line get the caller's.
tile_status keep(const Error &error) {
  bool isPlaced = !error.file().empty() || !line.line;
  lastError.emplace(error.fault(), error.code(), error.message(),
                    isPlaced ? Loc{error.file().c_str(), error.line()} : line, error.notes());
  statusWithoutError = TILE_OK;
  return statusOf(error.code());
}

/// The function has usually called one that failed and handed on its status; then that error stays.
tile_status keep(const CallbackFailed &failed) {
  if (tile_last_error_code() == failed.status)
    return failed.status;
  keep(Error(Fault::User, ErrorCode::InvalidArgument,
             "the function that gives the work returned " + std::to_string(failed.status) + " (" +
                 tile_status_name(failed.status) + "), which ends the capture"));
  return failed.status;
}

tile_status keepAny() {
  try {
    throw;
  } catch (const Error &error) {
    return keep(error);
  } catch (const CallbackFailed &failed) {
    return keep(failed);
  } catch (const std::bad_alloc &) {
    return keep(Error(Fault::Device, ErrorCode::OutOfMemory, kNoMemory));
  } catch (const std::exception &other) {
    return keep(Error(Fault::Compiler, ErrorCode::InternalCompilerError, other.what()));
  } catch (...) {
    return keep(Error(Fault::Compiler, ErrorCode::InternalCompilerError,
                      "something was thrown that is no error"));
  }
}

} // namespace

Loc here() { return line; }

tile_status keepCurrentError() noexcept {
  try {
    return keepAny();
  } catch (...) { // no memory for the texts
    lastError.reset();
    return statusWithoutError = TILE_OUT_OF_MEMORY;
  }
}

void refuse(ErrorCode code, const std::string &message) {
  throw Error(Fault::User, code, message, here());
}

} // namespace tile::capi

using namespace tile;
using namespace tile::capi;

int32_t tile_abi_version(void) { return TILE_ABI_VERSION; }
const char *tile_version(void) { return TILE_VERSION_STRING; }

const char *tile_status_name(tile_status status) {
  if (status == TILE_OK)
    return "Ok";
  for (int code = 0; code <= static_cast<int>(ErrorCode::ForkedContext); ++code)
    if (statusOf(static_cast<ErrorCode>(code)) == status)
      return nameOf(static_cast<ErrorCode>(code));
  return "?";
}

tile_status tile_last_error_code(void) {
  return lastError ? statusOf(lastError->code()) : statusWithoutError;
}

const char *tile_last_error_text(void) {
  return lastError ? lastError->what() : statusWithoutError ? kNoMemory : "";
}

const char *tile_last_error_message(void) {
  return lastError ? lastError->message().c_str() : tile_last_error_text();
}

size_t tile_last_error_note_count(void) { return lastError ? lastError->notes().size() : 0; }

const char *tile_last_error_note(size_t index) {
  return index < tile_last_error_note_count() ? lastError->notes()[index].c_str() : nullptr;
}

const char *tile_last_error_file(void) { return lastError ? lastError->file().c_str() : ""; }
int32_t tile_last_error_line(void) { return lastError ? lastError->line() : 0; }

int32_t tile_last_error_fault(void) {
  if (!lastError)
    return statusWithoutError ? 3 : 0;
  return lastError->fault() == Fault::User ? 1 : lastError->fault() == Fault::Compiler ? 2 : 3;
}

void tile_clear_last_error(void) {
  lastError.reset();
  statusWithoutError = TILE_OK;
}

// Streams and reports keep the pointer for as long as they like: names of files are kept for good, each once.
void tile_at(const char *file, int32_t number) {
  if (!file || number <= 0) {
    line = {};
    return;
  }
  if (line.file != std::string_view(file))
    (void)guarded([&] {
      static std::mutex mutex;
      static auto *files = new std::set<std::string, std::less<>>;
      std::lock_guard lock(mutex);
      line.file = files->emplace(file).first->c_str();
    });
  line.line = number;
}
