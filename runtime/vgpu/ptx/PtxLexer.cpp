// The tokens of PTX. A word keeps its dots (`ld.global.v4.b32`, `%tid.x`, `.shared::cta`): the parser splits opcodes.
#include "runtime/vgpu/ptx/PtxLexer.h"

#include <bit>
#include <charconv>

namespace tile::vgpu {

uint64_t floatBits(uint64_t bits, unsigned from, unsigned to) {
  if (from == to)
    return bits;
  if (to == 4)
    return std::bit_cast<uint32_t>(static_cast<float>(std::bit_cast<double>(bits)));
  return std::bit_cast<uint64_t>(
      static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(bits))));
}

static bool isDigit(char c) { return c >= '0' && c <= '9'; }
static bool startsWord(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || c == '%' ||
         c == '.';
}
static bool continuesWord(char c) { return (startsWord(c) && c != '%') || isDigit(c); }

void PtxLexer::fail(int line, const std::string &message) const {
  throw Error(Fault::User, ErrorCode::Parse, message, {name_.c_str(), line});
}

void PtxLexer::skipBlanks() {
  while (at_ < text_.size()) {
    char c = text_[at_];
    if (c == '\n')
      ++line_;
    if (c == ' ' || c == '\t' || c == '\r' || c == '\n') {
      ++at_;
      continue;
    }
    if (text_.substr(at_, 2) == "//") {
      size_t end = text_.find('\n', at_);
      at_ = end == std::string_view::npos ? text_.size() : end;
      continue;
    }
    if (text_.substr(at_, 2) == "/*") {
      size_t end = text_.find("*/", at_ + 2);
      if (end == std::string_view::npos)
        fail(line_, "comment is not closed: add */");
      for (; at_ < end + 2; ++at_)
        line_ += text_[at_] == '\n';
      continue;
    }
    return;
  }
}

Token PtxLexer::make(Token::Kind kind, size_t begin) const {
  Token token;
  token.kind = kind;
  token.text = text_.substr(begin, at_ - begin);
  token.line = line_;
  return token;
}

Token PtxLexer::hexFloat(char kind) {
  size_t begin = at_, digits = kind == 'f' ? 8 : 16;
  at_ += 2;
  uint64_t bits = 0;
  auto text = text_.substr(at_, digits);
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), bits, 16);
  if (error != std::errc() || end != text.data() + digits)
    fail(line_, "malformed number '" + std::string(text_.substr(begin, digits + 2)) + "'");
  at_ += digits;
  Token token = make(Token::Kind::Float, begin);
  token.value = bits;
  token.floatBytes = kind == 'f' ? 4 : 8;
  return token;
}

// "1.5", "1.", ".5", "1e3"
Token PtxLexer::decimalFraction() {
  size_t begin = at_;
  double fraction = 0;
  auto [end, error] = std::from_chars(text_.data() + begin, text_.data() + text_.size(), fraction);
  if (error != std::errc())
    fail(line_, "malformed number '" + std::string(text_.substr(begin, 20)) + "'");
  at_ = end - text_.data();
  Token token = make(Token::Kind::Float, begin);
  token.value = std::bit_cast<uint64_t>(fraction);
  token.floatBytes = 8;
  return token;
}

Token PtxLexer::number() {
  size_t begin = at_;
  char second = at_ + 1 < text_.size() ? static_cast<char>(text_[at_ + 1] | 0x20) : '\0';
  if (text_[at_] == '0' && (second == 'f' || second == 'd'))
    return hexFloat(second);
  size_t digits = begin;
  while (digits < text_.size() && isDigit(text_[digits]))
    ++digits;
  char after = digits < text_.size() ? static_cast<char>(text_[digits] | 0x20) : '\0';
  if (after == '.' || after == 'e')
    return decimalFraction();
  int base = 10;
  if (text_[at_] == '0' && (second == 'x' || second == 'b')) {
    base = second == 'x' ? 16 : 2;
    at_ += 2;
  } else if (text_[at_] == '0' && isDigit(second)) {
    base = 8;
  }
  uint64_t value = 0;
  const char *first = text_.data() + at_, *last = text_.data() + text_.size();
  auto [end, error] = std::from_chars(first, last, value, base);
  if (error != std::errc() || (end != last && isDigit(*end)))
    fail(line_, "malformed number '" + std::string(text_.substr(begin, 20)) + "'");
  at_ = end - text_.data();
  if (at_ < text_.size() && text_[at_] == 'U')
    ++at_;
  Token token = make(Token::Kind::Integer, begin);
  token.value = value;
  return token;
}

Token PtxLexer::quoted() {
  size_t begin = ++at_;
  while (at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\n')
    at_ += text_[at_] == '\\' ? 2 : 1;
  if (at_ >= text_.size() || text_[at_] != '"')
    fail(line_, "string is not closed: add \"");
  Token token = make(Token::Kind::String, begin);
  ++at_;
  return token;
}

Token PtxLexer::next() {
  skipBlanks();
  if (at_ >= text_.size()) {
    Token token;
    token.line = line_;
    return token;
  }
  char c = text_[at_];
  if (isDigit(c))
    return number();
  if (c == '.' && at_ + 1 < text_.size() && isDigit(text_[at_ + 1]))
    return decimalFraction();
  if (c == '"')
    return quoted();
  size_t begin = at_++;
  if (!startsWord(c)) {
    constexpr std::string_view kPairs[] = {"<<", ">>", "<=", ">=", "==", "!=", "&&", "||"};
    for (std::string_view pair : kPairs)
      if (text_.substr(begin, 2) == pair) {
        ++at_;
        break;
      }
    return make(Token::Kind::Punctuation, begin);
  }
  while (at_ < text_.size()) {
    if (continuesWord(text_[at_]))
      ++at_;
    else if (text_.substr(at_, 2) == "::" && at_ + 2 < text_.size() &&
             continuesWord(text_[at_ + 2]))
      at_ += 2;
    else
      break;
  }
  return make(Token::Kind::Word, begin);
}

} // namespace tile::vgpu
