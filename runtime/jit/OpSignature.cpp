#include <tile/OpSignature.h>

#include "base/ForkLocks.h"

#include <map>
#include <memory>
#include <mutex>

namespace tile {
namespace {

/// Signatures stay where they are for good, since callers keep their texts.
struct Signatures {
  base::ForkMutex mutex;
  std::map<std::string, std::shared_ptr<const OpSignature>> byOp;
  std::vector<std::shared_ptr<const OpSignature>> replaced;

  static Signatures &get() { // static initialisers of other files call it
    static auto *signatures = new Signatures;
    return *signatures;
  }
};

} // namespace

bool describeOp(const std::string &op, OpSignature signature) {
  Signatures &all = Signatures::get();
  std::lock_guard lock(all.mutex);
  auto &place = all.byOp[op];
  if (place)
    all.replaced.push_back(std::move(place));
  place = std::make_shared<const OpSignature>(std::move(signature));
  return true;
}

const OpSignature *findSignature(const std::string &op) {
  Signatures &all = Signatures::get();
  std::lock_guard lock(all.mutex);
  auto found = all.byOp.find(op);
  return found == all.byOp.end() ? nullptr : found->second.get();
}

} // namespace tile
