// Which functions `tilec aot` compiles: the words of its command line, to kernels with constants and example arguments.
#pragma once

#include <tile/Registry.h>

#include <string>
#include <vector>

namespace tile::tilec {

/// A function to compile.
struct AotRequest {
  std::string name; ///< by which it is called
  KernelRequest request;
  std::vector<std::string> argumentNames;
  std::vector<std::pair<std::string, int64_t>> constants;
};

/// What the user asks for.
struct AotWords {
  std::vector<std::string> words; ///< the input, then settings of its function
  std::string kernel, name;       ///< of that function: the kernel in a file, and what to call it
  std::vector<std::string> functions; ///< each "[NAME =] KERNEL|op:NAME SETTING..."
};

/// The functions, for a GPU, since ops choose their tiles by it. Errors: InvalidArgument for words that are no input,
/// unknown settings, two functions of one name, and names that C++ has for itself.
std::vector<AotRequest> aotRequests(const AotWords &words, const std::string &target);

} // namespace tile::tilec
