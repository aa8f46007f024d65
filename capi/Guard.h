// The border of the C API: what is thrown inside becomes a status and the thread's last error.
#pragma once

#include <tile/Error.h>
#include <tile/c/Status.h>

namespace tile::capi {

/// The line of the caller's program that tile_at() named last in this thread.
Loc here();

/// What a function of the caller's returned that is not TILE_OK: thrown through our code to the border.
struct CallbackFailed {
  tile_status status;
};

/// For a `catch (...)`: the status of what is being handled, which it keeps as the last error.
tile_status keepCurrentError() noexcept;

template <class Body> tile_status guarded(Body body) noexcept {
  try {
    body();
    return TILE_OK;
  } catch (...) {
    return keepCurrentError();
  }
}

[[noreturn]] void refuse(ErrorCode code, const std::string &message);

/// An argument that must not be NULL: InvalidArgument with its name.
template <class T> T *required(T *pointer, const char *argument) {
  if (!pointer)
    refuse(ErrorCode::InvalidArgument, std::string("'") + argument + "' is NULL");
  return pointer;
}
/// The same of an array, which may be NULL if it is empty.
template <class T> T *required(T *array, size_t count, const char *argument) {
  return count ? required(array, argument) : array;
}

} // namespace tile::capi
