// What `tilec aot` writes: functions, each a kernel with its constants, compiled for several GPUs, in one or more variants
// for each that need more or less of their arguments.
//
//   magic, 8 bytes | a frame of zstd with a checksum, which holds CBOR
//
// CBOR and zstd are read by libraries; docs/aot.md describes the content.
#pragma once

#include "codegen/compiled/CompiledKernel.h"
#include "runtime/aot/Needs.h"

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace tile::aot {

/// A function for some target and arguments.
struct Variant {
  Needs needs;
  std::vector<std::pair<int, int>>
      aliases; ///< arguments of which the kernel says that they may overlap, the lower one first
  codegen::CompiledKernel compiled; ///< for its target
  std::vector<std::byte> cubin;     ///< machine code for that; empty if there was no assembler
};

struct Function {
  std::string name;   ///< by which it is called
  std::string kernel; ///< the name in the source, for messages
  std::string file;   ///< where that is
  int line = 0;
  std::vector<detail::ParamSpec> params; ///< that take arguments; dtypes are definite
  std::vector<std::string> paramNames;
  std::vector<std::pair<std::string, int64_t>> constants; ///< what it was compiled with, for people
  std::vector<Variant> variants; ///< of each target together, the most demanding first
};

struct Archive {
  std::string name; ///< for messages
  std::vector<Function> functions;
};

/// The file's bytes. Error: Unsupported for more than a gigabyte.
std::vector<std::byte> encode(const Archive &archive);

/// Error: Parse, saying what is wrong with the bytes of `source`, if they are not all of what encode made, or of a later
/// version.
Archive decode(std::span<const std::byte> bytes, const std::string &source);

} // namespace tile::aot
