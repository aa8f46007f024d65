#include "tools/tilec/run/RunArguments.h"

#include "runtime/host/State.h"
#include "tools/tilec/input/Description.h"
#include "tools/tilec/run/Npy.h"

#include <algorithm>
#include <cstring>

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

/// A dtype of elements in memory: those of the language, and those that are f32 to everything but a tensor map.
struct ElementDtype {
  DType storage;
  std::string name;
};
std::optional<ElementDtype> elementNamed(const std::string &name) {
  if (name == "tf32" || name == "tf32.ftz" || name == "f32.ftz")
    return ElementDtype{f32, name};
  std::optional<DType> dtype = dtypeNamed(name);
  return dtype ? std::optional(ElementDtype{*dtype, name}) : std::nullopt;
}

RunArgument overTensor(Tensor tensor, std::string element, std::string saveTo) {
  RunArgument argument;
  argument.host = detail::toHostArg(tensor);
  argument.element = std::move(element);
  argument.tensor = std::move(tensor);
  argument.saveTo = std::move(saveTo);
  return argument;
}

/// Memory as "f32[1000x777]" or "f32:1000x777" describes it.
RunArgument described(const Device &device, const std::string &word, const std::string &spec,
                      const std::string &saveTo) {
  std::string name = spec.substr(0, spec.find_first_of("[:"));
  std::optional<ElementDtype> element = elementNamed(name);
  std::optional<TensorSpec> shape;
  if (element)
    shape = tensorSpec(nameOf(element->storage) + spec.substr(name.size()));
  if (!shape)
    refuse(word, "a dtype and extents are expected, such as f32[1000x777] or f32:1000x777");
  return overTensor(Tensor(device, shape->dtype, shape->extents), name, saveTo);
}

RunArgument input(const Device &device, const std::string &word, const std::string &text,
                  bool isKept) {
  auto [file, rest] = splitFile(word, text);
  std::string first = rest.substr(0, rest.find(':'));
  std::optional<ElementDtype> element = elementNamed(first);
  std::string target = file;
  if (element)
    rest = first.size() < rest.size() ? rest.substr(first.size() + 1) : "";
  if (!rest.empty() && isKept)
    target = rest;
  else if (!rest.empty())
    refuse(word, "'" + rest + "' is no dtype");
  Tensor tensor =
      loadTensor(device, file, element ? std::optional(element->storage) : std::nullopt);
  std::string name = element ? element->name : nameOf(tensor.dtype());
  return overTensor(std::move(tensor), name, isKept ? target : "");
}

RunArgument zeros(const Device &device, const std::string &word, const std::string &spec) {
  RunArgument argument = described(device, word, spec, "");
  std::vector<std::byte> content(argument.tensor.bytes());
  argument.tensor.uploadBytes(content.data(), content.size());
  return argument;
}

/// The byte that fills memory without values: a NaN of every float format, or a number that nobody computes.
uint8_t poisonOf(DType dtype) { return isFloat(dtype) ? 0xff : 0xcd; }

RunArgument output(const Device &device, const std::string &word, const std::string &text) {
  auto [file, spec] = splitFile(word, text);
  RunArgument argument = described(device, word, spec, file);
  argument.isPoisoned = true;
  const Tensor &tensor = argument.tensor;
  auto address = reinterpret_cast<device::DevicePtr>(tensor.data());
  const std::shared_ptr<device::Device> &seam = device.state()->device;
  seam->fill(address, poisonOf(tensor.dtype()), tensor.bytes());
  if (std::shared_ptr<vgpu::VirtualDevice> gpu = vgpu::asVirtual(seam))
    gpu->discard(address, tensor.bytes(), {});
  return argument;
}

/// Counts the elements that still hold the poison in all their bytes.
size_t countPoisoned(const Tensor &tensor) {
  std::vector<uint8_t> content(tensor.bytes());
  tensor.downloadBytes(content.data(), content.size(), Loc{});
  size_t bytes = sizeOf(tensor.dtype()), poisoned = 0;
  std::vector<uint8_t> poison(bytes, poisonOf(tensor.dtype()));
  for (size_t at = 0; at < content.size(); at += bytes)
    poisoned += std::memcmp(content.data() + at, poison.data(), bytes) == 0;
  return poisoned;
}

/// The dtype under which a .npy file holds bf16 and fp8, which NumPy does not know.
DType fileDtype(DType dtype) {
  return dtype == bf16 ? u16 : dtype == e4m3 || dtype == e5m2 ? u8 : dtype;
}

} // namespace

static RunArgument argumentOf(const Device &device, const std::string &word) {
  size_t colon = word.find(':');
  std::string form = word.substr(0, colon), text = colon == word.npos ? "" : word.substr(colon + 1);
  if (form == "in" || form == "inout")
    return input(device, word, text, form == "inout");
  if (form == "zeros")
    return zeros(device, word, text);
  if (form == "out")
    return output(device, word, text);
  if (std::optional<DType> dtype = dtypeNamed(form)) {
    RunArgument argument;
    argument.host = scalarOf(*dtype, text);
    return argument;
  }
  refuse(word, "expected DTYPE:NUMBER, in:FILE.npy, inout:FILE.npy, out:FILE.npy:DTYPE[AxB] or "
               "zeros:DTYPE[AxB]");
}

RunArgument makeArgument(Session &session, const std::string &word) {
  RunArgument argument = argumentOf(session.device(), word);
  argument.word = word;
  if (!argument.saveTo.empty())
    session.claimFile(argument.saveTo);
  nameMemory(session.device(), argument);
  return argument;
}

void nameMemory(const Device &device, const RunArgument &argument) {
  std::shared_ptr<vgpu::VirtualDevice> gpu = vgpu::asVirtual(device.state()->device);
  if (gpu && argument.host.kind == detail::HostArg::Tensor && argument.tensor.bytes())
    gpu->nameMemory(reinterpret_cast<device::DevicePtr>(argument.tensor.data()), argument.word);
}

void noteUnwritten(Session &session, const std::vector<RunArgument> &arguments) {
  session.device().synchronize(); // a launch may still be under way
  vgpu::VirtualDevice *gpu = session.virtualDevice();
  bool isFollowed = gpu && gpu->checks().init;
  for (const RunArgument &argument : arguments) {
    if (!argument.isPoisoned)
      continue;
    const Tensor &tensor = argument.tensor;
    auto count = static_cast<size_t>(tensor.numel());
    size_t unwritten = isFollowed
                           ? gpu->countUnwritten(reinterpret_cast<device::DevicePtr>(tensor.data()),
                                                 sizeOf(tensor.dtype()), count)
                           : countPoisoned(tensor);
    if (unwritten)
      session.note(argument.saveTo + ": " + std::to_string(unwritten) + " of " +
                   std::to_string(count) + " elements " +
                   (isFollowed ? "were never written" : "hold what they held before the launch"));
  }
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
  tensor.downloadBytes(array.data.data(), array.data.size(), Loc{});
  writeNpy(path, array);
}

} // namespace tile::tilec
