// Ops by name.
#include <tile/Registry.h>

#include <algorithm>
#include <charconv>
#include <mutex>

namespace tile {
namespace {

struct Ops {
  std::mutex mutex;
  std::map<std::string, OpEntry> byName;

  static Ops &get() { // static initialisers of other files call it
    static Ops ops;
    return ops;
  }
};

[[noreturn]] void refuse(const std::string &name, const std::string &value,
                         const std::string &expected) {
  throw Error(Fault::User, ErrorCode::InvalidArgument, name + "=" + value + ": " + expected);
}

} // namespace

const std::string *OpSettings::find(const std::string &name) const {
  auto found = values_.find(name);
  return found == values_.end() ? nullptr : &found->second;
}

int64_t OpSettings::integer(const std::string &name, int64_t fallback) const {
  int64_t result = fallback;
  if (const std::string *value = find(name)) {
    const char *end = value->data() + value->size();
    auto [stop, fault] = std::from_chars(value->data(), end, result);
    if (fault != std::errc() || stop != end)
      refuse(name, *value, "an integer is expected");
  }
  used_[name] = std::to_string(result);
  return result;
}

DType OpSettings::dtype(const std::string &name, DType fallback) const {
  const std::string *value = find(name);
  used_[name] = value ? *value : nameOf(fallback);
  if (!value)
    return fallback;
  std::string known;
  for (int i = 0; i < static_cast<int>(any); ++i) {
    auto dtype = static_cast<DType>(i);
    if (*value == nameOf(dtype))
      return dtype;
    known += (i ? ", " : "") + std::string(nameOf(dtype));
  }
  refuse(name, *value, "a dtype is expected: " + known);
}

std::string OpSettings::text(const std::string &name, std::string fallback) const {
  const std::string *value = find(name);
  return used_[name] = value ? *value : std::move(fallback);
}

std::vector<std::string> OpSettings::unused() const {
  std::vector<std::string> names;
  for (auto &[name, value] : values_)
    if (!used_.contains(name))
      names.push_back(name);
  return names;
}

bool registerOp(OpEntry op) {
  Ops &ops = Ops::get();
  std::lock_guard lock(ops.mutex);
  std::string name = op.name;
  ops.byName[name] = std::move(op);
  return true;
}

const OpEntry *findOp(const std::string &name) {
  Ops &ops = Ops::get();
  std::lock_guard lock(ops.mutex);
  auto found = ops.byName.find(name);
  return found == ops.byName.end() ? nullptr : &found->second;
}

std::vector<std::string> opNames() {
  Ops &ops = Ops::get();
  std::lock_guard lock(ops.mutex);
  std::vector<std::string> names;
  for (auto &[name, op] : ops.byName)
    names.push_back(name);
  return names;
}

} // namespace tile
