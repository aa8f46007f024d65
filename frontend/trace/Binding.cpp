#include "frontend/trace/Binding.h"

#include "frontend/call/Arguments.h"
#include "frontend/trace/Settings.h"

#include <algorithm>

namespace tile::frontend {

using detail::KernelRecord;
using detail::ParamSpec;

[[noreturn]] static void refuse(const KernelRecord &record, std::string message) {
  throw Error(Fault::User, ErrorCode::InvalidArgument, std::move(message), record.where,
              {"in kernel '" + record.name + "'"});
}

static void checkConstants(const KernelRecord &record, const Binding &binding) {
  auto count = std::ranges::count(record.params, ParamSpec::Const, &ParamSpec::kind);
  if (binding.consts.size() != static_cast<size_t>(count))
    refuse(record, "the kernel takes " + std::to_string(count) + " constants, got " +
                       std::to_string(binding.consts.size()));
  for (int64_t constant : binding.consts)
    if (constant != static_cast<int32_t>(constant))
      refuse(record, "the constant " + std::to_string(constant) + " does not fit an int");
}

void checkBinding(const KernelRecord &record, const Binding &binding) {
  checkConstants(record, binding);
  size_t count = 0;
  forEachArgument(record, [&](const ParamSpec &spec, int index) {
    std::string name = "arg " + std::to_string(index + 1);
    if (++count > binding.args.size())
      refuse(record, "the binding lacks " + name);
    const ArgFacts &facts = binding.args[static_cast<size_t>(index)];
    if (facts.dtype == any)
      refuse(record,
             name + ": the dtype is open: bind the dtype of the tensor that will be passed");
    std::string wrong = mismatchOf(spec, spec.kind != ParamSpec::Scalar, facts.dtype, facts.rank);
    if (!wrong.empty())
      refuse(record, name + ": " + wrong);
  });
  if (count != binding.args.size())
    refuse(record, "the kernel takes " + std::to_string(count) + " arguments, the binding has " +
                       std::to_string(binding.args.size()));
  std::string wrong = wrongSetting(binding.settings);
  if (!wrong.empty())
    refuse(record, wrong);
}

Binding bindingFor(const KernelRecord &record, std::span<const int64_t> consts,
                   const detail::CompileSettings &settings) {
  Binding binding;
  forEachArgument(record, [&](const ParamSpec &spec, int) {
    ArgFacts &facts = binding.args.emplace_back();
    facts.dtype = spec.dtype;
    facts.rank = spec.rank;
  });
  binding.consts.assign(consts.begin(), consts.end());
  binding.settings = settings;
  return binding;
}

} // namespace tile::frontend
