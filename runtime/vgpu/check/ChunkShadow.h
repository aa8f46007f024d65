// The shadow of a range of memory, in chunks of 16 bytes, which most instructions move whole. A
// chunk is stored as one cell, as a cell for each word once a part of it is touched, or as
// ChunkParts once less than a word is.
#pragma once

#include "runtime/vgpu/check/ChunkParts.h"
#include "runtime/vgpu/check/QuickAccess.h"

#include <algorithm>
#include <span>

namespace tile::vgpu {

/// Bytes of a chunk.
constexpr uint32_t kRaceChunkBytes = 16;

/// Bytes of a memory that has a shadow.
struct ShadowRange {
  uint32_t offset = 0, bytes = 0;
};

template <class Cell> class ChunkShadow {
public:
  using Rules = RaceRules<Cell>;
  static constexpr uint32_t kChunkBytes = kRaceChunkBytes, kChunkWords = kChunkBytes / 4;

  /// Makes room for `bytes` bytes, which nobody has accessed.
  void reset(uint32_t bytes) {
    chunks_.assign(bytes / kChunkBytes + 1, Cell());
    words_.reset();
    parts_.reset();
  }
  void clear() { chunks_.clear(); }
  bool empty() const { return chunks_.empty(); }
  size_t heldBytes() const {
    return chunks_.capacity() * sizeof(Cell) + words_.heldBytes() + parts_.heldBytes();
  }

  /// Checks an access and remembers it. `sameValue`: a write that changes nothing; `addressOf(at)`:
  /// what byte `at` is.
  template <class AddressOf>
  void access(Rules &rules, const Accessor &accessor, uint32_t offset, uint32_t bytes,
              bool sameValue, AddressOf addressOf) {
    if constexpr (!Cell::kManyClusters) {
      AccessKind kind = accessor.kind();
      KnownOrder known(accessor);
      bool isWhole = offset % 4 == 0 && bytes % 4 == 0 && !accessor.fencesReads;
      if (isWhole && (kind == AccessKind::Read || kind == AccessKind::ProxyRead))
        return accessOrdered<true>(rules, accessor, known, offset, bytes, addressOf);
      if (isWhole && !sameValue &&
          (kind == AccessKind::Write || kind == AccessKind::CopyWrite ||
           kind == AccessKind::ProxyWrite))
        return accessOrdered<false>(rules, accessor, known, offset, bytes, addressOf);
    }
    accessCells(rules, accessor, offset, bytes, sameValue, addressOf);
  }

  /// Reads of whole chunks at those of `offsets` that `which` names: those that are ordered after
  /// everything are remembered. Returns the others, of which words may have been remembered.
  uint32_t readChunks(const Accessor &accessor, const uint32_t (&offsets)[32], uint32_t which) {
    KnownOrder known(accessor);
    Cell *chunks = chunks_.data();
    uint32_t others = 0;
    for (; which; which &= which - 1) {
      auto i = static_cast<unsigned>(std::countr_zero(which));
      Cell &chunk = chunks[offsets[i] / kChunkBytes];
      if (known.takesRead(chunk))
        continue;
      if (!isQuickChunk<true>(chunk, accessor))
        others |= 1u << i;
      known = KnownOrder(accessor);
    }
    return others;
  }

  /// Reads of whole words in these ranges.
  template <class AddressOf>
  void readRanges(Rules &rules, const Accessor &accessor, std::span<const ShadowRange> ranges,
                  AddressOf addressOf) {
    KnownOrder known(accessor);
    for (const ShadowRange &range : ranges)
      accessOrdered<true>(rules, accessor, known, range.offset, range.bytes, addressOf);
  }

  /// Weak writes that change whole chunks, by the lanes of `which` at their `offsets`.
  template <class AddressOf>
  void writeChunks(Rules &rules, Accessor &accessor, const uint32_t (&offsets)[32], uint32_t which,
                   AddressOf addressOf) {
    KnownOrder known(accessor);
    Cell *chunks = chunks_.data();
    for (; which; which &= which - 1) {
      auto lane = static_cast<unsigned>(std::countr_zero(which));
      known.setLane(lane);
      if (known.takesWrite(chunks[offsets[lane] / kChunkBytes]))
        continue;
      accessor.setLane(lane);
      access(rules, accessor, offsets[lane], kChunkBytes, false, addressOf);
      known = KnownOrder(accessor);
    }
  }

  /// Remembers a read that happened earlier, without checking it.
  void replay(Rules &rules, AccessRecord record, uint32_t cluster, uint32_t offset,
              uint32_t bytes) {
    forChunks(offset, bytes, [&](Cell &chunk, uint32_t at, uint32_t part) {
      if (part == kChunkBytes && isOne(chunk))
        return rules.replay(chunk, record, cluster);
      rules.replay(wordsOf(rules, chunk), record, cluster, at % kChunkBytes, part);
    });
  }

  /// Calls visit(cell) for the cells of a part of a chunk.
  template <class Visit> void forCells(Rules &rules, uint32_t offset, uint32_t bytes, Visit visit) {
    Cell &chunk = chunks_[offset / kChunkBytes];
    if (isOne(chunk))
      visit(chunk);
    else
      rules.forCells(wordsOf(rules, chunk), offset % kChunkBytes, bytes, visit);
  }

private:
  using Words = std::array<Cell, kChunkWords>;

  // How a chunk is stored: as one cell, or with a cell that holds the number of its words, or of
  // its parts.
  static bool isOne(const Cell &chunk) { return chunk.write.kindBits < kInParts; }
  static bool isInWords(const Cell &chunk) { return Rules::isSplit(chunk); }
  static bool isInParts(const Cell &chunk) { return chunk.write.kindBits == kInParts; }
  static auto indexOf(const Cell &chunk) { return static_cast<uint32_t>(chunk.write.clock); }
  static void name(Cell &chunk, unsigned kindBits, uint32_t index) {
    chunk = Cell();
    chunk.write.kindBits = kindBits;
    chunk.write.clock = index;
  }

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

  // False if the rules must decide. Some words of a read may have been remembered by then, which
  // does no harm: they will be remembered again.
  template <bool Reads> bool isQuickChunk(Cell &chunk, const Accessor &accessor) {
    if (isOne(chunk))
      return isQuick<Reads>(chunk, accessor);
    bool isQuickly = Reads;
    if (isInWords(chunk)) {
      Words &words = words_[indexOf(chunk)];
      for (uint32_t word = 0; isQuickly && word < kChunkWords; ++word)
        isQuickly = quickRead(words[word], accessor);
    } else if (Reads) {
      ChunkParts &parts = parts_[indexOf(chunk)];
      for (uint32_t at = 0, count = 0; isQuickly && at < kChunkBytes; at += count) {
        count = parts.alike(at, kChunkBytes);
        ClusterCell before = parts.cell(at), cell = before;
        isQuickly = quickRead(cell, accessor) && parts.set(at, count, cell);
        if (!isQuickly)
          parts.set(at, count, before);
      }
    }
    return isQuickly;
  }

  // An access to whole words, which is tried cell by cell as one that is ordered after everything.
  template <bool Reads, class AddressOf>
  void accessOrdered(Rules &rules, const Accessor &accessor, KnownOrder &known, uint32_t offset,
                     uint32_t bytes, AddressOf addressOf) {
    for (uint32_t at = offset, end = offset + bytes; at < end;) {
      Cell &chunk = chunks_[at / kChunkBytes];
      if (at % kChunkBytes == 0 && end - at >= kChunkBytes) {
        if (!known.takes<Reads>(chunk)) {
          if (!isQuickChunk<Reads>(chunk, accessor))
            accessCells(rules, accessor, at, kChunkBytes, false, addressOf);
          known = KnownOrder(accessor);
        }
        at += kChunkBytes;
        continue;
      }
      if (isInParts(chunk) ||
          !isQuick<Reads>(wordsOf(rules, chunk)[at % kChunkBytes / 4], accessor))
        accessCells(rules, accessor, at, 4, false, addressOf);
      at += 4;
    }
  }

  template <class AddressOf>
  void accessCells(Rules &rules, const Accessor &accessor, uint32_t offset, uint32_t bytes,
                   bool sameValue, AddressOf addressOf) {
    forChunks(offset, bytes, [&](Cell &chunk, uint32_t at, uint32_t part) {
      if (part == kChunkBytes && isOne(chunk)) {
        rules.touch(chunk, accessor, sameValue, addressOf(at));
        return;
      }
      accessInside(rules, chunk, accessor, at, part, sameValue, addressOf);
      // A write that changes the whole chunk is all that is remembered of it.
      if (part == kChunkBytes && !sameValue && isWrite(accessor.kind())) {
        forget(rules, chunk);
        rules.touch(chunk, accessor, false, addressOf(at));
      }
    });
  }

  template <class AddressOf>
  void accessInside(Rules &rules, Cell &chunk, const Accessor &accessor, uint32_t at,
                    uint32_t bytes, bool sameValue, AddressOf addressOf) {
    uint32_t done = 0;
    if constexpr (!Cell::kManyClusters)
      if (isInParts(chunk) || ((at | bytes) % 4 && enterParts(chunk)))
        done = accessParts(rules, chunk, accessor, at, bytes, sameValue, addressOf);
    if (done == bytes)
      return;
    uint32_t base = at / kChunkBytes * kChunkBytes;
    rules.access(wordsOf(rules, chunk), accessor, at % kChunkBytes + done, bytes - done, sameValue,
                 [&](uint32_t inside) { return addressOf(base + inside); });
  }

  // Accesses the parts of a chunk run by run. Returns how many bytes are done: less than all if the
  // accesses no longer fit into ChunkParts, so that the chunk is in words again.
  template <class AddressOf>
  uint32_t accessParts(Rules &rules, Cell &chunk, const Accessor &accessor, uint32_t at,
                       uint32_t bytes, bool sameValue, AddressOf addressOf) {
    ChunkParts &parts = parts_[indexOf(chunk)];
    uint32_t begin = at % kChunkBytes, end = begin + bytes, base = at - begin;
    for (uint32_t from = begin, count = 0; from < end; from += count) {
      count = parts.alike(from, end);
      ClusterCell cell = parts.cell(from);
      if (!isQuickPart(cell, accessor, sameValue))
        rules.touch(cell, accessor, sameValue, addressOf(base + from));
      if (!parts.set(from, count, cell)) {
        leaveParts(rules, chunk, from, count, cell);
        return from + count - begin;
      }
    }
    return bytes;
  }

  static bool isQuickPart(ClusterCell &cell, const Accessor &accessor, bool sameValue) {
    if (accessor.fencesReads)
      return false;
    AccessKind kind = accessor.kind();
    if (kind == AccessKind::Read || kind == AccessKind::ProxyRead)
      return quickRead(cell, accessor);
    return kind == AccessKind::Write && !sameValue && quickWrite(cell, accessor);
  }

  // Stores the chunk as parts. False if its cells hold more accesses than fit.
  bool enterParts(Cell &chunk) {
    ChunkParts parts;
    if (isOne(chunk)) {
      if (!parts.set(0, kChunkBytes, chunk))
        return false;
    } else {
      Words &words = words_[indexOf(chunk)];
      for (uint32_t i = 0; i < kChunkWords; ++i)
        if (Rules::isSplit(words[i]) || !parts.set(4 * i, 4, words[i]))
          return false;
      words_.giveBack(indexOf(chunk));
    }
    name(chunk, kInParts, parts_.take());
    parts_[indexOf(chunk)] = parts;
    return true;
  }

  // Stores the chunk as words again, of which `count` bytes from `begin` on get the state of
  // `cell`.
  void leaveParts(Rules &rules, Cell &chunk, uint32_t begin, uint32_t count, ClusterCell &cell) {
    uint32_t index = indexOf(chunk);
    std::array<Cell, kChunkBytes> bytes;
    for (uint32_t at = 0; at < kChunkBytes; ++at)
      bytes[at] = parts_[index].cell(at);
    if (count)
      rules.split(cell, std::span(bytes).subspan(begin, count));
    parts_.giveBack(index);
    name(chunk, kSplit, words_.take());
    Words &words = words_[indexOf(chunk)];
    for (uint32_t i = 0; i < kChunkWords; ++i)
      rules.assemble(words[i], std::span<Cell, 4>(bytes.begin() + 4 * i, 4));
  }

  // The words of a chunk, which is split first if it is stored otherwise.
  std::span<Cell> wordsOf(Rules &rules, Cell &chunk) {
    if constexpr (!Cell::kManyClusters)
      if (isInParts(chunk)) {
        ClusterCell none;
        leaveParts(rules, chunk, 0, 0, none);
      }
    if (isOne(chunk)) {
      uint32_t index = words_.take();
      rules.split(chunk, words_[index]);
      name(chunk, kSplit, index);
    }
    return words_[indexOf(chunk)];
  }

  // Makes the chunk one cell again, without any access.
  void forget(Rules &rules, Cell &chunk) {
    if (isInWords(chunk)) {
      rules.forget(words_[indexOf(chunk)]);
      words_.giveBack(indexOf(chunk));
    } else if (isInParts(chunk)) {
      parts_.giveBack(indexOf(chunk));
    }
    chunk = Cell();
  }

  std::vector<Cell> chunks_;
  RecordPool<Words> words_;
  RecordPool<ChunkParts> parts_;
};

} // namespace tile::vgpu
