// The race checkers of shared and of global memory.
#pragma once

#include "runtime/vgpu/RaceCell.h"

#include <unordered_map>

namespace tile::vgpu {

/// The shadow of one block's shared memory. Offsets count from its start.
class SharedRaces {
public:
  void reset(uint32_t sharedBytes);
  /// Called before memory changes. `sameValue`: a write that changes nothing.
  void access(const Accessor &accessor, uint32_t offset, uint32_t bytes, bool sameValue);
  /// True if a read by lanes that are not known is ordered after everything; then it is remembered. Else some words may
  /// have been.
  bool isOrderedRead(const Accessor &accessor, uint32_t offset, uint32_t bytes);
  /// A lane has waited for its cp.async to these bytes: they count as written by it, now.
  void endCopy(const Accessor &accessor, uint32_t offset, uint32_t bytes);

private:
  void accessWords(const Accessor &accessor, uint32_t offset, uint32_t bytes);
  void accessCells(const Accessor &accessor, uint32_t offset, uint32_t bytes, bool sameValue);

  RaceCells<SharedCell> rules_;
  std::vector<SharedCell> words_;
};

/// The shadow of what a launch touches of global memory, in pages. Memory that is only read has no cells: the reads of
/// a page are kept in a short list until someone writes to it.
class GlobalRaces {
public:
  /// The lanes of one instruction of a warp; `same`: lanes that write what is there already.
  void access(Warp &warp, const Op &op, AccessKind kind, uint32_t mask, const uint64_t *address,
              uint32_t bytes, uint32_t same);
  /// One range by an accessor of any kind.
  void access(const Accessor &accessor, uint64_t address, uint64_t bytes, bool sameValue);

private:
  static constexpr uint32_t kPageBytes = 1024;
  static constexpr size_t kMostReads = 64; // kept of a page that nobody has written
  // Consecutive lanes that read consecutive elements.
  struct EarlyRead {
    uint16_t offset = 0, bytes = 0; // of all lanes, within the page
    uint16_t laneBytes = 0;
    uint32_t cluster = 0;
    Stamp first; // of the first lane
  };
  struct Page {
    std::vector<GlobalCell> cells; // empty until the page is written
    std::vector<EarlyRead> reads;
    size_t nextRead = 0; // in `reads` once it is full: the oldest
  };

  Page &pageOf(uint64_t index);
  void materialise(Page &page);
  static void remember(Page &page, const EarlyRead &read);
  void readRun(Warp &warp, const Op &op, unsigned lane, unsigned lanes, AccessKind kind,
               uint64_t address, uint32_t bytes);
  template <class Visit> void forPages(uint64_t address, uint64_t bytes, Visit visit);

  RaceCells<GlobalCell> rules_;
  std::unordered_map<uint64_t, Page> pages_;
  uint64_t lastIndex_ = ~uint64_t{0};
  Page *last_ = nullptr;
};

} // namespace tile::vgpu
