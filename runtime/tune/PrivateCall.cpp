#include "runtime/tune/PrivateCall.h"

#include "runtime/device/Device.h"
#include "runtime/host/State.h"

#include <algorithm>
#include <cstring>

namespace tile::tune {
namespace {

using detail::ParamSpec;

// Every value that this is the bit pattern of is unlikely: of floats a NaN.
constexpr uint8_t kUnwritten = 0xff;

device::Device &seamOf(const Device &device) { return *device.state()->device; }

bool isEmpty(const HostArg &view) {
  return std::any_of(view.extents, view.extents + view.rank, [](int64_t e) { return e <= 0; });
}

uint64_t addressOf(const HostArg &view) { return reinterpret_cast<uint64_t>(view.pointer); }

/// The bytes from the first element of a view to the end of its last.
uint64_t bytesOf(const HostArg &view) {
  uint64_t last = 0;
  for (int dim = 0; dim < view.rank; ++dim)
    last += static_cast<uint64_t>(view.extents[dim] - 1) * static_cast<uint64_t>(view.strides[dim]);
  return (last + 1) * sizeOf(view.dtype);
}

/// The kinds of a kernel's parameters that are arguments.
std::vector<ParamSpec::Kind> kindsOf(const detail::KernelRecord &record) {
  std::vector<ParamSpec::Kind> kinds;
  for (const ParamSpec &param : record.params)
    if (param.kind != ParamSpec::Const)
      kinds.push_back(param.kind);
  return kinds;
}

/// Copies the elements of a view out of the bytes it spans, in row-major order.
std::vector<std::byte> gathered(const HostArg &view, const std::vector<std::byte> &spanned) {
  size_t size = sizeOf(view.dtype);
  std::vector<std::byte> elements;
  std::vector<int64_t> at(view.rank, 0);
  while (true) {
    int64_t offset = 0;
    for (int dim = 0; dim < view.rank; ++dim)
      offset += at[static_cast<size_t>(dim)] * view.strides[dim];
    const std::byte *element = spanned.data() + static_cast<size_t>(offset) * size;
    elements.insert(elements.end(), element, element + size);
    int dim = view.rank - 1;
    while (dim >= 0 && ++at[static_cast<size_t>(dim)] == view.extents[dim])
      at[static_cast<size_t>(dim--)] = 0;
    if (dim < 0)
      return elements;
  }
}

} // namespace

PrivateCall::PrivateCall(const TunedCall &call)
    : device_(call.device), stream_(call.device.stream()),
      args_(call.args.begin(), call.args.end()) {
  findRanges(call);
  device_.synchronize();
  for (Range &range : ranges_)
    range.copy = seamOf(device_).alloc(range.to - range.from);
  for (HostArg &arg : args_)
    for (const Range &range : ranges_)
      if (arg.kind == HostArg::Tensor && !isEmpty(arg) && addressOf(arg) >= range.from &&
          addressOf(arg) < range.to) {
        arg.pointer = reinterpret_cast<void *>(range.copy + (addressOf(arg) - range.from));
        break;
      }
  restore();
}

PrivateCall::~PrivateCall() {
  try {
    for (const Range &range : ranges_)
      seamOf(device_).free(range.copy);
  } catch (const Error &) { // the device is lost, and its memory with it
  }
}

void PrivateCall::findRanges(const TunedCall &call) {
  std::vector<ParamSpec::Kind> kinds = kindsOf(call.record);
  for (size_t i = 0; i < args_.size(); ++i) {
    isWritten_.push_back(kinds[i] == ParamSpec::Out || kinds[i] == ParamSpec::InOut);
    if (args_[i].kind != HostArg::Tensor || isEmpty(args_[i]))
      continue;
    // Copies are as aligned as what they are copies of.
    constexpr uint64_t kAlignment = 256;
    uint64_t from = addressOf(args_[i]), to = from + bytesOf(args_[i]);
    ranges_.push_back(
        {from / kAlignment * kAlignment, to, 0, isWritten_[i], kinds[i] != ParamSpec::Out});
  }
  std::ranges::sort(ranges_, {}, &Range::from);
  std::vector<Range> merged;
  for (const Range &range : ranges_)
    if (!merged.empty() && range.from < merged.back().to) {
      Range &last = merged.back();
      last.to = std::max(last.to, range.to);
      last.isWritten |= range.isWritten, last.isRead |= range.isRead;
    } else {
      merged.push_back(range);
    }
  ranges_ = std::move(merged);
}

void PrivateCall::restore() {
  device::Device &seam = seamOf(device_);
  device::Stream stream = stream_.state().handle;
  for (const Range &range : ranges_) {
    size_t bytes = range.to - range.from;
    if (range.isRead)
      seam.copyOnDevice(range.copy, range.from, bytes, stream);
    else
      seam.fill(range.copy, kUnwritten, bytes, stream);
  }
}

std::vector<PrivateCall::Result> PrivateCall::results() {
  std::vector<Result> all;
  for (size_t i = 0; i < args_.size(); ++i) {
    if (!isWritten_[i] || args_[i].kind != HostArg::Tensor || isEmpty(args_[i]))
      continue;
    std::vector<std::byte> spanned(bytesOf(args_[i]));
    seamOf(device_).copyToHost(spanned.data(), addressOf(args_[i]), spanned.size(),
                               stream_.state().handle);
    all.push_back({args_[i].dtype, gathered(args_[i], spanned)});
  }
  return all;
}

} // namespace tile::tune
