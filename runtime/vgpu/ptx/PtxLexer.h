// Splits PTX text into words, numbers, strings and punctuation, skipping comments.
#pragma once

#include <tile/Error.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace tile::vgpu {

struct Token {
  /// Word: an identifier, register, directive or dotted opcode, with its dots.
  enum class Kind : uint8_t { Word, Integer, Float, String, Punctuation, End };
  Kind kind = Kind::End;
  std::string_view text;
  int line = 1;
  uint64_t value = 0;     // Integer: the number; Float: the bits
  uint8_t floatBytes = 0; // Float: 4 or 8

  bool is(std::string_view expected) const { return kind != Kind::String && text == expected; }
  bool isWord() const { return kind == Kind::Word; }
};

/// The bits of a float of `from` bytes, 4 or 8, as a float of `to`. A NaN that keeps its width keeps its bits.
uint64_t floatBits(uint64_t bits, unsigned from, unsigned to);

class PtxLexer {
public:
  /// `name` is the file name for messages; both must outlive the lexer.
  PtxLexer(std::string_view text, const std::string &name) : text_(text), name_(name) {}

  Token next();
  /// Throws a Parse error at `line`.
  [[noreturn]] void fail(int line, const std::string &message) const;

private:
  void skipBlanks();
  Token number();
  Token decimalFraction();
  Token hexFloat(char kind);
  Token quoted();
  Token make(Token::Kind kind, size_t begin) const;

  std::string_view text_;
  const std::string &name_;
  size_t at_ = 0;
  int line_ = 1;
};

} // namespace tile::vgpu
