// The cells of a range of memory: one for each chunk of 16 bytes, which is what most instructions move, until part of it is
// touched; then one for each of its words.
#pragma once

#include "runtime/vgpu/QuickAccess.h"

#include <algorithm>

namespace tile::vgpu {

/// Bytes of a chunk.
constexpr uint32_t kRaceChunkBytes = 16;

template <class Cell> class ChunkShadow {
public:
  using Rules = RaceCells<Cell>;
  static constexpr uint32_t kChunkBytes = kRaceChunkBytes, kChunkWords = kChunkBytes / 4;

  /// Room for `bytes` bytes of which nothing is known.
  void reset(uint32_t bytes) {
    chunks_.assign(bytes / kChunkBytes + 1, Cell());
    words_.clear();
  }
  void clear() { chunks_.clear(); }
  bool empty() const { return chunks_.empty(); }
  size_t heldBytes() const { return (chunks_.capacity() + words_.capacity()) * sizeof(Cell); }

  /// Checks an access and remembers it. `sameValue`: a write that changes nothing; `place(at)`: what byte `at` is.
  template <class Place>
  void access(Rules &rules, const Accessor &accessor, uint32_t offset, uint32_t bytes,
              bool sameValue, Place place) {
    if constexpr (!Cell::kManyClusters) {
      AccessKind kind = accessor.kind();
      bool isWhole = offset % 4 == 0 && bytes % 4 == 0;
      if (isWhole && (kind == AccessKind::Read || kind == AccessKind::ProxyRead))
        return accessOrdered<true>(rules, accessor, offset, bytes, place);
      if (isWhole && !sameValue &&
          (kind == AccessKind::Write || kind == AccessKind::CopyWrite ||
           kind == AccessKind::ProxyWrite))
        return accessOrdered<false>(rules, accessor, offset, bytes, place);
    }
    accessCells(rules, accessor, offset, bytes, sameValue, place);
  }

  /// Reads of whole chunks at those of `offsets` that `which` names: those that are ordered after everything are
  /// remembered. Returns the others, of which words may have been remembered.
  uint32_t readChunks(const Accessor &accessor, const uint32_t (&offsets)[32], uint32_t which) {
    KnownOrder known(accessor);
    Cell *chunks = chunks_.data();
    uint32_t others = 0;
    for (; which; which &= which - 1) {
      auto i = static_cast<unsigned>(std::countr_zero(which));
      Cell &chunk = chunks[offsets[i] / kChunkBytes];
      if (known.takesRead(chunk))
        continue;
      if (!isQuickChunk<true>(chunk, accessor, offsets[i]))
        others |= 1u << i;
      known = KnownOrder(accessor);
    }
    return others;
  }

  /// Weak writes that change whole chunks, by the lanes of `which` at their `offsets`.
  template <class Place>
  void writeChunks(Rules &rules, Accessor &accessor, const uint32_t (&offsets)[32], uint32_t which,
                   Place place) {
    KnownOrder known(accessor);
    Cell *chunks = chunks_.data();
    for (; which; which &= which - 1) {
      auto lane = static_cast<unsigned>(std::countr_zero(which));
      known.setLane(lane);
      if (known.takesWrite(chunks[offsets[lane] / kChunkBytes]))
        continue;
      accessor.setLane(lane);
      access(rules, accessor, offsets[lane], kChunkBytes, false, place);
      known = KnownOrder(accessor);
    }
  }

  /// Remembers a read that happened earlier, without checking it.
  void replay(Rules &rules, Stamp stamp, uint32_t cluster, uint32_t offset, uint32_t bytes) {
    forChunks(offset, bytes, [&](Cell &chunk, uint32_t at, uint32_t part) {
      if (part == kChunkBytes && !Rules::isSplit(chunk))
        return rules.replay(chunk, stamp, cluster);
      split(rules, chunk, at);
      rules.replay(words_, stamp, cluster, at, part);
    });
  }

  /// Calls visit(cell) for the cells of a part of a chunk.
  template <class Visit> void forCells(Rules &rules, uint32_t offset, uint32_t bytes, Visit visit) {
    Cell &chunk = chunks_[offset / kChunkBytes];
    if (Rules::isSplit(chunk))
      rules.forCells(words_, offset, bytes, visit);
    else
      visit(chunk);
  }

private:
  template <class Visit> void forChunks(uint32_t offset, uint32_t bytes, Visit visit) {
    for (uint32_t at = offset, end = offset + bytes; at < end;) {
      uint32_t part = std::min(end - at, kChunkBytes - at % kChunkBytes);
      visit(chunks_[at / kChunkBytes], at, part);
      at += part;
    }
  }

  template <bool Reads> static bool isQuick(Cell &cell, const Accessor &accessor) {
    return Reads ? quickRead(cell, accessor) : quickWrite(cell, accessor);
  }

  // False: nothing is done, or of a read some is remembered, as it will be again.
  template <bool Reads> bool isQuickChunk(Cell &chunk, const Accessor &accessor, uint32_t at) {
    if (!Rules::isSplit(chunk))
      return isQuick<Reads>(chunk, accessor);
    bool isQuickly = Reads;
    for (uint32_t word = at / 4; isQuickly && word < at / 4 + kChunkWords; ++word)
      isQuickly = quickRead(words_[word], accessor);
    return isQuickly;
  }

  // Whole words, nearly always ordered after everything.
  template <bool Reads, class Place>
  void accessOrdered(Rules &rules, const Accessor &accessor, uint32_t offset, uint32_t bytes,
                     Place place) {
    KnownOrder known(accessor);
    for (uint32_t at = offset, end = offset + bytes; at < end;) {
      Cell &chunk = chunks_[at / kChunkBytes];
      if (at % kChunkBytes == 0 && end - at >= kChunkBytes) {
        if (!known.takes<Reads>(chunk)) {
          if (!isQuickChunk<Reads>(chunk, accessor, at))
            accessCells(rules, accessor, at, kChunkBytes, false, place);
          known = KnownOrder(accessor);
        }
        at += kChunkBytes;
        continue;
      }
      split(rules, chunk, at);
      if (!isQuick<Reads>(words_[at / 4], accessor))
        accessCells(rules, accessor, at, 4, false, place);
      at += 4;
    }
  }

  template <class Place>
  void accessCells(Rules &rules, const Accessor &accessor, uint32_t offset, uint32_t bytes,
                   bool sameValue, Place place) {
    forChunks(offset, bytes, [&](Cell &chunk, uint32_t at, uint32_t part) {
      if (part == kChunkBytes && !Rules::isSplit(chunk))
        rules.touch(chunk, accessor, sameValue, place(at));
      else
        accessParts(rules, chunk, accessor, at, part, sameValue, place);
    });
  }

  template <class Place>
  void accessParts(Rules &rules, Cell &chunk, const Accessor &accessor, uint32_t at, uint32_t bytes,
                   bool sameValue, Place place) {
    std::span<Cell> words = split(rules, chunk, at);
    rules.access(words_, accessor, at, bytes, sameValue, place);
    // A write that changes the whole chunk is all that is remembered of it.
    if (bytes == kChunkBytes && !sameValue && isWrite(accessor.kind())) {
      rules.forget(words);
      chunk = Cell();
      rules.touch(chunk, accessor, false, place(at));
    }
  }

  std::span<Cell> split(Rules &rules, Cell &chunk, uint32_t at) {
    if (words_.empty())
      words_.resize(chunks_.size() * kChunkWords);
    std::span<Cell> words(&words_[at / kChunkBytes * kChunkWords], kChunkWords);
    if (!Rules::isSplit(chunk))
      rules.split(chunk, words);
    return words;
  }

  std::vector<Cell> chunks_;
  std::vector<Cell> words_; // of chunks that are split; empty until there is one
};

} // namespace tile::vgpu
