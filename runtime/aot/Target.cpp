#include "runtime/aot/Target.h"

#include "ir/target/Target.h"

#include <algorithm>
#include <optional>

namespace tile::aot {

/// How well a device runs code for a target: 0 not at all, then the newer the target the better, its own best.
static int fitOf(const std::string &target, const device::DeviceProps &props) {
  constexpr int kOwn = 1 << 20;
  if (target == props.target)
    return kOwn;
  std::optional<ir::Target> known = ir::findTarget(target);
  return known && ir::runsOn(*known, props.target) ? known->smVersion : 0;
}

std::vector<std::string> targetsOf(const Function &function) {
  std::vector<std::string> targets;
  for (const Variant &variant : function.variants)
    if (std::ranges::find(targets, variant.compiled.target) == targets.end())
      targets.push_back(variant.compiled.target);
  return targets;
}

std::vector<const Variant *> variantsFor(const Function &function,
                                         const device::DeviceProps &props) {
  std::string best, known;
  for (const std::string &target : targetsOf(function)) {
    known += (known.empty() ? "" : ", ") + target;
    if (fitOf(target, props) > (best.empty() ? 0 : fitOf(best, props)))
      best = target;
  }
  if (best.empty())
    throw Error(Fault::User, ErrorCode::Unsupported,
                "'" + function.name + "' is compiled for " + known + ", and " + props.name +
                    " is " + props.target + ": name that target to `tilec aot --arch`");
  std::vector<const Variant *> variants;
  for (const Variant &variant : function.variants)
    if (variant.compiled.target == best)
      variants.push_back(&variant);
  return variants;
}

} // namespace tile::aot
