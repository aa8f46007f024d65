#include "ops/byname/ProductSettings.h"

namespace tile::ops {
namespace {

constexpr std::pair<const char *, Precision> kPrecisions[] = {{"tf32x3", Precision::tf32x3},
                                                              {"ieee", Precision::ieee},
                                                              {"tf32", Precision::tf32},
                                                              {"bf16x3", Precision::bf16x3},
                                                              {"bf16x6", Precision::bf16x6}};

} // namespace

OpSetting precisionSetting() {
  std::vector<std::string> names;
  for (auto [name, precision] : kPrecisions)
    names.emplace_back(name);
  return OpSetting::word("precision", std::move(names));
}

Precision precisionOf(const OpSettings &settings) {
  std::string given = settings.text("precision");
  for (auto [name, precision] : kPrecisions)
    if (given == name)
      return precision;
  return Precision::tf32x3; // what is none of the words was refused
}

OpSetting accumulatorSetting() { return OpSetting::word("accumulator", {"f32", "f16"}); }

DType accumulatorOf(const OpSettings &settings) {
  return settings.text("accumulator") == "f16" ? f16 : any;
}

std::vector<OpSetting> productSettings() {
  return {precisionSetting(), OpSetting::flag("fast", false), accumulatorSetting()};
}

MatmulOptions productOptionsOf(const OpSettings &settings) {
  return {.precision = precisionOf(settings),
          .fastAccumulation = settings.flag("fast"),
          .accumulator = accumulatorOf(settings)};
}

OpSetting scaleSetting() { return OpSetting::number("scale", 0).ofF32().open(); }

std::optional<float> scaleOf(const OpSettings &settings) {
  if (!settings.has("scale"))
    return {};
  return static_cast<float>(settings.number("scale"));
}

std::vector<OpSetting> attentionSettings() {
  return {OpSetting::flag("causal", false), scaleSetting(), precisionSetting(),
          OpSetting::flag("deterministic", true), accumulatorSetting()};
}

AttentionOptions attentionOptionsOf(const OpSettings &settings) {
  return {.scale = scaleOf(settings),
          .causal = settings.flag("causal"),
          .precision = precisionOf(settings),
          .deterministic = settings.flag("deterministic"),
          .accumulator = accumulatorOf(settings)};
}

} // namespace tile::ops
