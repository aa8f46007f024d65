#include "tools/tilec/run/Npy.h"

#include "base/AtomicFile.h"

#include <tile/Shape.h>

#include <tile/Error.h>

#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>

namespace tile::tilec {
namespace {

constexpr std::string_view kMagic("\x93NUMPY", 6);
constexpr size_t kMaxHeader = 64 * 1024;

struct Name {
  DType dtype;
  std::string_view descr;
};
constexpr Name kNames[] = {{i1, "|b1"},  {i8, "|i1"},  {u8, "|u1"},  {i16, "<i2"},
                           {u16, "<u2"}, {i32, "<i4"}, {u32, "<u4"}, {i64, "<i8"},
                           {u64, "<u8"}, {f16, "<f2"}, {f32, "<f4"}, {f64, "<f8"}};

/// Parses the header, a Python dictionary such as {'descr': '<f4', 'fortran_order': False, 'shape':
/// (3, 4), }.
class Header {
public:
  Header(const std::string &path, std::string_view text) : path_(path), text_(text) {}

  Array parse() {
    expect('{');
    while (!accept('}')) {
      std::string_view key = quoted();
      expect(':');
      field(key);
      if (!accept(','))
        expect('}', true);
    }
    if (!hasDescr_ || !hasOrder_ || !hasShape_)
      refuse("the header lacks descr, fortran_order or shape");
    return std::move(array_);
  }

  [[noreturn]] void refuse(const std::string &what) const {
    throw Error(Fault::User, ErrorCode::Parse,
                "'" + path_ + "' is not a usable .npy file: " + what);
  }

private:
  void skip() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n'))
      ++at_;
  }
  bool accept(char c) {
    skip();
    bool isThere = at_ < text_.size() && text_[at_] == c;
    at_ += isThere;
    return isThere;
  }
  void expect(char c, bool keep = false) {
    if (!accept(c))
      refuse(std::string("'") + c + "' expected at byte " + std::to_string(at_) + " of the header");
    at_ -= keep;
  }
  std::string_view quoted() {
    skip();
    char quote = at_ < text_.size() ? text_[at_] : '\0';
    if (quote != '\'' && quote != '"')
      refuse("a quoted word expected at byte " + std::to_string(at_) + " of the header");
    size_t end = text_.find(quote, at_ + 1);
    if (end == text_.npos)
      refuse("an unfinished word in the header");
    std::string_view word = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return word;
  }
  bool word(std::string_view expected) {
    skip();
    bool isThere = text_.substr(at_).starts_with(expected);
    at_ += isThere ? expected.size() : 0;
    return isThere;
  }

  void field(std::string_view key) {
    if (key == "descr")
      hasDescr_ = true, descr(quoted());
    else if (key == "fortran_order")
      hasOrder_ = true, order();
    else if (key == "shape")
      hasShape_ = true, shape();
    else
      refuse("unknown header field '" + std::string(key.substr(0, 40)) + "'");
  }
  void descr(std::string_view name) {
    bool isLittle = name.starts_with('<'); // means nothing for single bytes, but may be there
    for (const Name &known : kNames)
      if (name == known.descr ||
          (isLittle && sizeOf(known.dtype) == 1 && name.substr(1) == known.descr.substr(1)))
        array_.dtype = known.dtype;
    if (array_.dtype == any)
      refuse("dtype '" + std::string(name.substr(0, 40)) +
             "' is not one of little-endian b1, i1..i8, u1..u8, f2, f4, f8");
  }
  void order() {
    if (word("True"))
      refuse("the array is in Fortran order; save numpy.ascontiguousarray(x)");
    if (!word("False"))
      refuse("fortran_order is neither True nor False");
  }
  void shape() {
    array_.extents.clear();
    expect('(');
    while (!accept(')')) {
      array_.extents.push_back(number());
      if (array_.extents.size() > static_cast<size_t>(kMaxRank))
        refuse("more than " + std::to_string(kMaxRank) + " dimensions");
      if (!accept(','))
        expect(')', true);
    }
  }
  int64_t number() {
    skip();
    int64_t value = 0;
    auto [end, fault] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (fault != std::errc() || value < 0)
      refuse("an extent of the shape is not a number from 0 to 2^63-1");
    at_ = end - text_.data();
    return value;
  }

