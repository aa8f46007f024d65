#include "runtime/jit/NvJitLink.h"

#include "runtime/jit/Assemble.h"

#include <tile/Error.h>

#include <dlfcn.h>

namespace tile::jit {
namespace {

constexpr int kInputPtx = 2; // nvJitLinkInputType: none 0, cubin 1, PTX 2

void *openLibrary(std::string &why) {
  for (const char *name : {"libnvJitLink.so.13", "libnvJitLink.so.12", "libnvJitLink.so",
                           "/usr/local/cuda/lib64/libnvJitLink.so"}) {
    if (void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL))
      return library;
    if (why.empty())
      why = dlerror();
  }
  return nullptr;
}

} // namespace

template <class F> bool NvJitLink::bind(F *&function, void *library, const char *name) {
  function = reinterpret_cast<F *>(dlsym(library, name));
  return function;
}

bool NvJitLink::bindAll(void *library) {
  return bind(version, library, "nvJitLinkVersion") && bind(create, library, "nvJitLinkCreate") &&
         bind(destroy, library, "nvJitLinkDestroy") && bind(addData, library, "nvJitLinkAddData") &&
         bind(complete, library, "nvJitLinkComplete") &&
         bind(cubinSize, library, "nvJitLinkGetLinkedCubinSize") &&
         bind(cubin, library, "nvJitLinkGetLinkedCubin") &&
         bind(errorSize, library, "nvJitLinkGetErrorLogSize") &&
         bind(errorLog, library, "nvJitLinkGetErrorLog");
}

NvJitLink *NvJitLink::load(std::string *why) {
  struct Loaded {
    NvJitLink functions;
    std::string why;
    bool isUsable = false;
  };
  // Stays loaded: the library is not made to be unloaded while a process runs.
  static Loaded *loaded = [] {
    auto *result = new Loaded;
    void *library = openLibrary(result->why);
    if (!library)
      return result;
    result->isUsable =
        result->functions.bindAll(library) &&
        result->functions.version(&result->functions.major, &result->functions.minor) == 0;
    result->why = result->isUsable ? "" : "the library lacks functions";
    return result;
  }();
  if (why)
    *why = loaded->why;
  return loaded->isUsable ? &loaded->functions : nullptr;
}

std::string NvJitLink::log(Link link, int (*size)(Link, size_t *), int (*text)(Link, char *)) {
  size_t bytes = 0;
  if (size(link, &bytes) != 0 || bytes == 0)
    return {};
  std::string result(bytes, '\0');
  if (text(link, result.data()) != 0)
    return {};
  return result.c_str();
}

std::vector<std::byte> NvJitLink::assemble(std::string_view ptx, const std::string &target) {
  std::string arch = "-arch=" + target, source(ptx);
  const char *options[] = {arch.c_str()};
  Link link = nullptr;
  std::vector<std::byte> bytes;
  std::string complaints;
  int code = create(&link, 1, options);
  if (code == 0) {
    int added = addData(link, kInputPtx, source.c_str(), source.size() + 1, "kernel.ptx");
    code = added ? added : complete(link);
    size_t size = 0;
    if (code == 0 && (code = cubinSize(link, &size)) == 0) {
      bytes.resize(size);
      code = cubin(link, bytes.data());
    }
    complaints = log(link, errorSize, errorLog);
    destroy(&link);
  }
  if (code != 0 || !complaints.empty() || !isWholeCubin(bytes))
    throw Error(Fault::Compiler, ErrorCode::ToolFailed,
                "nvJitLink refused the PTX (code " + std::to_string(code) + ")", {}, {complaints});
  return bytes;
}

std::string nvJitLinkVersion(std::string *why) {
  NvJitLink *library = NvJitLink::load(why);
  return library ? std::to_string(library->major) + "." + std::to_string(library->minor)
                 : std::string();
}

} // namespace tile::jit
