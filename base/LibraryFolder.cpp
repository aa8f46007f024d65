#include "base/LibraryFolder.h"

#include <dlfcn.h>

namespace tile::base {

std::filesystem::path libraryFolder() {
  Dl_info info;
  if (!dladdr(reinterpret_cast<void *>(&libraryFolder), &info) || !info.dli_fname)
    return {};
  std::error_code fault;
  std::filesystem::path library = std::filesystem::canonical(info.dli_fname, fault);
  return fault ? std::filesystem::path() : library.parent_path();
}

} // namespace tile::base
