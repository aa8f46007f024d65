// Where the cells of shared and global memory are, and the reads of pages that nobody has written.
#include "runtime/vgpu/Races.h"

#include "runtime/vgpu/Lanes.h"
#include "runtime/vgpu/Launch.h"

#include <algorithm>

namespace tile::vgpu {

void SharedRaces::reset(uint32_t sharedBytes) {
  words_.assign(sharedBytes / 4 + 1, SharedCell());
  rules_.clear();
}

void SharedRaces::accessWords(const Accessor &accessor, uint32_t offset, uint32_t bytes) {
  bool reads = !isWrite(accessor.kind());
  for (uint32_t word = offset / 4, end = (offset + bytes) / 4; word < end; ++word)
    if (!(reads ? RaceCells<SharedCell>::quickRead(words_[word], accessor)
                : RaceCells<SharedCell>::quickWrite(words_[word], accessor)))
      accessCells(accessor, word * 4, 4, false);
}

bool SharedRaces::isOrderedRead(const Accessor &accessor, uint32_t offset, uint32_t bytes) {
  for (uint32_t word = offset / 4; word < (offset + bytes) / 4; ++word)
    if (!RaceCells<SharedCell>::quickRead(words_[word], accessor))
      return false;
  return true;
}

void SharedRaces::access(const Accessor &accessor, uint32_t offset, uint32_t bytes,
                         bool sameValue) {
  AccessKind kind = accessor.kind();
  bool isPlain = kind == AccessKind::Read || kind == AccessKind::ProxyRead ||
                 (!sameValue && (kind == AccessKind::Write || kind == AccessKind::CopyWrite ||
                                 kind == AccessKind::ProxyWrite));
  if (isPlain && offset % 4 == 0 && bytes % 4 == 0)
    accessWords(accessor, offset, bytes);
  else
    accessCells(accessor, offset, bytes, sameValue);
}

void SharedRaces::accessCells(const Accessor &accessor, uint32_t offset, uint32_t bytes,
                              bool sameValue) {
  rules_.access(words_, accessor, offset, bytes, sameValue, [](uint32_t at) {
    return RacePlace{Space::Shared, uint64_t{at} + kSharedBase};
  });
}

void SharedRaces::endCopy(const Accessor &accessor, uint32_t offset, uint32_t bytes) {
  rules_.forCells(words_, offset, bytes, [&](SharedCell &cell) {
    Stamp &write = cell.write;
    if (!write || write.kind() != AccessKind::CopyWrite || write.lane != accessor.lane ||
        write.actor != accessor.stamp.actor)
      return;
    write.kindBits = static_cast<uint64_t>(AccessKind::Write);
    write.clock = accessor.warp->clock.time();
  });
}

GlobalRaces::Page &GlobalRaces::pageOf(uint64_t index) {
  if (index != lastIndex_) {
    last_ = &pages_[index];
    lastIndex_ = index;
  }
  return *last_;
}

// Calls visit(page, offset in the page, bytes, bytes before).
template <class Visit> void GlobalRaces::forPages(uint64_t address, uint64_t bytes, Visit visit) {
  for (uint64_t done = 0; done < bytes;) {
    uint64_t at = address + done, offset = at % kPageBytes;
    uint64_t part = std::min(bytes - done, kPageBytes - offset);
    visit(pageOf(at / kPageBytes), static_cast<uint32_t>(offset), static_cast<uint32_t>(part),
          done);
    done += part;
  }
}

void GlobalRaces::materialise(Page &page) {
  page.cells.resize(kPageBytes / 4);
  for (const EarlyRead &read : page.reads) {
    Stamp stamp = read.first;
    for (uint32_t at = 0; at < read.bytes; at += read.laneBytes, ++stamp.lane)
      rules_.replay(page.cells, stamp, read.cluster, read.offset + at,
                    std::min<uint32_t>(read.laneBytes, read.bytes - at));
  }
  page.reads = {};
}

void GlobalRaces::remember(Page &page, const EarlyRead &read) {
  auto isSame = [&](const EarlyRead &known) {
    return known.offset == read.offset && known.bytes == read.bytes &&
           known.cluster == read.cluster && known.first.actor == read.first.actor;
  };
  if (auto known = std::ranges::find_if(page.reads, isSame); known != page.reads.end()) {
    *known = read;
    return;
  }
  if (page.reads.size() < kMostReads) {
    page.reads.push_back(read);
    return;
  }
  page.reads[page.nextRead] = read;
  page.nextRead = (page.nextRead + 1) % kMostReads;
}

void GlobalRaces::access(const Accessor &accessor, uint64_t address, uint64_t bytes,
                         bool sameValue) {
  forPages(address, bytes, [&](Page &page, uint32_t offset, uint32_t part, uint64_t done) {
    if (page.cells.empty() && accessor.kind() == AccessKind::Read) {
      remember(page, {static_cast<uint16_t>(offset), static_cast<uint16_t>(part),
                      static_cast<uint16_t>(part), accessor.warp->clock.cluster, accessor.stamp});
      return;
    }
    uint64_t base = address + done - offset;
    if (page.cells.empty())
      materialise(page);
    rules_.access(page.cells, accessor, offset, part, sameValue, [&](uint32_t at) {
      return RacePlace{Space::Global, base + at};
    });
  });
}

void GlobalRaces::readRun(Warp &warp, const Op &op, unsigned lane, unsigned lanes, AccessKind kind,
                          uint64_t address, uint32_t bytes) {
  uint64_t last = address + uint64_t{lanes} * bytes - 1;
  Accessor accessor = accessorOf(warp, op, lane, kind);
  Page &page = pageOf(address / kPageBytes);
  if (address / kPageBytes == last / kPageBytes && page.cells.empty()) {
    remember(page,
             {static_cast<uint16_t>(address % kPageBytes), static_cast<uint16_t>(lanes * bytes),
              static_cast<uint16_t>(bytes), warp.clock.cluster, accessor.stamp});
    return;
  }
  for (unsigned i = 0; i < lanes; ++i) {
    accessor.lane = lane + i;
    accessor.stamp.lane = lane + i;
    access(accessor, address + uint64_t{i} * bytes, bytes, false);
  }
}

void GlobalRaces::access(Warp &warp, const Op &op, AccessKind kind, uint32_t mask,
                         const uint64_t *address, uint32_t bytes, uint32_t same) {
  if (kind == AccessKind::Read) {
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      if (!(mask >> lane & 1))
        continue;
      unsigned lanes = 1;
      while (lane + lanes < kLanes && mask >> (lane + lanes) & 1 &&
             address[lane + lanes] == address[lane] + uint64_t{lanes} * bytes)
        ++lanes;
      readRun(warp, op, lane, lanes, kind, address[lane], bytes);
      lane += lanes - 1;
    }
    return;
  }
  Accessor accessor = accessorOf(warp, op, 0, kind);
  forLanes(mask, [&](unsigned lane) {
    accessor.lane = lane;
    accessor.stamp.lane = lane;
    access(accessor, address[lane], bytes, same >> lane & 1);
  });
}

} // namespace tile::vgpu
