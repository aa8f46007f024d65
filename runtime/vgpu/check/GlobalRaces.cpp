// The shadow of global memory, in pages: finds the cells of an access. Memory that is only read has none.
#include "runtime/vgpu/check/Races.h"

#include "runtime/vgpu/check/EarlyReads.h"
#include "runtime/vgpu/check/TouchedPage.h"

#include <algorithm>

namespace tile::vgpu {

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
  // Cells are either those of a launch, whose touched bytes are compared with other streams', or of
  // a cluster.
  static constexpr bool kOfLaunch = Cell::kManyClusters;
  using Touched = std::conditional_t<kOfLaunch, TouchedPage, PageFootprint>;
  struct Page {
    uint64_t index = 0;
    ChunkShadow<Cell> cells; // empty until the page is written
    EarlyReads reads;        // until then
    Touched touched{};
  };

  Page &pageOf(uint64_t index);
  Page &addPage(uint64_t index);
  void materialise(Page &page);
  void touch(Page &page, uint32_t offset, uint32_t bytes, AccessKind kind);
  void check(const Accessor &accessor, Page &page, uint32_t offset, uint32_t bytes, bool sameValue);
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
    bytes += sizeof(Page) + page->cells.heldBytes() + page->reads.heldBytes();
  return bytes;
}

template <class Cell> void PagedRaces<Cell>::materialise(Page &page) {
  page.cells.reset(kShadowPageBytes);
  for (const EarlyRead &read : page.reads.all()) {
    AccessRecord record = read.first;
    for (uint32_t at = 0; at < read.bytes; at += read.laneBytes, ++record.lane)
      page.cells.replay(rules_, record, read.cluster, read.offset + at,
                        std::min<uint32_t>(read.laneBytes, read.bytes - at));
  }
  page.reads.clear();
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

template <class Cell>
void PagedRaces<Cell>::check(const Accessor &accessor, Page &page, uint32_t offset, uint32_t bytes,
                             bool sameValue) {
  AccessKind kind = accessor.kind();
  bool isWeakRead = kind == AccessKind::Read || kind == AccessKind::ProxyRead;
  if (page.cells.empty() && isWeakRead) {
    page.reads.remember({static_cast<uint16_t>(offset), static_cast<uint16_t>(bytes),
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
    page.reads.remember({static_cast<uint16_t>(offset), static_cast<uint16_t>(all),
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
