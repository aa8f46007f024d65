// The bytes of global memory that each cluster of a launch reads and writes, compared with those of
// the others.
//
// Clusters that do not communicate are run side by side as if each were alone. That is the same as
// one after the other, as long as none touches what another writes; if one does, or there is
// anything to report, memory is put back and the launch starts again on one thread, whose reports
// do not depend on timing.
#pragma once

#include "runtime/vgpu/check/AddressWindows.h"
#include "runtime/vgpu/check/TouchedBytes.h"

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

namespace tile::vgpu {

/// Pages of global memory, the unit of its shadow: addresses divided by this.
constexpr uint32_t kShadowPageBytes = 1024;

/// A T for each page, made when it is first asked for: most pages are never touched.
template <class T> class PageTable {
public:
  T &operator[](uint64_t page) {
    uint64_t at = page - kGlobalBase / kShadowPageBytes;
    if (at / kSpan >= spans_.size())
      spans_.resize(at / kSpan + 1);
    std::unique_ptr<Span> &span = spans_[at / kSpan];
    if (!span)
      span = std::make_unique<Span>();
    return (*span)[at % kSpan];
  }

private:
  static constexpr uint64_t kSpan = 1024;
  using Span = std::array<T, kSpan>;
  std::vector<std::unique_ptr<Span>> spans_;
};

/// One bit a byte of a page.
using PageBits = std::array<uint64_t, kShadowPageBytes / 64>;
void setBits(PageBits &bits, uint32_t begin, uint32_t count);
/// Appends the bytes of a page, which lies beyond those that are there.
void appendBits(ByteRanges &ranges, uint64_t page, const PageBits &bits);

/// The bytes of a page that one cluster has touched.
struct PageFootprint {
  PageBits read{}, written{};
  bool isWritten = false;
};

class Footprints {
public:
  /// `keep(page)` is called before each cluster's first write to a page, by several threads at a
  /// time: whoever wants to put memory back saves the page then.
  explicit Footprints(std::function<void(uint64_t page)> keep) : keep_(std::move(keep)) {}
  void beginWrite(uint64_t page) { keep_(page); }
  /// A page that a cluster which has ended had touched.
  struct Touched {
    uint64_t page;
    const PageFootprint *footprint;
  };
  void add(std::span<const Touched> pages);
  /// True once a cluster has touched what another has written.
  bool haveConflict() const { return haveConflict_; }
  /// The bytes that all clusters have touched.
  TouchedBytes touched();

private:
  // A page as all clusters that have ended have touched it. Most pages are only read.
  struct Merged {
    PageBits read{};
    std::unique_ptr<PageBits> written;
    bool empty() const { return !written && read == PageBits{}; }
  };

  void mergePage(const Touched &touched);
  void merge(Merged &merged, const PageFootprint &footprint);

  std::function<void(uint64_t)> keep_;
  std::mutex mutex_;
  PageTable<Merged> merged_;
  std::vector<uint64_t> pages_; // of merged_ that are not empty
  std::atomic<bool> haveConflict_ = false;
};

} // namespace tile::vgpu
