// The registers of a warp that wgmma works on while the warp goes on: which are in flight, and which have been touched since
// the last wgmma.fence.
//
// Only operations that name a register some wgmma uses are watched. A plain mov is taken for what assemblers make of it,
// another name of the register: the copy is in flight as the original is.
#pragma once

#include "runtime/vgpu/machine/Program.h"

#include <deque>
#include <span>
#include <vector>

namespace tile::vgpu {

class MatrixFlight {
public:
  /// One wgmma that this warp has not waited for.
  struct Issue {
    const Op *op = nullptr;
    uint32_t time = 0; // the number of its group, from 1
    std::vector<uint32_t> rows;
  };

  /// `watches` false: nobody wants to know, and nothing is recorded.
  void reset(uint32_t fileBytes, bool watches);
  bool watches() const { return watches_; }
  bool isInFlight(uint32_t row) const { return test(inFlight_, row); }
  bool isTouched(uint32_t row) const { return test(touched_, row); }
  void touch(uint32_t row) { set(touched_, row); }
  void fence();
  void issue(const Op &op, uint32_t time, std::span<const uint32_t> rows);
  /// Groups up to `time` are done.
  void land(uint32_t time);
  /// `target` is another name of `source` from here on.
  void rename(uint32_t target, uint32_t source);
  /// The wgmma that has a row in flight.
  const Op *holder(uint32_t row) const;

private:
  using Bits = std::vector<uint64_t>;
  static bool test(const Bits &bits, uint32_t row) {
    uint32_t index = row / kRowBytes;
    return bits[index / 64] >> (index % 64) & 1;
  }
  static void set(Bits &bits, uint32_t row) {
    uint32_t index = row / kRowBytes;
    bits[index / 64] |= uint64_t{1} << (index % 64);
  }
  static void clear(Bits &bits, uint32_t row) {
    uint32_t index = row / kRowBytes;
    bits[index / 64] &= ~(uint64_t{1} << (index % 64));
  }

  std::deque<Issue> issues_;
  Bits inFlight_, touched_;
  bool watches_ = true;
};

/// Makes the operations of a decoded kernel that name registers of a wgmma go through the watch.
void watchMatrixRegisters(Program &program);

} // namespace tile::vgpu
