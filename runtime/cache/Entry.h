// The content of a file of the cache: what was compiled, from what, and a digest of all of it.
//
//   magic and format, 16 bytes | sizes of the parts, 8 bytes each, little-endian | key, facts | ptx, cubin, packed by zstd | BLAKE3, 32 bytes
//
// Whoever reads a file compares the key with what it is looking for: two keys may have one name, if hardly ever.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tile::cache {

struct Entry {
  std::string key;   ///< JSON: everything that the rest follows from
  std::string facts; ///< JSON: what a launch must know of the kernel
  std::string ptx;
  std::vector<std::byte> cubin; ///< empty if there is none
};

std::vector<std::byte> encode(const Entry &entry);

/// Nothing, and a sentence in *why, if the bytes are not all of an entry as encode made it.
std::optional<Entry> decode(std::span<const std::byte> bytes, std::string *why = nullptr);

/// A name for a key: its BLAKE3 digest, in 64 hexadecimal digits.
std::string nameOf(std::string_view key);

/// A digest in hexadecimal digits of what is written in parts.
std::string digestOf(std::string_view content);

} // namespace tile::cache
