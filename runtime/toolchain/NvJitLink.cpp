#include "runtime/toolchain/NvJitLink.h"

#include "runtime/toolchain/Assemble.h"

#include <tile/Error.h>

namespace tile::jit {
namespace {

constexpr int kInputPtx = 2; // nvJitLinkInputType: none 0, cubin 1, PTX 2

} // namespace

bool NvJitLink::bindAll(const base::DynamicLibrary &library) {
  return library.bind(version_, "nvJitLinkVersion") && library.bind(create_, "nvJitLinkCreate") &&
         library.bind(destroy_, "nvJitLinkDestroy") && library.bind(addData_, "nvJitLinkAddData") &&
         library.bind(complete_, "nvJitLinkComplete") &&
         library.bind(cubinSize_, "nvJitLinkGetLinkedCubinSize") &&
         library.bind(cubin_, "nvJitLinkGetLinkedCubin") &&
         library.bind(errorSize_, "nvJitLinkGetErrorLogSize") &&
         library.bind(errorLog_, "nvJitLinkGetErrorLog") && version_(&major, &minor) == 0;
}

NvJitLink *NvJitLink::load(std::string *why) {
  return base::loadOnce<NvJitLink>({"libnvJitLink.so.13", "libnvJitLink.so.12", "libnvJitLink.so",
                                    "/usr/local/cuda/lib64/libnvJitLink.so"},
                                   why);
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
  int code = create_(&link, 1, options);
  if (code == 0) {
    int added = addData_(link, kInputPtx, source.c_str(), source.size() + 1, "kernel.ptx");
    code = added ? added : complete_(link);
    size_t size = 0;
    if (code == 0 && (code = cubinSize_(link, &size)) == 0) {
      bytes.resize(size);
      code = cubin_(link, bytes.data());
    }
    complaints = log(link, errorSize_, errorLog_);
    destroy_(&link);
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
