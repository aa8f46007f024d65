#include "ops/byname/ProductSettings.h"

namespace tile::ops {

Precision precisionOf(const OpSettings &settings) {
  std::string name = settings.text("precision", "tf32x3");
  for (auto [known, precision] : {std::pair("ieee", Precision::ieee),
                                  {"tf32", Precision::tf32},
                                  {"tf32x3", Precision::tf32x3},
                                  {"bf16x3", Precision::bf16x3},
                                  {"bf16x6", Precision::bf16x6}})
    if (name == known)
      return precision;
  throw Error(Fault::User, ErrorCode::InvalidArgument,
              "precision=" + name + ": ieee, tf32 or tf32x3 is expected");
}

AttentionOptions attentionOptionsOf(const OpSettings &settings) {
  AttentionOptions options;
  options.causal = settings.flag("causal", false);
  options.precision = precisionOf(settings);
  if (double scale = settings.number("scale", 0)) // 0: by the head dimension
    options.scale = static_cast<float>(scale);
  options.deterministic = settings.flag("deterministic", true);
  return options;
}

} // namespace tile::ops
