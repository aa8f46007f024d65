// The rules that ops check before they launch.
#include "ops/Arguments.h"

#include "ops/Overlap.h"

#include <tile/Tensor.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <utility>
#include <vector>

namespace tile::ops {

namespace {

std::string describe(Named arg) { return std::string(arg.name) + " is " + arg.operand.str(); }

std::string dimOf(Named arg, int dim) {
  return std::string(arg.name) + ".extent(" + std::to_string(dim) + ") is " +
         std::to_string(arg.operand.extent(dim));
}

/// True if y's extents begin with x's; y has no fewer dimensions.
bool begins(const Operand &x, const Operand &y) {
  for (int dim = 0; dim < x.rank(); ++dim)
    if (x.extent(dim) != y.extent(dim))
      return false;
  return true;
}

/// Whether the number of bytes, and the distance of the first from the last, fit 64 bits.
bool isAddressable(const Operand &x) {
  auto bytes = static_cast<int64_t>(sizeOf(x.dtype())), last = bytes, reach = int64_t{0};
  bool fits = true, isEmpty = false;
  for (int dim = 0; dim < x.rank(); ++dim) {
    isEmpty |= x.extent(dim) == 0;
    fits &= !__builtin_mul_overflow(bytes, x.extent(dim), &bytes);
    fits &= !__builtin_mul_overflow(x.extent(dim) - 1, x.stride(dim), &reach);
    fits &= !__builtin_mul_overflow(reach, static_cast<int64_t>(sizeOf(x.dtype())), &reach);
    fits &= !__builtin_add_overflow(last, reach, &last);
  }
  return fits || isEmpty;
}

} // namespace

NameInList::NameInList(std::string_view list, size_t index) {
  constexpr size_t kLongestList = 16;
  char *at = std::copy_n(list.begin(), std::min(list.size(), kLongestList), text_);
  *at++ = '[';
  at = std::to_chars(at, std::end(text_) - 2, index).ptr;
  *at = ']';
}

void Arguments::fail(ErrorCode code, const std::string &message) const {
  throw Error(Fault::User, code, std::string(op_) + ": " + message, site_.where);
}

void Arguments::refuseAbsent(Named arg) const {
  fail(ErrorCode::InvalidArgument,
       std::string(arg.name) + " is no tensor; only optional arguments may be left out");
}

void Arguments::dtypeIn(Named arg, std::initializer_list<DType> allowed) const {
  given(arg);
  if (std::find(allowed.begin(), allowed.end(), arg.operand.dtype()) != allowed.end())
    return;
  std::string list;
  for (DType dtype : allowed)
    list += (list.empty() ? "" : ", ") + std::string(nameOf(dtype));
  fail(ErrorCode::InvalidArgument, describe(arg) + "; supported dtypes: " + list);
}

void Arguments::sameDtype(Named first, Named second) const {
  given(first), given(second);
  if (first.operand.dtype() != second.operand.dtype())
    fail(ErrorCode::InvalidArgument,
         describe(first) + ", but " + describe(second) + ": give both one dtype");
}

void Arguments::rankIs(Named arg, int rank) const {
  given(arg);
  if (arg.operand.rank() != rank)
    fail(ErrorCode::InvalidShape, describe(arg) + ", of rank " +
                                      std::to_string(arg.operand.rank()) + "; rank " +
                                      std::to_string(rank) + " is needed: reshape it");
}

void Arguments::rankAtLeast(Named arg, int rank) const {
  given(arg);
  if (arg.operand.rank() < rank)
    fail(ErrorCode::InvalidShape, describe(arg) + ", of rank " +
                                      std::to_string(arg.operand.rank()) + "; rank " +
                                      std::to_string(rank) + " or more is needed: reshape it");
}

void Arguments::rankAtMost(Named arg, int rank) const {
  given(arg);
  if (arg.operand.rank() > rank)
    fail(ErrorCode::InvalidShape, describe(arg) + ", of rank " +
                                      std::to_string(arg.operand.rank()) + "; rank " +
                                      std::to_string(rank) + " or less is needed: reshape it");
}

void Arguments::sameExtents(Named first, Named second) const {
  given(first), given(second);
  bool same = first.operand.rank() == second.operand.rank();
  for (int dim = 0; same && dim < first.operand.rank(); ++dim)
    same = first.operand.extent(dim) == second.operand.extent(dim);
  if (!same)
    fail(ErrorCode::InvalidShape,
         describe(first) + ", but " + describe(second) + ": both need the same extents");
}

void Arguments::broadcastsTo(Named input, Named output) const {
  given(input), given(output);
  if (!input.operand.broadcastsTo(output.operand))
    fail(ErrorCode::InvalidShape, describe(input) + ", but " + describe(output) +
                                      ": counted from the last, each extent must be 1 or equal");
}

void Arguments::refuseBroadcast(Named first, Named second) const {
  fail(ErrorCode::InvalidShape,
       describe(first) + ", but " + describe(second) +
           ": counted from the last, extents must be equal, or one of them 1");
}

void Arguments::equalExtent(Named first, int firstDim, Named second, int secondDim) const {
  firstDim += firstDim < 0 ? first.operand.rank() : 0;
  secondDim += secondDim < 0 ? second.operand.rank() : 0;
  if (first.operand.extent(firstDim) != second.operand.extent(secondDim))
    fail(ErrorCode::InvalidShape, dimOf(first, firstDim) + ", but " + dimOf(second, secondDim) +
                                      " (" + describe(first) + ", " + describe(second) +
                                      "): they must be equal");
}

void Arguments::multipleOf(Named first, int firstDim, Named second, int secondDim) const {
  int64_t count = first.operand.extent(firstDim), divisor = second.operand.extent(secondDim);
  if (divisor == 0 ? count != 0 : count % divisor != 0)
    fail(ErrorCode::InvalidShape, dimOf(first, firstDim) + ", but " + dimOf(second, secondDim) +
                                      " (" + describe(first) + ", " + describe(second) +
                                      "): the first must be a multiple of the second");
}

void Arguments::extentWithin(Named arg, int dim, int64_t least, int64_t most) const {
  int64_t extent = arg.operand.extent(dim);
  if (extent < least || extent > most)
    fail(ErrorCode::InvalidShape, dimOf(arg, dim) + " (" + describe(arg) +
                                      "): " + std::to_string(least) + " to " +
                                      std::to_string(most) + " is supported");
}

void Arguments::hasRows(Named arg) const {
  given(arg);
  if (arg.operand.rank() < 1)
    fail(ErrorCode::InvalidShape, describe(arg) + "; it needs at least one dimension");
}

int Arguments::dimension(Named arg, int dim) const {
  given(arg);
  int rank = arg.operand.rank();
  if (dim < -rank || dim >= rank)
    fail(ErrorCode::InvalidArgument, "dim is " + std::to_string(dim) + ", but " + describe(arg) +
                                         ": it must be in " + std::to_string(-rank) + " .. " +
                                         std::to_string(rank - 1));
  return dim < 0 ? dim + rank : dim;
}

void Arguments::oneElement(Named arg) const {
  given(arg);
  if (arg.operand.numel() != 1)
    fail(ErrorCode::InvalidShape, describe(arg) + "; it needs one element");
}

void Arguments::onePerRow(Named arg, Named x) const {
  given(arg), given(x);
  if (arg.operand.rank() != x.operand.rank() - 1 || !begins(arg.operand, x.operand))
    fail(ErrorCode::InvalidShape, describe(arg) + ", but " + describe(x) + ": " + arg.name +
                                      " needs the extents of " + x.name + " without the last");
}

void Arguments::oneDimensionMore(Named arg, Named x) const {
  given(arg), given(x);
  if (arg.operand.rank() != x.operand.rank() + 1 || !begins(x.operand, arg.operand))
    fail(ErrorCode::InvalidShape, describe(arg) + ", but " + describe(x) + ": " + arg.name +
                                      " needs the extents of " + x.name +
                                      " and then one dimension more");
}

void Arguments::sameRows(Named arg, Named x) const {
  hasRows(arg), hasRows(x);
  int last = arg.operand.rank() - 1;
  bool fits = arg.operand.rank() == x.operand.rank();
  for (int dim = 0; fits && dim < last; ++dim)
    fits = arg.operand.extent(dim) == x.operand.extent(dim);
  if (!fits)
    fail(ErrorCode::InvalidShape,
         describe(arg) + ", but " + describe(x) + ": both need the same extents but for the last");
}

void Arguments::onePerColumn(Named arg, Named x) const {
  rankIs(arg, 1);
  equalExtent(arg, 0, x, x.operand.rank() - 1);
}

uint64_t Arguments::streamDevice() const {
  try {
    return site_.stream.device().handle();
  } catch (const Error &error) { // no stream
    fail(error.code(), error.message());
  }
}

void Arguments::accessible(std::initializer_list<Named> args) const {
  uint64_t device = streamDevice();
  for (const Named &arg : args)
    if (arg.operand)
      accessible(arg, device);
}

void Arguments::accessible(Named arg, uint64_t device) const {
  const Operand &x = arg.operand;
  if (x.deviceHandle() != 0 && x.deviceHandle() != device)
    fail(ErrorCode::WrongDevice, describe(arg) +
                                     " of another device than the stream, which is of " +
                                     site_.stream.device().name() + ": copy it there");
  for (int dim = 0; dim < x.rank(); ++dim)
    if (x.extent(dim) < 0 || x.stride(dim) < 0)
      fail(x.extent(dim) < 0 ? ErrorCode::InvalidShape : ErrorCode::Unsupported,
           describe(arg) + " with a negative " +
               (x.extent(dim) < 0 ? "extent" : "stride, " + std::to_string(x.stride(dim))) +
               " in dimension " + std::to_string(dim) + ": views run forwards");
  if (!isAddressable(x))
    fail(ErrorCode::InvalidShape, describe(arg) + ", which spans more than 2^63 bytes");
  if (x.numel() == 0)
    return;
  if (!x.data())
    fail(ErrorCode::InvalidArgument, describe(arg) + " at a null pointer");
  if (reinterpret_cast<uintptr_t>(x.data()) % sizeOf(x.dtype()) != 0)
    fail(ErrorCode::InvalidArgument, describe(arg) + " at an address that is not a multiple of " +
                                         std::to_string(sizeOf(x.dtype())) + ", the size of one");
}

void Arguments::elementsDistinct(Named output) const {
  given(output);
  // Sorted by stride, each dimension must step past all that the smaller ones reach. Most are sorted from the last to the
  // first.
  std::pair<int64_t, int64_t> steps[kMaxRank], *end = steps;
  for (int dim = output.operand.rank() - 1; dim >= 0; --dim)
    if (output.operand.extent(dim) > 1)
      *end++ = {std::abs(output.operand.stride(dim)), output.operand.extent(dim)};
  if (!std::is_sorted(steps, end))
    std::sort(steps, end);
  int64_t reach = 0;
  for (auto [stride, extent] : std::span(steps, end)) {
    if (stride <= reach && output.operand.numel() > 0)
      fail(ErrorCode::Aliasing, describe(output) + " with a stride of " + std::to_string(stride) +
                                    ", so that several indices name one element: write to a "
                                    "tensor of its own and copy");
    reach += stride * (extent - 1);
  }
}

void Arguments::fits(const char *what, const Number &value, Named arg) const {
  DType dtype = arg.operand.dtype();
  int bits = dtype == i1 ? 1 : static_cast<int>(sizeOf(dtype)) * 8;
  uint64_t ones = ~uint64_t{0} >> (64 - bits);
  bool isUnsignedKind = dtype == i1 || isUnsigned(dtype);
  uint64_t most = isUnsignedKind ? ones : ones / 2;
  int64_t least = isUnsignedKind ? 0 : -static_cast<int64_t>(most) - 1;
  if (!value.isWithin(least, most))
    fail(ErrorCode::InvalidArgument, std::string(what) + " is " + value.str() + ", but " +
                                         describe(arg) + ", which cannot hold it");
}

void Arguments::disjoint(Named output, Named input) const {
  if (overlap(output.operand, input.operand))
    fail(ErrorCode::Aliasing, std::string(output.name) + " overlaps " + input.name +
                                  " in memory: write to another tensor");
}

void Arguments::disjointOrSame(Named output, Named input) const {
  bool same = output.operand.data() == input.operand.data() &&
              sizeOf(output.operand.dtype()) == sizeOf(input.operand.dtype());
  for (int dim = 0; same && dim < output.operand.rank(); ++dim)
    same = output.operand.stride(dim) == input.operand.stride(dim);
  if (!same)
    disjoint(output, input);
}

void Arguments::outputsApart(std::initializer_list<Named> outputs,
                             std::initializer_list<Named> inputs) const {
  // Inputs, then the outputs that have been looked at. The vector is kept: calls that are repeated ask for no memory.
  thread_local std::vector<std::pair<Bytes, const Named *>> others;
  others.clear();
  for (const Named &input : inputs)
    if (input.operand)
      others.emplace_back(bytesOf(input.operand), &input);
  for (const Named &output : outputs) {
    if (!output.operand)
      continue;
    elementsDistinct(output);
    Bytes bytes = bytesOf(output.operand);
    for (auto [otherBytes, other] : others)
      if (meet(bytes, otherBytes))
        disjoint(output, *other);
    others.emplace_back(bytes, &output);
  }
}

void Arguments::listApart(std::string_view list, std::span<const Operand> tensors) const {
  // In the order of memory, where only those that begin before an earlier one ends can meet it. The vector is kept: calls
  // that are repeated ask for no memory.
  thread_local std::vector<std::pair<Bytes, size_t>> ordered;
  ordered.clear();
  for (size_t i = 0; i < tensors.size(); ++i) {
    elementsDistinct({NameInList(list, i).text(), tensors[i]});
    ordered.emplace_back(bytesOf(tensors[i]), i);
  }
  std::ranges::sort(ordered, {}, [](const auto &entry) { return entry.first.first; });
  intptr_t reached = std::numeric_limits<intptr_t>::min();
  for (size_t i = 0; i < ordered.size(); ++i) {
    auto [bytes, index] = ordered[i];
    for (size_t before = 0; bytes.first < reached && before < i; ++before) {
      size_t other = ordered[before].second;
      disjoint({NameInList(list, index).text(), tensors[index]},
               {NameInList(list, other).text(), tensors[other]});
    }
    reached = std::max(reached, bytes.last);
  }
}

void checkFloats(const Arguments &arguments, std::initializer_list<Named> args) {
  for (Named arg : args)
    arguments.dtypeIn(arg, {f16, bf16, f32, f64});
}

} // namespace tile::ops
