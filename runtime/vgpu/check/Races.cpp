// Finds the cells of an access in shared or global memory, and keeps reads of pages that nobody has
// written as a list.
#include "runtime/vgpu/check/Races.h"

#include "runtime/vgpu/check/AddressWindows.h"

#include <algorithm>

namespace tile::vgpu {

void SharedRaces::reset(uint32_t sharedBytes) {
  shadow_.reset(sharedBytes);
  rules_.clear();
}

static RaceAddress sharedAddress(uint32_t at) {
  return {Space::Shared, uint64_t{at} + kSharedBase};
}

void SharedRaces::access(const Accessor &accessor, uint32_t offset, uint32_t bytes,
                         bool sameValue) {
  shadow_.access(rules_, accessor, offset, bytes, sameValue, sharedAddress);
}

void SharedRaces::readRanges(const Accessor &accessor, std::span<const ShadowRange> ranges) {
  shadow_.readRanges(rules_, accessor, ranges, sharedAddress);
}

uint32_t SharedRaces::readChunks(const Accessor &accessor, const uint32_t (&offsets)[32],
                                 uint32_t which) {
  return shadow_.readChunks(accessor, offsets, which);
}

void SharedRaces::writeChunks(Accessor accessor, const uint32_t (&offsets)[32], uint32_t which) {
  shadow_.writeChunks(rules_, accessor, offsets, which, sharedAddress);
}

void SharedRaces::endCopies(const Accessor &accessor, const uint32_t (&offsets)[32], uint32_t which,
                            uint32_t bytes) {
  AccessRecord ended = accessor.record;
  for (; which; which &= which - 1) {
    auto lane = static_cast<unsigned>(std::countr_zero(which));
    shadow_.forCells(rules_, offsets[lane], bytes, [&](ClusterCell &cell) {
      AccessRecord &write = cell.write;
      if (!write || write.kind() != AccessKind::CopyWrite || write.lane != lane ||
          write.actor != ended.actor)
        return;
      write.kindBits = static_cast<uint64_t>(AccessKind::Write);
      write.clock = ended.clock;
    });
  }
}

void GlobalRaces::access(Accessor accessor, uint32_t mask, const uint64_t *address, uint32_t bytes,
                         uint32_t same) {
  constexpr unsigned kLanes = 32;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    if (!(mask >> lane & 1))
      continue;
    unsigned lanes = 1;
    while (lane + lanes < kLanes && mask >> (lane + lanes) & 1 &&
           address[lane + lanes] == address[lane] + uint64_t{lanes} * bytes)
      ++lanes;
    accessor.setLane(lane);
    accessRun(accessor, {lanes, bytes, same >> lane}, address[lane]);
    lane += lanes - 1;
  }
}

