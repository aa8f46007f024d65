#include "frontend/call/Arguments.h"

#include <algorithm>
#include <limits>

using namespace tile;
using namespace tile::frontend;

namespace {

using detail::HostArg;
using detail::KernelRecord;
using detail::ParamSpec;

std::string describe(bool isTensor, DType dtype) {
  return isTensor ? std::string("ptr<") + nameOf(dtype) + ">" : nameOf(dtype);
}

/// Checks one tensor of a call.
class TensorCheck {
public:
  TensorCheck(const KernelRecord &record, const HostArg &arg, int index)
      : record_(record), arg_(arg), index_(index) {}

  void checkSigns() const {
    for (int dim = 0; dim < arg_.rank; ++dim) {
      auto which = [dim] { return " of dimension " + std::to_string(dim); };
      if (arg_.extents[dim] < 0)
        refuse(ErrorCode::InvalidShape,
               "has the negative extent " + std::to_string(arg_.extents[dim]) + which());
      if (arg_.extents[dim] > std::numeric_limits<int32_t>::max())
        refuse(ErrorCode::Unsupported,
               "has the extent " + std::to_string(arg_.extents[dim]) + which() +
                   "; a kernel indexes up to 2147483647 along one dimension: split it in two "
                   "dimensions");
      if (arg_.strides[dim] < 0)
        refuse(ErrorCode::Unsupported,
               "has the negative stride " + std::to_string(arg_.strides[dim]) + which() +
                   "; views run forwards: copy the data in the other order");
    }
  }

  // The rules of tensors that have elements.

  void checkSpan() const {
    int64_t last = 0, term;
    for (int dim = 0; dim < arg_.rank; ++dim)
      if (__builtin_mul_overflow(arg_.extents[dim] - 1, arg_.strides[dim], &term) ||
          __builtin_mul_overflow(term, static_cast<int64_t>(sizeOf(arg_.dtype)), &term) ||
          __builtin_add_overflow(last, term, &last))
        refuse(ErrorCode::InvalidShape, "spans more than 2^63 bytes");
  }

  void checkAddress(const CallDevice &device) const {
    if (isAddress(arg_, sizeOf(arg_.dtype), device.id))
      return;
    if (!arg_.pointer)
      refuse(ErrorCode::InvalidArgument, "is a null pointer, but its shape is not empty");
    if (arg_.device && arg_.device != device.id)
      refuse(ErrorCode::WrongDevice, "belongs to another device than the stream, which is of " +
                                         device.name + "; copy it there");
    refuse(ErrorCode::InvalidArgument, "is at an address that is not a multiple of " +
                                           std::to_string(sizeOf(arg_.dtype)) +
                                           ", the size of one " + nameOf(arg_.dtype));
  }

  // One element of an output must not have two indices: programs would race for it.
  void checkOutput() const {
    for (int dim = 0; dim < arg_.rank; ++dim) {
      if (arg_.extents[dim] <= 1)
        continue;
      if (arg_.strides[dim] == 0)
        refuse(ErrorCode::Aliasing,
               "is written, but has stride 0 in dimension " + std::to_string(dim) + " of extent " +
                   std::to_string(arg_.extents[dim]) + "; only inputs may be broadcast");
      for (int other = 0; other < dim; ++other)
        if (arg_.extents[other] > 1 && arg_.strides[other] == arg_.strides[dim])
          refuse(ErrorCode::Aliasing, "is written, but has stride " +
                                          std::to_string(arg_.strides[dim]) + " in dimensions " +
                                          std::to_string(other) + " and " + std::to_string(dim) +
                                          "; only inputs may overlap themselves");
    }
  }

private:
  [[noreturn]] void refuse(ErrorCode code, const std::string &what) const {
    refuseArgument(record_, argumentName(record_, index_) + " " + what, code);
  }

  const KernelRecord &record_;
  const HostArg &arg_;
  int index_;
};

} // namespace

