#include "tools/tilec/aot/Sources.h"

#include "runtime/aot/Target.h"
#include "tools/tilec/aot/Names.h"

#include <tile/Version.h>

#include <algorithm>
#include <cctype>

namespace tile::tilec {
namespace {

using detail::ParamSpec;

std::string bytesName(const aot::Archive &archive) { return "tile_kernels_" + archive.name; }

std::string joined(const std::vector<std::string> &parts) {
  std::string text;
  for (const std::string &part : parts)
    text += (text.empty() ? "" : ", ") + part;
  return text;
}

std::string cppType(const ParamSpec &spec) {
  std::string dtype = std::string("tile::") + nameOf(spec.dtype);
  if (spec.kind == ParamSpec::Scalar)
    return "tile::Scalar<" + dtype + ">";
  const char *view = spec.kind == ParamSpec::In    ? "In"
                     : spec.kind == ParamSpec::Out ? "Out"
                                                   : "InOut";
  return std::string("tile::") + view + "<" + dtype + ", " + std::to_string(spec.rank) + ">";
}

/// What a person reads about a parameter: "x: read, f32, rank 2".
std::string describe(const ParamSpec &spec, const std::string &name) {
  if (spec.kind == ParamSpec::Scalar)
    return name + ": " + nameOf(spec.dtype);
  const char *use = spec.kind == ParamSpec::In    ? "read"
                    : spec.kind == ParamSpec::Out ? "written"
                                                  : "read and written";
  return name + ": " + nameOf(spec.dtype) + ", rank " + std::to_string(spec.rank) + ", " + use;
}

/// Lines of at most 100 columns, each behind `lead`.
std::string comment(const std::string &text, const std::string &lead) {
  constexpr size_t kColumns = 100;
  std::string lines;
  for (size_t at = 0; at < text.size();) {
    size_t room = kColumns - lead.size(), end = text.size();
    if (end - at > room) {
      size_t space = text.rfind(' ', at + room);
      end = space == std::string::npos || space <= at ? text.find(' ', at) : space;
      end = std::min(end, text.size());
    }
    lines += lead + text.substr(at, end - at) + "\n";
    at = end + 1;
  }
  return lines;
}

std::string describe(const aot::Function &function) {
  std::vector<std::string> params, constants;
  for (size_t i = 0; i < function.params.size(); ++i)
    params.push_back(describe(function.params[i], function.paramNames[i]));
  for (auto &[name, value] : function.constants)
    constants.push_back(name + " = " + std::to_string(value));
  std::string text;
  for (const std::string &param : params)
    text += (text.empty() ? "" : "; ") + param;
  text += ".";
  if (!constants.empty())
    text += " With " + joined(constants) + ".";
  return text + " For " + joined(aot::targetsOf(function)) + ".";
}

std::string cppFunction(const aot::Archive &archive, const aot::Function &function, size_t bytes) {
  std::vector<std::string> types;
  for (const ParamSpec &spec : function.params)
    types.push_back(cppType(spec));
  return comment(describe(function), "/// ") + "inline const tile::AotFunction<" + joined(types) +
         ">\n    " + function.name + "(" + bytesName(archive) + ", " + std::to_string(bytes) +
         ", \"" + function.name + "\");\n";
}

std::string cFunction(const aot::Archive &archive, const aot::Function &function, size_t bytes) {
  std::string params, fill;
  const std::vector<std::string> names = namesInC(function.paramNames);
  for (size_t i = 0; i < function.params.size(); ++i) {
    const ParamSpec &spec = function.params[i];
    const std::string &name = names[i];
    std::string at = "arguments[" + std::to_string(i) + "]";
    bool isTensor = spec.kind != ParamSpec::Scalar, isReal = isFloat(spec.dtype);
    bool isUnsigned64 = spec.dtype == u64;
    params += ", " +
              std::string(isTensor       ? "tile_tensor *"
                          : isReal       ? "double "
                          : isUnsigned64 ? "uint64_t "
                                         : "int64_t ") +
              name;
    if (isTensor)
      fill += "  if (status == TILE_OK)\n    status = tile_tensor_argument(" + name + ", &" + at +
              ");\n";
    else
      fill += "  " + at + " = " +
              (isReal         ? "tile_real("
               : isUnsigned64 ? "tile_unsigned("
                              : "tile_integer(") +
              name + ");\n";
  }
  std::string count = std::to_string(function.params.size());
  return comment(describe(function), "/// ") + "static inline tile_status " + archive.name + "_" +
         function.name + "(tile_stream *stream" + params + ") {\n  tile_argument arguments[" +
         std::to_string(std::max<size_t>(1, function.params.size())) +
         "];\n  tile_status status = TILE_OK;\n" + fill +
         "  if (status == TILE_OK)\n    status = tile_embedded_launch(" + bytesName(archive) +
         ", " + std::to_string(bytes) + ", \"" + function.name + "\", stream, arguments, " + count +
         ");\n  return status;\n}\n";
}

} // namespace

std::string headerOf(const aot::Archive &archive, size_t bytes) {
  std::string guard = "TILE_KERNELS_" + archive.name + "_H";
  std::ranges::transform(guard, guard.begin(), [](unsigned char c) { return std::toupper(c); });
  std::string cpp, c;
  for (const aot::Function &function : archive.functions) {
    cpp += "\n" + cppFunction(archive, function, bytes);
    c += "\n" + cFunction(archive, function, bytes);
  }
  return "// Made by tilec " TILE_VERSION_STRING
         ", which would write over what is changed here. Compile " +
         archive.name +
         ".c into the\n// program and link tile::rt; no compiler is needed where it "
         "runs.\n#ifndef " +
         guard + "\n#define " + guard + "\n\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n" +
         "extern const unsigned char " + bytesName(archive) + "[" + std::to_string(bytes) +
         "]; // in " + archive.name +
         ".c\n#ifdef __cplusplus\n} // extern \"C\"\n\n#include <tile/Aot.h>\n\n" + "namespace " +
         archive.name + " {\n" + cpp + "\n} // namespace " + archive.name +
         "\n#else // C\n#include <tile/tile_c.h>\n" + c + "#endif\n#endif\n";
}

std::string embeddingOf(const aot::Archive &archive, std::span<const std::byte> bytes) {
  constexpr size_t kPerLine = 24;
  std::string text = "/* Made by tilec " TILE_VERSION_STRING ": the kernels of " + archive.name +
                     ".h. */\n#ifdef __cplusplus\nextern \"C\"\n#endif\nconst unsigned char " +
                     bytesName(archive) + "[" + std::to_string(bytes.size()) +
                     "];\nconst unsigned char " + bytesName(archive) + "[" +
                     std::to_string(bytes.size()) + "] = {";
  text.reserve(text.size() + bytes.size() * 4 + bytes.size() / kPerLine + 16);
  for (size_t i = 0; i < bytes.size(); ++i) {
    if (i % kPerLine == 0)
      text += '\n';
    text += std::to_string(static_cast<unsigned>(bytes[i])) + ",";
  }
  return text + "\n};\n";
}

} // namespace tile::tilec
