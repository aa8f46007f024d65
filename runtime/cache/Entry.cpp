#include "runtime/cache/Entry.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/BLAKE3.h"
#include "llvm/Support/Compression.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/Error.h"

#include <array>
#include <cstring>

namespace tile::cache {
namespace {

/// The last byte is the format; a file of another is none of ours.
constexpr std::string_view kMagic = {"tilec kernel\0\0\0\1", 16};
constexpr size_t kDigestBytes = 32;
/// Larger parts are refused before anything is allocated for them.
constexpr uint64_t kMostBytes = uint64_t(1) << 30;

/// As they lie in a file; the last two are of ptx and cubin before they were packed.
enum Size { Key, Facts, PackedPtx, PackedCubin, Ptx, Cubin, kSizes };
constexpr size_t kHeaderBytes = kMagic.size() + kSizes * sizeof(uint64_t);

llvm::ArrayRef<uint8_t> bytesOf(const void *data, size_t size) {
  return {static_cast<const uint8_t *>(data), size};
}

std::array<uint8_t, kDigestBytes> digest(llvm::ArrayRef<uint8_t> bytes) {
  return llvm::BLAKE3::hash<kDigestBytes>(bytes);
}

using Packed = llvm::SmallVector<uint8_t, 0>;

Packed packed(llvm::ArrayRef<uint8_t> bytes) {
  Packed out;
  if (llvm::compression::zstd::isAvailable())
    llvm::compression::zstd::compress(bytes, out, /*Level=*/3);
  else
    out.append(bytes.begin(), bytes.end());
  return out;
}

// False if the bytes are not so many, packed.
bool unpack(llvm::ArrayRef<uint8_t> bytes, uint8_t *to, size_t size) {
  if (!llvm::compression::zstd::isAvailable()) {
    if (bytes.size() != size)
      return false;
    std::memcpy(to, bytes.data(), size);
    return true;
  }
  size_t written = size;
  if (llvm::Error error = llvm::compression::zstd::decompress(bytes, to, written)) {
    llvm::consumeError(std::move(error));
    return false;
  }
  return written == size;
}

void append(std::vector<std::byte> &to, llvm::ArrayRef<uint8_t> part) {
  const auto *first = reinterpret_cast<const std::byte *>(part.data());
  to.insert(to.end(), first, first + part.size());
}

/// The parts of a file, one after the other.
class Parts {
public:
  explicit Parts(llvm::ArrayRef<uint8_t> bytes) : left_(bytes) {}
  llvm::ArrayRef<uint8_t> take(uint64_t size) {
    llvm::ArrayRef<uint8_t> part = left_.take_front(size);
    left_ = left_.drop_front(part.size());
    return part;
  }
  std::string text(uint64_t size) {
    llvm::ArrayRef<uint8_t> part = take(size);
    return {reinterpret_cast<const char *>(part.data()), part.size()};
  }

private:
  llvm::ArrayRef<uint8_t> left_;
};

} // namespace

std::vector<std::byte> encode(const Entry &entry) {
  Packed ptx = packed(bytesOf(entry.ptx.data(), entry.ptx.size())),
         cubin = packed(bytesOf(entry.cubin.data(), entry.cubin.size()));
  const uint64_t sizes[kSizes] = {entry.key.size(), entry.facts.size(), ptx.size(),
                                  cubin.size(),     entry.ptx.size(),   entry.cubin.size()};
  std::vector<std::byte> bytes;
  append(bytes, bytesOf(kMagic.data(), kMagic.size()));
  for (uint64_t size : sizes) {
    uint8_t number[sizeof size];
    llvm::support::endian::write64le(number, size);
    append(bytes, number);
  }
  append(bytes, bytesOf(entry.key.data(), entry.key.size()));
  append(bytes, bytesOf(entry.facts.data(), entry.facts.size()));
  append(bytes, ptx), append(bytes, cubin);
  append(bytes, digest(bytesOf(bytes.data(), bytes.size())));
  return bytes;
}

std::optional<Entry> decode(std::span<const std::byte> file, std::string *why) {
  auto refuse = [&](const char *reason) {
    if (why)
      *why = reason;
    return std::nullopt;
  };
  llvm::ArrayRef<uint8_t> bytes = bytesOf(file.data(), file.size());
  if (bytes.size() < kHeaderBytes + kDigestBytes ||
      std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) != 0)
    return refuse("it does not begin as a kernel of this version does");
  uint64_t sizes[kSizes], expected = kHeaderBytes + kDigestBytes;
  for (size_t i = 0; i < kSizes; ++i) {
    sizes[i] = llvm::support::endian::read64le(bytes.data() + kMagic.size() + i * sizeof(uint64_t));
    if (sizes[i] > kMostBytes)
      return refuse("a part of it would have more than a gigabyte");
    expected += i < Ptx ? sizes[i] : 0;
  }
  if (bytes.size() != expected)
    return refuse("it has another size than it says");
  llvm::ArrayRef<uint8_t> content = bytes.drop_back(kDigestBytes);
  if (bytes.take_back(kDigestBytes) != llvm::ArrayRef<uint8_t>(digest(content)))
    return refuse("it is not what was written");
  Parts parts(content.drop_front(kHeaderBytes));
  Entry entry;
  entry.key = parts.text(sizes[Key]), entry.facts = parts.text(sizes[Facts]);
  llvm::ArrayRef<uint8_t> ptx = parts.take(sizes[PackedPtx]),
                          cubin = parts.take(sizes[PackedCubin]);
  entry.ptx.resize(sizes[Ptx]), entry.cubin.resize(sizes[Cubin]);
  if (!unpack(ptx, reinterpret_cast<uint8_t *>(entry.ptx.data()), sizes[Ptx]) ||
      !unpack(cubin, reinterpret_cast<uint8_t *>(entry.cubin.data()), sizes[Cubin]))
    return refuse("it cannot be unpacked");
  return entry;
}

std::string digestOf(std::string_view content) {
  return llvm::toHex(llvm::ArrayRef<uint8_t>(digest(bytesOf(content.data(), content.size()))),
                     /*LowerCase=*/true);
}

std::string nameOf(std::string_view key) { return digestOf(key); }

} // namespace tile::cache
