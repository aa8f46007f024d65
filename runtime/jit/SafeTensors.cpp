// Reading and writing safetensors files. What is read is checked before it is used: the length of the header against the
// file, each place against the elements, each shape against its place.
#include <tile/SafeTensors.h>

#include "runtime/jit/Dump.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <set>

namespace tile {
namespace {

using detail::SafeTensorsEntry;
using detail::SafeTensorsHeader;
using nlohmann::json;

constexpr const char *kMetadata = "__metadata__";
constexpr size_t kLengthBytes = 8;
/// What other readers accept.
constexpr size_t kLongestHeader = 100'000'000;

struct DTypeName {
  const char *name;
  DType dtype;
};
constexpr DTypeName kDTypes[] = {{"F64", f64},      {"F32", f32},      {"F16", f16}, {"BF16", bf16},
                                 {"F8_E4M3", e4m3}, {"F8_E5M2", e5m2}, {"I64", i64}, {"I32", i32},
                                 {"I16", i16},      {"I8", i8},        {"U64", u64}, {"U32", u32},
                                 {"U16", u16},      {"U8", u8},        {"BOOL", i1}};

/// Throws what is wrong with a file.
class File {
public:
  File(const std::string &path, Loc loc) : path_(path), loc_(loc) {}
  [[noreturn]] void refuse(ErrorCode code, const std::string &why) const {
    throw Error(Fault::User, code, path_ + ": " + why, loc_);
  }
  [[noreturn]] void refuse(const std::string &why) const { refuse(ErrorCode::Parse, why); }

private:
  const std::string &path_;
  Loc loc_;
};

/// The JSON object at the front. Two tensors of one name are a fault, which the parser alone would not see.
json parseHeader(const File &file, std::string_view text) {
  std::set<std::string> names;
  std::string twice;
  auto look = [&](int depth, json::parse_event_t event, json &parsed) {
    if (event == json::parse_event_t::key && depth == 1 &&
        !names.insert(parsed.get<std::string>()).second)
      twice = parsed.get<std::string>();
    if (depth > 3)
      file.refuse("the header is nested too deeply");
    return true;
  };
  json header;
  try {
    header = json::parse(text, look);
  } catch (const json::exception &error) {
    file.refuse(std::string("the header is no JSON: ") + error.what());
  }
  if (!twice.empty())
    file.refuse("two tensors are called '" + twice + "'");
  if (!header.is_object())
    file.refuse("the header is no JSON object");
  return header;
}

/// A member that is a list of natural numbers.
std::vector<int64_t> numbersOf(const File &file, const std::string &tensor, const json &member,
                               const char *name) {
  std::vector<int64_t> numbers;
  bool fits = member.is_array();
  for (const json &number : fits ? member : json::array()) {
    fits = fits && number.is_number_unsigned() &&
           number.get<uint64_t>() <= static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
    numbers.push_back(fits ? number.get<int64_t>() : 0);
  }
  if (!fits)
    file.refuse("'" + std::string(name) + "' of tensor '" + tensor +
                "' is no list of natural numbers");
  return numbers;
}

DType dtypeOfName(const File &file, const std::string &tensor, const json &name) {
  if (!name.is_string())
    file.refuse("'dtype' of tensor '" + tensor + "' is no text");
  for (const DTypeName &known : kDTypes)
    if (name.get_ref<const std::string &>() == known.name)
      return known.dtype;
  file.refuse(ErrorCode::Unsupported, "tensor '" + tensor + "' has dtype " +
                                          name.get<std::string>() + ", which tensors cannot have");
}

/// The bytes of a shape; nothing beyond 63 bits.
std::optional<uint64_t> bytesOf(DType dtype, const std::vector<int64_t> &shape) {
  int64_t bytes = static_cast<int64_t>(sizeOf(dtype));
  if (std::ranges::find(shape, 0) != shape.end())
    return 0;
  for (int64_t extent : shape)
    if (__builtin_mul_overflow(bytes, extent, &bytes))
      return std::nullopt;
  return static_cast<uint64_t>(bytes);
}

SafeTensorsEntry entryOf(const File &file, const std::string &name, const json &value,
                         size_t dataBegin, size_t dataBytes) {
  for (const char *member : {"dtype", "shape", "data_offsets"})
    if (!value.is_object() || !value.contains(member))
      file.refuse("tensor '" + name + "' has no '" + member + "'");
  SafeTensorsEntry entry{.name = name, .dtype = dtypeOfName(file, name, value["dtype"])};
  entry.shape = numbersOf(file, name, value["shape"], "shape");
  if (entry.shape.size() > kMaxRank)
    file.refuse(ErrorCode::Unsupported,
                "tensor '" + name + "' has " + std::to_string(entry.shape.size()) +
                    " dimensions, tensors have at most " + std::to_string(kMaxRank));
  std::vector<int64_t> offsets = numbersOf(file, name, value["data_offsets"], "data_offsets");
  if (offsets.size() != 2 || offsets[0] > offsets[1] ||
      static_cast<uint64_t>(offsets[1]) > dataBytes)
    file.refuse("'data_offsets' of tensor '" + name + "' are no place in the " +
                std::to_string(dataBytes) + " bytes of elements");
  entry.begin = dataBegin + static_cast<size_t>(offsets[0]);
  entry.bytes = static_cast<size_t>(offsets[1] - offsets[0]);
  if (bytesOf(entry.dtype, entry.shape) != entry.bytes)
    file.refuse("tensor '" + name + "' has a place of " + std::to_string(entry.bytes) +
                " bytes, which are not those of its shape and dtype");
  return entry;
}

std::map<std::string, std::string> metadataOf(const File &file, const json &value) {
  std::map<std::string, std::string> metadata;
  bool fits = value.is_object();
  if (fits)
    for (const auto &[key, text] : value.items()) {
      fits = fits && text.is_string();
      metadata[key] = fits ? text.get<std::string>() : "";
    }
  if (!fits)
    file.refuse("'__metadata__' does not map texts to texts");
  return metadata;
}

std::vector<unsigned char> contentOf(const File &file, const std::string &path) {
  std::ifstream stream(path, std::ios::binary | std::ios::ate);
  auto size = stream ? static_cast<std::streamoff>(stream.tellg()) : -1;
  if (size < 0)
    file.refuse(ErrorCode::IoError, "cannot be read");
  std::vector<unsigned char> content(static_cast<size_t>(size));
  stream.seekg(0);
  stream.read(reinterpret_cast<char *>(content.data()), size);
  if (!stream)
    file.refuse(ErrorCode::IoError, "cannot be read to its end");
  return content;
}

void checkNames(const File &file, std::span<const NamedTensor> tensors) {
  std::set<std::string> names;
  for (const NamedTensor &named : tensors) {
    if (named.name.empty() || named.name == kMetadata)
      file.refuse(ErrorCode::InvalidArgument, "a tensor cannot be called '" + named.name + "'");
    if (!names.insert(named.name).second)
      file.refuse(ErrorCode::InvalidArgument, "two tensors are called '" + named.name + "'");
    if (!named.tensor)
      file.refuse(ErrorCode::InvalidArgument, "'" + named.name + "' is no tensor");
  }
}

const char *nameOfDtype(DType dtype) {
  return std::ranges::find(kDTypes, dtype, &DTypeName::dtype)->name;
}

} // namespace

SafeTensorsHeader detail::parseSafeTensors(std::span<const unsigned char> content,
                                           const std::string &path, Loc loc) {
  File file(path, loc);
  if (content.size() < kLengthBytes)
    file.refuse("has " + std::to_string(content.size()) + " bytes, too few for a safetensors file");
  uint64_t length = 0;
  for (size_t i = 0; i < kLengthBytes; ++i)
    length |= uint64_t{content[i]} << 8 * i;
  if (length > kLongestHeader || length > content.size() - kLengthBytes)
    file.refuse("its header has " + std::to_string(length) + " bytes, the file " +
                std::to_string(content.size()));
  auto *text = reinterpret_cast<const char *>(content.data() + kLengthBytes);
  json header = parseHeader(file, {text, static_cast<size_t>(length)});
  size_t begin = kLengthBytes + static_cast<size_t>(length);

  SafeTensorsHeader result;
  for (const auto &[name, value] : header.items())
    if (name == kMetadata)
      result.metadata = metadataOf(file, value);
    else
      result.entries.push_back(entryOf(file, name, value, begin, content.size() - begin));
  std::ranges::sort(result.entries, {}, [](const SafeTensorsEntry &entry) {
    return std::pair(entry.begin, entry.bytes);
  });
  for (const SafeTensorsEntry &entry : result.entries) {
    if (entry.begin != begin)
      file.refuse("the elements of tensor '" + entry.name + "' do not follow those before");
    begin += entry.bytes;
  }
  if (begin != content.size())
    file.refuse("the last " + std::to_string(content.size() - begin) +
                " bytes belong to no tensor");
  return result;
}

const Tensor &SafeTensors::at(const std::string &name, Loc loc) const {
  auto found = std::ranges::find(tensors, name, &NamedTensor::name);
  if (found == tensors.end()) {
    std::string list;
    for (size_t i = 0; i < tensors.size() && i < 8; ++i)
      list += (i ? ", " : "") + tensors[i].name;
    throw Error(Fault::User, ErrorCode::InvalidArgument,
                "the file has no tensor '" + name + "'; it has " + std::to_string(tensors.size()) +
                    ": " + list + (tensors.size() > 8 ? ", ..." : ""),
                loc);
  }
  return found->tensor;
}

void saveSafeTensors(const std::string &path, std::span<const NamedTensor> tensors,
                     const std::map<std::string, std::string> &metadata, Loc loc) {
  File file(path, loc);
  checkNames(file, tensors);
  json header = json::object();
  if (!metadata.empty())
    header[kMetadata] = metadata;
  size_t end = 0;
  for (const auto &[name, tensor] : tensors) {
    json &entry = header[name];
    entry["dtype"] = nameOfDtype(tensor.dtype());
    entry["shape"] = std::vector<int64_t>(tensor.extents().begin(), tensor.extents().end());
    entry["data_offsets"] = {end, end + tensor.bytes()};
    end += tensor.bytes();
  }
  std::string text;
  try {
    text = header.dump();
  } catch (const json::exception &) {
    file.refuse(ErrorCode::InvalidArgument, "names and metadata must be UTF-8");
  }
  text.resize((text.size() + 7) / 8 * 8, ' '); // elements are aligned
  std::string content(kLengthBytes, '\0');
  for (size_t i = 0; i < kLengthBytes; ++i)
    content[i] = static_cast<char>(text.size() >> 8 * i & 0xFF);
  content += text;
  size_t at = content.size();
  content.resize(at + end);
  for (const auto &[name, tensor] : tensors) {
    tensor.downloadBytes(content.data() + at, tensor.bytes());
    at += tensor.bytes();
  }
  try {
    jit::writeFile(path, content);
  } catch (const Error &error) { // at the caller's line
    throw Error(error.fault(), error.code(), error.message(), loc);
  }
}

SafeTensors loadSafeTensors(const Stream &stream, const std::string &path, Loc loc) {
  std::vector<unsigned char> content = contentOf(File(path, loc), path);
  SafeTensorsHeader header = detail::parseSafeTensors(content, path, loc);
  SafeTensors result{.tensors = {}, .metadata = std::move(header.metadata)};
  for (const SafeTensorsEntry &entry : header.entries) {
    Tensor tensor = stream.tensor(entry.dtype, entry.shape);
    tensor.uploadBytes(content.data() + entry.begin, entry.bytes);
    result.tensors.push_back({entry.name, std::move(tensor)});
  }
  return result;
}

} // namespace tile
