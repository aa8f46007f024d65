// Kernels as records: identity, checks of names and arguments, and what the traced lambda asks for
// its parameters.
#include "frontend/trace/Identity.h"
#include "frontend/trace/Trace.h"

#include <algorithm>
#include <cctype>
#include <mutex>

using namespace tile;
using namespace tile::frontend;

namespace {

/// Kernels that share name and identity are one kernel, so that a function that makes one at each
/// call does not compile at each call.
uint64_t idOf(const std::string &name, const detail::KernelIdentity &identity) {
  bool isKnown = identity.type || !identity.key.empty();
  return isKnown ? idOfKey(std::pair(name, identity)) : freshId();
}

/// Every record made, oldest first; those that are gone leave when the list has doubled.
struct Records {
  std::mutex mutex;
  std::vector<std::weak_ptr<const detail::KernelRecord>> all;
  size_t sweepAt = 64;

  static Records &get() { // static initialisers of other files call it
    static Records records;
    return records;
  }
  void add(const std::shared_ptr<const detail::KernelRecord> &record) {
    std::lock_guard lock(mutex);
    if (all.size() >= sweepAt) {
      std::erase_if(all, [](auto &known) { return known.expired(); });
      sweepAt = std::max<size_t>(64, 2 * all.size());
    }
    all.push_back(record);
  }
};

/// The parameter behind argument `index` of a call: Const parameters take none.
size_t parameterOf(const detail::KernelRecord &record, int index) {
  for (size_t param = 0; param < record.params.size(); ++param)
    if (record.params[param].kind != detail::ParamSpec::Const && index-- == 0)
      return param;
  return record.params.size();
}

std::string describe(bool isTensor, DType dtype) {
  return isTensor ? std::string("ptr<") + nameOf(dtype) + ">" : nameOf(dtype);
}

void checkArgument(const detail::KernelRecord &record, const detail::HostArg &arg, int argument,
                   const detail::ParamSpec &spec) {
  bool wantsTensor = spec.kind != detail::ParamSpec::Scalar,
       isTensor = arg.kind == detail::HostArg::Tensor;
  bool sameType = wantsTensor == isTensor && (arg.dtype == spec.dtype || spec.dtype == any);
  std::string name = argumentName(record, argument);
  if (!sameType)
    refuseArgument(record, name + ": expected " + describe(wantsTensor, spec.dtype) + ", got " +
                               describe(isTensor, arg.dtype));
  if (wantsTensor && arg.rank != spec.rank)
    refuseArgument(record, name + ": expected rank " + std::to_string(spec.rank) + ", got rank " +
                               std::to_string(arg.rank));
}

} // namespace

std::string tile::frontend::argumentName(const detail::KernelRecord &record, int index) {
  std::string name = "arg " + std::to_string(index + 1);
  size_t param = parameterOf(record, index);
  return param < record.paramNames.size() ? name + " '" + record.paramNames[param] + "'" : name;
}

void tile::frontend::refuseArgument(const detail::KernelRecord &record, const std::string &what,
                                    ErrorCode code, Loc call) {
  throw Error(Fault::User, code, what, call,
              {"in a call of kernel '" + record.name + "', defined at " + text(record.where)});
}

void detail::checkSpan(size_t size, std::span<const int64_t> extents, Loc loc) {
  size_t count = 1;
  bool fits = true;
  std::string shape;
  for (int64_t extent : extents) {
    fits =
        fits && extent >= 0 && !__builtin_mul_overflow(count, static_cast<size_t>(extent), &count);
    shape += (shape.empty() ? "" : "x") + std::to_string(extent);
  }
  if (!fits || count != size)
    throw Error(Fault::User, ErrorCode::InvalidShape,
                "ref: a span of " + std::to_string(size) + " elements is no tensor of " + shape,
                loc);
}

void tile::frontend::checkName(const char *what, const std::string &name, Loc where) {
  bool valid = !name.empty() && !std::isdigit(static_cast<unsigned char>(name[0]));
  for (char c : name)
    valid = valid && (std::isalnum(static_cast<unsigned char>(c)) || c == '_');
  if (!valid)
    throw Error(Fault::User, ErrorCode::InvalidArgument,
                std::string(what) + ": the name '" + name +
                    "' must be an identifier: letters, digits and _, not beginning with a digit",
                where);
}

namespace tile::detail {

std::shared_ptr<KernelRecord> makeRecord(std::string name, KernelIdentity identity,
                                         std::vector<ParamSpec> params,
                                         std::unique_ptr<KernelBody> body, Loc where) {
  checkName("kernel", name, where);
  auto record = std::make_shared<KernelRecord>();
  record->id = idOf(name, identity);
  record->name = std::move(name);
  record->where = where;
  record->params = std::move(params);
  record->body = std::move(body);
  Records::get().add(record);
  return record;
}

std::vector<std::shared_ptr<const KernelRecord>> liveRecords() {
  Records &records = Records::get();
  std::lock_guard lock(records.mutex);
  std::vector<std::shared_ptr<const KernelRecord>> live;
  for (auto &known : records.all)
    if (auto record = known.lock())
      live.push_back(std::move(record));
  return live;
}

void checkArguments(const KernelRecord &record, std::span<const HostArg> args) {
  int argument = 0;
  for (const ParamSpec &spec : record.params) {
    if (spec.kind == ParamSpec::Const)
      continue;
    if (static_cast<size_t>(argument) < args.size())
      checkArgument(record, args[argument], argument, spec);
    ++argument;
  }
  if (static_cast<size_t>(argument) != args.size())
    refuseArgument(record, "the kernel takes " + std::to_string(argument) + " arguments, got " +
                               std::to_string(args.size()));
}

void scalarOutOfRange(const ArgumentPlace &place, DType dtype, Arg number) {
  bool isLarge = number.kind() == Arg::Kind::UInt;
  std::string text = isLarge ? std::to_string(static_cast<uint64_t>(number.asInt()))
                             : std::to_string(number.asInt());
  if (!place.record)
    throw Error(Fault::User, ErrorCode::InvalidArgument,
                "a scalar argument does not fit: " + text + " is no " + nameOf(dtype));
  refuseArgument(*place.record,
                 argumentName(*place.record, place.argument) + ": " + text + " is no " +
                     nameOf(dtype),
                 ErrorCode::InvalidArgument, place.call);
}

Value ParamSource::value(int param) const {
  Trace &trace = Trace::current({});
  return trace.handle(trace.param(param));
}

int ParamSource::constant(int param) const {
  const Trace &trace = Trace::current({});
  size_t index = 0;
  for (int i = 0; i < param; ++i)
    index += trace.record().params[static_cast<size_t>(i)].kind == ParamSpec::Const;
  return static_cast<int>(trace.binding().consts[index]);
}

} // namespace tile::detail

Binding tile::frontend::bindingFor(const detail::KernelRecord &record,
                                   std::span<const int64_t> consts,
                                   const detail::CompileSettings &settings) {
  Binding binding;
  for (const detail::ParamSpec &spec : record.params) {
    if (spec.kind == detail::ParamSpec::Const)
      continue;
    ArgFacts facts;
    facts.dtype = spec.dtype;
    facts.rank = spec.rank;
    binding.args.push_back(std::move(facts));
  }
  binding.consts.assign(consts.begin(), consts.end());
  binding.settings = settings;
  return binding;
}
