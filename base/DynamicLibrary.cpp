#include "base/DynamicLibrary.h"

namespace tile::base {

DynamicLibrary::DynamicLibrary(std::initializer_list<const char *> names) {
  for (const char *name : names) {
    if ((handle_ = dlopen(name, RTLD_NOW | RTLD_LOCAL))) {
      why_.clear();
      return;
    }
    if (why_.empty())
      why_ = dlerror();
  }
}

} // namespace tile::base
