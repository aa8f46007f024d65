// Reading and writing safetensors files. What is read is checked before it is used: the length of the header against the
// file, each place against the elements, each shape against its place.
#include <tile/SafeTensors.h>
#include <tile/detail/SafeTensors.h>

#include "base/AtomicFile.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <unordered_set>

namespace tile {
namespace {

using detail::SafeTensorsEntry;
using detail::SafeTensorsHeader;
using nlohmann::json;

constexpr const char *kMetadata = "__metadata__";
constexpr size_t kLengthBytes = 8;
/// The largest header that other readers accept.
constexpr size_t kLongestHeader = 100'000'000;

struct DTypeName {
  const char *name;
  DType dtype;
};
constexpr DTypeName kDTypes[] = {{"F64", f64},      {"F32", f32},      {"F16", f16}, {"BF16", bf16},
                                 {"F8_E4M3", e4m3}, {"F8_E5M2", e5m2}, {"I64", i64}, {"I32", i32},
                                 {"I16", i16},      {"I8", i8},        {"U64", u64}, {"U32", u32},
                                 {"U16", u16},      {"U8", u8},        {"BOOL", i1}};

/// Names come from the file: a terminal must not obey them.
std::string printable(std::string_view text) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string result;
  for (char c : text) {
    auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte != 0x7f)
      result += c;
    else
      result += std::string("\\x") + kDigits[byte >> 4] + kDigits[byte & 15];
  }
  return result;
}

/// Throws what is wrong with a file.
class File {
public:
  File(const std::string &path, Loc loc) : path_(path), loc_(loc) {}
  [[noreturn]] void refuse(ErrorCode code, const std::string &why) const {
    throw Error(Fault::User, code, path_ + ": " + printable(why), loc_);
  }
  [[noreturn]] void refuse(const std::string &why) const { refuse(ErrorCode::Parse, why); }

private:
  const std::string &path_;
  Loc loc_;
};

/// What the parser alone would not see of a header, in one pass without building it: names that come twice, nesting.
class HeaderCheck final : public nlohmann::json_sax<json> {
public:
  explicit HeaderCheck(const File &file) : file_(file) {}

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t &) override { return true; }
  bool string(string_t &) override { return true; }
  bool binary(binary_t &) override { return true; }
  bool start_object(size_t) override { return open(); }
  bool start_array(size_t) override { return open(); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(string_t &name) override {
    if (depth_ == 1 && !names_.insert(name).second)
      file_.refuse("two tensors are called '" + name + "'");
    return true;
  }
  bool parse_error(size_t, const std::string &, const json::exception &error) override {
    file_.refuse(std::string("the header is no JSON: ") + error.what());
  }

private:
  bool open() {
    constexpr int kDeepest = 3;
    if (++depth_ > kDeepest)
      file_.refuse("the header is nested too deeply");
    return true;
  }
  bool close() { return --depth_, true; }

  const File &file_;
  int depth_ = 0;
  std::unordered_set<std::string> names_;
};

