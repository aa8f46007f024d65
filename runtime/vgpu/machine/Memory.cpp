// Allocation, lookup and the map of initialised bytes of global memory.
#include "runtime/vgpu/machine/Memory.h"

#include "runtime/vgpu/machine/Hex.h"

#include <tile/Error.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <sys/mman.h>

namespace tile::vgpu {

static constexpr uint64_t kAlignment = 256, kRedZone = 256;
static constexpr uint64_t kPage = 4096;

static void setBits(uint64_t &place, uint64_t bits, bool valid) {
  std::atomic_ref<uint64_t> word(place);
  uint64_t before = word.load(std::memory_order_relaxed);
  if (valid && (before & bits) != bits)
    word.fetch_or(bits, std::memory_order_relaxed);
  else if (!valid && (before & bits) != 0)
    word.fetch_and(~bits, std::memory_order_relaxed);
}

void ValidBits::set(uint64_t at, unsigned count, bool valid) {
  setBits(words_[at >> 6], ones(count) << (at & 63), valid);
}

void ValidBits::setRange(uint64_t begin, uint64_t count, bool valid) {
  uint64_t end = begin + count;
  if (uint64_t head = std::min(count, (64 - begin % 64) % 64)) {
    set(begin, static_cast<unsigned>(head), valid);
    begin += head;
  }
  uint64_t words = (end - begin) / 64;
  std::memset(words_ + begin / 64, valid ? 0xff : 0, words * 8);
  begin += words * 64;
  if (begin < end)
    set(begin, static_cast<unsigned>(end - begin), valid);
}

void ValidBits::copyRange(uint64_t target, const ValidBits &from, uint64_t source, uint64_t count) {
  // In pieces that lie in one word of the target; from the end where a piece would overwrite what is still to be read.
  bool fromEnd = words_ == from.words_ && source < target;
  while (count) {
    uint64_t piece = fromEnd ? (target + count - 1) % 64 + 1 : 64 - target % 64;
    piece = std::min(piece, count);
    uint64_t skipped = fromEnd ? count - piece : 0;
    uint64_t valid = from.getAcross(source + skipped, piece);
    uint64_t place = target + skipped;
    setBits(words_[place >> 6], valid << (place & 63), true);
    setBits(words_[place >> 6], (ones(piece) & ~valid) << (place & 63), false);
    count -= piece;
    if (!fromEnd)
      target += piece, source += piece;
  }
}

static void *reserve(uint64_t bytes) {
  void *place = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return place == MAP_FAILED ? nullptr : place;
}

/// Makes bytes of an anonymous mapping zero by giving their pages back: costs nothing where none was
/// touched.
static void forget(void *begin, uint64_t bytes) {
  auto first = (reinterpret_cast<uintptr_t>(begin) + kPage - 1) / kPage * kPage;
  auto last = (reinterpret_cast<uintptr_t>(begin) + bytes) / kPage * kPage;
  if (first < last)
    madvise(reinterpret_cast<void *>(first), last - first, MADV_DONTNEED);
}

void refuseHostAccess(uint64_t address, uint64_t bytes) {
  throw Error(Fault::Device, ErrorCode::InternalCompilerError,
              "virtual GPU: an access of " + std::to_string(bytes) + " bytes at " + hex(address) +
                  " has passed the checks of its bounds, though it is outside; please report it");
}

GlobalMemory::GlobalMemory(uint64_t limitBytes) : limit_(limitBytes) {
  // Twice the limit leaves room to keep freed addresses unused. A host that restricts address space gets less.
  for (reserved_ = 2 * limitBytes; reserved_ >= (uint64_t{1} << 28); reserved_ /= 2) {
    bytes_ = static_cast<uint8_t *>(reserve(reserved_));
    validWords_ = bytes_ ? static_cast<uint64_t *>(reserve(reserved_ / 8)) : nullptr;
    if (validWords_)
      break;
    if (bytes_)
      munmap(bytes_, reserved_);
    bytes_ = nullptr;
  }
  if (!bytes_)
    throw Error(Fault::Device, ErrorCode::OutOfMemory,
                "virtual GPU: cannot reserve 256 MiB of address space (see ulimit -v)");
  // Rows of tiles lie pages apart: with large pages the host finds them sooner, and has fewer to clear. A wish.
  madvise(bytes_, reserved_, MADV_HUGEPAGE);
  limit_ = std::min(limit_, reserved_ / 2);
  valid_ = ValidBits(validWords_);
}

GlobalMemory::~GlobalMemory() {
  munmap(bytes_, reserved_);
  munmap(validWords_, reserved_ / 8);
}

uint64_t GlobalMemory::findRoom(uint64_t span) {
  if (nextOffset_ + span <= reserved_) {
    uint64_t offset = nextOffset_;
    nextOffset_ += span;
    return offset;
  }
  // The range is used up: forget the freed blocks and take the first gap.
  std::erase_if(blocks_, [](const auto &entry) { return !entry.second.live; });
  uint64_t offset = kRedZone;
  for (const auto &[base, block] : blocks_) {
    uint64_t begin = base - kGlobalBase - kRedZone;
    if (begin >= offset + span)
      return offset;
    offset =
        (base - kGlobalBase + block.bytes + kRedZone + kAlignment - 1) / kAlignment * kAlignment;
  }
  return offset + span <= reserved_ ? offset : 0;
}

void GlobalMemory::invalidate(uint64_t offset, uint64_t bytes) {
  constexpr uint64_t kCovered = kPage * 8; // bytes whose bits share a page
  uint64_t end = offset + bytes, firstPage = (offset + kCovered - 1) / kCovered * kCovered,
           lastPage = end / kCovered * kCovered;
  if (firstPage >= lastPage)
    return valid_.setRange(offset, bytes, false);
  valid_.setRange(offset, firstPage - offset, false);
  forget(validWords_ + firstPage / 64, (lastPage - firstPage) / 8);
  valid_.setRange(lastPage, end - lastPage, false);
}

void GlobalMemory::clear(uint64_t address, uint64_t bytes) {
  uint64_t offset = address - kGlobalBase, end = offset + bytes,
           firstPage = (offset + kPage - 1) / kPage * kPage, lastPage = end / kPage * kPage;
  if (firstPage >= lastPage) {
    std::memset(bytes_ + offset, 0, bytes);
    return;
  }
  std::memset(bytes_ + offset, 0, firstPage - offset);
  forget(bytes_ + firstPage, lastPage - firstPage);
  std::memset(bytes_ + lastPage, 0, end - lastPage);
}

uint64_t GlobalMemory::allocate(uint64_t bytes, std::string variable) {
  if (bytes > limit_ || used_ + bytes > limit_)
    return 0;
  uint64_t span =
      (std::max<uint64_t>(bytes, 1) + kRedZone + kAlignment - 1) / kAlignment * kAlignment;
  uint64_t offset = findRoom(span);
  if (offset == 0)
    return 0;
  used_ += bytes;
  uint64_t base = kGlobalBase + offset;
  bool isVariable = !variable.empty();
  blocks_[base] = {base, bytes, nextId_++, true, std::move(variable), isVariable};
  invalidate(offset, bytes);
  return base;
}

bool GlobalMemory::rename(uint64_t base, std::string name) {
  auto block = blocks_.find(base);
  if (block == blocks_.end() || !block->second.live)
    return false;
  block->second.name = std::move(name);
  return true;
}

void GlobalMemory::release(uint64_t base) {
  Block &block = blocks_.at(base);
  block.live = false;
  used_ -= block.bytes;
  forget(host(base, block.bytes), block.bytes);
}

const GlobalMemory::Block *GlobalMemory::near(uint64_t address) const {
  auto after = blocks_.upper_bound(address);
  const Block *best = nullptr;
  if (after != blocks_.begin()) {
    const Block &before = std::prev(after)->second;
    if (address < before.base + before.bytes + kRedZone)
      best = &before;
  }
  if (!best && after != blocks_.end() && after->second.base - address <= kRedZone)
    best = &after->second;
  return best;
}

const GlobalMemory::Block *GlobalMemory::find(uint64_t address) const {
  auto after = blocks_.upper_bound(address);
  if (after == blocks_.begin())
    return nullptr;
  const Block &block = std::prev(after)->second;
  bool inside = address - block.base < block.bytes || (address == block.base && block.bytes == 0);
  return block.live && inside ? &block : nullptr;
}

std::string GlobalMemory::Block::title() const {
  return name.empty() ? "allocation #" + std::to_string(id) : name;
}

MemoryLocation GlobalMemory::locationOf(uint64_t address) const {
  const Block *block = near(address);
  if (!block)
    return {};
  return {block->title(), static_cast<int64_t>(address - block->base), block->bytes};
}

std::string GlobalMemory::describe(uint64_t address) const {
  const Block *block = near(address);
  if (!block)
    return address < 65536 ? "a null pointer or an offset from one"
                           : "no allocation is near: is it an address of the host?";
  std::string what = (block->isVariable ? "variable " : "") + block->title();
  what += " (" + std::to_string(block->bytes) + " bytes at " + hex(block->base) +
          (block->live ? ")" : ", freed)");
  if (address < block->base)
    return std::to_string(block->base - address) + " bytes before " + what;
  uint64_t offset = address - block->base;
  if (offset >= block->bytes)
    return std::to_string(offset - block->bytes) + " bytes past the end of " + what;
  return "offset " + std::to_string(offset) + " of " + what;
}

} // namespace tile::vgpu
