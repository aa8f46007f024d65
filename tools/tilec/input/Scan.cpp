#include "tools/tilec/input/Scan.h"

#include <tile/Error.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string_view>

namespace tile::tilec {
namespace {

constexpr uintmax_t kMaxBytes = uintmax_t(64) << 20;
constexpr int kMaxDepth = 256;
// The length of one affine map or set is bounded, since MLIR recurses over its terms.
constexpr size_t kMaxAffineBytes = 4096;

class Scanner {
public:
  Scanner(const std::string &path, std::string_view text) : path_(path), text_(text) {}

  void run() {
    if (text_.empty())
      refuse("the file is empty");
    if (text_.starts_with("ML\xefR"))
      refuse(
          "MLIR bytecode is not accepted: a damaged file crashes its reader; convert it to text");
    if (text_.starts_with("\xff\xfe") || text_.starts_with("\xfe\xff"))
      refuse("the file is UTF-16; save it as UTF-8");
    while (at_ < text_.size())
      step();
  }

private:
  [[noreturn]] void refuse(const std::string &message) {
    std::string where = ", column " + std::to_string(at_ - lineStart_ + 1);
    throw Error(Fault::User, ErrorCode::Parse, message + (at_ ? where : ""),
                {path_.c_str(), line_});
  }

  char next(size_t ahead = 1) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }

  void step() {
    unsigned char c = text_[at_];
    if (c == '\n') {
      ++line_, lineStart_ = at_ + 1;
    } else if (c == '\0') {
      refuse("the file contains a NUL byte; it is not text");
    } else if (c < 0x20 && c != '\t' && c != '\r') {
      refuse("the file contains the control character " + std::to_string(c) + "; it is not text");
    } else if (c >= 0x80) {
      at_ += utf8Length(c) - 1;
    } else if (inComment_ || inString_) {
      inString_ = inString_ && !(c == '"');
      if (c == '\\' && inString_)
        ++at_;
    } else {
      code(c);
    }
    inComment_ = inComment_ && c != '\n';
    inString_ = inString_ && c != '\n';
    ++at_;
  }

  void code(char c) {
    checkAffine();
    if (c == '/' && next() == '/')
      inComment_ = true;
    else if (c == '"')
      inString_ = true;
    else if (c == '(' || c == '[' || c == '{' || (c == '<' && next() != '='))
      open();
    else if (c == ')' || c == ']' || c == '}' || (c == '>' && at_ && text_[at_ - 1] != '-'))
      depth_ -= depth_ > 0;
  }

  void checkAffine() {
    std::string_view rest = text_.substr(at_);
    if (rest.starts_with("affine_map") || rest.starts_with("affine_set"))
      affineStart_ = at_;
    else if (affineStart_ && rest[0] == '>' && text_[at_ - 1] != '-' && next() != '=')
      affineStart_.reset();
    if (affineStart_ && at_ - *affineStart_ > kMaxAffineBytes)
      refuse("an affine map is longer than " + std::to_string(kMaxAffineBytes) + " bytes");
  }

  void open() {
    if (++depth_ > kMaxDepth)
      refuse("brackets are nested deeper than " + std::to_string(kMaxDepth));
  }

  size_t utf8Length(unsigned char first) {
    size_t length = first >= 0xf0 && first < 0xf8 ? 4 : first >= 0xe0 ? 3 : first >= 0xc2 ? 2 : 0;
    for (size_t i = 1; i < length; ++i)
      if ((static_cast<unsigned char>(next(i)) & 0xc0) != 0x80)
        length = 0;
    if (length == 0 || first >= 0xf8)
      refuse("the file is not UTF-8 text");
    return length;
  }

  const std::string &path_;
  std::string_view text_;
  size_t at_ = 0, lineStart_ = 0;
  int line_ = 1, depth_ = 0;
  bool inComment_ = false, inString_ = false;
  std::optional<size_t> affineStart_; ///< of the map that the text is in
};

} // namespace

std::string readSource(const std::string &path) {
  std::error_code fault;
  uintmax_t bytes = std::filesystem::file_size(path, fault);
  if (fault)
    throw Error(Fault::User, ErrorCode::IoError, "cannot read '" + path + "': " + fault.message());
  if (bytes > kMaxBytes)
    throw Error(Fault::User, ErrorCode::Parse,
                "'" + path + "' has " + std::to_string(bytes) + " bytes, more than the limit of " +
                    std::to_string(kMaxBytes));
  std::string text(bytes, '\0');
  std::ifstream file(path, std::ios::binary);
  if (!file.read(text.data(), static_cast<std::streamsize>(bytes)))
    throw Error(Fault::User, ErrorCode::IoError,
                "cannot read '" + path + "': " + std::strerror(errno));
  Scanner(path, text).run();
  return text;
}

} // namespace tile::tilec
