#include "tools/tilec/run/PtxArguments.h"

#include "tools/tilec/input/Refuse.h"
#include "tools/tilec/run/TensorMapWord.h"

#include <charconv>
#include <cstring>

namespace tile::tilec {
namespace {

constexpr std::string_view kBuffer = "buf:";

template <class T> void put(std::byte *content, const T &value) {
  std::memcpy(content, &value, sizeof value);
}

std::string countOf(size_t count, const char *what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

} // namespace

PtxArguments::PtxArguments(Session &session, const std::vector<std::string> &words)
    : session_(session) {
  for (const std::string &word : words)
    if (word.starts_with(kBuffer))
      addBuffer(word);
    else
      addParameter(word);
  // A map may name an argument that comes after it.
  for (Value &value : values_)
    if (isTensorMapWord(value.word))
      encodeMap(value);
}

void PtxArguments::addBuffer(const std::string &word) {
  size_t equals = word.find('=');
  std::string name = word.substr(kBuffer.size(), std::min(equals, word.size()) - kBuffer.size());
  if (equals == word.npos || name.empty() || (name[0] >= '0' && name[0] <= '9'))
    refuse("argument '" + word +
           "': buf:NAME=FILE.npy or buf:NAME=out:FILE.npy:DTYPE[AxB] is expected");
  std::string content = word.substr(equals + 1);
  bool isOutput = content.starts_with("out:");
  if (!buffers_.emplace(name, arrays_.size()).second)
    refuse("argument '" + word + "': there is a buffer '" + name + "' already");
  RunArgument argument = makeArgument(session_, isOutput ? content : "in:" + content);
  argument.word = word;
  nameMemory(session_.device(), argument);
  arrays_.push_back(std::move(argument));
}

void PtxArguments::addParameter(const std::string &word) {
  Value &value = values_.emplace_back();
  value.word = word;
  if (isTensorMapWord(word))
    return;
  RunArgument argument = makeArgument(session_, word);
  const detail::HostArg &host = argument.host;
  if (host.kind != detail::HostArg::Tensor) {
    value.bytes = sizeOf(host.dtype);
    put(value.content, host.bits);
    return;
  }
  value.bytes = sizeof(device::DevicePtr);
  put(value.content, reinterpret_cast<device::DevicePtr>(host.pointer));
  value.array = arrays_.size();
  arrays_.push_back(std::move(argument));
}

const RunArgument &PtxArguments::arrayNamed(const std::string &word,
                                            const std::string &name) const {
  if (auto buffer = buffers_.find(name); buffer != buffers_.end())
    return arrays_[buffer->second];
  size_t index = 0;
  auto [stop, fault] = std::from_chars(name.data(), name.data() + name.size(), index);
  if (fault != std::errc() || stop != name.data() + name.size())
    refuse("argument '" + word + "': there is no buf:" + name + "=");
  if (index >= values_.size() || !values_[index].array)
    refuse("argument '" + word + "': argument " + name + " is no array");
  return arrays_[*values_[index].array];
}

void PtxArguments::encodeMap(Value &value) {
  TensorMapWord map = parseTensorMapWord(value.word);
  device::TensorMapParams params = paramsOf(map, arrayNamed(value.word, map.array));
  device::TensorMap encoded;
  try {
    encoded = session_.seam().encodeTensorMap(params);
  } catch (const Error &error) {
    throw Error(error.fault(), error.code(), "argument '" + value.word + "': " + error.message());
  }
  if (!map.isPointer) {
    value.bytes = sizeof encoded.bytes;
    put(value.content, encoded.bytes);
    return;
  }
  device::DevicePtr place = session_.seam().alloc(sizeof encoded.bytes);
  session_.seam().copyToDevice(place, encoded.bytes.data(), sizeof encoded.bytes);
  value.bytes = sizeof place;
  put(value.content, place);
}

std::vector<device::Arg> PtxArguments::pack(const vgpu::Function &entry) const {
  std::string name = "entry '" + std::string(entry.name) + "'";
  if (entry.params.size() != values_.size())
    refuse(name + " takes " + countOf(entry.params.size(), "argument") + ", got " +
           std::to_string(values_.size()));
  std::vector<device::Arg> args;
  for (size_t i = 0; i < values_.size(); ++i) {
    const Value &value = values_[i];
    if (entry.params[i]->bytes != value.bytes)
      refuse("argument '" + value.word + "' has " + countOf(value.bytes, "byte") + ", parameter " +
             std::to_string(i) + " of " + name + " has " + std::to_string(entry.params[i]->bytes));
    args.push_back({value.content, value.bytes});
  }
  return args;
}

} // namespace tile::tilec