namespace {

// The bytes of a page that a launch has touched. Few pages see strong accesses, so these have their
// bits apart.
class TouchedPage {
public:
  PageBits &of(TouchKind kind) {
    if (!isStrong(kind))
      return weak_[static_cast<size_t>(kind)];
    if (!strong_)
      strong_ = std::make_unique<Pair>();
    return (*strong_)[isWrite(kind)];
  }
  void appendTo(TouchedBytes &all, uint64_t page) const {
    appendBits(all[TouchKind::Read], page, weak_[0]);
    appendBits(all[TouchKind::Write], page, weak_[1]);
    if (!strong_)
      return;
    appendBits(all[TouchKind::StrongRead], page, (*strong_)[0]);
    appendBits(all[TouchKind::StrongWrite], page, (*strong_)[1]);
  }

private:
  using Pair = std::array<PageBits, 2>; // of reads and writes
  Pair weak_{};
  std::unique_ptr<Pair> strong_;
};

// The shadow in pages. Memory that is only read has no cells: the reads of a page are kept in a
// short list until someone writes to it, as kernels read far more than they write.
template <class Cell> class PagedRaces final : public GlobalRaces {
public:
  explicit PagedRaces(Footprints *footprints) : footprints_(footprints) {}
  void access(const Accessor &accessor, uint64_t address, uint64_t bytes, bool sameValue) override;
  void endCluster() override;
  size_t heldBytes() const override;
  TouchedBytes touched() const override;
  void forgetTouched() override;

private:
  static constexpr size_t kMostReads = 64; // kept of a page that nobody has written
  // Consecutive lanes that read consecutive elements.
  struct EarlyRead {
    uint16_t offset = 0, bytes = 0; // of all lanes, within the page
    uint16_t laneBytes = 0;
    uint32_t cluster = 0;
    AccessRecord first; // of the first lane

    bool isAgain(const EarlyRead &later) const {
      return offset == later.offset && bytes == later.bytes && cluster == later.cluster &&
             first.actor == later.first.actor;
    }
    /// A hash, to find an equal read without comparing all.
    uint32_t key() const {
      return (offset | uint32_t{bytes} << 16) * 0x9E3779B1u ^ cluster * 0x85EBCA6Bu ^
             static_cast<uint32_t>(first.actor) * 0xC2B2AE35u;
    }
  };
  // Cells are either those of a launch, whose touched bytes are compared with other streams', or of
  // a cluster.
  static constexpr bool kOfLaunch = Cell::kManyClusters;
  using Touched = std::conditional_t<kOfLaunch, TouchedPage, PageFootprint>;
  struct Page {
    uint64_t index = 0;
    ChunkShadow<Cell> cells; // empty until the page is written
    std::vector<EarlyRead> reads;
    std::vector<uint32_t> readKeys; // of `reads`
    size_t nextRead = 0;            // in `reads` once it is full: the oldest
    Touched touched{};
  };

  Page &pageOf(uint64_t index);
  Page &addPage(uint64_t index);
  void materialise(Page &page);
  void touch(Page &page, uint32_t offset, uint32_t bytes, AccessKind kind);
  void check(const Accessor &accessor, Page &page, uint32_t offset, uint32_t bytes, bool sameValue);
  static void remember(Page &page, const EarlyRead &read);
  void accessRun(Accessor &accessor, const Run &run, uint64_t address) override;
  void accessRunInPage(Accessor &accessor, const Run &run, Page &page, uint32_t offset);
  template <class Visit> void forPages(uint64_t address, uint64_t bytes, Visit visit);

  Footprints *footprints_;
  RaceRules<Cell> rules_;
  PageTable<Page *> pageAt_;
  std::vector<std::unique_ptr<Page>> pages_; // those in use, then those to use again
  size_t used_ = 0;
  uint64_t lastIndex_ = ~uint64_t{0};
  Page *last_ = nullptr;
};

template <class Cell> typename PagedRaces<Cell>::Page &PagedRaces<Cell>::pageOf(uint64_t index) {
  // Lanes and loops stay in a page for long.
  if (index == lastIndex_)
    return *last_;
  Page *&page = pageAt_[index];
  if (!page)
    page = &addPage(index);
  lastIndex_ = index;
  last_ = page;
  return *page;
}

template <class Cell> typename PagedRaces<Cell>::Page &PagedRaces<Cell>::addPage(uint64_t index) {
  if (used_ == pages_.size())
    pages_.push_back(std::make_unique<Page>());
  Page &page = *pages_[used_++];
  page.index = index;
  return page;
}

template <class Cell> void PagedRaces<Cell>::endCluster() {
  if constexpr (!kOfLaunch) {
    std::vector<Footprints::Touched> touched(used_);
    for (size_t i = 0; i < used_; ++i)
      touched[i] = {pages_[i]->index, &pages_[i]->touched};
    footprints_->add(touched);
  }
  // The pages stay allocated for the next cluster, which mostly touches as many.
  for (size_t i = 0; i < used_; ++i) {
    Page &page = *pages_[i];
    pageAt_[page.index] = nullptr;
    page.cells.clear();
    page.reads.clear();
    page.readKeys.clear();
    page.nextRead = 0;
    page.touched = {};
  }
  used_ = 0;
  lastIndex_ = ~uint64_t{0};
  rules_.clear();
}

// Calls visit(page, offset in the page, bytes).
template <class Cell>
template <class Visit>
void PagedRaces<Cell>::forPages(uint64_t address, uint64_t bytes, Visit visit) {
  for (uint64_t done = 0; done < bytes;) {
    uint64_t at = address + done, offset = at % kShadowPageBytes;
    uint64_t part = std::min(bytes - done, kShadowPageBytes - offset);
    visit(pageOf(at / kShadowPageBytes), static_cast<uint32_t>(offset),
          static_cast<uint32_t>(part));
    done += part;
  }
}

template <class Cell> size_t PagedRaces<Cell>::heldBytes() const {
  size_t bytes = rules_.heldBytes() + pages_.capacity() * sizeof(pages_[0]);
  for (const std::unique_ptr<Page> &page : pages_)
    bytes += sizeof(Page) + page->cells.heldBytes() + page->reads.capacity() * sizeof(EarlyRead) +
             page->readKeys.capacity() * sizeof(uint32_t);
  return bytes;
}

template <class Cell> void PagedRaces<Cell>::materialise(Page &page) {
  page.cells.reset(kShadowPageBytes);
  for (const EarlyRead &read : page.reads) {
    AccessRecord record = read.first;
    for (uint32_t at = 0; at < read.bytes; at += read.laneBytes, ++record.lane)
      page.cells.replay(rules_, record, read.cluster, read.offset + at,
                        std::min<uint32_t>(read.laneBytes, read.bytes - at));
  }
  page.reads.clear();
  page.readKeys.clear();
}

template <class Cell>
void PagedRaces<Cell>::touch(Page &page, uint32_t offset, uint32_t bytes, AccessKind kind) {
  bool writes = isWrite(kind);
  if constexpr (kOfLaunch) {
    bool strong = isStrongOnDevice(kind);
    TouchKind how = writes   ? strong ? TouchKind::StrongWrite : TouchKind::Write
                    : strong ? TouchKind::StrongRead
                             : TouchKind::Read;
    setBits(page.touched.of(how), offset, bytes);
  } else {
    if (writes && !page.touched.isWritten) {
      footprints_->beginWrite(page.index);
      page.touched.isWritten = true;
    }
    setBits(writes ? page.touched.written : page.touched.read, offset, bytes);
  }
}

template <class Cell> TouchedBytes PagedRaces<Cell>::touched() const {
  TouchedBytes all;
  if constexpr (kOfLaunch) {
    std::vector<const Page *> inOrder;
    for (size_t i = 0; i < used_; ++i)
      inOrder.push_back(pages_[i].get());
    std::ranges::sort(inOrder, {}, &Page::index);
    for (const Page *page : inOrder)
      page->touched.appendTo(all, page->index);
  }
  return all;
}

template <class Cell> void PagedRaces<Cell>::forgetTouched() {
  for (size_t i = 0; i < used_; ++i)
    pages_[i]->touched = {};
}

// A loop for vector instructions: nearly all reads are new.
bool holds(std::span<const uint32_t> keys, uint32_t wanted) {
  uint32_t found = 0;
  for (uint32_t key : keys)
    found |= key == wanted;
  return found;
}

template <class Cell> void PagedRaces<Cell>::remember(Page &page, const EarlyRead &read) {
  uint32_t key = read.key();
  if (holds(page.readKeys, key)) {
    auto isAgain = [&](const EarlyRead &known) { return known.isAgain(read); };
    if (auto known = std::ranges::find_if(page.reads, isAgain); known != page.reads.end()) {
      *known = read;
      return;
    }
  }
  if (page.reads.size() < kMostReads) {
    page.reads.push_back(read);
    page.readKeys.push_back(key);
    return;
  }
  // The list is full: the oldest read is forgotten, and a race with it would be missed.
  page.reads[page.nextRead] = read;
  page.readKeys[page.nextRead] = key;
  page.nextRead = (page.nextRead + 1) % kMostReads;
}

template <class Cell>
void PagedRaces<Cell>::check(const Accessor &accessor, Page &page, uint32_t offset, uint32_t bytes,
                             bool sameValue) {
  AccessKind kind = accessor.kind();
  bool isWeakRead = kind == AccessKind::Read || kind == AccessKind::ProxyRead;
  if (page.cells.empty() && isWeakRead) {
    remember(page, {static_cast<uint16_t>(offset), static_cast<uint16_t>(bytes),
                    static_cast<uint16_t>(bytes), accessor.cluster(), accessor.record});
    return;
  }
  if (page.cells.empty())
    materialise(page);
  uint64_t base = page.index * kShadowPageBytes;
  page.cells.access(rules_, accessor, offset, bytes, sameValue, [&](uint32_t at) {
    return RaceAddress{Space::Global, base + at};
  });
}

template <class Cell>
void PagedRaces<Cell>::access(const Accessor &accessor, uint64_t address, uint64_t bytes,
                              bool sameValue) {
  forPages(address, bytes, [&](Page &page, uint32_t offset, uint32_t part) {
    touch(page, offset, part, accessor.kind());
    check(accessor, page, offset, part, sameValue);
  });
}

template <class Cell>
void PagedRaces<Cell>::accessRun(Accessor &accessor, const Run &run, uint64_t address) {
  for (unsigned done = 0, first = accessor.lane; done < run.lanes;) {
    accessor.setLane(first + done);
    Run rest{run.lanes - done, run.bytes, run.same >> done};
    uint64_t at = address + uint64_t{done} * run.bytes, inPage = at % kShadowPageBytes;
    // Lanes whose elements lie in this page go together; one that crosses its end goes alone.
    rest.lanes =
        std::min(rest.lanes, static_cast<unsigned>((kShadowPageBytes - inPage) / run.bytes));
    if (rest.lanes)
      accessRunInPage(accessor, rest, pageOf(at / kShadowPageBytes), static_cast<uint32_t>(inPage));
    else
      access(accessor, at, run.bytes, run.same >> done & 1);
    done += std::max(rest.lanes, 1u);
  }
}

template <class Cell>
void PagedRaces<Cell>::accessRunInPage(Accessor &accessor, const Run &run, Page &page,
                                       uint32_t offset) {
  uint32_t all = run.lanes * run.bytes;
  touch(page, offset, all, accessor.kind());
  if (accessor.kind() == AccessKind::Read && page.cells.empty()) {
    remember(page, {static_cast<uint16_t>(offset), static_cast<uint16_t>(all),
                    static_cast<uint16_t>(run.bytes), accessor.cluster(), accessor.record});
    return;
  }
  for (unsigned i = 0, first = accessor.lane; i < run.lanes; ++i) {
    accessor.setLane(first + i);
    check(accessor, page, offset + i * run.bytes, run.bytes, run.same >> i & 1);
  }
}

} // namespace

std::unique_ptr<GlobalRaces> GlobalRaces::ofLaunch() {
  return std::make_unique<PagedRaces<GlobalCell>>(nullptr);
}

std::unique_ptr<GlobalRaces> GlobalRaces::ofCluster(Footprints &footprints) {
  return std::make_unique<PagedRaces<ClusterCell>>(&footprints);
}

} // namespace tile::vgpu
