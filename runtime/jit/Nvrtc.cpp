#include "runtime/jit/Nvrtc.h"

#include <dlfcn.h>

namespace tile::jit {
namespace {

void *openLibrary(std::string &why) {
  for (const char *name :
       {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so", "/usr/local/cuda/lib64/libnvrtc.so"}) {
    if (void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL))
      return library;
    if (why.empty())
      why = dlerror();
  }
  return nullptr;
}

} // namespace

template <class F> bool Nvrtc::bind(F *&function, void *library, const char *name) {
  function = reinterpret_cast<F *>(dlsym(library, name));
  return function;
}

bool Nvrtc::bindAll(void *library) {
  return bind(version, library, "nvrtcVersion") && bind(create, library, "nvrtcCreateProgram") &&
         bind(destroy, library, "nvrtcDestroyProgram") &&
         bind(run, library, "nvrtcCompileProgram") && bind(ptxSize, library, "nvrtcGetPTXSize") &&
         bind(ptx, library, "nvrtcGetPTX") && bind(logSize, library, "nvrtcGetProgramLogSize") &&
         bind(log, library, "nvrtcGetProgramLog");
}

Nvrtc *Nvrtc::load(std::string *why) {
  struct Loaded {
    Nvrtc functions;
    std::string why;
    bool isUsable = false;
  };
  // Stays loaded, as NvJitLink does.
  static Loaded *loaded = [] {
    auto *result = new Loaded;
    void *library = openLibrary(result->why);
    if (!library)
      return result;
    Nvrtc &functions = result->functions;
    result->isUsable =
        functions.bindAll(library) && functions.version(&functions.major, &functions.minor) == 0;
    result->why = result->isUsable ? "" : "the library lacks functions";
    return result;
  }();
  if (why)
    *why = loaded->why;
  return loaded->isUsable ? &loaded->functions : nullptr;
}

std::string Nvrtc::text(Program program, int (*size)(Program, size_t *),
                        int (*copy)(Program, char *)) {
  size_t bytes = 0;
  if (size(program, &bytes) != 0 || bytes == 0)
    return {};
  std::string result(bytes, '\0');
  if (copy(program, result.data()) != 0)
    return {};
  return result.c_str();
}

Nvrtc::Result Nvrtc::compile(const std::string &source, const std::string &name,
                             const std::vector<std::string> &options) {
  std::vector<const char *> arguments;
  for (const std::string &option : options)
    arguments.push_back(option.c_str());
  Result result;
  Program program = nullptr;
  if (int code = create(&program, source.c_str(), name.c_str(), 0, nullptr, nullptr); code != 0) {
    result.log = "NVRTC error " + std::to_string(code);
    return result;
  }
  int code = run(program, static_cast<int>(arguments.size()), arguments.data());
  result.log = text(program, logSize, log);
  if (code == 0)
    result.ptx = text(program, ptxSize, ptx);
  else if (result.log.empty())
    result.log = "NVRTC error " + std::to_string(code);
  destroy(&program);
  return result;
}

} // namespace tile::jit
