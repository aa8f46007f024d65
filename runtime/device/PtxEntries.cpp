#include "runtime/device/PtxEntries.h"

#include <algorithm>

namespace tile::device {
namespace {

constexpr std::string_view kSpace = " \t\r\n";

// The words of PTX with "(" and ")" as words of their own, without comments.
class Words {
public:
  explicit Words(std::string_view text) : text_(text) {}

  /// Empty at the end.
  std::string_view next() {
    skip();
    if (at_ == text_.size())
      return {};
    size_t end = at_ + 1;
    if (!isParenthesis(text_[at_]))
      while (end < text_.size() && kSpace.find(text_[end]) == kSpace.npos &&
             !isParenthesis(text_[end]) && !beginsComment(end))
        ++end;
    std::string_view word = text_.substr(at_, end - at_);
    at_ = end;
    return word;
  }

private:
  static bool isParenthesis(char c) { return c == '(' || c == ')'; }

  bool beginsComment(size_t at) const {
    std::string_view two = text_.substr(at, 2);
    return two == "//" || two == "/*";
  }

  // Past the next `end`, or to the end of the text.
  void skipPast(std::string_view end) {
    size_t found = text_.find(end, at_ + 2);
    at_ = found == text_.npos ? text_.size() : found + end.size();
  }

  void skip() {
    for (;;) {
      at_ = std::min(text_.find_first_not_of(kSpace, at_), text_.size());
      if (!beginsComment(at_))
        return;
      skipPast(text_[at_ + 1] == '/' ? "\n" : "*/");
    }
  }

  std::string_view text_;
  size_t at_ = 0;
};

// Counts the .param in a word: directives need no space before or after them.
size_t countParameters(std::string_view word) {
  constexpr std::string_view kDirective = ".param";
  size_t count = 0;
  for (size_t at = word.find(kDirective); at != word.npos; at = word.find(kDirective, at + 1)) {
    size_t end = at + kDirective.size();
    count += end == word.size() || word[end] == '.';
  }
  return count;
}

} // namespace

std::vector<PtxEntry> ptxEntries(std::string_view ptx) {
  std::vector<PtxEntry> entries;
  Words words(ptx);
  std::string_view word = words.next();
  while (!word.empty()) {
    if (!word.ends_with(".entry")) {
      word = words.next();
      continue;
    }
    entries.push_back({std::string(words.next())});
    word = words.next();
    if (word != "(")
      continue; // without parameters
    for (word = words.next(); !word.empty() && word != ")"; word = words.next())
      entries.back().parameters += countParameters(word);
  }
  return entries;
}

} // namespace tile::device
