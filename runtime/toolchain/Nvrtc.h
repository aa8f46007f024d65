// NVRTC, the compiler of CUDA C++, loaded when it is first needed.
#pragma once

#include "base/DynamicLibrary.h"

#include <string>
#include <vector>

namespace tile::jit {

class Nvrtc {
public:
  /// The library, or null; `why` gets the loader's words.
  static Nvrtc *load(std::string *why = nullptr);

  struct Result {
    std::string ptx; ///< empty if the source has errors
    std::string log;
  };
  /// Compiles a text to PTX. Never throws; what is wrong is in the log.
  Result compile(const std::string &source, const std::string &name,
                 const std::vector<std::string> &options);

  int major = 0, minor = 0;

private:
  using Program = void *;
  friend Nvrtc *base::loadOnce<Nvrtc>(std::initializer_list<const char *>, std::string *);
  bool bindAll(const base::DynamicLibrary &library);
  std::string text(Program program, int (*size)(Program, size_t *), int (*copy)(Program, char *));

  int (*version_)(int *, int *) = nullptr;
  int (*create_)(Program *, const char *, const char *, int, const char *const *,
                 const char *const *) = nullptr;
  int (*destroy_)(Program *) = nullptr;
  int (*run_)(Program, int, const char *const *) = nullptr;
  int (*ptxSize_)(Program, size_t *) = nullptr;
  int (*ptx_)(Program, char *) = nullptr;
  int (*logSize_)(Program, size_t *) = nullptr;
  int (*log_)(Program, char *) = nullptr;
};

} // namespace tile::jit
