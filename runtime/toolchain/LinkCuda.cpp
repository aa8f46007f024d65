#include "runtime/toolchain/LinkCuda.h"

#include "runtime/toolchain/CudaSource.h"
#include "runtime/toolchain/Nvrtc.h"
#include "runtime/toolchain/PtxSymbols.h"

#include <algorithm>
#include <filesystem>
#include <regex>
#include <set>
#include <sstream>

namespace tile::jit {
namespace {

using codegen::CudaFunction;

constexpr size_t kMostSourceBytes = size_t(1) << 20;

// --- The compiler ----------------------------------------------------------------------------------

std::string cudaIncludeFolder() {
  for (const char *variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const char *home = std::getenv(variable))
      if (auto folder = std::filesystem::path(home) / "include"; std::filesystem::exists(folder))
        return folder.string();
  return "/usr/local/cuda/include";
}

/// "source(3): error: ..." as "line 3: ...".
std::string readable(const std::string &line) {
  return std::regex_replace(
      line,
      std::regex("^(?:source\\((\\d+)\\)|call\\(\\d+\\)): (?:fatal |catastrophic )?error[^:]*: "),
      "line $1: ");
}

[[noreturn]] void failCompile(const CudaFunction &function, const std::string &log) {
  std::vector<std::string> errors;
  std::istringstream lines(log);
  for (std::string line; std::getline(lines, line) && errors.size() < 3;)
    if (line.find("error") != std::string::npos &&
        line.find(" detected in the compilation") == std::string::npos)
      errors.push_back(line);
  if (errors.empty())
    errors.push_back(log.substr(0, 200));
  if (errors[0].starts_with("call("))
    failCuda(function, ErrorCode::LinkError,
             "'" + function.entry + "' is not a function of type " + cppTypeOf(function),
             {errors[0].substr(errors[0].find(": ") + 2)});
  std::vector<std::string> more;
  for (size_t i = 1; i < errors.size(); ++i)
    more.push_back(readable(errors[i]));
  failCuda(function, ErrorCode::InvalidArgument, "source, " + readable(errors[0]), more);
}

std::string compile(const CudaFunction &function, const std::string &target) {
  if (function.source.size() > kMostSourceBytes)
    failCuda(function, ErrorCode::ResourceExceeded,
             "the source has " + std::to_string(function.source.size()) + " bytes, at most " +
                 std::to_string(kMostSourceBytes) + " are compiled");
  checkIncludes(function);
  std::string why;
  Nvrtc *nvrtc = Nvrtc::load(&why);
  if (!nvrtc)
    failCuda(function, ErrorCode::ToolMissing,
             "needs NVRTC, which CUDA's toolkit and the package nvidia-cuda-nvrtc contain: " + why);
  Nvrtc::Result result = nvrtc->compile(programOf(function), "source",
                                        {"--gpu-architecture=compute_" + target.substr(3),
                                         "--relocatable-device-code=true", "--std=c++17",
                                         "--include-path=" + cudaIncludeFolder()});
  if (result.ptx.empty())
    failCompile(function, result.log);
  return result.ptx;
}

// --- One text --------------------------------------------------------------------------------------

/// Refuses source that declares a function which nobody defines, unless every kernel can call it.
void checkComplete(const std::vector<PtxSymbol> &symbols, const CudaFunction &function) {
  static constexpr std::string_view kSystemCalls[] = {"vprintf", "__assertfail", "malloc", "free"};
  for (const PtxSymbol &declared : symbols) {
    bool isThere = declared.isDefined || std::ranges::any_of(symbols, [&](const PtxSymbol &other) {
                     return other.isDefined && other.name == declared.name;
                   });
    if (isThere || std::ranges::find(kSystemCalls, declared.name) != std::end(kSystemCalls))
      continue;
    if (declared.isShared)
      failCuda(function, ErrorCode::LinkError,
               "'" + function.entry + "' uses '" + declared.name +
                   "', dynamic shared memory, which belongs to the kernel");
    failCuda(function, ErrorCode::LinkError,
             "'" + function.entry + "' uses '" + declared.name +
                 "', which the source declares and nobody defines");
  }
}

/// Functions and variables of the module get names of their own, the one that is called excepted: two sources may
/// define the same ones, and both may bring a library's tables.
std::string withOwnNames(const std::string &ptx, const CudaFunction &function) {
  std::vector<PtxSymbol> symbols = symbolsOf(ptx);
  checkComplete(symbols, function);
  std::set<std::string> own;
  for (const PtxSymbol &symbol : symbols)
    if (symbol.isDefined && symbol.name != function.symbol)
      own.insert(symbol.name);
  std::string result;
  static const std::regex word("[%$A-Za-z_][\\w$]*");
  size_t copied = 0;
  for (std::sregex_iterator at(ptx.begin(), ptx.end(), word), end; at != end; ++at) {
    size_t wordEnd = static_cast<size_t>(at->position()) + at->length();
    result.append(ptx, copied, wordEnd - copied);
    copied = wordEnd;
    if (own.contains(at->str()))
      result += "_" + function.symbol;
  }
  return result.append(ptx, copied);
}

/// The end of the header of a PTX text: after its `.address_size`.
size_t headerEnd(const std::string &ptx) {
  size_t at = ptx.find("\n", ptx.find(".address_size"));
  return at == std::string::npos ? ptx.size() : at + 1;
}

struct Version {
  int major = 0, minor = 0;
  auto operator<=>(const Version &) const = default;
};
const std::regex kVersion("\\.version\\s+(\\d+)\\.(\\d+)");
Version versionOf(const std::string &ptx) {
  std::smatch found;
  return std::regex_search(ptx, found, kVersion) ? Version{std::stoi(found[1]), std::stoi(found[2])}
                                                 : Version();
}

/// The kernel declares the function as external; it is defined in front of its users instead.
void define(std::string &ptx, const CudaFunction &function, const std::string &definition) {
  size_t at = ptx.find(".extern .func");
  while (at != std::string::npos) {
    size_t end = ptx.find(';', at);
    if (ptx.substr(at, end - at).find(function.symbol) != std::string::npos) {
      ptx.erase(at, end + 1 - at);
      break;
    }
    at = ptx.find(".extern .func", end);
  }
  ptx.insert(headerEnd(ptx), "\n" + definition.substr(headerEnd(definition)) + "\n");
  if (Version needed = versionOf(definition); versionOf(ptx) < needed)
    ptx = std::regex_replace(ptx, kVersion,
                             ".version " + std::to_string(needed.major) + "." +
                                 std::to_string(needed.minor),
                             std::regex_constants::format_first_only);
}

} // namespace

std::string linkCuda(std::string ptx, const std::vector<CudaFunction> &functions,
                     const std::string &target) {
  for (const CudaFunction &function : functions)
    // Its only uses may have been optimised away.
    if (ptx.find(function.symbol) != std::string::npos)
      define(ptx, function, withOwnNames(compile(function, target), function));
  return ptx;
}

std::string nvrtcVersion(std::string *why) {
  Nvrtc *nvrtc = Nvrtc::load(why);
  return nvrtc ? std::to_string(nvrtc->major) + "." + std::to_string(nvrtc->minor) : std::string();
}

} // namespace tile::jit
