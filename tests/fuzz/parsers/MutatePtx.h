// Mutations of PTX that stay close to PTX: lines that move, vanish or come twice, words that stand in for others. Half of
// the mutations are libFuzzer's own, of bytes.
#pragma once

#include <algorithm>
#include <cctype>
#include <cstring>
#include <random>
#include <string>
#include <vector>

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t maxSize);

namespace tile::fuzz {

/// A stretch of a text.
struct Stretch {
  size_t begin = 0, size = 0;
};

inline std::vector<Stretch> linesOf(const std::string &text) {
  std::vector<Stretch> lines;
  for (size_t at = 0; at < text.size();) {
    size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
    lines.push_back({at, end - at});
    at = end;
  }
  return lines;
}

/// Names, numbers, single suffixes of opcodes and punctuation marks.
inline std::vector<Stretch> wordsOf(const std::string &text) {
  auto isWord = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == ':';
  };
  std::vector<Stretch> words;
  for (size_t at = 0; at < text.size();) {
    size_t end = at;
    while (end < text.size() && isWord(text[end]))
      ++end;
    end = std::max(end, at + 1);
    if (!std::isspace(static_cast<unsigned char>(text[at])))
      words.push_back({at, end - at});
    at = end;
  }
  return words;
}

/// What the seeds may lack: forms, limits, numbers at the edges of types.
inline const char *const kWords[] = {"0",
                                     "1",
                                     "3",
                                     "7",
                                     "31",
                                     "32",
                                     "255",
                                     "256",
                                     "65536",
                                     "-1",
                                     "2147483647",
                                     "4294967295",
                                     "9223372036854775807",
                                     "0fFF800000",
                                     "0d7FF0000000000000",
                                     "pred",
                                     "b8",
                                     "b16",
                                     "b32",
                                     "b64",
                                     "b128",
                                     "u8",
                                     "s16",
                                     "u32",
                                     "s64",
                                     "f16",
                                     "bf16",
                                     "f32",
                                     "f64",
                                     "f16x2",
                                     "v2",
                                     "v4",
                                     "v8",
                                     "sync",
                                     "aligned",
                                     "shared",
                                     "global",
                                     "local",
                                     "param",
                                     "const",
                                     "shared::cta",
                                     "shared::cluster",
                                     "acquire",
                                     "release",
                                     "acq_rel",
                                     "relaxed",
                                     "volatile",
                                     "cta",
                                     "cluster",
                                     "gpu",
                                     "sys",
                                     "wide",
                                     "hi",
                                     "lo",
                                     "sat",
                                     "rn",
                                     "rzi",
                                     "ftz",
                                     "approx",
                                     "add",
                                     "exch",
                                     "cas",
                                     "min",
                                     "inc",
                                     "idx",
                                     "up",
                                     "bfly",
                                     "m8n8",
                                     "x4",
                                     "trans",
                                     "m16n8k16",
                                     "row",
                                     "col",
                                     "m64n8k16",
                                     "m64n256k16",
                                     "e4m3",
                                     "tf32",
                                     "1d",
                                     "5d",
                                     "multicast::cluster",
                                     "mbarrier::complete_tx::bytes",
                                     "bulk_group",
                                     "L2::cache_hint",
                                     "im2col",
                                     "reqntid",
                                     "maxntid",
                                     "reqnctapercluster",
                                     "extern",
                                     "align",
                                     "noreturn",
                                     "uni",
                                     "mov",
                                     "ld",
                                     "st",
                                     "atom",
                                     "red",
                                     "shfl",
                                     "vote",
                                     "redux",
                                     "prmt",
                                     "bfe",
                                     "lop3",
                                     "cvt",
                                     "setp",
                                     "selp",
                                     "call",
                                     "bra",
                                     "brx",
                                     "ret",
                                     "exit",
                                     "trap",
                                     "bar",
                                     "barrier",
                                     "fence",
                                     "membar",
                                     "cp",
                                     "mma",
                                     "wgmma",
                                     "ldmatrix",
                                     "stmatrix",
                                     "mapa",
                                     "elect",
                                     "setmaxnreg",
                                     "tensormap",
                                     "griddepcontrol",
                                     "%tid",
                                     "%clock64"};

inline void changeLine(std::string &text, std::minstd_rand &random) {
  std::vector<Stretch> lines = linesOf(text);
  Stretch from = lines[random() % lines.size()], to = lines[random() % lines.size()];
  std::string line = text.substr(from.begin, from.size);
  switch (random() % 3) {
  case 0:
    text.erase(from.begin, from.size);
    break;
  case 1:
    text.insert(to.begin, line);
    break;
  default:
    text.replace(to.begin, to.size, line);
  }
}

inline void changeWord(std::string &text, std::minstd_rand &random) {
  std::vector<Stretch> words = wordsOf(text);
  if (words.empty())
    return;
  Stretch at = words[random() % words.size()], other = words[random() % words.size()];
  if (random() % 8 == 0)
    text.erase(at.begin, at.size);
  else if (random() % 2)
    text.replace(at.begin, at.size, text.substr(other.begin, other.size));
  else
    text.replace(at.begin, at.size, kWords[random() % std::size(kWords)]);
}

} // namespace tile::fuzz

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t maxSize,
                                          unsigned seed) {
  std::minstd_rand random(seed + 1);
  if (size == 0 || random() % 2)
    return LLVMFuzzerMutate(data, size, maxSize);
  std::string text(data, data + size);
  for (unsigned left = 1 + random() % 3; left > 0 && !text.empty(); --left)
    random() % 4 ? tile::fuzz::changeWord(text, random) : tile::fuzz::changeLine(text, random);
  size = std::min(text.size(), maxSize);
  std::memcpy(data, text.data(), size);
  return size;
}
