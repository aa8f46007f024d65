#include "runtime/device/Caller.h"

#include <utility>

namespace tile::device {

static std::shared_ptr<const Caller> &ofThread() {
  thread_local std::shared_ptr<const Caller> caller;
  return caller;
}

CallerScope::CallerScope(std::shared_ptr<const Caller> caller)
    : before_(std::exchange(ofThread(), std::move(caller))) {}

CallerScope::~CallerScope() { ofThread() = std::move(before_); }

const std::shared_ptr<const Caller> &CallerScope::current() { return ofThread(); }

} // namespace tile::device
