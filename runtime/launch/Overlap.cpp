#include "runtime/launch/Overlap.h"

#include "frontend/call/Arguments.h"

#include <algorithm>
#include <array>

namespace tile::launch {
namespace {

using detail::HostArg;

struct Dim {
  int64_t stride, extent; // in bytes, elements
};
using Dims = std::array<Dim, kMaxRank>;

/// Dimensions that matter, by falling stride; returns their number.
int sortedDims(const HostArg &arg, Dims &dims) {
  int number = 0;
  for (int dim = 0; dim < arg.rank; ++dim)
    if (arg.extents[dim] > 1)
      dims[number++] = {arg.strides[dim] * static_cast<int64_t>(sizeOf(arg.dtype)),
                        arg.extents[dim]};
  std::sort(dims.begin(), dims.begin() + number,
            [](const Dim &a, const Dim &b) { return a.stride > b.stride; });
  return number;
}

int64_t spanOf(const Dims &dims, int number, const HostArg &arg) {
  int64_t last = static_cast<int64_t>(sizeOf(arg.dtype));
  for (int i = 0; i < number; ++i)
    last += (dims[i].extent - 1) * dims[i].stride;
  return last;
}

bool isSameView(const HostArg &a, const HostArg &b) {
  return a.pointer == b.pointer && a.dtype == b.dtype && a.rank == b.rank &&
         std::equal(a.extents, a.extents + a.rank, b.extents) &&
         std::equal(a.strides, a.strides + a.rank, b.strides);
}

/// Whether index by index, from the largest stride, `distance` bytes lead to an element of the
/// tensor. With the strides of real tensors, each beyond the span of the smaller ones, this finds
/// every element.
bool isReached(int64_t distance, const Dims &dims, int number, const HostArg &arg) {
  for (int i = 0; i < number && dims[i].stride > 0; ++i)
    distance -= std::min(distance / dims[i].stride, dims[i].extent - 1) * dims[i].stride;
  return distance < static_cast<int64_t>(sizeOf(arg.dtype));
}

/// Whether two different views share an element for certain.
bool overlap(const HostArg &a, const HostArg &b) {
  if (isSameView(a, b))
    return false;
  auto startA = reinterpret_cast<uintptr_t>(a.pointer),
       startB = reinterpret_cast<uintptr_t>(b.pointer);
  if (startA == startB)
    return true;
  if (startA > startB)
    return overlap(b, a);
  Dims dims;
  int number = sortedDims(a, dims);
  uintptr_t distance = startB - startA;
  return distance < static_cast<uintptr_t>(spanOf(dims, number, a)) &&
         isReached(static_cast<int64_t>(distance), dims, number, a);
}

/// Whether two tensors may be at one address. Hardly a call has such, and need not compare each pair: of its addresses a few
/// bits are kept, which hardly ever are the same for two.
bool mayShareAddress(std::span<const HostArg> args) {
  constexpr uint64_t kSpread =
      0x9e3779b97f4a7c15; // the golden ratio, which scatters multiples of 256
  constexpr int kPlaceBits = 9;
  uint64_t seen[(1 << kPlaceBits) / 64] = {};
  for (const HostArg &arg : args) {
    uint64_t place = reinterpret_cast<uintptr_t>(arg.pointer) * kSpread >> (64 - kPlaceBits);
    uint64_t bit = arg.pointer ? uint64_t{1} << place % 64 : 0, &word = seen[place / 64];
    if (word & bit)
      return true;
    word |= bit;
  }
  return false;
}

/// Calls `visit(lower, higher)` for each two arguments of which one is written and whose bytes, from the first to the last, meet; not
/// for views that are known to be one.
template <class Visit>
void forEachMeeting(std::span<const Footprint> footprints, std::span<const HostArg> args,
                    const Visit &visit) {
  auto beginOf = [&](const Footprint &one) {
    return reinterpret_cast<uintptr_t>(args[one.argument].pointer);
  };
  for (const Footprint &written : footprints) {
    if (!written.isWritten)
      continue;
    uintptr_t begin = beginOf(written), end = begin + written.bytes;
    for (const Footprint &other : footprints) {
      // What most pairs of a call are not asked further.
      uintptr_t otherBegin = beginOf(other);
      if (otherBegin >= end || begin >= otherBegin + other.bytes)
        continue;
      bool isVisited = other.isWritten && &other < &written; // as the written one
      if (other.view != written.view && !isVisited)
        visit(std::min(written.argument, other.argument),
              std::max(written.argument, other.argument));
    }
  }
}

bool contains(Pairs pairs, int i, int j) {
  return std::ranges::find(pairs, std::pair(i, j)) != pairs.end();
}

bool isWritten(const detail::KernelRecord &record, size_t index) {
  bool result = false;
  frontend::forEachArgument(record, [&](const detail::ParamSpec &spec, int argument) {
    result |= static_cast<size_t>(argument) == index && frontend::isWritten(spec);
  });
  return result;
}

} // namespace

std::span<const HostArg> markSameViews(const detail::KernelRecord &record,
                                       std::span<const HostArg> args,
                                       std::vector<HostArg> &marked) {
  if (std::ranges::any_of(args, [](const HostArg &arg) { return arg.rank > kMaxRank; }))
    detail::checkArguments(record, args);
  if (!mayShareAddress(args))
    return args;
  constexpr size_t kMostMarked = 64;
  uint64_t firsts = 0; // of classes with more than one member, one of them written
  for (size_t j = 1; j < args.size(); ++j)
    for (size_t i = 0; i < std::min(j, kMostMarked); ++i) {
      bool isSame =
          args[i].pointer && args[i].pointer == args[j].pointer && isSameView(args[i], args[j]);
      if (!isSame)
        continue;
      if (marked.empty())
        marked.assign(args.begin(), args.end());
      marked[j].sameAs = static_cast<uint8_t>(i + 1);
      if (isWritten(record, i) || isWritten(record, j))
        firsts |= uint64_t(1) << i;
      break;
    }
  for (HostArg &arg : marked)
    if (arg.sameAs && !(firsts >> (arg.sameAs - 1) & 1))
      arg.sameAs = 0;
  return firsts ? std::span<const HostArg>(marked) : args;
}

void refuseOverlap(const detail::KernelRecord &record, std::span<const HostArg> args,
                   std::span<const Footprint> footprints, detail::FunctionRef<Pairs()> allowed) {
  forEachMeeting(footprints, args, [&](int i, int j) {
    if (!overlap(args[i], args[j]) || contains(allowed(), i, j))
      return;
    frontend::refuseArgument(
        record,
        frontend::argumentName(record, j) + " overlaps " + frontend::argumentName(record, i) +
            ", and the kernel writes one of them; declare one InOut parameter, say "
            "x.may_alias(y) in the kernel, or use memory of its own",
        ErrorCode::Aliasing);
  });
}

bool areApart(std::span<const HostArg> args, std::span<const Footprint> footprints, Pairs allowed) {
  bool areApart = true;
  forEachMeeting(footprints, args, [&](int i, int j) {
    bool isNewView = isSameView(args[i], args[j]);
    areApart &= !isNewView && (!overlap(args[i], args[j]) || contains(allowed, i, j));
  });
  return areApart;
}

} // namespace tile::launch
