// The C interface of the plugin that holds nvPTXCompiler. It exists as a static library only, of 40
// MB: a plugin keeps it out of libtile, and is built where library and header are found.
#pragma once

#include <stddef.h>

extern "C" {

/// Receives bytes: `context` is the caller's.
typedef void (*TilePluginSink)(void *context, const void *bytes, size_t size);

/// Compiles PTX for an architecture ("sm_90a"). Returns 0 and hands the machine code to `code`, or
/// returns the library's error number; its log goes to `log` either way.
int tilePtxCompile(const char *ptx, size_t size, const char *arch, TilePluginSink code,
                   TilePluginSink log, void *context);

/// Version of the library.
void tilePtxCompilerVersion(unsigned *major, unsigned *minor);
}
