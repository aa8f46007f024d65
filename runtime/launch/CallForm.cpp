#include "runtime/launch/CallForm.h"

#include "frontend/call/ArgFacts.h"

#include <bit>
#include <cstring>

namespace tile::launch {
namespace {

using detail::HostArg;

constexpr size_t kHeadWords = 5;

std::array<uint64_t, kHeadWords> headOf(const CallForm &form) {
  return {form.number | static_cast<uint64_t>(form.origin),
          uint64_t{form.constants.size()} << 32 | form.args.size(), form.head[0], form.head[1],
          form.head[2]};
}

/// How an argument is read: its first bytes, which are kind, dtype and rank, and whether its address is aligned.
uint64_t typeOf(const HostArg &arg) {
  uint32_t bytes;
  static_assert(offsetof(HostArg, kind) == 0 && offsetof(HostArg, sameAs) + 1 == sizeof bytes);
  std::memcpy(&bytes, &arg, sizeof bytes);
  return uint64_t{frontend::isAligned(arg)} << 32 | bytes;
}

} // namespace

// Dimensions are looked at in pairs. That behind the last of an odd rank is what the caller has there, which is 0 mostly.
static_assert(kMaxRank % 2 == 0);

uint64_t CallForm::hash() const {
  constexpr uint64_t kEven = 0x9e3779b97f4a7c15, kOdd = 0xd1b54a32d192ed03; // without a pattern
  uint64_t sum = 0;
  auto add = [&](uint64_t even, uint64_t odd) {
    sum = std::rotl(sum, 5) + even * kEven + odd * kOdd;
  };
  for (uint64_t word : headOf(*this))
    add(word, 0);
  for (int64_t constant : constants)
    add(static_cast<uint64_t>(constant), 0);
  for (const HostArg &arg : args)
    for (int dim = 0; dim < arg.rank && dim < kMaxRank; dim += 2)
      add(static_cast<uint64_t>(arg.extents[dim]), static_cast<uint64_t>(arg.extents[dim + 1]));
  if (hasNumbers)
    for (const HostArg &arg : args)
      add(arg.bits, 0);
  return (sum ^ sum >> 32) * kEven;
}

KeptForm::KeptForm(const CallForm &form) {
  std::array<uint64_t, kHeadWords> head = headOf(form);
  words_.assign(head.begin(), head.end());
  words_.insert(words_.end(), form.constants.begin(), form.constants.end());
  for (const HostArg &arg : form.args) {
    words_.push_back(typeOf(arg));
    for (int dim = 0; dim < arg.rank; dim += 2) {
      words_.insert(words_.end(), arg.extents + dim, arg.extents + dim + 2);
      words_.insert(words_.end(), arg.strides + dim, arg.strides + dim + 2);
    }
  }
  if (form.hasNumbers)
    for (const HostArg &arg : form.args)
      words_.push_back(arg.bits);
}

// Ends before it reads more words than there are: heads say how many constants and arguments follow, types how many dimensions.
bool KeptForm::operator==(const CallForm &form) const {
  if (words_.empty())
    return false;
  const uint64_t *next = words_.data();
  auto isPair = [&](const int64_t *pair) {
    constexpr size_t kWords = 2; // known here, so that this is an instruction and no call
    bool isSame = std::memcmp(pair, next, kWords * sizeof *pair) == 0;
    next += kWords;
    return isSame;
  };
  for (uint64_t word : headOf(form))
    if (*next++ != word)
      return false;
  for (int64_t constant : form.constants)
    if (*next++ != static_cast<uint64_t>(constant))
      return false;
  for (const HostArg &arg : form.args) {
    if (*next++ != typeOf(arg))
      return false;
    for (int dim = 0; dim < arg.rank; dim += 2)
      if (!isPair(arg.extents + dim) || !isPair(arg.strides + dim))
        return false;
  }
  if (form.hasNumbers)
    for (const HostArg &arg : form.args)
      if (*next++ != arg.bits)
        return false;
  return true;
}

} // namespace tile::launch
