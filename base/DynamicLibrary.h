// Libraries that are loaded when they are first needed, under the first of several names that is there.
#pragma once

#include <dlfcn.h>
#include <initializer_list>
#include <string>

namespace tile::base {

/// Stays loaded: the libraries we use are not made to be unloaded while a process runs.
class DynamicLibrary {
public:
  explicit DynamicLibrary(std::initializer_list<const char *> names);
  explicit operator bool() const { return handle_; }
  /// The loader's words about the first name; empty if the library is there.
  const std::string &why() const { return why_; }

  /// Sets a pointer to a function; false if the library lacks it.
  template <class F> bool bind(F *&function, const char *name) const {
    function = reinterpret_cast<F *>(dlsym(handle_, name));
    return function;
  }

private:
  void *handle_ = nullptr;
  std::string why_;
};

/// The one object of a class of a library's functions, or null where the library or a function is missing; `why` gets the
/// reason. `Functions::bindAll(library)` finds the functions.
template <class Functions>
Functions *loadOnce(std::initializer_list<const char *> names, std::string *why) {
  struct Loaded {
    Functions functions;
    std::string why;
    bool isUsable = false;
  };
  static Loaded *loaded = [&] {
    auto *result = new Loaded;
    DynamicLibrary library(names);
    result->isUsable = library && result->functions.bindAll(library);
    if (!result->isUsable)
      result->why = library ? "the library lacks functions" : library.why();
    return result;
  }();
  if (why)
    *why = loaded->why;
  return loaded->isUsable ? &loaded->functions : nullptr;
}

} // namespace tile::base
