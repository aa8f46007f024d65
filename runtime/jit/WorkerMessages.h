// What goes between a process and its compile workers, a line of JSON each.
#pragma once

#include "codegen/CompileOptions.h"

#include <tile/Error.h>

#include <cstddef>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace tile::jit {

/// A module in the tile dialect to be compiled.
struct CompileOrder {
  std::string name, file; ///< of the kernel, and where it is
  int line = 0;
  std::string module;              ///< as text, with locations
  codegen::CompileOptions options; ///< without those that ask for more than code
};

/// PTX to be assembled for a device.
struct AssembleOrder {
  std::string ptx, target;
  int arch = 0;
};

using WorkerOrder = std::variant<CompileOrder, AssembleOrder>;
/// A kernel, with the names of its CUDA functions alone; machine code, empty where the driver must compile; or what is wrong.
using WorkerAnswer = std::variant<codegen::CompiledKernel, std::vector<std::byte>, Error>;

std::string lineOf(const WorkerOrder &order);
std::string lineOf(const WorkerAnswer &answer);
/// Nothing if the line is none.
std::optional<WorkerOrder> orderOf(const std::string &line);
std::optional<WorkerAnswer> answerOf(const std::string &line);

/// What a worker says first: which build of this library it has. The same text means the same build.
std::string workerGreeting();

/// The exit code of a worker that found no memory.
constexpr int kWorkerNoMemory = 12;

} // namespace tile::jit
