#include "bench/gpu/Server.h"

#include "bench/gpu/Calls.h"
#include "bench/gpu/Score.h"
#include "bench/gpu/Tensors.h"
#include "runtime/jit/Compile.h"
#include "runtime/toolchain/Assemble.h"

#include <tile/Device.h>
#include <tile/Error.h>
#include <tile/Version.h>

#include <nlohmann/json.hpp>

#include <exception>
#include <istream>
#include <ostream>

namespace tile::bench {

namespace {

using nlohmann::json;

/// Who makes machine code of the PTX: the first that is there, in the order of Assemble.h.
std::string assemblerName() {
  if (auto ptxas = jit::findPtxas())
    return jit::versionOf(*ptxas);
  std::string linker = jit::nvJitLinkVersion();
  return linker.empty() ? "the driver" : "nvJitLink " + linker;
}

/// Without a line: those of this program are of no use to whoever reads it.
std::string textOf(const Error &error) {
  std::string text = error.message();
  for (const std::string &note : error.notes())
    text += "\n" + note;
  return text;
}

class Server {
public:
  explicit Server(const Device &device)
      : device_(device), stream_(device.stream()), tensors_(stream_) {}

  json answer(const std::string &line) {
    try {
      return {{"ok", answerTo(json::parse(line))}};
    } catch (const Error &error) {
      return {{"error", textOf(error)}, {"code", nameOf(error.code())}};
    } catch (const std::exception &error) {
      return {{"error", error.what()}, {"code", "Request"}};
    }
  }

private:
  json answerTo(const json &request) {
    std::string what = request.at("do");
    if (what == "hello")
      return hello();
    if (what == "tensor")
      tensors_.make(request);
    else if (what == "keep")
      tensors_.keep(request.at("names"));
    else if (what == "save")
      return {{"bytes", tensors_.save(request)}};
    else if (what == "run")
      callOf(request, tensors_, stream_)();
    else if (what == "score")
      return scorer().score(callOf(request, tensors_, stream_));
    else
      throw Error(Fault::User, ErrorCode::InvalidArgument,
                  "'" + what + "' is none of hello, tensor, keep, save, run and score");
    stream_.synchronize();
    return json::object();
  }

  json hello() const {
    return {{"product", device_.product()},
            {"device", device_.name()},
            {"target", device_.target()},
            {"multiprocessors", device_.multiprocessors()},
            {"virtual", device_.isVirtual()},
            {"tilec", TILE_VERSION_STRING},
            {"llvm", jit::llvmVersion()},
            {"assembler", device_.isVirtual() ? "none" : assemblerName()}};
  }

  /// Made when it is first asked for: it takes memory on a GPU.
  Scorer &scorer() {
    if (!scorer_)
      scorer_ = scorerOf(device_, stream_);
    return *scorer_;
  }

  Device device_;
  Stream stream_;
  Tensors tensors_;
  std::unique_ptr<Scorer> scorer_;
};

} // namespace

void serve(const std::string &device, std::istream &requests, std::ostream &answers) {
  Server server(device.empty() ? Device::best() : Device::open(device));
  std::string line;
  while (std::getline(requests, line))
    answers << server.answer(line).dump(-1, ' ', false, json::error_handler_t::replace)
            << std::endl;
}

} // namespace tile::bench
