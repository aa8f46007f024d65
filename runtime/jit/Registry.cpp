// The ops there are by name.
#include "base/ForkLocks.h"
#include "runtime/jit/CheckedCall.h"
#include "runtime/jit/OpMessage.h"
#include "runtime/jit/RecordedKernel.h"

#include <algorithm>
#include <cctype>
#include <map>
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

} // namespace

bool registerOp(OpEntry op) {
  Ops &ops = Ops::get();
  std::lock_guard lock(ops.mutex);
  std::string name = op.name;
  op = jit::checked(std::move(op));
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
