// Collecting what modules say of themselves.
#include <tile/nn/Module.h>

#include <algorithm>
#include <set>

namespace tile::nn {

void Members::operator()(std::string_view name, const Variable &parameter) {
  auto isSame = [&](const NamedVariable &other) {
    return other.variable.shared() == parameter.shared();
  };
  if (parameter && std::ranges::none_of(parameters_, isSame))
    parameters_.push_back({prefix_ + std::string(name), parameter});
}

void Members::operator()(std::string_view name, const Module &inside) {
  size_t length = prefix_.size();
  prefix_.append(name).push_back('.');
  inside.members(*this);
  prefix_.resize(length);
}

std::vector<NamedVariable> Module::parameters(Loc loc) const {
  Members list;
  members(list);
  std::set<std::string_view> names;
  for (const NamedVariable &parameter : list.parameters_)
    if (!names.insert(parameter.name).second)
      throw Error(Fault::User, ErrorCode::InvalidArgument,
                  "members(): two parameters are called '" + parameter.name + "'", loc);
  return std::move(list.parameters_);
}

int64_t Module::parameterCount() const {
  int64_t count = 0;
  for (const NamedVariable &parameter : parameters())
    count += parameter.variable.value().numel();
  return count;
}

void Module::clearGrads() const {
  for (const NamedVariable &parameter : parameters())
    parameter.variable.clearGrad();
}

} // namespace tile::nn
