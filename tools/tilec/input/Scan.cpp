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
// Of one affine map or set: MLIR recurses over its terms.
constexpr size_t kMaxAffineBytes = 4096;

class Scanner {
public:
  Scanner(const std::string &path, std::string_view text) : path(path), text(text) {}

  void run() {
    if (text.empty())
      refuse("the file is empty");
    if (text.starts_with("ML\xefR"))
      refuse(
          "MLIR bytecode is not accepted: a damaged file crashes its reader; convert it to text");
    if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff"))
      refuse("the file is UTF-16; save it as UTF-8");
    while (at < text.size())
      step();
  }

private:
  [[noreturn]] void refuse(const std::string &message) {
    std::string where = ", column " + std::to_string(at - lineStart + 1);
    throw Error(Fault::User, ErrorCode::Parse, message + (at ? where : ""), {path.c_str(), line});
  }

  char next(size_t ahead = 1) const { return at + ahead < text.size() ? text[at + ahead] : '\0'; }

  void step() {
    unsigned char c = text[at];
    if (c == '\n') {
      ++line, lineStart = at + 1;
    } else if (c == '\0') {
      refuse("the file contains a NUL byte; it is not text");
    } else if (c < 0x20 && c != '\t' && c != '\r') {
      refuse("the file contains the control character " + std::to_string(c) + "; it is not text");
    } else if (c >= 0x80) {
      at += utf8Length(c) - 1;
    } else if (inComment || inString) {
      inString = inString && !(c == '"');
      if (c == '\\' && inString)
        ++at;
    } else {
      code(c);
    }
    inComment = inComment && c != '\n';
    inString = inString && c != '\n';
    ++at;
  }

  void code(char c) {
    checkAffine();
    if (c == '/' && next() == '/')
      inComment = true;
    else if (c == '"')
      inString = true;
    else if (c == '(' || c == '[' || c == '{' || (c == '<' && next() != '='))
      open();
    else if (c == ')' || c == ']' || c == '}' || (c == '>' && at && text[at - 1] != '-'))
      depth -= depth > 0;
  }

  void checkAffine() {
    std::string_view rest = text.substr(at);
    if (rest.starts_with("affine_map") || rest.starts_with("affine_set"))
      affineStart = at;
    else if (affineStart && rest[0] == '>' && text[at - 1] != '-' && next() != '=')
      affineStart.reset();
    if (affineStart && at - *affineStart > kMaxAffineBytes)
      refuse("an affine map is longer than " + std::to_string(kMaxAffineBytes) + " bytes");
  }

  void open() {
    if (++depth > kMaxDepth)
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

  const std::string &path;
  std::string_view text;
  size_t at = 0, lineStart = 0;
  int line = 1, depth = 0;
  bool inComment = false, inString = false;
  std::optional<size_t> affineStart; ///< of the map that the text is in
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
