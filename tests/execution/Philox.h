// Philox-4x32-10 for one number at a time, as its paper defines it: the reference of tests.
#pragma once

#include <array>
#include <cstdint>

namespace tile::test {

using PhiloxWords = std::array<uint32_t, 4>;

inline PhiloxWords philox(PhiloxWords counter, std::array<uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    uint64_t a = uint64_t{0xD2511F53} * counter[0], b = uint64_t{0xCD9E8D57} * counter[2];
    counter = {static_cast<uint32_t>(b >> 32) ^ counter[1] ^ key[0], static_cast<uint32_t>(b),
               static_cast<uint32_t>(a >> 32) ^ counter[3] ^ key[1], static_cast<uint32_t>(a)};
    key[0] += 0x9E3779B9, key[1] += 0xBB67AE85;
  }
  return counter;
}

/// The words that a seed gives at an offset.
inline PhiloxWords philoxAt(uint64_t seed, uint64_t offset) {
  return philox({static_cast<uint32_t>(offset), static_cast<uint32_t>(offset >> 32), 0, 0},
                {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)});
}

/// The number in [0, 1) that a word becomes.
inline float uniformOf(uint32_t word) {
  int32_t number = static_cast<int32_t>(word);
  return static_cast<float>(number < 0 ? ~number : number) * 4.6566127342e-10f;
}

} // namespace tile::test