  const std::string &path_;
  std::string_view text_;
  size_t at_ = 0;
  Array array_;
  bool hasDescr_ = false, hasOrder_ = false, hasShape_ = false;
};

/// Bytes of the elements; overflow is the file's fault.
size_t dataBytes(const Array &array, const Header &header) {
  size_t bytes = sizeOf(array.dtype);
  for (int64_t extent : array.extents)
    if (extent == 0)
      return 0;
  for (int64_t extent : array.extents)
    if (__builtin_mul_overflow(bytes, static_cast<size_t>(extent), &bytes))
      header.refuse("its shape has more than 2^64 bytes");
  return bytes;
}

size_t littleEndian(const unsigned char *bytes, int count) {
  size_t value = 0;
  for (int i = count; i-- > 0;)
    value = value << 8 | bytes[i];
  return value;
}

} // namespace

Array readNpy(const std::string &path) {
  std::error_code fault;
  uintmax_t size = std::filesystem::file_size(path, fault);
  std::ifstream file(path, std::ios::binary);
  if (fault || !file)
    throw Error(Fault::User, ErrorCode::IoError,
                "cannot read '" + path + "': " + (fault ? fault.message() : std::strerror(errno)));
  Header nothing(path, {});
  unsigned char start[12] = {};
  file.read(reinterpret_cast<char *>(start), 10);
  if (!file || std::string_view(reinterpret_cast<char *>(start), 6) != kMagic)
    nothing.refuse("it does not begin with the magic of NumPy files");
  if (start[6] < 1 || start[6] > 3)
    nothing.refuse("format version " + std::to_string(start[6]) + " is not known");
  bool isLong = start[6] > 1;
  if (isLong)
    file.read(reinterpret_cast<char *>(start + 10), 2);
  size_t headerBytes = littleEndian(start + 8, isLong ? 4 : 2), prefix = isLong ? 12 : 10;
  if (!file || headerBytes > kMaxHeader || prefix + headerBytes > size)
    nothing.refuse("its header of " + std::to_string(headerBytes) +
                   " bytes is cut off or too long");
  std::string text(headerBytes, '\0');
  file.read(text.data(), static_cast<std::streamsize>(headerBytes));
  Header header(path, text);
  Array array = header.parse();
  size_t expected = dataBytes(array, header), present = size - prefix - headerBytes;
  if (expected != present)
    header.refuse("its shape needs " + std::to_string(expected) + " bytes of data, the file has " +
                  std::to_string(present));
  array.data.resize(expected);
  if (!file.read(reinterpret_cast<char *>(array.data.data()),
                 static_cast<std::streamsize>(expected)))
    header.refuse("its data cannot be read");
  return array;
}

void writeNpy(const std::string &path, const Array &array) {
  std::string_view descr;
  for (const Name &known : kNames)
    if (known.dtype == array.dtype)
      descr = known.descr;
  if (descr.empty())
    throw Error(Fault::User, ErrorCode::Unsupported,
                std::string(".npy files have no ") + nameOf(array.dtype) +
                    "; choose an output of f16 or f32");
  std::string header = "{'descr': '" + std::string(descr) + "', 'fortran_order': False, 'shape': (";
  for (int64_t extent : array.extents)
    header += std::to_string(extent) + ",";
  header += "), }";
  constexpr size_t kPrefix = 10, kAlign = 64; // the data begin at a multiple of 64
  header.append(kAlign - (kPrefix + header.size() + 1) % kAlign, ' ') += '\n';
  std::string content(kMagic);
  content += {'\x01', '\x00', static_cast<char>(header.size() & 255),
              static_cast<char>(header.size() >> 8)};
  content += header;
  content.append(reinterpret_cast<const char *>(array.data.data()), array.data.size());
  base::writeFile(path, content);
}

} // namespace tile::tilec
