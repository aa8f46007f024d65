#include "base/UserLibrary.h"

#include <tile/Error.h>

#include <exception>

#include <dlfcn.h>

namespace tile::base {
namespace {

[[noreturn]] void refuse(const std::string &shown, const std::string &why) {
  throw Error(Fault::User, ErrorCode::LinkError, "cannot load '" + shown + "': " + why);
}

/// The C library declares that dlopen throws nothing, upon which compilers leave out what catches. It lets through what the
/// library's own code throws, though, and so its type is forgotten here.
void *(*volatile const openLibrary)(const char *, int) = dlopen;

} // namespace

void *loadUserLibrary(const std::string &path, const std::string &shown) {
  void *handle = nullptr;
  try {
    handle = openLibrary(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  } catch (const Error &) {
    throw;
  } catch (const std::exception &error) {
    refuse(shown, std::string("a static variable of it throws: ") + error.what());
  } catch (...) {
    refuse(shown, "a static variable of it throws");
  }
  if (!handle)
    refuse(shown, dlerror());
  return handle;
}

} // namespace tile::base
