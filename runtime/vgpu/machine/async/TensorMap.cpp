// The encoding of tensor maps, and tensormap.replace.
#include "runtime/vgpu/machine/async/TensorMap.h"

#include <tile/Error.h>

#include <cstring>

namespace tile::vgpu {
namespace {

using namespace device;

constexpr uint64_t kMagic = 0x70616d5f75677076; // "vpgu_map"
constexpr uint8_t kVersion = 1;

// The 128 bytes. Extents are one less than what they mean, so that 2^32 fits.
struct Encoded {
  uint64_t magic;
  uint64_t base;
  uint64_t strides[kMaxTensorRank - 1];
  uint32_t lastIndices[kMaxTensorRank];
  uint32_t box[kMaxTensorRank];
  uint32_t elementStrides[kMaxTensorRank];
  uint8_t version, type, rank, interleave, swizzle, l2Promotion, fill, unused;
  uint32_t reserved[2];
  uint32_t checksum; // of all bytes before
};
static_assert(sizeof(Encoded) == kTensorMapBytes);

// FNV-1a by words.
uint32_t checksumOf(const Encoded &map) {
  uint32_t words[offsetof(Encoded, checksum) / sizeof(uint32_t)], sum = 0x811c9dc5;
  std::memcpy(words, &map, sizeof words);
  for (uint32_t word : words)
    sum = (sum ^ word) * 0x01000193;
  return sum;
}

Encoded pack(const TensorMapParams &params) {
  Encoded map{};
  map.magic = kMagic;
  map.version = kVersion;
  map.base = params.base;
  std::ranges::copy(params.strides, map.strides);
  for (size_t d = 0; d < kMaxTensorRank; ++d)
    map.lastIndices[d] = static_cast<uint32_t>(params.dims[d] - 1);
  std::ranges::copy(params.box, map.box);
  std::ranges::copy(params.elementStrides, map.elementStrides);
  map.type = static_cast<uint8_t>(params.type);
  map.rank = static_cast<uint8_t>(params.rank);
  map.interleave = static_cast<uint8_t>(params.interleave);
  map.swizzle = static_cast<uint8_t>(params.swizzle);
  map.l2Promotion = static_cast<uint8_t>(params.l2Promotion);
  map.fill = static_cast<uint8_t>(params.fill);
  map.checksum = checksumOf(map);
  return map;
}

TensorMapParams unpack(const Encoded &map) {
  TensorMapParams params;
  params.base = map.base;
  std::ranges::copy(map.strides, params.strides.begin());
  for (size_t d = 0; d < kMaxTensorRank; ++d)
    params.dims[d] = uint64_t{map.lastIndices[d]} + 1;
  std::ranges::copy(map.box, params.box.begin());
  std::ranges::copy(map.elementStrides, params.elementStrides.begin());
  params.type = static_cast<TensorMapType>(map.type);
  params.rank = map.rank;
  params.interleave = static_cast<TensorMapInterleave>(map.interleave);
  params.swizzle = static_cast<TensorMapSwizzle>(map.swizzle);
  params.l2Promotion = static_cast<TensorMapL2Promotion>(map.l2Promotion);
  params.fill = static_cast<TensorMapFill>(map.fill);
  return params;
}

// PTX numbers the element types otherwise than the driver.
constexpr TensorMapType kPtxTypes[] = {
    TensorMapType::U8,     TensorMapType::U16, TensorMapType::U32,  TensorMapType::S32,
    TensorMapType::U64,    TensorMapType::S64, TensorMapType::F16,  TensorMapType::F32,
    TensorMapType::F32Ftz, TensorMapType::F64, TensorMapType::BF16, TensorMapType::TF32,
    TensorMapType::TF32Ftz};

struct FieldRule {
  const char *name;
  uint64_t entries; // 0: not an array
  uint64_t least, most;
};

constexpr FieldRule kFieldRules[] = {
    {"global_address", 0, 0, ~uint64_t{0}},
    {"rank", 0, 0, kMaxTensorRank - 1},
    {"box_dim", kMaxTensorRank, 1, 256},
    {"global_dim", kMaxTensorRank, 1, 0xffffffff},
    {"global_stride", kMaxTensorRank - 1, 0, (uint64_t{1} << 40) - 1},
    {"element_stride", kMaxTensorRank, 1, 8},
    {"elemtype", 0, 0, std::size(kPtxTypes) - 1},
    {"interleave_layout", 0, 0, 2},
    {"swizzle_mode", 0, 0, 3},
    {"fill_mode", 0, 0, 1},
};

void setField(TensorMapParams &params, MapField field, uint32_t ordinal, uint64_t value) {
  auto small = static_cast<uint32_t>(value);
  switch (field) {
  case MapField::GlobalAddress:
    params.base = value;
    return;
  case MapField::Rank:
    params.rank = small + 1;
    return;
  case MapField::BoxDim:
    params.box[ordinal] = small;
    return;
  case MapField::GlobalDim:
    params.dims[ordinal] = value;
    return;
  case MapField::GlobalStride:
    params.strides[ordinal] = value;
    return;
  case MapField::ElementStride:
    params.elementStrides[ordinal] = small;
    return;
  case MapField::ElementType:
    params.type = kPtxTypes[small];
    return;
  case MapField::InterleaveLayout:
    params.interleave = static_cast<TensorMapInterleave>(small);
    return;
  case MapField::SwizzleMode:
    params.swizzle = static_cast<TensorMapSwizzle>(small);
    return;
  case MapField::FillMode:
    params.fill = static_cast<TensorMapFill>(small);
    return;
  }
}

} // namespace

TensorMap encodeTensorMap(const TensorMapParams &params, int arch) {
  checkTensorMap(params, arch);
  if (std::string part = unmodelledPart(params); !part.empty())
    throw Error(Fault::User, ErrorCode::Unsupported,
                "tensor map: the virtual GPU does not model " + part);
  TensorMap map;
  Encoded encoded = pack(params);
  std::memcpy(map.bytes.data(), &encoded, sizeof encoded);
  return map;
}

std::optional<TensorMapParams> decodeTensorMap(ConstMapBytes bytes, std::string &fault) {
  Encoded map;
  std::memcpy(&map, bytes.data(), sizeof map);
  if (map.magic != kMagic || map.version != kVersion) {
    fault = "the 128 bytes are not a tensor map that encodeTensorMap of this device made";
    return std::nullopt;
  }
  if (map.checksum != checksumOf(map)) {
    fault = "the tensor map's checksum does not fit: its bytes were changed other than by "
            "tensormap.replace";
    return std::nullopt;
  }
  return unpack(map);
}

std::string unmodelledPart(const TensorMapParams &params) {
  if (params.interleave != TensorMapInterleave::None)
    return std::string("interleave ") +
           (params.interleave == TensorMapInterleave::Bytes16 ? "16B" : "32B");
  return "";
}

static TensorMapParams blankMap() {
  TensorMapParams params;
  params.rank = 1;
  params.type = TensorMapType::U8;
  params.dims.fill(1);
  return params;
}

std::string replaceMapField(MapBytes bytes, MapField field, uint32_t ordinal, uint64_t value) {
  const FieldRule &rule = kFieldRules[static_cast<size_t>(field)];
  std::string fault;
  // Programs that build a map themselves begin with zeros.
  bool isBlank = std::ranges::all_of(bytes, [](uint8_t byte) { return byte == 0; });
  std::optional<TensorMapParams> params = isBlank ? blankMap() : decodeTensorMap(bytes, fault);
  if (!params)
    return fault;
  if (ordinal >= std::max<uint64_t>(rule.entries, 1))
    return std::string("field ") + rule.name + " has no entry " + std::to_string(ordinal);
  if (value < rule.least || value > rule.most)
    return std::string("field ") + rule.name + ": " + std::to_string(value) + " is outside " +
           std::to_string(rule.least) + " to " + std::to_string(rule.most);
  setField(*params, field, ordinal, value);
  Encoded map = pack(*params);
  std::memcpy(bytes.data(), &map, sizeof map);
  return "";
}

uint64_t boxBytes(const TensorMapParams &params) {
  uint64_t bytes = sizeOf(params.type);
  for (uint32_t d = 0; d < params.rank; ++d)
    bytes *= copiedExtent(params, d);
  return bytes;
}

uint64_t tileReach(const TensorMapParams &params, uint32_t tile) {
  uint64_t rows = 1;
  for (uint32_t d = 1; d < params.rank; ++d)
    rows *= copiedExtent(params, d);
  uint64_t lastRow = (rows - 1) * rowPitch(params);
  if (isSolid(params))
    return lastRow + rowPitch(params);
  // Only the low bits of the row's address say where its chunks go.
  uint32_t row = tile + static_cast<uint32_t>(lastRow), end = 0;
  forPieces(params, row, {0, rowBytes(params), true, 0},
            [&](uint32_t address, uint32_t, uint32_t bytes) {
              end = std::max(end, address - row + bytes);
            });
  return lastRow + end;
}

uint64_t fillElement(const TensorMapParams &params) {
  if (params.fill == TensorMapFill::Zero)
    return 0;
  return 0x7ff7'7ff7'7ff7'7ff7; // a NaN in each half word, of every format
}

void roundToTf32(uint8_t *elements, uint32_t bytes) {
  constexpr uint32_t kDropped = 0x1fff, kMagnitude = 0x7fffffff, kInfinity = 0x7f800000;
  for (uint32_t at = 0; at + sizeof(uint32_t) <= bytes; at += sizeof(uint32_t)) {
    uint32_t bits;
    std::memcpy(&bits, elements + at, sizeof bits);
    uint32_t isOdd = bits >> 13 & 1;
    bits = (bits & kMagnitude) > kInfinity ? kMagnitude & ~kDropped
                                           : (bits + kDropped / 2 + isOdd) & ~kDropped;
    std::memcpy(elements + at, &bits, sizeof bits);
  }
}

std::string coordinatesFault(const TensorMapParams &params, const Coordinates &coordinates,
                             bool writes) {
  auto size = static_cast<int64_t>(sizeOf(params.type));
  if (coordinates[0] * size % kChunkBytes)
    return "the first coordinate of a tensor copy must be a multiple of 16 bytes, here of " +
           std::to_string(kChunkBytes / size) + " elements, not " + std::to_string(coordinates[0]);
  for (uint32_t d = 0; writes && d < params.rank; ++d)
    if (coordinates[d] < 0)
      return "coordinate " + std::to_string(d) + " is " + std::to_string(coordinates[d]) +
             "; stores and reductions take no negative ones";
  return "";
}

const TensorMapParams *RecentMaps::find(ConstMapBytes bytes) const {
  for (const Map &map : maps_)
    if (map.isUsed && std::ranges::equal(map.bytes, bytes))
      return &map.params;
  return nullptr;
}

void RecentMaps::add(ConstMapBytes bytes, const TensorMapParams &params) {
  Map &map = maps_[next_++ % kMaps];
  map.isUsed = true;
  std::ranges::copy(bytes, map.bytes.begin());
  map.params = params;
}

} // namespace tile::vgpu
