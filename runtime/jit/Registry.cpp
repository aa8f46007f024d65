// Ops by name.
#include "base/ForkLocks.h"
#include "runtime/jit/OpMessage.h"
#include "runtime/jit/RecordedKernel.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <iterator>
#include <mutex>

namespace tile {
namespace {

struct Ops {
  base::ForkMutex mutex;
  std::map<std::string, OpEntry> byName;

  static Ops &get() { // static initialisers of other files call it
    static auto *ops = new Ops;
    return *ops;
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

double OpSettings::number(const std::string &name, double fallback) const {
  double result = fallback;
  const std::string *value = find(name);
  if (value) {
    const char *end = value->data() + value->size();
    auto [stop, fault] = std::from_chars(value->data(), end, result);
    if (fault != std::errc() || stop != end)
      refuse(name, *value, "a number is expected");
  }
  char text[32];
  used_[name] = value ? *value : std::string(text, std::to_chars(text, std::end(text), result).ptr);
  return result;
}

bool OpSettings::flag(const std::string &name, bool fallback) const {
  return integer(name, fallback) != 0;
}

std::vector<int64_t> OpSettings::integers(const std::string &name,
                                          std::vector<int64_t> fallback) const {
  const std::string *value = find(name);
  if (value) {
    fallback.clear();
    for (const char *at = value->data(), *end = at + value->size(); at < end; ++at) {
      auto [stop, fault] = std::from_chars(at, end, fallback.emplace_back());
      if (fault != std::errc() || (stop != end && *stop != ',' && *stop != 'x') || stop + 1 == end)
        refuse(name, *value, "integers are expected, as 4x1024 or 0,2");
      at = stop;
    }
  }
  std::string &text = used_[name];
  text.clear();
  for (int64_t one : fallback)
    text += (text.empty() ? "" : ",") + std::to_string(one);
  return fallback;
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
  if (!op.kernel && op.example)
    op.kernel = [op](const OpSettings &settings) { return jit::recordedKernel(op, settings); };
  if (!op.kernel)
    op.kernel = [name](const OpSettings &) -> KernelRequest {
      throw Error(Fault::User, ErrorCode::Unsupported,
                  "op '" + name + "' has no kernel of its own to compile: it is only run");
    };
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

namespace {

/// The same for a name here and in C++: "topk" of top_k and topK.
std::string plain(std::string_view name) {
  std::string result;
  for (unsigned char letter : name)
    if (letter != '_')
      result += static_cast<char>(std::tolower(letter));
  return result;
}

} // namespace

std::string jit::opMessage(const std::string &op, const std::string &message) {
  size_t colon = message.find(": ");
  std::string first = colon == message.npos ? "" : plain(message.substr(0, colon));
  std::vector<std::string> names = opNames();
  bool isOfAnOp =
      std::ranges::any_of(names, [&](const auto &name) { return plain(name) == first; });
  return op + ": " + (isOfAnOp ? message.substr(colon + 2) : message);
}

} // namespace tile
