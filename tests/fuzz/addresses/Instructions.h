// One random instruction that takes addresses, with the registers that HostileKernel.cpp declares.
#pragma once

#include <cstdint>
#include <random>
#include <string>

namespace tile::fuzz {

/// What a seed decides.
class Draw {
public:
  explicit Draw(uint64_t seed) : generator_(seed) {}
  uint64_t bits() { return generator_(); }
  /// 0 to count - 1.
  uint32_t below(uint32_t count) { return static_cast<uint32_t>(generator_() % count); }
  bool oneIn(uint32_t count) { return below(count) == 0; }
  template <class T, size_t Count> const T &oneOf(const T (&values)[Count]) {
    return values[below(Count)];
  }
  /// One of the words of a list with spaces between them; "-" is the empty one.
  std::string word(const char *list);

private:
  std::mt19937_64 generator_;
};

/// Its lines. `rank`: that of the tensor map.
std::string drawInstruction(Draw &draw, uint32_t rank);

} // namespace tile::fuzz
