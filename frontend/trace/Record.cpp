// Kernels as records: identity, names, and what the traced lambda asks for its parameters.
#include "base/ForkLocks.h"
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
  base::ForkMutex mutex;
  std::vector<std::weak_ptr<const detail::KernelRecord>> all;
  size_t sweepAt = 64;

  static Records &get() { // static initialisers of other files call it
    static auto *records = new Records;
    return *records;
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

} // namespace

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
