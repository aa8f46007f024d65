// Which bits of a warp's registers hold values that were written: the register half of the check
// for uninitialised data.
//
// Most registers are initialised in full, which one mask a row says. Compilers, however, pack bytes
// and halves into registers whose other bits are anything, and take them apart again; so a lane
// that is initialised in part has a shadow, a register of the same shape in which 1 marks the bits
// that are not.
#pragma once

#include "runtime/vgpu/machine/Program.h"

#include <algorithm>
#include <memory>
#include <vector>

namespace tile::vgpu {

class ShadowRegisters {
public:
  /// State of a row of 32-bit lanes, lane by lane: in `whole`, all of its bits are initialised; in
  /// `partial`, those its shadow says; in neither, none.
  struct Row {
    uint32_t whole = 0, partial = 0;
  };

  ShadowRegisters() = default;
  ShadowRegisters(Row *rows, uint8_t *shadows) : rows_(rows), shadows_(shadows) {}
  /// True if initialisation is tracked at all.
  explicit operator bool() const { return rows_; }

  uint32_t whole(uint32_t row) const { return rows_[row / kRowBytes].whole; }
  /// The lanes of `mask` become initialised in full where `lanes` says so, and not at all
  /// elsewhere.
  void set(uint32_t row, uint32_t lanes, uint32_t mask) {
    Row &state = rows_[row / kRowBytes];
    state.whole = (state.whole & ~mask) | (lanes & mask);
    state.partial &= ~mask;
  }

  /// 1 where a bit of the lane is not initialised. Lane: uint32_t or uint64_t, as wide as the row's
  /// lanes.
  template <class Lane> Lane undefined(uint32_t row, unsigned lane) const {
    const Row &state = rows_[row / kRowBytes];
    if (state.whole >> lane & 1)
      return 0;
    return state.partial >> lane & 1 ? shadow<Lane>(row)[lane] : static_cast<Lane>(-1);
  }
  template <class Lane> void setUndefined(uint32_t row, unsigned lane, Lane bits) {
    set(row, bits == 0 ? ~0u : 0, 1u << lane);
    if (bits == 0 || bits == static_cast<Lane>(-1))
      return;
    rows_[row / kRowBytes].partial |= 1u << lane;
    shadow<Lane>(row)[lane] = bits;
  }

private:
  template <class Lane> Lane *shadow(uint32_t row) const {
    return reinterpret_cast<Lane *>(shadows_ + row);
  }

  Row *rows_ = nullptr;
  uint8_t *shadows_ = nullptr; // laid out as the registers
};

/// The state of the registers of all warps of a block.
class ShadowRegisterFile {
public:
  ShadowRegisterFile() = default;
  ShadowRegisterFile(size_t warps, uint32_t bytesPerWarp)
      : bytesPerWarp_(bytesPerWarp), rows_(warps * rowsPerWarp()),
        shadows_(std::make_unique_for_overwrite<uint8_t[]>(warps * bytesPerWarp)) {}

  ShadowRegisters warp(size_t index) {
    return {rows_.data() + index * rowsPerWarp(), shadows_.get() + index * bytesPerWarp_};
  }
  /// Before a block starts: of each warp's rows those from `constantsBegin` on are initialised, the
  /// others not.
  void reset(uint32_t constantsBegin) {
    std::ranges::fill(rows_, ShadowRegisters::Row{});
    for (size_t first = 0; first < rows_.size(); first += rowsPerWarp())
      std::fill(rows_.begin() + first + constantsBegin / kRowBytes,
                rows_.begin() + first + rowsPerWarp(), ShadowRegisters::Row{~0u, 0});
  }

private:
  size_t rowsPerWarp() const { return bytesPerWarp_ / kRowBytes; }

  uint32_t bytesPerWarp_ = 0;
  std::vector<ShadowRegisters::Row> rows_;
  std::unique_ptr<uint8_t[]> shadows_;
};

} // namespace tile::vgpu
