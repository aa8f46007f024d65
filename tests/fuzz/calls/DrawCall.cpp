#include "tests/fuzz/calls/DrawCall.h"

#include <algorithm>
#include <map>

namespace tile::fuzz {
namespace {

/// What nobody should take for a number, and numbers that few types hold.
const std::vector<std::string> kNasty = {"",
                                         "-1",
                                         "0",
                                         "1",
                                         "2147483648",
                                         "4294967297",
                                         "1099511627776",
                                         "-129",
                                         "18446744073709551615",
                                         "18446744073709551616",
                                         "9223372036854775807",
                                         "-9223372036854775808",
                                         "1e400",
                                         "nan",
                                         "-inf",
                                         "0x10",
                                         "1.5",
                                         "true",
                                         "True",
                                         "None",
                                         "abc",
                                         "1,2,3",
                                         "1,1,1,1,1,1,1,1,1,1",
                                         "0,0",
                                         ",",
                                         "-1x2",
                                         "f32",
                                         "any",
                                         "...",
                                         "->",
                                         "ij",
                                         "4611686018427387904",
                                         "\x01\xff",
                                         "%s%n",
                                         "ij,jk->ikl",
                                         "a,b,c,d,e,f,g,h,i->"};

bool isInteger(const std::string &text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

std::string textOf(const TensorSpec &spec) {
  std::string text = nameOf(spec.dtype);
  for (size_t dim = 0; dim < spec.extents.size(); ++dim)
    text += (dim ? "x" : " ") + std::to_string(spec.extents[dim]);
  return text;
}

} // namespace

std::string DrawnCall::str() const {
  std::string text = op + "(";
  for (const TensorSpec &input : inputs)
    text += textOf(input) + ", ";
  for (auto &[name, value] : settings)
    text += name + "=" + value + ", ";
  return text + ")";
}

int64_t CallSource::extent() { return oneOf(std::vector<int64_t>{0, 1, 2, 3, 4, 5, 8, 16, 17}); }

DType CallSource::dtype() { return static_cast<DType>(below(static_cast<uint64_t>(any))); }

void CallSource::mutate(TensorSpec &spec) {
  std::vector<int64_t> &extents = spec.extents;
  auto place = [&] { return extents.begin() + static_cast<ptrdiff_t>(below(extents.size())); };
  switch (below(extents.empty() ? 3 : 6)) {
  case 0:
    spec.dtype = dtype();
    break;
  case 1:
    extents.insert(extents.begin(), extent());
    break;
  case 2: // as many dimensions as there can be
    while (extents.size() < kMaxRank)
      extents.insert(extents.begin(), 1);
    break;
  case 3:
    *place() = extent();
    break;
  case 4:
    extents.erase(place());
    break;
  case 5:
    extents.clear();
    break;
  }
  if (extents.size() > kMaxRank)
    extents.resize(kMaxRank);
}

/// The inputs of the op's example of small extents: the example tells what it asks for.
std::vector<TensorSpec> CallSource::examplesOf(const OpEntry &op) {
  OpSettings asked;
  (void)op.example(asked);
  std::map<std::string, std::string> small;
  for (auto &[name, value] : asked.used()) {
    bool isStated = std::ranges::count(op.settings, name, &OpSetting::name) > 0;
    if (isInteger(value) && !isStated)
      small[name] = std::to_string(2 * below(9));
    else if (!isStated && oneIn(2))
      small[name] = nameOf(dtype());
  }
  return op.example(OpSettings(small));
}

/// What the op's kernel takes, of extents that are small and equal where they were.
std::vector<TensorSpec> CallSource::argumentsOf(const OpEntry &op) {
  KernelRequest request = op.kernel({});
  std::map<int64_t, int64_t> small;
  std::vector<TensorSpec> specs;
  DType one = oneIn(2) ? f32 : dtype();
  for (const HostArg &argument : request.arguments) {
    if (static_cast<int>(specs.size()) == op.inputs)
      break;
    TensorSpec &spec = specs.emplace_back(TensorSpec{one, {}});
    for (int dim = 0; dim < argument.rank; ++dim) {
      auto [known, isNew] = small.try_emplace(argument.extents[dim], 0);
      if (isNew)
        known->second = extent();
      spec.extents.push_back(known->second);
    }
  }
  return specs;
}

std::vector<TensorSpec> CallSource::inputsOf(const OpEntry &op) {
  std::vector<TensorSpec> inputs = op.example ? examplesOf(op) : argumentsOf(op);
  auto fewest = static_cast<size_t>(op.inputs);
  if (inputs.size() < fewest || oneIn(4)) // else with those that may be left out
    inputs.resize(fewest, inputs.front());
  for (uint64_t more = below(6); more-- > 3 && op.optionalInputs > 0;)
    inputs.push_back(TensorSpec{inputs[0].dtype, {extent()}});
  while (!inputs.empty() && oneIn(2))
    mutate(inputs[below(inputs.size())]);
  if (oneIn(20) && !inputs.empty())
    inputs.pop_back();
  if (oneIn(20))
    inputs.push_back(TensorSpec{dtype(), {extent()}});
  return inputs;
}

std::string CallSource::listFor(const OpSetting &setting) {
  std::string list;
  for (uint64_t i = 0, count = below(4); i < count; ++i) {
    int64_t low = std::max<int64_t>(setting.least, -3),
            value = low + static_cast<int64_t>(below(7));
    list += (i ? "," : "") + std::to_string(std::min(value, setting.most));
  }
  return list;
}

/// One that may be right.
std::string CallSource::valueOf(const OpSetting &setting) {
  using Kind = OpSetting::Kind;
  switch (setting.kind) {
  case Kind::Integer: {
    int64_t low = std::max<int64_t>(setting.least, -2);
    return std::to_string(std::min<int64_t>(low + static_cast<int64_t>(below(20)), setting.most));
  }
  case Kind::Natural:
    return std::to_string(random_());
  case Kind::Number:
  case Kind::Value:
    return oneOf<std::string>({"0", "-0", "1", "-1", "0.5", "1e-5", "1e30", "nan", "inf", "1e300",
                               "9007199254740993", "255", "65536"});
  case Kind::Flag:
    return std::to_string(below(2));
  case Kind::Dtype:
    return setting.words.empty() || oneIn(4) ? nameOf(dtype()) : oneOf(setting.words);
  case Kind::Word:
    return oneOf(setting.words);
  case Kind::Integers:
    return listFor(setting);
  case Kind::Text: {
    std::string text = setting.fallback;
    while (!text.empty() && oneIn(2))
      text[below(text.size())] = static_cast<char>(
          oneIn(4) ? random_() : oneOf<int>({'i', 'j', 'k', '.', ',', '-', '>', ' '}));
    return text.substr(0, text.find('\0'));
  }
  }
  return "";
}

DrawnCall CallSource::drawOf(const std::string &name) {
  DrawnCall call = {name, {}, {}};
  const OpEntry &op = *findOp(call.op);
  call.inputs = inputsOf(op);
  for (const OpSetting &setting : op.settings) {
    bool isNeeded = setting.absence == OpSetting::Absence::Refused;
    if (isNeeded ? oneIn(12) : !oneIn(3))
      continue;
    call.settings.emplace_back(setting.name, oneIn(8) ? oneOf(kNasty) : valueOf(setting));
  }
  if (oneIn(25))
    call.settings.emplace_back(oneOf<std::string>({"lr", "", "M", "dtype ", "axis"}), "1");
  return call;
}

} // namespace tile::fuzz
