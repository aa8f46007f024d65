// The ops there are by name.
#include "base/ForkLocks.h"
#include "runtime/jit/CheckedCall.h"
#include "runtime/jit/RecordedKernel.h"

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

} // namespace tile