/// The JSON object at the front.
json parseHeader(const File &file, std::string_view text) {
  HeaderCheck check(file);
  json::sax_parse(text, &check);
  json header = json::parse(text);
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

using Bytes = std::vector<unsigned char>;

/// A file that is open for reading: a regular one, whose size says how much can be read.
class Reader {
public:
  Reader(const File &file, const std::string &path) : file_(file) {
    std::error_code fault;
    auto status = std::filesystem::status(path, fault); // opening a pipe would wait for its writer
    if (fault || !std::filesystem::exists(status))
      file.refuse(ErrorCode::IoError, "cannot be read");
    if (!std::filesystem::is_regular_file(status))
      file.refuse(ErrorCode::IoError, "is no regular file");
    stream_.open(path, std::ios::binary);
    size_ = std::filesystem::file_size(path, fault);
    if (fault || !stream_)
      file.refuse(ErrorCode::IoError, "cannot be read");
  }

  uint64_t size() const { return size_; }

  /// Replaces the buffer's contents by `bytes` bytes from `begin` on.
  void read(Bytes &buffer, uint64_t begin, size_t bytes) {
    try {
      buffer.resize(bytes);
    } catch (const std::bad_alloc &) {
      file_.refuse(ErrorCode::OutOfMemory,
                   "the host has no " + std::to_string(bytes) + " bytes to read it");
    }
    stream_.seekg(static_cast<std::streamoff>(begin));
    stream_.read(reinterpret_cast<char *>(buffer.data()), static_cast<std::streamsize>(bytes));
    if (!stream_)
      file_.refuse(ErrorCode::IoError, "cannot be read to its end");
  }

private:
  const File &file_;
  std::ifstream stream_;
  uint64_t size_ = 0;
};

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

/// The length of the header, from the first bytes of a file of that size.
static size_t headerLength(const File &file, const unsigned char *first, uint64_t fileSize) {
  uint64_t length = 0;
  for (size_t i = 0; i < kLengthBytes; ++i)
    length |= uint64_t{first[i]} << 8 * i;
  if (length > kLongestHeader || length > fileSize - kLengthBytes)
    file.refuse("its header has " + std::to_string(length) + " bytes, the file " +
                std::to_string(fileSize));
  return static_cast<size_t>(length);
}

static void checkSize(const File &file, uint64_t fileSize) {
  if (fileSize < kLengthBytes)
    file.refuse("has " + std::to_string(fileSize) + " bytes, too few for a safetensors file");
}

static SafeTensorsHeader headerOf(const File &file, std::string_view text, uint64_t fileSize) {
  json header = parseHeader(file, text);
  size_t begin = kLengthBytes + text.size();
  SafeTensorsHeader result;
  for (const auto &[name, value] : header.items())
    if (name == kMetadata)
      result.metadata = metadataOf(file, value);
    else
      result.entries.push_back(entryOf(file, name, value, begin, fileSize - begin));
  std::ranges::sort(result.entries, {}, [](const SafeTensorsEntry &entry) {
    return std::pair(entry.begin, entry.bytes);
  });
  for (const SafeTensorsEntry &entry : result.entries) {
    if (entry.begin != begin)
      file.refuse("the elements of tensor '" + entry.name + "' do not follow those before");
    begin += entry.bytes;
  }
  if (begin != fileSize)
    file.refuse("the last " + std::to_string(fileSize - begin) + " bytes belong to no tensor");
  return result;
}

SafeTensorsHeader detail::parseSafeTensors(std::span<const unsigned char> content,
                                           const std::string &path, Loc loc) {
  File file(path, loc);
  checkSize(file, content.size());
  size_t length = headerLength(file, content.data(), content.size());
  auto *text = reinterpret_cast<const char *>(content.data() + kLengthBytes);
  return headerOf(file, {text, length}, content.size());
}

const Tensor &SafeTensors::at(const std::string &name, Loc loc) const {
  auto found = std::ranges::find(tensors, name, &NamedTensor::name);
  if (found == tensors.end()) {
    std::string list;
    for (size_t i = 0; i < tensors.size() && i < 8; ++i)
      list += (i ? ", " : "") + printable(tensors[i].name);
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
    base::writeFile(path, content);
  } catch (const Error &error) { // at the caller's line
    throw Error(error.fault(), error.code(), error.message(), loc);
  }
}

SafeTensors loadSafeTensors(const Stream &stream, const std::string &path, Loc loc) {
  File file(path, loc);
  Reader reader(file, path);
  checkSize(file, reader.size());
  Bytes buffer;
  reader.read(buffer, 0, kLengthBytes);
  size_t length = headerLength(file, buffer.data(), reader.size());
  reader.read(buffer, kLengthBytes, length);
  SafeTensorsHeader header =
      headerOf(file, {reinterpret_cast<const char *>(buffer.data()), length}, reader.size());
  SafeTensors result{.tensors = {}, .metadata = std::move(header.metadata)};
  for (const SafeTensorsEntry &entry : header.entries) {
    Tensor tensor = stream.tensor(entry.dtype, entry.shape);
    reader.read(buffer, entry.begin, entry.bytes);
    tensor.uploadBytes(buffer.data(), entry.bytes);
    result.tensors.push_back({entry.name, std::move(tensor)});
  }
  return result;
}

} // namespace tile
