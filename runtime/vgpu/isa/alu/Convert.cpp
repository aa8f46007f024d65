// cvt between all scalar types, and the packed forms.
//
// The common conversions are lane functions the compiler vectorises; all others go through double, which holds every
// float exactly, and one rounding function.
#include "runtime/vgpu/decode/OpcodeTable.h"
#include "runtime/vgpu/decode/Select.h"
#include "runtime/vgpu/isa/alu/FloatRules.h"
#include "runtime/vgpu/isa/alu/HalfFormat.h"
#include "runtime/vgpu/ptx/ModifierWords.h"

#include <algorithm>
#include <limits>

namespace tile::vgpu {
namespace {

constexpr FloatFormat kSingleFormat{8, 23, true};

struct Mode {
  Rounding rounding = Rounding::NearestEven;
  bool rounds = false; // a rounding was given; not packed
  bool integral = false, flush = false, saturate = false, relu = false, saturateFinite = false;

  bool isPlain() const {
    return rounding == Rounding::NearestEven && !integral && !flush && !saturate && !relu &&
           !saturateFinite;
  }
};

template <class T> double loadFloat(LaneOf<T> lane, const Mode &mode) {
  if constexpr (std::is_same_v<T, F16>)
    return halfToFloat(static_cast<uint16_t>(lane));
  else if constexpr (std::is_same_v<T, BF16>)
    return bfloatToFloat(static_cast<uint16_t>(lane));
  else if constexpr (std::is_same_v<T, float>)
    return mode.flush ? canonical(flush<true>(fromLane<float>(lane))) : fromLane<float>(lane);
  else
    return fromLane<double>(lane);
}

template <class T> LaneOf<T> storeFloat(double value, const Mode &mode) {
  if (mode.saturate)
    value = saturate(value);
  if (mode.relu)
    value = relu(value);
  if constexpr (std::is_same_v<T, F16>)
    return encodeFloat(value, kHalfFormat, mode.rounding, mode.saturateFinite);
  else if constexpr (std::is_same_v<T, BF16>)
    return encodeFloat(value, kBfloatFormat, mode.rounding, mode.saturateFinite);
  else if constexpr (std::is_same_v<T, float>) {
    uint32_t bits = encodeFloat(value, kSingleFormat, mode.rounding, mode.saturateFinite);
    return mode.flush ? std::bit_cast<uint32_t>(flush<true>(std::bit_cast<float>(bits))) : bits;
  } else
    return toLane<double>(value);
}

double roundToInteger(double value, Rounding rounding) {
  switch (rounding) {
  case Rounding::Zero:
    return std::trunc(value);
  case Rounding::Down:
    return std::floor(value);
  case Rounding::Up:
    return std::ceil(value);
  default:
    return std::nearbyint(value);
  }
}

// f64 hands its NaN on to narrower formats, as far as they hold it; of the others each format has one.
template <class S, class D> LaneOf<D> narrowed(double value, const Mode &mode) {
  if constexpr (std::is_same_v<S, double> && !std::is_same_v<D, double>)
    if (isNan(value) && !mode.saturate)
      return encodeNan(value, std::is_same_v<D, F16>    ? kHalfFormat
                              : std::is_same_v<D, BF16> ? kBfloatFormat
                                                        : kSingleFormat);
  return storeFloat<D>(value, mode);
}

template <class S, class D> void floatToFloat(Warp &warp, const Op &op) {
  auto mode = formOf<Mode>(op);
  forLanes(warp.mask, [&](unsigned lane) {
    double value = loadFloat<S>(warp.row<LaneOf<S>>(op.rows[1])[lane], mode);
    if (mode.integral)
      value = roundToInteger(value, mode.rounding);
    warp.row<LaneOf<D>>(op.rows[0])[lane] = narrowed<S, D>(value, mode);
  });
}

// Out of range saturates. NaN is 0 for 32-bit conversions, else the middle of the range (9.7.9.21).
template <class S, class D> D integerOf(double value) {
  constexpr bool wide = std::is_same_v<S, double> || sizeof(D) == 8;
  if (std::isnan(value))
    return wide ? static_cast<D>(std::make_unsigned_t<D>{1} << (8 * sizeof(D) - 1)) : D{0};
  if (value <= static_cast<double>(std::numeric_limits<D>::min()))
    return std::numeric_limits<D>::min();
  if (value >= static_cast<double>(std::numeric_limits<D>::max()))
    return std::numeric_limits<D>::max();
  return static_cast<D>(value);
}

template <class S, class D> void floatToInteger(Warp &warp, const Op &op) {
  auto mode = formOf<Mode>(op);
  forLanes(warp.mask, [&](unsigned lane) {
    double value =
        roundToInteger(loadFloat<S>(warp.row<LaneOf<S>>(op.rows[1])[lane], mode), mode.rounding);
    warp.row<LaneOf<D>>(op.rows[0])[lane] = toLane<D>(integerOf<S, D>(value));
  });
}

// A 64-bit magnitude cut to `digits` significant bits, exactly representable as double if digits <= 53.
double roundMagnitude(uint64_t magnitude, bool negative, int digits, Rounding rounding) {
  int extra = 64 - std::countl_zero(magnitude) - digits;
  if (extra > 0) {
    uint64_t unit = uint64_t{1} << extra, rest = magnitude & (unit - 1), half = unit / 2;
    bool odd = magnitude & unit;
    bool up = rounding == Rounding::NearestEven ? rest > half || (rest == half && odd)
              : rounding == Rounding::Down      ? negative && rest
              : rounding == Rounding::Up        ? !negative && rest
                                                : false;
    magnitude -= rest;
    if (up && magnitude + unit < magnitude)
      return negative ? -0x1p64 : 0x1p64;
    magnitude += up ? unit : 0;
  }
  auto value = static_cast<double>(magnitude);
  return negative ? -value : value;
}

template <class S, class D> void integerToFloat(Warp &warp, const Op &op) {
  auto mode = formOf<Mode>(op);
  constexpr int digits = std::is_same_v<D, double>  ? 53
                         : std::is_same_v<D, float> ? 24
                         : std::is_same_v<D, F16>   ? 11
                                                    : 8;
  forLanes(warp.mask, [&](unsigned lane) {
    S value = fromLane<S>(warp.row<LaneOf<S>>(op.rows[1])[lane]);
    bool negative = value < 0;
    uint64_t magnitude = negative ? 0 - static_cast<uint64_t>(static_cast<int64_t>(value))
                                  : static_cast<uint64_t>(value);
    warp.row<LaneOf<D>>(op.rows[0])[lane] =
        storeFloat<D>(roundMagnitude(magnitude, negative, digits, mode.rounding), mode);
  });
}

template <class S, class D, bool Saturate> struct IntegerToInteger {
  D operator()(S value) const {
    if constexpr (!Saturate)
      return static_cast<D>(value);
    if (std::is_signed_v<S> && value < 0) {
      if (!std::is_signed_v<D>)
        return 0;
      return static_cast<int64_t>(value) < static_cast<int64_t>(std::numeric_limits<D>::min())
                 ? std::numeric_limits<D>::min()
                 : static_cast<D>(value);
    }
    return static_cast<uint64_t>(value) > static_cast<uint64_t>(std::numeric_limits<D>::max())
               ? std::numeric_limits<D>::max()
               : static_cast<D>(value);
  }
};

struct HalfToSingle {
  float operator()(F16 value) const { return canonical(halfToFloat(value.bits)); }
};
struct BfloatToSingle { // the bits of a NaN too
  float operator()(BF16 value) const { return bfloatToFloat(value.bits); }
};
struct SingleToHalf {
  F16 operator()(float value) const { return {floatToHalf(value)}; }
};
struct SingleToBfloat {
  BF16 operator()(float value) const { return {floatToBfloat(value)}; }
};
struct PackHalf { // the first operand is the upper half
  uint32_t operator()(float high, float low) const {
    return uint32_t{floatToHalf(high)} << 16 | floatToHalf(low);
  }
};
struct PackBfloat {
  uint32_t operator()(float high, float low) const {
    return uint32_t{floatToBfloat(high)} << 16 | floatToBfloat(low);
  }
};
template <class S> struct ToSingle {
  float operator()(S value) const { return static_cast<float>(value); }
};
struct DoubleToSingle { // the host hands a NaN on as hardware does
  float operator()(double value) const { return static_cast<float>(value); }
};
struct SingleToDouble {
  double operator()(float value) const { return value; }
};
struct SingleToSingle {
  float operator()(float value) const { return value; }
};

template <class Make> Handler forFloat(ScalarType type, Make make) {
  switch (type) {
  case ScalarType::F16:
    return make.template operator()<F16>();
  case ScalarType::BF16:
    return make.template operator()<BF16>();
  case ScalarType::F32:
    return make.template operator()<float>();
  case ScalarType::F64:
    return make.template operator()<double>();
  default:
    return nullptr;
  }
}

// The vectorised handler of a conversion without special mode, or null.
Handler fastConversion(ScalarType to, ScalarType from, const Mode &mode) {
  if (!mode.isPlain())
    return nullptr;
  struct Row {
    ScalarType to, from;
    Handler handler;
  };
  static constexpr Row rows[] = {
      {ScalarType::F32, ScalarType::F16, laneOp<HalfToSingle, float, F16>},
      {ScalarType::F32, ScalarType::BF16, laneOp<BfloatToSingle, float, BF16>},
      {ScalarType::F16, ScalarType::F32, laneOp<SingleToHalf, F16, float>},
      {ScalarType::BF16, ScalarType::F32, laneOp<SingleToBfloat, BF16, float>},
      {ScalarType::F32, ScalarType::S32, laneOp<ToSingle<int32_t>, float, int32_t>},
      {ScalarType::F32, ScalarType::U32, laneOp<ToSingle<uint32_t>, float, uint32_t>},
      {ScalarType::F32, ScalarType::F64, laneOp<DoubleToSingle, float, double>},
      {ScalarType::F64, ScalarType::F32, laneOp<SingleToDouble, double, float>},
      {ScalarType::F32, ScalarType::F32, laneOp<SingleToSingle, float, float>}};
  for (const Row &row : rows)
    if (row.to == to && row.from == from)
      return row.handler;
  return nullptr;
}

Handlers scalarConversion(ScalarType to, ScalarType from, const Mode &mode) {
  if (Handler fast = fastConversion(to, from, mode))
    return fast;
  if (isFloat(to) && isFloat(from))
    return forFloat(to, [&]<class D>() -> Handler {
      return forFloat(from, []<class S>() -> Handler { return floatToFloat<S, D>; });
    });
  if (isFloat(to))
    return forFloat(to, [&]<class D>() -> Handler {
      return forInteger(from, []<class S>() -> Handler { return integerToFloat<S, D>; });
    });
  if (isFloat(from))
    return forInteger(to, [&]<class D>() -> Handler {
      return forFloat(from, []<class S>() -> Handler { return floatToInteger<S, D>; });
    });
  return forInteger(to, [&]<class D>() -> Handlers {
    return forInteger(from, [&]<class S>() -> Handlers {
      return mode.saturate ? laneOp<IntegerToInteger<S, D, true>, D, S>
                           : bitOp<IntegerToInteger<S, D, false>, 1, D, S>();
    });
  });
}

// .rna adds half a unit and cuts, but of a NaN it cuts alone, which may leave an infinity; the others have one NaN.
uint32_t tf32Of(float value, const Mode &mode) {
  constexpr int kDroppedBits = 13;
  if (isNan(value) && mode.rounding == Rounding::NearestAway)
    return std::bit_cast<uint32_t>(value) >> kDroppedBits << kDroppedBits;
  return encodeFloat(mode.relu ? relu(value) : value, kTf32Format, mode.rounding,
                     mode.saturateFinite)
         << kDroppedBits;
}

void roundTf32(Warp &warp, const Op &op) {
  auto mode = formOf<Mode>(op);
  forLanes(warp.mask, [&](unsigned lane) {
    float value = fromLane<float>(warp.row<uint32_t>(op.rows[1])[lane]);
    warp.row<uint32_t>(op.rows[0])[lane] = tf32Of(value, mode);
  });
}

// Two values side by side: f32 pairs or packed halves to narrow formats, and back.
struct PackedMode {
  Mode mode;
  uint8_t format = 0; // of the result
};
constexpr FloatFormat formatOf(uint32_t index) {
  constexpr FloatFormat formats[] = {kHalfFormat, kBfloatFormat, kE4m3Format, kE5m2Format};
  return formats[index];
}

void packPair(Warp &warp, const Op &op) {
  auto [mode, number] = formOf<PackedMode>(op);
  FloatFormat format = formatOf(number);
  int bits = 1 + format.exponentBits + format.mantissaBits;
  forLanes(warp.mask, [&](unsigned lane) {
    uint32_t result = 0;
    for (int half = 0; half < 2; ++half) {
      double value = fromLane<float>(warp.row<uint32_t>(op.rows[half == 0 ? 2 : 1])[lane]);
      if (mode.relu)
        value = relu(value);
      result |= encodeFloat(value, format, mode.rounding, mode.saturateFinite) << (bits * half);
    }
    warp.row<uint32_t>(op.rows[0])[lane] = result;
  });
}

// Between packed formats. Op::imm: that of the source.
void repackPair(Warp &warp, const Op &op) {
  auto [mode, number] = formOf<PackedMode>(op);
  FloatFormat to = formatOf(number), from = formatOf(static_cast<uint32_t>(op.imm));
  int toBits = 1 + to.exponentBits + to.mantissaBits,
      fromBits = 1 + from.exponentBits + from.mantissaBits;
  forLanes(warp.mask, [&](unsigned lane) {
    uint32_t source = warp.row<uint32_t>(op.rows[1])[lane], result = 0;
    for (int half = 0; half < 2; ++half) {
      double value = decodeFloat(source >> (fromBits * half) & ((1u << fromBits) - 1), from);
      if (mode.relu)
        value = relu(value);
      result |= encodeFloat(value, to, mode.rounding, mode.saturateFinite) << (toBits * half);
    }
    warp.row<uint32_t>(op.rows[0])[lane] = result;
  });
}

std::optional<uint8_t> packedFormat(ScalarType type) {
  switch (type) {
  case ScalarType::F16x2:
    return 0;
  case ScalarType::BF16x2:
    return 1;
  case ScalarType::E4M3x2:
    return 2;
  case ScalarType::E5M2x2:
    return 3;
  default:
    return std::nullopt;
  }
}

Mode takeMode(Suffixes &suffixes) {
  Mode mode;
  std::string_view rounding =
      suffixes.takeOneOf({"rn", "rz", "rm", "rp", "rna", "rni", "rzi", "rmi", "rpi"});
  mode.rounds = !rounding.empty();
  mode.integral = rounding.size() == 3 && rounding != "rna";
  mode.rounding = rounding == "rna"            ? Rounding::NearestAway
                  : rounding.starts_with("rz") ? Rounding::Zero
                  : rounding.starts_with("rm") ? Rounding::Down
                  : rounding.starts_with("rp") ? Rounding::Up
                                               : Rounding::NearestEven;
  mode.flush = suffixes.take("ftz");
  mode.saturate = suffixes.take("sat");
  mode.relu = suffixes.take("relu");
  mode.saturateFinite = suffixes.take("satfinite");
  return mode;
}

bool isByteFormat(uint32_t format) { return format >= 2; }

Handler repackShadow(uint32_t to, uint32_t from) {
  if (isByteFormat(to))
    return isByteFormat(from) ? partShadow<8, 8> : partShadow<16, 8>;
  return isByteFormat(from) ? partShadow<8, 16> : partShadow<16, 16>;
}

void decodePacked(Decoder &decoder, const Instruction &instruction, ScalarType to, ScalarType from,
                  Mode mode) {
  auto toFormat = packedFormat(to), fromFormat = packedFormat(from);
  bool toBytes = toFormat && isByteFormat(*toFormat),
       fromBytes = fromFormat && isByteFormat(*fromFormat);
  bool nearest = mode.rounding == Rounding::NearestEven;
  if (mode.flush || mode.saturate || mode.integral || !mode.rounds ||
      (!nearest && (toBytes || fromBytes || mode.rounding != Rounding::Zero)))
    decoder.unsupported("packed conversions have .rn, or to halves .rz, and .relu and .satfinite");
  if (toBytes != mode.saturateFinite && (toBytes || fromBytes))
    decoder.unsupported(".satfinite goes with conversions to e4m3x2 and e5m2x2");
  if (toFormat && fromFormat && !(toBytes && from == ScalarType::F16x2) &&
      !(fromBytes && to == ScalarType::F16x2))
    decoder.unsupported("a packed conversion between these types");
  if (toFormat && fromFormat) {
    decoder.wantOperands(instruction, 2);
    uint32_t source = decoder.source(instruction.operands[1], from);
    decoder.emit({repackPair, repackShadow(*toFormat, *fromFormat)},
                 {decoder.target(instruction.operands[0], to)}, {source}, *fromFormat,
                 PackedMode{mode, *toFormat});
    return;
  }
  if (!toFormat || from != ScalarType::F32)
    decoder.unsupported("a packed conversion between these types");
  decoder.wantOperands(instruction, 3);
  uint32_t high = decoder.source(instruction.operands[1], from),
           low = decoder.source(instruction.operands[2], from);
  Handler fast = !mode.isPlain()  ? nullptr
                 : *toFormat == 0 ? laneOp<PackHalf, uint32_t, float, float>
                 : *toFormat == 1 ? laneOp<PackBfloat, uint32_t, float, float>
                                  : nullptr;
  Handler shadow = isByteFormat(*toFormat) ? pairShadow<8> : pairShadow<16>;
  decoder.emit({fast ? fast : packPair, shadow}, {decoder.target(instruction.operands[0], to)},
               {high, low}, 0, PackedMode{mode, *toFormat});
}

// Which rounding a pair of types has to have, or must not have.
void checkMode(Decoder &decoder, ScalarType to, ScalarType from, const Mode &mode) {
  bool narrows = isFloat(to) && isFloat(from) && to != from && bytesOf(to) <= bytesOf(from);
  bool floating = mode.rounds && !mode.integral;
  if (isFloat(from) && !isFloat(to) && !mode.integral)
    decoder.unsupported("a conversion of a float to an integer needs .rni, .rzi, .rmi or .rpi");
  if ((narrows || (isFloat(to) && !isFloat(from))) && !floating)
    decoder.unsupported("this conversion needs .rn, .rz, .rm or .rp");
  if (mode.rounds && !isFloat(from) && !isFloat(to))
    decoder.unsupported("a conversion between integers does not round");
  if (isFloat(from) && isFloat(to) && !narrows &&
      (floating || (mode.integral && bytesOf(to) > bytesOf(from))))
    decoder.unsupported("this conversion is exact: no rounding can be given");
  bool half = to == ScalarType::F16 || to == ScalarType::BF16;
  if ((mode.relu || mode.saturateFinite) && !(half && from == ScalarType::F32))
    decoder.unsupported(".relu and .satfinite go with f32 to f16, bf16 or tf32");
  if (mode.flush && to != ScalarType::F32 && from != ScalarType::F32)
    decoder.unsupported(".ftz goes with .f32");
}

// cvt.pack.sat: two s32, each clamped, the first above the second; for types of up to 8 bits over a third operand moved up.
void packIntegers(Warp &warp, const Op &op) {
  unsigned bits = op.a;
  bool isSignedType = op.b;
  int32_t least = isSignedType ? -(1 << (bits - 1)) : 0,
          most = isSignedType ? (1 << (bits - 1)) - 1 : (1 << bits) - 1;
  forLanes(warp.mask, [&](unsigned lane) {
    auto part = [&](unsigned source) {
      auto value = static_cast<int32_t>(warp.row<uint32_t>(op.rows[source])[lane]);
      return static_cast<uint32_t>(std::clamp(value, least, most)) & ((1u << bits) - 1);
    };
    uint32_t above = op.sources == 3 ? warp.row<uint32_t>(op.rows[3])[lane] << (2 * bits) : 0;
    warp.row<uint32_t>(op.rows[0])[lane] = above | part(1) << bits | part(2);
  });
}

void decodePackIntegers(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes) {
  bool saturates = suffixes.take("sat");
  std::string_view first = suffixes.empty() ? "" : suffixes.first();
  std::string_view type = suffixes.takeOneOf({"u16", "s16", "u8", "s8", "u4", "s4", "u2", "s2"});
  if (type != first || !saturates || type.empty() || suffixes.takeType() != ScalarType::S32)
    decoder.unsupported("expected cvt.pack.sat.TYPE.s32");
  auto bits = static_cast<uint32_t>(std::atoi(std::string(type.substr(1)).c_str()));
  bool over = bits < 16;
  if (over && suffixes.takeType() != ScalarType::B32)
    decoder.unsupported("expected .b32, the type of the operand that is moved up");
  decoder.wantOperands(instruction, over ? 4 : 3);
  std::vector<uint32_t> sources;
  for (size_t i = 1; i < instruction.operands.size(); ++i)
    sources.push_back(decoder.source(instruction.operands[i], ScalarType::B32));
  uint32_t target = decoder.target(instruction.operands[0], ScalarType::B32);
  decoder.emitWide(packIntegers, std::array{target}, sources, 0, bits, type[0] == 's');
}

void decodeConvert(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes) {
  if (suffixes.take("pack")) {
    decodePackIntegers(decoder, instruction, suffixes);
    return;
  }
  Mode mode = takeMode(suffixes);
  ScalarType to = suffixes.takeType(), from = suffixes.takeType();
  if (packedFormat(to) || packedFormat(from)) {
    decodePacked(decoder, instruction, to, from, mode);
    return;
  }
  decoder.wantOperands(instruction, 2);
  if (to == ScalarType::TF32) {
    if (from != ScalarType::F32)
      decoder.unsupported("expected cvt.tf32.f32");
    if (mode.saturateFinite && mode.rounding != Rounding::NearestAway)
      decoder.unsupported(".satfinite to tf32 goes with .rna");
    uint32_t source = decoder.source(instruction.operands[1], from);
    decoder.emit(roundTf32, {decoder.target(instruction.operands[0], to)}, {source}, 0, mode);
    return;
  }
  checkMode(decoder, to, from, mode);
  Handlers handler = scalarConversion(to, from, mode);
  if (!handler)
    decoder.unsupported("a conversion between these types");
  uint32_t source = decoder.source(instruction.operands[1], from);
  decoder.emit(handler, {decoder.target(instruction.operands[0], to)}, {source}, 0, mode);
}

const OpcodeInfo kOpcodes[] = {
    {.name = "cvt",
     .decode = decodeConvert,
     .time = timeOfConversion,
     .kind = always<InstructionClass::Convert>,
     .forms = {{.where = "rna", .needs = "tf32", .never = "relu"},
               {.where = "tf32", .needs = "rn rz rna"},
               {.where = "sat", .never = "bf16 relu satfinite tf32"},
               {.where = "tf32", .never = "sat"}},
     .orders = {{"pack > " TILE_ROUNDINGS " | ftz | relu | satfinite | sat | " TILE_TYPES
                 " e4m3x2 e5m2x2 | " TILE_TYPES " e4m3x2 e5m2x2 | b32"}},
     .requirements = {{"f16x2", 80, 70},
                      {"bf16x2", 80, 70},
                      {"bf16", 80, 70},
                      {"f32.bf16", 80, 71},
                      {"bf16.bf16", 90, 78},
                      {"bf16.f16", 90, 78},
                      {"bf16.f64", 90, 78},
                      {"bf16.u8", 90, 78},
                      {"bf16.s8", 90, 78},
                      {"bf16.u16", 90, 78},
                      {"bf16.s16", 90, 78},
                      {"bf16.u32", 90, 78},
                      {"bf16.s32", 90, 78},
                      {"bf16.u64", 90, 78},
                      {"bf16.s64", 90, 78},
                      {"f16.bf16", 90, 78},
                      {"f64.bf16", 90, 78},
                      {"u8.bf16", 90, 78},
                      {"s8.bf16", 90, 78},
                      {"u16.bf16", 90, 78},
                      {"s16.bf16", 90, 78},
                      {"u32.bf16", 90, 78},
                      {"s32.bf16", 90, 78},
                      {"u64.bf16", 90, 78},
                      {"s64.bf16", 90, 78},
                      {"e4m3x2", 89, 81, false, 90, 78},
                      {"e5m2x2", 89, 81, false, 90, 78},
                      {"tf32", 80, 70},
                      {"rn.tf32", 90, 78},
                      {"rz.tf32", 90, 78},
                      {"relu", 80, 70},
                      {"satfinite.f16", 0, 81},
                      {"satfinite.bf16", 0, 81},
                      {"satfinite.f16x2.f32", 0, 81},
                      {"satfinite.bf16x2", 0, 81},
                      {"satfinite.tf32", 0, 81},
                      {"pack", 72, 65},
                      {"pack.u4", 75, 65},
                      {"pack.s4", 75, 65},
                      {"pack.u2", 75, 65},
                      {"pack.s2", 75, 65}},
     .takesWiderRegisters = true},
};

} // namespace

OpcodeRows convertOpcodes() { return kOpcodes; }

} // namespace tile::vgpu
