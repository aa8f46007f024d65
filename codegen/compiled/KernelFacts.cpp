#include "codegen/compiled/KernelFacts.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <stdexcept>

namespace tile::codegen {

using Json = nlohmann::json;

/// An enumerator of a type whose last one is given. Throws for another number.
template <class Enum> static Enum enumerator(const Json &value, Enum last) {
  int64_t number = value.get<int64_t>();
  if (number < 0 || number > static_cast<int64_t>(last))
    throw std::out_of_range("no such enumerator");
  return static_cast<Enum>(number);
}

// How nlohmann::json finds the fields of each; all throw where one is missing or of another kind.

static void to_json(Json &value, const Parameter &p) {
  value = Json::array({static_cast<int>(p.kind), p.arg, p.dim, p.bytes});
}

static void from_json(const Json &value, Parameter &p) {
  p.kind = enumerator(value.at(0), Parameter::Kind::Counters);
  p.arg = value.at(1), p.dim = value.at(2), p.bytes = value.at(3);
}

static void to_json(Json &value, const TensorMapRecipe &recipe) {
  value = {{"arg", recipe.arg},
           {"element", static_cast<int>(recipe.element)},
           {"dims", recipe.dims},
           {"box", recipe.box},
           {"swizzle", recipe.swizzle}};
}

static void from_json(const Json &value, TensorMapRecipe &recipe) {
  recipe.arg = value.at("arg");
  recipe.element = enumerator(value.at("element"), TensorMapRecipe::Element::Rounded);
  recipe.dims = value.at("dims").get<std::vector<int32_t>>();
  recipe.box = value.at("box").get<std::vector<int32_t>>();
  recipe.swizzle = value.at("swizzle");
}

static void to_json(Json &value, const Workspace &workspace) {
  value = Json::array({workspace.bytes, workspace.counters, workspace.programs});
}

static void from_json(const Json &value, Workspace &workspace) {
  workspace.bytes = value.at(0), workspace.counters = value.at(1), workspace.programs = value.at(2);
  if (workspace.bytes < 0 || workspace.counters < 0 || workspace.programs < 1)
    throw std::out_of_range("no such workspace");
}

static void to_json(Json &value, const Diagnostic &d) {
  value = {{"severity", static_cast<int>(d.severity)},
           {"message", d.message},
           {"file", d.file},
           {"line", d.line}};
  if (d.userError)
    value["error"] = static_cast<int>(*d.userError);
}

static void from_json(const Json &value, Diagnostic &d) {
  d.severity = enumerator(value.at("severity"), Diagnostic::Severity::Note);
  d.message = value.at("message"), d.file = value.at("file"), d.line = value.at("line");
  if (value.contains("error"))
    d.userError = static_cast<ErrorCode>(value.at("error").get<int>());
}

/// Are there pointers to the workspace exactly if there is one?
static bool hasItsPointers(const CompiledKernel &kernel) {
  auto count = [&](Parameter::Kind kind) {
    return std::ranges::count(kernel.parameters, kind, &Parameter::kind);
  };
  int expected = kernel.workspace.counters > 0 ? 1 : 0;
  return count(Parameter::Kind::Workspace) == expected &&
         count(Parameter::Kind::Counters) == expected;
}

std::string factsOf(const CompiledKernel &kernel) {
  Json facts = {{"name", kernel.name},
                {"target", kernel.target},
                {"parameters", kernel.parameters},
                {"tensor_maps", kernel.tensorMaps},
                {"grid", kernel.grid.words()},
                {"persistent", kernel.persistent},
                {"threads", kernel.threads},
                {"cluster", kernel.cluster},
                {"shared_bytes", kernel.sharedBytes},
                {"workspace", kernel.workspace},
                {"waits", kernel.waits},
                {"remarks", kernel.remarks}};
  // Names of files may be any bytes.
  return facts.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::optional<CompiledKernel> kernelOf(std::string_view facts) {
  CompiledKernel kernel;
  try {
    Json value = Json::parse(facts);
    kernel.name = value.at("name"), kernel.target = value.at("target");
    kernel.parameters = value.at("parameters").get<std::vector<Parameter>>();
    kernel.tensorMaps = value.at("tensor_maps").get<std::vector<TensorMapRecipe>>();
    kernel.persistent = value.at("persistent"), kernel.threads = value.at("threads");
    kernel.cluster = value.at("cluster"), kernel.sharedBytes = value.at("shared_bytes");
    kernel.workspace = value.value("workspace", Workspace());
    kernel.waits = value.value("waits", false);
    kernel.remarks = value.at("remarks").get<std::vector<Diagnostic>>();
    std::optional<GridExpression> grid =
        GridExpression::of(value.at("grid").get<std::vector<int64_t>>());
    if (!grid || !hasItsPointers(kernel))
      return std::nullopt;
    kernel.grid = std::move(*grid);
  } catch (const std::exception &) { // of another form
    return std::nullopt;
  }
  return kernel;
}

} // namespace tile::codegen
