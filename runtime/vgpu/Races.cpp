// The shadow of shared memory: stamps, their comparison, and the reports.
#include "runtime/vgpu/Races.h"

#include "runtime/vgpu/Launch.h"

#include <algorithm>

namespace tile::vgpu {

void RaceShadow::reset(uint32_t sharedBytes, unsigned warps) {
  cells_.assign(sharedBytes / 4 + 1, Cell());
  split_.clear();
  freeSplit_.clear();
  readers_.clear();
  freeReaders_.clear();
  syncs_.clear();
}

RaceShadow::Stamp RaceShadow::stampOf(const Warp &warp, const Op &op, unsigned lane,
                                      AccessKind kind) const {
  return {warp.clock.known[warp.index], op.instruction, static_cast<uint8_t>(warp.index),
          static_cast<uint8_t>(lane),   kind,           false};
}

void RaceShadow::splitCell(Cell &cell) {
  uint32_t index;
  if (freeSplit_.empty()) {
    index = static_cast<uint32_t>(split_.size());
    split_.emplace_back();
  } else {
    index = freeSplit_.back();
    freeSplit_.pop_back();
  }
  for (Cell &byte : split_[index]) {
    byte = cell;
    // Each byte needs its own list of readers.
    if (cell.moreReads != kNone) {
      Readers copy = readers_[cell.moreReads];
      byte.moreReads = static_cast<uint32_t>(readers_.size());
      readers_.push_back(copy);
    }
  }
  clearReads(cell);
  cell = Cell();
  cell.bytes = index;
}

// Visits the cells of [offset, offset + bytes): whole words where possible, else single bytes.
template <class Visit> void RaceShadow::forCells(uint32_t offset, uint32_t bytes, Visit visit) {
  uint32_t end = offset + bytes;
  while (offset < end) {
    uint32_t word = offset / 4;
    bool whole = offset % 4 == 0 && end - offset >= 4;
    if (whole && cells_[word].bytes == kNone) {
      visit(cells_[word], offset);
      offset += 4;
      continue;
    }
    if (cells_[word].bytes == kNone)
      splitCell(cells_[word]);
    for (uint32_t stop = std::min(end, word * 4 + 4); offset < stop; ++offset)
      visit(split_[cells_[word].bytes][offset % 4], offset);
  }
}

void RaceShadow::clearReads(Cell &cell) {
  cell.reads[0] = cell.reads[1] = Stamp();
  if (cell.moreReads != kNone)
    freeReaders_.push_back(cell.moreReads);
  cell.moreReads = kNone;
}

static const char *verb(AccessKind kind) {
  switch (kind) {
  case AccessKind::Read:
  case AccessKind::StrongRead:
    return "read";
  case AccessKind::Atomic:
    return "atomic access";
  default:
    return "write";
  }
}

static bool isStrong(AccessKind kind) { return kind >= AccessKind::Atomic; }

// True if `earlier` conflicts with an access of this lane now: nothing orders them.
bool RaceShadow::conflict(Warp &warp, const Op &op, unsigned lane, uint32_t offset,
                          const Stamp &earlier, AccessKind kind) {
  if (earlier.clock == 0)
    return false;
  bool sameWarp = earlier.warp == warp.index;
  if (earlier.async) {
    report(warp, op, lane, offset, earlier, kind, FindingKind::AsyncRace);
    return true;
  }
  if (isStrong(kind) && isStrong(earlier.kind))
    return false;
  if (sameWarp ? earlier.lane == lane || earlier.clock < warp.clock.known[warp.index]
               : warp.clock.known[earlier.warp] >= earlier.clock)
    return false;
  report(warp, op, lane, offset, earlier, kind,
         sameWarp ? FindingKind::WarpRace : FindingKind::Race);
  return true;
}

void RaceShadow::report(Warp &warp, const Op &op, unsigned lane, uint32_t offset,
                        const Stamp &earlier, AccessKind kind, FindingKind which) {
  const Launch &launch = *warp.cta->launch;
  const Program::Line &line = launch.program().lines[earlier.instruction];
  uint32_t address = offset + kSharedBase;
  char where[32];
  std::snprintf(where, sizeof where, "0x%x", address);
  std::string remedy = which == FindingKind::AsyncRace
                           ? "wait for the copy (cp.async.wait_group and a barrier) first"
                       : which == FindingKind::WarpRace
                           ? "lanes of one warp need bar.warp.sync between them"
                           : "no barrier orders them";
  Finding finding =
      launch.place(warp, op, which, lane,
                   std::string(verb(kind)) + " of shared address " + where + " conflicts with " +
                       (earlier.async ? "a cp.async in flight"
                                      : std::string("an earlier ") + verb(earlier.kind)) +
                       ": " + remedy);
  finding.space = Space::Shared;
  finding.address = address;
  finding.other = "the other: warp " + std::to_string(earlier.warp) +
                  (earlier.lane == kSeveralLanes ? ", several lanes"
                                                 : ", lane " + std::to_string(earlier.lane)) +
                  ", line " + std::to_string(line.line) + " `" +
                  std::string(launch.program().module->lineText(line.line)) + "`";
  for (const Program::SharedVariable &variable : launch.program().shared)
    if (address >= variable.address && address < variable.address + variable.bytes)
      finding.allocation = variable.name;
  warp.report(op, std::move(finding));
}

// Of one warp only the last read counts: whoever is ordered after it is ordered after the warp's earlier ones.
void RaceShadow::noteRead(Warp &warp, Cell &cell, const Stamp &stamp) {
  auto put = [&](Stamp &slot) {
    bool severalLanes =
        slot.clock == stamp.clock && slot.warp == stamp.warp && slot.lane != stamp.lane;
    slot = stamp;
    if (severalLanes)
      slot.lane = kSeveralLanes;
  };
  for (Stamp &slot : cell.reads)
    if (slot.clock && slot.warp == stamp.warp)
      return put(slot);
  for (Stamp &slot : cell.reads)
    if (slot.clock == 0 || warp.clock.known[slot.warp] >= slot.clock)
      return put(slot);
  if (cell.moreReads == kNone) {
    if (freeReaders_.empty()) {
      cell.moreReads = static_cast<uint32_t>(readers_.size());
      readers_.emplace_back();
    } else {
      cell.moreReads = freeReaders_.back();
      freeReaders_.pop_back();
      readers_[cell.moreReads] = Readers();
    }
  }
  put(readers_[cell.moreReads].byWarp[stamp.warp]);
}

bool RaceShadow::check(Warp &warp, const Op &op, unsigned lane, uint32_t offset, Cell &cell,
                       AccessKind kind, bool sameValue) {
  bool writes = kind != AccessKind::Read && kind != AccessKind::StrongRead;
  bool harmless = sameValue && !cell.write.async && cell.write.kind != AccessKind::Atomic;
  bool found = !harmless && conflict(warp, op, lane, offset, cell.write, kind);
  if (writes && !found && !sameValue) {
    found = conflict(warp, op, lane, offset, cell.reads[0], kind) ||
            conflict(warp, op, lane, offset, cell.reads[1], kind);
    if (cell.moreReads != kNone)
      for (const Stamp &reader : readers_[cell.moreReads].byWarp)
        found = found || conflict(warp, op, lane, offset, reader, kind);
  }
  return found;
}

void RaceShadow::access(Warp &warp, const Op &op, unsigned lane, uint32_t offset, uint32_t bytes,
                        AccessKind kind, bool sameValue) {
  bool writes = kind != AccessKind::Read && kind != AccessKind::StrongRead;
  if (isStrong(kind) && !syncs_.empty() && kind != AccessKind::StrongWrite)
    if (auto sync = syncs_.find(offset); sync != syncs_.end())
      for (unsigned i = 0; i < kMaxWarps; ++i)
        warp.clock.known[i] = std::max(warp.clock.known[i], sync->second[i]);
  Stamp stamp = stampOf(warp, op, lane, kind);
  forCells(offset, bytes, [&](Cell &cell, uint32_t at) {
    check(warp, op, lane, at, cell, kind, sameValue);
    if (!writes) {
      noteRead(warp, cell, stamp);
      return;
    }
    // A duplicate of what another warp wrote leaves that write in place: readers must still be ordered after one of them.
    if (!sameValue || cell.write.clock == 0 || cell.write.warp == stamp.warp ||
        warp.clock.known[cell.write.warp] >= cell.write.clock) {
      cell.write = stamp;
      clearReads(cell);
    }
  });
  if (isStrong(kind) && kind != AccessKind::StrongRead) {
    VectorClock &sync = syncs_[offset];
    for (unsigned i = 0; i < kMaxWarps; ++i)
      sync[i] = std::max(sync[i], warp.clock.known[i]);
    ++warp.clock.known[warp.index];
  }
}

void RaceShadow::beginAsync(Warp &warp, const Op &op, unsigned lane, uint32_t offset,
                            uint32_t bytes) {
  Stamp stamp = stampOf(warp, op, lane, AccessKind::Write);
  stamp.async = true;
  forCells(offset, bytes, [&](Cell &cell, uint32_t at) {
    check(warp, op, lane, at, cell, AccessKind::Write, false);
    cell.write = stamp;
    clearReads(cell);
  });
}

void RaceShadow::endAsync(Warp &warp, unsigned lane, uint32_t offset, uint32_t bytes) {
  forCells(offset, bytes, [&](Cell &cell, uint32_t) {
    if (!cell.write.async || cell.write.warp != warp.index || cell.write.lane != lane)
      return;
    cell.write.async = false;
    cell.write.clock = warp.clock.known[warp.index];
  });
}

} // namespace tile::vgpu
