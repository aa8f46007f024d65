#include "runtime/jit/KernelFacts.h"

#include "llvm/Support/JSON.h"

namespace tile::codegen {

// How llvm::json finds the fields of each; false where one is missing or of another kind.

llvm::json::Value toJSON(const Parameter &p) {
  return llvm::json::Array{static_cast<int>(p.kind), p.arg, p.dim, p.bytes};
}

static bool readNumbers(const llvm::json::Value &value, std::vector<int64_t> &numbers, size_t count,
                        llvm::json::Path path) {
  if (!llvm::json::fromJSON(value, numbers, path))
    return false;
  if (numbers.size() == count)
    return true;
  path.report("another count of numbers is expected");
  return false;
}

bool fromJSON(const llvm::json::Value &value, Parameter &p, llvm::json::Path path) {
  std::vector<int64_t> numbers;
  if (!readNumbers(value, numbers, 4, path))
    return false;
  p.kind = static_cast<Parameter::Kind>(numbers[0]);
  p.arg = static_cast<int32_t>(numbers[1]), p.dim = static_cast<int32_t>(numbers[2]);
  p.bytes = static_cast<int32_t>(numbers[3]);
  return numbers[0] >= 0 && numbers[0] <= static_cast<int64_t>(Parameter::Kind::Scalar);
}

llvm::json::Value toJSON(const TensorMapRecipe &recipe) {
  return llvm::json::Object{{"arg", recipe.arg},
                            {"element", static_cast<int>(recipe.element)},
                            {"dims", recipe.dims},
                            {"box", recipe.box},
                            {"swizzle", recipe.swizzle}};
}

bool fromJSON(const llvm::json::Value &value, TensorMapRecipe &recipe, llvm::json::Path path) {
  llvm::json::ObjectMapper fields(value, path);
  int64_t element = -1;
  bool isWhole = fields && fields.map("arg", recipe.arg) && fields.map("element", element) &&
                 fields.map("dims", recipe.dims) && fields.map("box", recipe.box) &&
                 fields.map("swizzle", recipe.swizzle);
  recipe.element = static_cast<TensorMapRecipe::Element>(element);
  return isWhole && element >= 0 &&
         element <= static_cast<int64_t>(TensorMapRecipe::Element::Rounded);
}

llvm::json::Value toJSON(const Diagnostic &d) {
  llvm::json::Object object{{"severity", static_cast<int>(d.severity)},
                            {"message", llvm::json::fixUTF8(d.message)},
                            {"file", llvm::json::fixUTF8(d.file)},
                            {"line", d.line}};
  if (d.userError)
    object["error"] = static_cast<int>(*d.userError);
  return llvm::json::Value(std::move(object));
}

bool fromJSON(const llvm::json::Value &value, Diagnostic &d, llvm::json::Path path) {
  llvm::json::ObjectMapper fields(value, path);
  int64_t severity = 0;
  std::optional<int64_t> error;
  bool isWhole = fields && fields.map("severity", severity) && fields.map("message", d.message) &&
                 fields.map("file", d.file) && fields.map("line", d.line) &&
                 fields.mapOptional("error", error);
  d.severity = static_cast<Diagnostic::Severity>(severity);
  if (error)
    d.userError = static_cast<ErrorCode>(*error);
  return isWhole;
}

} // namespace tile::codegen

namespace tile::jit {

using codegen::CompiledKernel;

std::string factsOf(const CompiledKernel &kernel) {
  llvm::json::Object object{{"name", kernel.name},
                            {"target", kernel.target},
                            {"parameters", kernel.parameters},
                            {"tensor_maps", kernel.tensorMaps},
                            {"grid", kernel.grid.words()},
                            {"persistent", kernel.persistent},
                            {"threads", kernel.threads},
                            {"cluster", kernel.cluster},
                            {"shared_bytes", kernel.sharedBytes},
                            {"remarks", kernel.remarks}};
  std::string text;
  llvm::raw_string_ostream(text) << llvm::json::Value(std::move(object));
  return text;
}

std::optional<CompiledKernel> kernelOf(std::string_view facts) {
  llvm::Expected<llvm::json::Value> value = llvm::json::parse(facts);
  if (!value) {
    llvm::consumeError(value.takeError());
    return std::nullopt;
  }
  CompiledKernel kernel;
  std::vector<int64_t> grid;
  llvm::json::Path::Root root;
  llvm::json::ObjectMapper fields(*value, root);
  bool isWhole =
      fields && fields.map("name", kernel.name) && fields.map("target", kernel.target) &&
      fields.map("parameters", kernel.parameters) && fields.map("tensor_maps", kernel.tensorMaps) &&
      fields.map("grid", grid) && fields.map("persistent", kernel.persistent) &&
      fields.map("threads", kernel.threads) && fields.map("cluster", kernel.cluster) &&
      fields.map("shared_bytes", kernel.sharedBytes) && fields.map("remarks", kernel.remarks);
  std::optional<codegen::GridExpression> expression =
      isWhole ? codegen::GridExpression::of(grid) : std::nullopt;
  if (!expression)
    return std::nullopt;
  kernel.grid = std::move(*expression);
  return kernel;
}

} // namespace tile::jit
