#include "runtime/toolchain/Nvrtc.h"

namespace tile::jit {
bool Nvrtc::bindAll(const base::DynamicLibrary &library) {
  return library.bind(version_, "nvrtcVersion") && library.bind(create_, "nvrtcCreateProgram") &&
         library.bind(destroy_, "nvrtcDestroyProgram") &&
         library.bind(run_, "nvrtcCompileProgram") && library.bind(ptxSize_, "nvrtcGetPTXSize") &&
         library.bind(ptx_, "nvrtcGetPTX") && library.bind(logSize_, "nvrtcGetProgramLogSize") &&
         library.bind(log_, "nvrtcGetProgramLog") && version_(&major, &minor) == 0;
}

Nvrtc *Nvrtc::load(std::string *why) {
  return base::loadOnce<Nvrtc>(
      {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so", "/usr/local/cuda/lib64/libnvrtc.so"},
      why);
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
  if (int code = create_(&program, source.c_str(), name.c_str(), 0, nullptr, nullptr); code != 0) {
    result.log = "NVRTC error " + std::to_string(code);
    return result;
  }
  int code = run_(program, static_cast<int>(arguments.size()), arguments.data());
  result.log = text(program, logSize_, log_);
  if (code == 0)
    result.ptx = text(program, ptxSize_, ptx_);
  else if (result.log.empty())
    result.log = "NVRTC error " + std::to_string(code);
  destroy_(&program);
  return result;
}

} // namespace tile::jit
