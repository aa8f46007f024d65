#include "tools/tilec/RunArguments.h"

#include "tools/tilec/Description.h"
#include "tools/tilec/Npy.h"

namespace tile::tilec {
namespace {

[[noreturn]] void refuse(const std::string &word, const std::string &why) {
  throw Error(Fault::User, ErrorCode::InvalidArgument, "argument '" + word + "': " + why);
}

/// The file's name and what follows it: file names end with .npy.
struct FileAndRest {
  std::string file, rest;
};
FileAndRest splitFile(const std::string &word, const std::string &text) {
  size_t end = text.find(".npy");
  if (end == text.npos || end == 0)
    refuse(word, "the name of a file that ends with .npy is expected");
  end += 4;
  if (end < text.size() && text[end] != ':')
    refuse(word, "':' is expected after .npy");
  return {text.substr(0, end), end < text.size() ? text.substr(end + 1) : ""};
}

RunArgument overTensor(Tensor tensor, std::string saveTo) {
  RunArgument argument;
  argument.host = detail::toHostArg(tensor);
  argument.tensor = std::move(tensor);
  argument.saveTo = std::move(saveTo);
  return argument;
}

Tensor tensorOf(const Device &device, const std::string &word, const std::string &spec) {
  std::optional<TensorSpec> described = tensorSpec(spec);
  if (!described)
    refuse(word, "a dtype and extents are expected, such as f32[1000x777] or f32:1000x777");
  return Tensor(device, described->dtype, described->extents);
}

RunArgument input(const Device &device, const std::string &word, const std::string &text,
                  bool isKept) {
  auto [file, rest] = splitFile(word, text);
  std::string first = rest.substr(0, rest.find(':'));
  std::optional<DType> dtype = dtypeNamed(first);
  std::string target = file;
  if (dtype)
    rest = first.size() < rest.size() ? rest.substr(first.size() + 1) : "";
  if (!rest.empty() && isKept)
    target = rest;
  else if (!rest.empty())
    refuse(word, "'" + rest + "' is no dtype");
  return overTensor(loadTensor(device, file, dtype), isKept ? target : "");
}

RunArgument zeros(const Device &device, const std::string &word, const std::string &spec) {
  Tensor tensor = tensorOf(device, word, spec);
  std::vector<std::byte> content(tensor.bytes());
  tensor.uploadBytes(content.data(), content.size());
  return overTensor(std::move(tensor), "");
}

/// What bf16 and fp8 are called in a file.
DType fileDtype(DType dtype) {
  return dtype == bf16 ? u16 : dtype == e4m3 || dtype == e5m2 ? u8 : dtype;
}

} // namespace

RunArgument makeArgument(const Device &device, const std::string &word) {
  size_t colon = word.find(':');
  std::string form = word.substr(0, colon), text = colon == word.npos ? "" : word.substr(colon + 1);
  if (form == "in" || form == "inout")
    return input(device, word, text, form == "inout");
  if (form == "zeros")
    return zeros(device, word, text);
  if (form == "out") {
    auto [file, spec] = splitFile(word, text);
    return overTensor(tensorOf(device, word, spec), file);
  }
  if (std::optional<DType> dtype = dtypeNamed(form)) {
    RunArgument argument;
    argument.host = scalarOf(*dtype, text);
    return argument;
  }
  refuse(word, "expected DTYPE:NUMBER, in:FILE.npy, inout:FILE.npy, out:FILE.npy:DTYPE[AxB] or "
               "zeros:DTYPE[AxB]");
}

void saveArguments(const std::vector<RunArgument> &arguments) {
  for (const RunArgument &argument : arguments)
    if (!argument.saveTo.empty())
      saveTensor(argument.tensor, argument.saveTo);
}

Tensor loadTensor(const Device &device, const std::string &path, std::optional<DType> dtype) {
  Array array = readNpy(path);
  if (dtype && sizeOf(*dtype) != sizeOf(array.dtype))
    throw Error(Fault::User, ErrorCode::InvalidArgument,
                "'" + path + "' holds " + nameOf(array.dtype) + ", which cannot be read as " +
                    nameOf(*dtype) + ": their sizes differ");
  Tensor tensor(device, dtype.value_or(array.dtype), array.extents);
  tensor.uploadBytes(array.data.data(), array.data.size());
  return tensor;
}

void saveTensor(const Tensor &tensor, const std::string &path) {
  Array array;
  array.dtype = fileDtype(tensor.dtype());
  array.extents.assign(tensor.extents().begin(), tensor.extents().end());
  array.data.resize(tensor.bytes());
  tensor.downloadBytes(array.data.data(), array.data.size());
  writeNpy(path, array);
}

} // namespace tile::tilec