namespace tile::frontend {

std::string text(Loc loc) {
  if (!*loc.file)
    return "an unknown line";
  return std::string(loc.file) + ":" + std::to_string(loc.line);
}

std::string argumentName(const KernelRecord &record, int index) {
  std::string name = "arg " + std::to_string(index + 1);
  if (record.paramNames.empty())
    return name;
  forEachArgument(record, [&](const ParamSpec &spec, int argument) {
    if (argument == index)
      name += " '" + record.paramNames[static_cast<size_t>(&spec - record.params.data())] + "'";
  });
  return name;
}

void refuseArgument(const KernelRecord &record, const std::string &what, ErrorCode code, Loc call) {
  throw Error(Fault::User, code, what, call,
              {"in a call of kernel '" + record.name + "', defined at " + text(record.where)});
}

bool isEmpty(const HostArg &tensor) {
  return std::find(tensor.extents, tensor.extents + tensor.rank, 0) != tensor.extents + tensor.rank;
}

std::string mismatchOf(const ParamSpec &spec, bool isTensor, DType dtype, int rank) {
  bool wantsTensor = spec.kind != ParamSpec::Scalar;
  bool isSameType = wantsTensor == isTensor && (dtype == spec.dtype || spec.dtype == any);
  if (!isSameType && isTensor && dtype == any)
    return "expected " + describe(wantsTensor, spec.dtype) + ", got a tensor that is none";
  if (!isSameType)
    return "expected " + describe(wantsTensor, spec.dtype) + ", got " + describe(isTensor, dtype);
  if (rank > kMaxRank)
    return "expected rank " + std::to_string(spec.rank) +
           ", got a rank that is not between 0 and " + std::to_string(kMaxRank);
  if (wantsTensor && rank != spec.rank)
    return "expected rank " + std::to_string(spec.rank) + ", got rank " + std::to_string(rank);
  return "";
}

void checkTensors(const KernelRecord &record, std::span<const HostArg> args,
                  const CallDevice &device) {
  forEachArgument(record, [&](const ParamSpec &spec, int index) {
    const HostArg &arg = args[static_cast<size_t>(index)];
    if (arg.kind != HostArg::Tensor)
      return;
    TensorCheck check(record, arg, index);
    check.checkSigns();
    if (isEmpty(arg))
      return;
    check.checkSpan();
    check.checkAddress(device);
    if (isWritten(spec))
      check.checkOutput();
  });
}

} // namespace tile::frontend

namespace tile::detail {

void checkArguments(const KernelRecord &record, std::span<const HostArg> args) {
  size_t count = 0;
  forEachArgument(record, [&](const ParamSpec &spec, int index) {
    ++count;
    if (static_cast<size_t>(index) >= args.size())
      return;
    const HostArg &arg = args[static_cast<size_t>(index)];
    std::string wrong = mismatchOf(spec, arg.kind == HostArg::Tensor, arg.dtype, arg.rank);
    if (!wrong.empty())
      refuseArgument(record, argumentName(record, index) + ": " + wrong);
  });
  if (count != args.size())
    refuseArgument(record, "the kernel takes " + std::to_string(count) + " arguments, got " +
                               std::to_string(args.size()));
}

void checkSpan(size_t size, std::span<const int64_t> extents, Loc loc) {
  size_t count = 1;
  bool fits = true;
  std::string shape;
  for (int64_t extent : extents) {
    fits =
        fits && extent >= 0 && !__builtin_mul_overflow(count, static_cast<size_t>(extent), &count);
    shape += (shape.empty() ? "" : "x") + std::to_string(extent);
  }
  if (!fits || count != size)
    throw Error(Fault::User, ErrorCode::InvalidShape,
                "ref: a span of " + std::to_string(size) + " elements is no tensor of " + shape,
                loc);
}

void scalarOutOfRange(const ArgumentPlace &place, DType dtype, Arg number) {
  bool isLarge = number.kind() == Arg::Kind::UInt;
  std::string text = isLarge ? std::to_string(static_cast<uint64_t>(number.asInt()))
                             : std::to_string(number.asInt());
  if (!place.record)
    throw Error(Fault::User, ErrorCode::InvalidArgument,
                "a scalar argument does not fit: " + text + " is no " + nameOf(dtype));
  refuseArgument(*place.record,
                 argumentName(*place.record, place.argument) + ": " + text + " is no " +
                     nameOf(dtype),
                 ErrorCode::InvalidArgument, place.call);
}

} // namespace tile::detail
