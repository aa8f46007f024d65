#include "runtime/toolchain/CudaSource.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <regex>

namespace tile::jit {

using codegen::CudaFunction;

namespace {

/// The type of a dtype in C++, the word that it is passed in, and the conversions between the two.
struct CppType {
  const char *type, *word, *fromWord, *toWord;
};

CppType spellingOf(const std::string &dtype) {
  static const std::map<std::string, CppType> types = {
      {"f32", {"float", "float", "", ""}},
      {"f64", {"double", "double", "", ""}},
      {"i64", {"long long", "long long", "", ""}},
      {"u64", {"unsigned long long", "unsigned long long", "", ""}},
      {"f16", {"__half", "unsigned int", "__ushort_as_half", "__half_as_ushort"}},
      {"bf16", {"__nv_bfloat16", "unsigned int", "__ushort_as_bfloat16", "__bfloat16_as_ushort"}},
      {"i1", {"bool", "unsigned int", "static_cast<bool>", ""}},
      {"i8", {"signed char", "int", "static_cast<signed char>", ""}},
      {"i16", {"short", "int", "static_cast<short>", ""}},
      {"i32", {"int", "int", "", ""}},
      {"u8", {"unsigned char", "unsigned int", "static_cast<unsigned char>", ""}},
      {"u16", {"unsigned short", "unsigned int", "static_cast<unsigned short>", ""}},
      {"u32", {"unsigned int", "unsigned int", "", ""}}};
  return types.at(dtype); // the operation's verifier admits no others
}

/// "float (*)(int, __half)".
std::string pointerTypeOf(const CudaFunction &function, const std::string &name) {
  std::string text = std::string(spellingOf(function.dtypes[0]).type) + " (*" + name + ")(";
  for (size_t i = 1; i < function.dtypes.size(); ++i)
    text += (i > 1 ? ", " : "") + std::string(spellingOf(function.dtypes[i]).type);
  return text + ")";
}

/// The function that the PTX calls: takes words, calls the user's. Its lines have a name of their own in messages.
std::string wrapperOf(const CudaFunction &function) {
  std::string parameters, arguments;
  for (size_t i = 1; i < function.dtypes.size(); ++i) {
    CppType type = spellingOf(function.dtypes[i]);
    std::string name = "x" + std::to_string(i);
    parameters += (i > 1 ? ", " : "") + std::string(type.word) + " " + name;
    arguments += (i > 1 ? ", " : "") + std::string(type.fromWord) + "(" + name + ")";
  }
  CppType result = spellingOf(function.dtypes[0]);
  return "\n#line 1 \"call\"\nextern \"C\" __device__ " + std::string(result.word) + " " +
         function.symbol + "(" + parameters + ") {\n" + pointerTypeOf(function, "const function") +
         " = " + function.entry + ";\nreturn " + result.toWord + "(function(" + arguments +
         "));\n}\n";
}

bool uses(const CudaFunction &function, const char *dtype) {
  return std::ranges::find(function.dtypes, dtype) != function.dtypes.end();
}

} // namespace

std::string cppTypeOf(const CudaFunction &function) { return pointerTypeOf(function, ""); }

std::string programOf(const CudaFunction &function) {
  std::string program;
  if (uses(function, "f16"))
    program += "#include <cuda_fp16.h>\n";
  if (uses(function, "bf16"))
    program += "#include <cuda_bf16.h>\n";
  return program + "#line 1 \"source\"\n" + function.source + wrapperOf(function);
}

void checkIncludes(const CudaFunction &function) {
  std::string source = std::regex_replace(function.source, std::regex("\\\\\r?\n"), "");
  static const std::regex directive(
      "(?:^|\n)[ \t]*(?:#|%:|\\?\\?=)[ \t]*(?:include|embed)\\w*([^\n]*)");
  static const std::regex named("[ \t]*[<\"]([^>\"]*)[>\"].*");
  for (std::sregex_iterator at(source.begin(), source.end(), directive), end; at != end; ++at) {
    std::smatch name;
    std::string rest = (*at)[1].str();
    if (!std::regex_match(rest, name, named))
      failCuda(function, ErrorCode::InvalidArgument,
               "an include must name its header, got '" + rest + "'");
    std::filesystem::path path(name[1].str());
    if (path.is_absolute() || std::ranges::find(path, "..") != path.end())
      failCuda(function, ErrorCode::InvalidArgument,
               "includes '" + path.string() +
                   "': absolute paths and '..' are refused; headers come from CUDA's folder");
  }
}

void failCuda(const CudaFunction &function, ErrorCode code, const std::string &what,
              std::vector<std::string> notes) {
  throw Error(Fault::User, code, "inline_cuda: " + what, {function.file.c_str(), function.line},
              std::move(notes));
}

} // namespace tile::jit
