// What an assembler's log says about a kernel: its resources, and what the assembler did to it that costs time, such as
// waiting for each product where the kernel has them run at once.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tile::jit {

/// A sentence of the log that has a code.
struct AssemblerMessage {
  std::string code; ///< "C7514"
  std::string text;
  std::string file; ///< of the user's source; empty if the sentence names no line of the PTX
  int line = 0;
  bool operator==(const AssemblerMessage &) const = default;
};

struct AssemblerLog {
  int registers = 0; ///< of a thread
  int64_t spillStoreBytes = 0, spillLoadBytes = 0;
  int barriers = 0;                       ///< those of a block that the kernel uses
  std::vector<AssemblerMessage> messages; ///< in the log's order, each once
};

/// Reads the log that `ptxas -v` or nvPTXCompiler wrote about a text of one kernel. A line of the PTX becomes the line of
/// the user's source that the last `.loc` above it names.
AssemblerLog readAssemblerLog(std::string_view log, std::string_view ptx);

} // namespace tile::jit
