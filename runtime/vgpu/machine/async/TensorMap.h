// The virtual GPU's own encoding of tensor maps, and which bytes a bulk tensor copy moves.
//
// Bits of real drivers are never read. An encoded map is plain data that a kernel may copy about
// and change field by field with tensormap.replace; a checksum tells it from anything else.
#pragma once

#include "runtime/device/TensorMap.h"
#include "runtime/vgpu/machine/async/Swizzle.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

namespace tile::vgpu {

using device::TensorMapParams;
using MapBytes = std::span<uint8_t, device::kTensorMapBytes>;
using ConstMapBytes = std::span<const uint8_t, device::kTensorMapBytes>;

/// Throws InvalidArgument for a description that breaks an encode rule, Unsupported for one that is
/// not modelled or for an `arch` without tensor maps.
device::TensorMap encodeTensorMap(const TensorMapParams &params, int arch);

/// Decodes the bytes of a map, whether or not a copy can use it. Nothing if they are no map of this
/// virtual GPU; `fault` says why.
std::optional<TensorMapParams> decodeTensorMap(ConstMapBytes bytes, std::string &fault);

/// Names the property of a decoded map that the virtual GPU does not model: interleaved layouts.
/// Empty if it models all.
std::string unmodelledPart(const TensorMapParams &params);

/// The fields of tensormap.replace.
enum class MapField : uint8_t {
  GlobalAddress,
  Rank, // one less than the rank
  BoxDim,
  GlobalDim,
  GlobalStride,
  ElementStride,
  ElementType,
  InterleaveLayout,
  SwizzleMode,
  FillMode
};

/// tensormap.replace: sets a field, of those that are arrays the entry `ordinal`, to a value in
/// PTX's numbering. Returns why it cannot and then changes nothing. 128 zero bytes become a map of
/// one byte. Whether the fields fit together is only known when the map is used.
std::string replaceMapField(MapBytes bytes, MapField field, uint32_t ordinal, uint64_t value);

/// The number of elements of dimension `d` that are copied.
constexpr uint32_t copiedExtent(const TensorMapParams &params, uint32_t d) {
  // Without interleave dimension 0 has no stride.
  return d == 0 ? params.box[0]
                : (params.box[d] + params.elementStrides[d] - 1) / params.elementStrides[d];
}

/// Bytes of the whole box: what a copy tells its mbarrier, wherever the box lies.
uint64_t boxBytes(const TensorMapParams &params);

inline uint32_t rowBytes(const TensorMapParams &params) {
  return params.box[0] * static_cast<uint32_t>(device::sizeOf(params.type));
}

/// Bytes from one row of a tile in shared memory to the next: with a swizzle rows take whole spans,
/// of which the copy leaves alone what the box does not fill.
inline uint32_t rowPitch(const TensorMapParams &params) {
  return params.swizzle == device::TensorMapSwizzle::None ? rowBytes(params)
                                                          : device::spanOf(params.swizzle);
}

/// True if the bytes of a tile adjoin. Its start is a multiple of the span, so that chunks change
/// places within their rows.
inline bool isSolid(const TensorMapParams &params) { return rowBytes(params) == rowPitch(params); }

/// From the start of a tile in shared memory, a multiple of the span, to the end of its last chunk,
/// where the swizzle puts it.
uint64_t tileReach(const TensorMapParams &params, uint32_t tile);

/// The element that stands for one outside the tensor; the low bytes count.
uint64_t fillElement(const TensorMapParams &params);

/// True if loads change elements. f32.ftz and tf32.ftz flush nothing on their way into shared
/// memory.
inline bool convertsLoads(const TensorMapParams &params) {
  return params.type == device::TensorMapType::TF32 ||
         params.type == device::TensorMapType::TF32Ftz;
}
/// Converts `bytes` bytes of f32 as such a load does: the nearest tf32, of ties the even one; a NaN
/// is 0x7fffe000.
void roundToTf32(uint8_t *elements, uint32_t bytes);

/// Neighbouring elements of dimension 0 that are all inside the tensor or all outside.
struct TensorRun {
  uint32_t tileOffset = 0; // bytes from the start of the tile, before swizzling
  uint32_t bytes = 0;
  bool inside = false;
  uint64_t address = 0; // global, if inside
};

using Coordinates = std::array<int32_t, device::kMaxTensorRank>;

/// Why hardware refuses a box at these coordinates, as an illegal instruction; empty: it does not.
/// `writes`: to global memory.
std::string coordinatesFault(const TensorMapParams &params, const Coordinates &coordinates,
                             bool writes);

/// Calls visit(TensorRun) for the box at `coordinates`, in the order of the tile: the runs of a row
/// adjoin and cover it.
template <class Visit>
void forRuns(const TensorMapParams &params, const Coordinates &coordinates, Visit visit) {
  auto elementBytes = static_cast<uint32_t>(device::sizeOf(params.type));
  // The elements [left, right) of each row are inside, as far as dimension 0 goes.
  int64_t first = coordinates[0], width = params.box[0],
          left = std::clamp<int64_t>(-first, 0, width),
          right = std::clamp<int64_t>(static_cast<int64_t>(params.dims[0]) - first, left, width);
  uint32_t row = 0, pitch = rowPitch(params);
  auto emit = [&](int64_t begin, int64_t end, bool isInside, uint64_t address) {
    if (begin < end)
      visit(TensorRun{row + static_cast<uint32_t>(begin) * elementBytes,
                      static_cast<uint32_t>(end - begin) * elementBytes, isInside,
                      isInside ? address : 0});
  };
  auto emitRow = [&](bool inside, uint64_t address) {
    if (inside) {
      emit(0, left, false, 0);
      emit(left, right, true, address);
      emit(right, width, false, 0);
    } else {
      emit(0, width, false, 0);
    }
    row += pitch;
  };
  std::array<uint32_t, device::kMaxTensorRank> index{};
  for (;;) {
    bool inside = left < right;
    uint64_t address = params.base + static_cast<uint64_t>(first + left) * elementBytes;
    for (uint32_t d = 2; d < params.rank; ++d) {
      int64_t where = int64_t{coordinates[d]} + int64_t{index[d]} * params.elementStrides[d];
      inside = inside && where >= 0 && static_cast<uint64_t>(where) < params.dims[d];
      address += static_cast<uint64_t>(where) * params.strides[d - 1];
    }
    if (params.rank == 1)
      return emitRow(inside, address);
    // Dimension 1 step by step: most boxes have no other.
    int64_t where = coordinates[1], step = params.elementStrides[1];
    address += static_cast<uint64_t>(where) * params.strides[0];
    uint64_t stride = static_cast<uint64_t>(step) * params.strides[0];
    for (uint32_t i = copiedExtent(params, 1); i > 0; --i, where += step, address += stride)
      emitRow(inside && where >= 0 && static_cast<uint64_t>(where) < params.dims[1], address);
    uint32_t d = 2;
    while (d < params.rank && ++index[d] == copiedExtent(params, d))
      index[d++] = 0;
    if (d >= params.rank)
      return;
  }
}

/// The global addresses of a box: from its first byte to one past its last. Nothing if not all of
/// it is inside the tensor.
inline std::optional<std::pair<uint64_t, uint64_t>> spanOfBox(const TensorMapParams &params,
                                                              const Coordinates &coordinates) {
  uint64_t begin = params.base, end = begin;
  for (uint32_t d = 0; d < params.rank; ++d) {
    int64_t first = coordinates[d], last = first + int64_t{copiedExtent(params, d) - 1} *
                                                       (d ? params.elementStrides[d] : 1);
    if (first < 0 || static_cast<uint64_t>(last) >= params.dims[d])
      return std::nullopt;
    uint64_t stride = d ? params.strides[d - 1] : device::sizeOf(params.type);
    begin += static_cast<uint64_t>(first) * stride;
    end += static_cast<uint64_t>(last) * stride;
  }
  return std::pair{begin, end + device::sizeOf(params.type)};
}

/// Calls visit(shared address, bytes from the start of the run, bytes) for the pieces of a run in
/// the tile at `tile`, an absolute shared address: whole runs without a swizzle, parts of 16-byte
/// chunks with one.
template <class Visit>
void forPieces(const TensorMapParams &params, uint32_t tile, const TensorRun &run, Visit visit) {
  auto log2Chunks = static_cast<unsigned>(params.swizzle);
  uint32_t address = tile + run.tileOffset;
  if (log2Chunks == 0)
    return visit(address, 0u, run.bytes);
  for (uint32_t done = 0; done < run.bytes;) {
    uint32_t at = address + done,
             bytes = std::min(run.bytes - done, kChunkBytes - at % kChunkBytes);
    visit(swizzled(at, log2Chunks), done, bytes);
    done += bytes;
  }
}

/// Calls visit(shared address, bytes from the start) for each 16-byte chunk of `bytes` bytes of a
/// swizzled tile, both multiples of 16: the addresses of one span are all XORed alike.
template <class Visit>
void forChunks(uint32_t address, uint32_t bytes, unsigned log2Chunks, Visit visit) {
  uint32_t span = kChunkBytes << log2Chunks;
  for (uint32_t done = 0; done < bytes;) {
    uint32_t at = address + done, flips = at ^ swizzled(at, log2Chunks),
             end = std::min(bytes, done + span - (at & (span - 1)));
    for (; done < end; done += kChunkBytes)
      visit((address + done) ^ flips, done);
  }
}

/// The usable maps decoded last, by their bytes: a kernel goes round a few of them, and each costs
/// a checksum and a look at every rule.
class RecentMaps {
public:
  /// Null: none of them.
  const TensorMapParams *find(ConstMapBytes bytes) const;
  void add(ConstMapBytes bytes, const TensorMapParams &params);

private:
  struct Map {
    bool isUsed = false;
    std::array<uint8_t, device::kTensorMapBytes> bytes;
    TensorMapParams params;
  };
  static constexpr unsigned kMaps = 4;
  std::array<Map, kMaps> maps_;
  unsigned next_ = 0;
};

} // namespace tile::vgpu
