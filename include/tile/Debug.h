// Finding mistakes in kernels: printing from device code, assertions, and what the tracer knows.
#pragma once

#include <tile/Value.h>

#include <initializer_list>
#include <string_view>

namespace tile {

struct PrintOptions {
  bool hex = false; ///< integers in base 16
};

/// Prints one line per element while the kernel runs, to the process's standard output:
///   program (3, 0, 0) [1, 17] x and y: 0.5, 42
/// with the program's indices, the element's (of tiles), the prefix and the values, which broadcast
/// to one shape. The order of lines is open. Errors: views and pointers.
void device_print(std::string_view prefix, std::initializer_list<Arg> values = {},
                  PrintOptions options = {}, Loc loc = Loc::here());

/// In checked builds (`.checked()`, TILE_CHECKED=1): ends the launch with an error that names this
/// line and `message` if an element of the condition (i1, where `mask` holds) is false. In other
/// builds it does nothing. Errors: a condition or mask that is not i1, shapes that do not
/// broadcast.
void device_assert(Arg condition, std::string_view message, Loc loc = Loc::here());
void device_assert(Arg condition, std::string_view message, Arg mask, Loc loc = Loc::here());

/// Synchronizes all threads of the program. Kernels need no barrier: a program's accesses to one
/// tensor are in order without it.
void debug_barrier(Loc loc = Loc::here());

/// Prints to standard error, while tracing, the caller's line, the name, and what the value is:
/// "kernel.cpp:12: x: f16[128x64]", or the number if it is a host value.
void trace_print(std::string_view name, Arg value, Loc loc = Loc::here());

} // namespace tile
