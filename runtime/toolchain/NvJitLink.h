// nvJitLink, loaded when it is first needed.
#pragma once

#include "base/DynamicLibrary.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tile::jit {

class NvJitLink {
public:
  /// The library, or null; `why` gets the loader's words.
  static NvJitLink *load(std::string *why = nullptr);

  /// Machine code of PTX that does not use setmaxnreg. Throws ToolFailed with the library's log.
  /// Any complaint counts as failure: the library hands out code even where a step failed.
  std::vector<std::byte> assemble(std::string_view ptx, const std::string &target);

  unsigned major = 0, minor = 0;

private:
  using Link = void *;
  friend NvJitLink *base::loadOnce<NvJitLink>(std::initializer_list<const char *>, std::string *);
  bool bindAll(const base::DynamicLibrary &library);
  std::string log(Link link, int (*size)(Link, size_t *), int (*text)(Link, char *));

  int (*version_)(unsigned *, unsigned *) = nullptr;
  int (*create_)(Link *, uint32_t, const char **) = nullptr;
  int (*destroy_)(Link *) = nullptr;
  int (*addData_)(Link, int, const void *, size_t, const char *) = nullptr;
  int (*complete_)(Link) = nullptr;
  int (*cubinSize_)(Link, size_t *) = nullptr;
  int (*cubin_)(Link, void *) = nullptr;
  int (*errorSize_)(Link, size_t *) = nullptr;
  int (*errorLog_)(Link, char *) = nullptr;
};

} // namespace tile::jit
