#include "runtime/jit/WorkerMessages.h"

#include "codegen/compiled/KernelFacts.h"
#include "runtime/cache/BuildId.h"
#include "runtime/jit/Compile.h"

#include "llvm/Support/Base64.h"
#include "llvm/Support/JSON.h"

namespace tile::jit {
namespace {

using llvm::json::Array;
using llvm::json::fixUTF8;
using llvm::json::Object;
using llvm::json::ObjectMapper;
using llvm::json::Path;
using llvm::json::Value;

std::string lineOf(Object object) {
  std::string text;
  llvm::raw_string_ostream(text) << Value(std::move(object));
  return text;
}

Object objectOf(const CompileOrder &order) {
  const codegen::CompileOptions &options = order.options;
  return Object{{"module", fixUTF8(order.module)},
                {"name", fixUTF8(order.name)},
                {"file", fixUTF8(order.file)},
                {"line", order.line},
                {"target", options.target},
                {"verify", options.verifyEach},
                {"disabled_passes", options.passes.disabled},
                {"pass_limit", options.passes.limit},
                {"reproducer", fixUTF8(options.reproducer)}};
}

Object objectOf(const AssembleOrder &order) {
  return Object{{"ptx", fixUTF8(order.ptx)}, {"target", order.target}, {"arch", order.arch}};
}

Object objectOf(const codegen::CompiledKernel &kernel) {
  Array functions;
  for (const codegen::CudaFunction &function : kernel.cudaFunctions)
    functions.push_back(fixUTF8(function.symbol));
  return Object{{"facts", codegen::factsOf(kernel)},
                {"ptx", fixUTF8(kernel.ptx)},
                {"cuda", std::move(functions)}};
}

Object objectOf(const std::vector<std::byte> &cubin) {
  llvm::StringRef bytes(reinterpret_cast<const char *>(cubin.data()), cubin.size());
  return Object{{"cubin", llvm::encodeBase64(bytes)}};
}

Object objectOf(const Error &error) {
  Array notes;
  for (const std::string &note : error.notes())
    notes.push_back(fixUTF8(note));
  return Object{{"error", fixUTF8(error.message())},
                {"fault", static_cast<int>(error.fault())},
                {"code", static_cast<int>(error.code())},
                {"file", fixUTF8(error.file())},
                {"line", error.line()},
                {"notes", std::move(notes)}};
}

/// The object of a line, for ObjectMapper.
std::optional<Value> parsed(const std::string &line) {
  llvm::Expected<Value> value = llvm::json::parse(line);
  if (value && value->getAsObject())
    return std::move(*value);
  if (!value)
    llvm::consumeError(value.takeError());
  return std::nullopt;
}

std::optional<CompileOrder> compileOrderOf(const Value &value) {
  CompileOrder order;
  codegen::CompileOptions &options = order.options;
  Path::Root root;
  ObjectMapper fields(value, root);
  if (fields && fields.map("module", order.module) && fields.map("name", order.name) &&
      fields.map("file", order.file) && fields.map("line", order.line) &&
      fields.map("target", options.target) && fields.map("verify", options.verifyEach) &&
      fields.map("disabled_passes", options.passes.disabled) &&
      fields.map("pass_limit", options.passes.limit) &&
      fields.map("reproducer", options.reproducer))
    return order;
  return std::nullopt;
}

std::optional<AssembleOrder> assembleOrderOf(const Value &value) {
  AssembleOrder order;
  Path::Root root;
  ObjectMapper fields(value, root);
  if (fields && fields.map("ptx", order.ptx) && fields.map("target", order.target) &&
      fields.map("arch", order.arch))
    return order;
  return std::nullopt;
}

std::optional<WorkerAnswer> errorOf(const Value &value) {
  std::string message, file;
  int64_t fault = 0, code = 0;
  int line = 0;
  std::vector<std::string> notes;
  Path::Root root;
  ObjectMapper fields(value, root);
  bool isWhole = fields && fields.map("error", message) && fields.map("fault", fault) &&
                 fields.map("code", code) && fields.map("file", file) && fields.map("line", line) &&
                 fields.map("notes", notes);
  if (!isWhole || fault < 0 || fault > static_cast<int64_t>(Fault::Device) || code < 0 ||
      code > static_cast<int64_t>(ErrorCode::ForkedContext))
    return std::nullopt;
  return Error(static_cast<Fault>(fault), static_cast<ErrorCode>(code), message,
               {file.c_str(), line}, notes);
}

std::optional<WorkerAnswer> cubinOf(llvm::StringRef text) {
  std::vector<char> bytes;
  if (llvm::Error fault = llvm::decodeBase64(text, bytes)) {
    llvm::consumeError(std::move(fault));
    return std::nullopt;
  }
  const auto *first = reinterpret_cast<const std::byte *>(bytes.data());
  return std::vector<std::byte>(first, first + bytes.size());
}

std::optional<WorkerAnswer> kernelOfAnswer(const Value &value) {
  std::string facts, ptx;
  std::vector<std::string> symbols;
  Path::Root root;
  ObjectMapper fields(value, root);
  if (!fields || !fields.map("facts", facts) || !fields.map("ptx", ptx) ||
      !fields.map("cuda", symbols))
    return std::nullopt;
  std::optional<codegen::CompiledKernel> kernel = codegen::kernelOf(facts);
  if (!kernel)
    return std::nullopt;
  kernel->ptx = std::move(ptx);
  for (std::string &symbol : symbols)
    kernel->cudaFunctions.emplace_back().symbol = std::move(symbol);
  return std::move(*kernel);
}

} // namespace

std::string lineOf(const WorkerOrder &order) {
  return std::visit([](const auto &one) { return lineOf(objectOf(one)); }, order);
}

std::string lineOf(const WorkerAnswer &answer) {
  return std::visit([](const auto &one) { return lineOf(objectOf(one)); }, answer);
}

std::optional<WorkerOrder> orderOf(const std::string &line) {
  std::optional<Value> value = parsed(line);
  if (!value)
    return std::nullopt;
  if (value->getAsObject()->get("ptx"))
    return assembleOrderOf(*value);
  return compileOrderOf(*value);
}

std::optional<WorkerAnswer> answerOf(const std::string &line) {
  std::optional<Value> value = parsed(line);
  if (!value)
    return std::nullopt;
  const Object &object = *value->getAsObject();
  if (object.get("error"))
    return errorOf(*value);
  if (std::optional<llvm::StringRef> cubin = object.getString("cubin"))
    return cubinOf(*cubin);
  return kernelOfAnswer(*value);
}

std::string workerGreeting() {
  return lineOf(
      Object{{"compile_worker", 1}, {"build", cache::buildId()}, {"llvm", llvmVersion()}});
}

} // namespace tile::jit
