#include "runtime/jit/Arguments.h"

#include "frontend/trace/Binding.h"

#include <algorithm>
#include <limits>

namespace tile::jit {
namespace {

using detail::HostArg;
using detail::ParamSpec;

/// Checks the arguments of one call, each by itself.
class Validation {
public:
  Validation(const detail::KernelRecord &record, const CallDevice &device,
             std::span<const HostArg> args)
      : record(record), device(device), args(args) {}

  void run() {
    size_t param = 0;
    for (int i = 0; i < count(); ++i, ++param) {
      while (record.params[param].kind == ParamSpec::Const)
        ++param;
      if (args[i].kind != HostArg::Tensor)
        continue;
      checkSigns(i);
      if (isEmpty(args[i]))
        continue;
      checkSpan(i);
      checkPointer(i);
      auto kind = record.params[param].kind;
      if (kind == ParamSpec::Out || kind == ParamSpec::InOut)
        checkOutput(i);
    }
  }

  void runForAddresses(std::span<const Footprint> footprints) {
    for (const Footprint &footprint : footprints)
      checkPointer(footprint.argument);
  }

private:
  int count() const { return static_cast<int>(args.size()); }
  [[noreturn]] void refuse(ErrorCode code, int index, const std::string &what) const {
    frontend::refuseArgument(record, frontend::argumentName(record, index) + " " + what, code);
  }
  static bool isEmpty(const HostArg &arg) {
    return std::find(arg.extents, arg.extents + arg.rank, 0) != arg.extents + arg.rank;
  }

  void checkSigns(int i) const {
    const HostArg &arg = args[i];
    for (int dim = 0; dim < arg.rank; ++dim) {
      auto which = [dim] { return " of dimension " + std::to_string(dim); };
      if (arg.extents[dim] < 0)
        refuse(ErrorCode::InvalidShape, i,
               "has the negative extent " + std::to_string(arg.extents[dim]) + which());
      if (arg.extents[dim] > std::numeric_limits<int32_t>::max())
        refuse(ErrorCode::Unsupported, i,
               "has the extent " + std::to_string(arg.extents[dim]) + which() +
                   "; a kernel indexes up to 2147483647 along one dimension: split it in two "
                   "dimensions");
      if (arg.strides[dim] < 0)
        refuse(ErrorCode::Unsupported, i,
               "has the negative stride " + std::to_string(arg.strides[dim]) + which() +
                   "; views run forwards: copy the data in the other order");
    }
  }

  // The rules of tensors that have elements.

  void checkSpan(int i) const {
    const HostArg &arg = args[i];
    int64_t last = 0, term;
    for (int dim = 0; dim < arg.rank; ++dim)
      if (__builtin_mul_overflow(arg.extents[dim] - 1, arg.strides[dim], &term) ||
          __builtin_mul_overflow(term, static_cast<int64_t>(sizeOf(arg.dtype)), &term) ||
          __builtin_add_overflow(last, term, &last))
        refuse(ErrorCode::InvalidShape, i, "spans more than 2^63 bytes");
  }

  void checkPointer(int i) const {
    const HostArg &arg = args[i];
    auto address = reinterpret_cast<uintptr_t>(arg.pointer);
    if (!arg.pointer)
      refuse(ErrorCode::InvalidArgument, i, "is a null pointer, but its shape is not empty");
    if (arg.device && arg.device != device.id)
      refuse(ErrorCode::WrongDevice, i,
             "belongs to another device than the stream, which is of " + device.name +
                 "; copy it there");
    if (address % sizeOf(arg.dtype))
      refuse(ErrorCode::InvalidArgument, i,
             "is at an address that is not a multiple of " + std::to_string(sizeOf(arg.dtype)) +
                 ", the size of one " + nameOf(arg.dtype));
  }

  // One element of an output must not have two indices: programs would race for it.
  void checkOutput(int i) const {
    const HostArg &arg = args[i];
    for (int dim = 0; dim < arg.rank; ++dim) {
      if (arg.extents[dim] <= 1)
        continue;
      if (arg.strides[dim] == 0)
        refuse(ErrorCode::Aliasing, i,
               "is written, but has stride 0 in dimension " + std::to_string(dim) + " of extent " +
                   std::to_string(arg.extents[dim]) + "; only inputs may be broadcast");
      for (int other = 0; other < dim; ++other)
        if (arg.extents[other] > 1 && arg.strides[other] == arg.strides[dim])
          refuse(ErrorCode::Aliasing, i,
                 "is written, but has stride " + std::to_string(arg.strides[dim]) +
                     " in dimensions " + std::to_string(other) + " and " + std::to_string(dim) +
                     "; only inputs may overlap themselves");
    }
  }

  const detail::KernelRecord &record;
  const CallDevice &device;
  std::span<const HostArg> args;
};

} // namespace

void validate(const detail::KernelRecord &record, const CallDevice &device,
              std::span<const HostArg> args) {
  Validation(record, device, args).run();
}

void validateAddresses(const detail::KernelRecord &record, const CallDevice &device,
                       std::span<const detail::HostArg> args,
                       std::span<const Footprint> footprints) {
  Validation(record, device, args).runForAddresses(footprints);
}

} // namespace tile::jit
