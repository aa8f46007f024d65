// The public Tensor: row-major allocation, views by arithmetic on extents and strides, copies that
// gather and scatter on the host where a view is strided.
#include <tile/Tensor.h>

#include "runtime/host/Capture.h"
#include "runtime/trace/Span.h"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace tile {
namespace {

using Extents = std::span<const int64_t>;

[[noreturn]] void refuse(ErrorCode code, Loc where, const std::string &message) {
  throw Error(Fault::User, code, message, where);
}

std::string textOf(Extents extents) {
  std::string text = "{";
  for (size_t i = 0; i < extents.size(); ++i)
    text += (i ? ", " : "") + std::to_string(extents[i]);
  return text + "}";
}

/// The elements of a shape; InvalidShape if it cannot be one.
int64_t elementsOf(Extents extents, DType dtype, Loc where) {
  if (extents.size() > kMaxRank)
    refuse(ErrorCode::InvalidShape, where,
           "a tensor has at most " + std::to_string(kMaxRank) + " dimensions, the shape " +
               textOf(extents) + " has " + std::to_string(extents.size()));
  for (size_t dim = 0; dim < extents.size(); ++dim)
    if (extents[dim] < 0)
      refuse(ErrorCode::InvalidShape, where,
             "extent " + std::to_string(extents[dim]) + " of dimension " + std::to_string(dim) +
                 " of the shape " + textOf(extents) + " is negative");
  if (std::find(extents.begin(), extents.end(), 0) != extents.end())
    return 0;
  int64_t bytes = static_cast<int64_t>(sizeOf(dtype));
  for (int64_t extent : extents)
    if (__builtin_mul_overflow(bytes, extent, &bytes))
      refuse(ErrorCode::InvalidShape, where,
             "a tensor of " + textOf(extents) + " " + nameOf(dtype) + " has more than 2^63 bytes");
  return bytes / static_cast<int64_t>(sizeOf(dtype));
}

void setRowMajor(Extents extents, int64_t *strides) {
  int64_t stride = 1;
  for (size_t dim = extents.size(); dim-- > 0;) {
    strides[dim] = stride;
    if (__builtin_mul_overflow(stride, std::max<int64_t>(extents[dim], 1), &stride))
      stride = 1; // only in a tensor with an extent of 0, whose strides nobody uses
  }
}

/// Offset of the last element from the first; none (-1) for an empty tensor. InvalidShape where
/// that is beyond 64 bits.
int64_t lastOffset(Extents extents, Extents strides, Loc where) {
  int64_t last = 0;
  for (size_t dim = 0; dim < extents.size(); ++dim) {
    if (extents[dim] == 0)
      return -1;
    int64_t term;
    if (__builtin_mul_overflow(extents[dim] - 1, strides[dim], &term) ||
        __builtin_add_overflow(last, term, &last))
      refuse(ErrorCode::InvalidShape, where,
             "a view of extents " + textOf(extents) + " and strides " + textOf(strides) +
                 " spans more than 2^63 elements");
  }
  return last;
}

/// Calls `visit(offset)` for each element in row-major order; offsets are in elements.
template <class Visit> void forEachElement(Extents extents, Extents strides, Visit visit) {
  int64_t index[kMaxRank] = {}, offset = 0;
  int rank = static_cast<int>(extents.size());
  if (std::find(extents.begin(), extents.end(), 0) != extents.end())
    return;
  for (;;) {
    visit(offset);
    int dim = rank - 1;
    for (; dim >= 0; --dim) {
      offset += strides[dim];
      if (++index[dim] < extents[dim])
        break;
      offset -= strides[dim] * extents[dim];
      index[dim] = 0;
    }
    if (dim < 0)
      return;
  }
}

/// Memory for the host's copy of a tensor, or OutOfMemory.
std::unique_ptr<std::byte[]> hostBytes(size_t bytes, Loc where) {
  try {
    return std::make_unique<std::byte[]>(bytes);
  } catch (const std::bad_alloc &) {
    refuse(ErrorCode::OutOfMemory, where,
           "the host has no " + std::to_string(bytes) + " bytes for a copy of the tensor");
  }
}

} // namespace

Tensor::Tensor(DType dtype, std::span<const int64_t> shape, Loc where) : dtype_(dtype) {
  if (dtype == any)
    refuse(ErrorCode::InvalidArgument, where,
           "a tensor needs a dtype; 'any' is for parameters of kernels");
  elementsOf(shape, dtype, where);
  rank_ = static_cast<int>(shape.size());
  std::copy(shape.begin(), shape.end(), extents_);
  setRowMajor(shape, strides_);
}

static size_t bytesOf(DType dtype, std::span<const int64_t> shape, Loc where) {
  return static_cast<size_t>(elementsOf(shape, dtype, where)) * sizeOf(dtype);
}

// Memory for a tensor; a lack of it is told at the line that asked for the tensor.
static std::shared_ptr<detail::Storage> allocate(const auto &owner, size_t bytes, Loc where) {
  try {
    return std::make_shared<detail::Storage>(owner, bytes);
  } catch (const Error &error) {
    throw Error(error.fault(), error.code(), error.message(), where, error.notes());
  }
}

Tensor::Tensor(const Device &device, DType dtype, std::span<const int64_t> shape, Loc where)
    : Tensor(dtype, shape, where) {
  storage_ = allocate(device.state(), bytesOf(dtype, shape, where), where);
}

Tensor::Tensor(const Stream &stream, DType dtype, std::span<const int64_t> shape, Loc where)
    : Tensor(dtype, shape, where) {
  stream.state(); // InvalidHandle for one that is closed or empty
  storage_ = allocate(stream.shared(), bytesOf(dtype, shape, where), where);
}

Tensor::Tensor(std::shared_ptr<detail::Storage> storage, DType dtype,
               std::span<const int64_t> extents, std::span<const int64_t> strides, Loc where)
    : storage_(std::move(storage)), dtype_(dtype) {
  *this = withStrides({extents.begin(), extents.end()}, {strides.begin(), strides.end()}, where);
}

void Tensor::refuseDimension(int dim, Loc where) const {
  refuse(ErrorCode::InvalidArgument, where,
         "dimension " + std::to_string(dim) + " does not exist in a tensor of rank " +
             std::to_string(rank_));
}

void Tensor::requireDtype(DType dtype, Loc where) const {
  if (dtype_ != dtype && storage_)
    refuse(ErrorCode::InvalidArgument, where,
           std::string("the tensor's elements are ") + nameOf(dtype_) + ", not " + nameOf(dtype));
}

void *Tensor::data() const {
  if (!storage_)
    return nullptr;
  return reinterpret_cast<void *>(storage_->base + offset_ * sizeOf(dtype_));
}

int64_t Tensor::numel() const {
  return storage_ ? std::accumulate(extents_, extents_ + rank_, int64_t(1), std::multiplies<>())
                  : 0;
}

bool Tensor::isContiguous() const {
  int64_t rowMajor[kMaxRank];
  setRowMajor(extents(), rowMajor);
  for (int dim = 0; dim < rank_; ++dim)
    if (extents_[dim] > 1 && strides_[dim] != rowMajor[dim])
      return numel() == 0;
  return true;
}

uint64_t Tensor::version() const { return storage_ ? storage_->version.load() : 0; }

void Tensor::markChanged() const {
  if (storage_)
    ++storage_->version;
}

Device Tensor::device(Loc where) const {
  if (!storage_)
    refuse(ErrorCode::InvalidHandle, where, "an empty Tensor belongs to no device");
  return Device(storage_->owner);
}

uint64_t Tensor::deviceHandle() const { return storage_ ? storage_->owner->id : 0; }

// --- Views ---------------------------------------------------------------------------------------

Tensor Tensor::T(Loc where) const {
  if (rank_ != 2)
    refuse(ErrorCode::InvalidShape, where,
           "T() transposes a tensor of rank 2, this one has rank " + std::to_string(rank_) +
               "; use permute({...})");
  return permute({1, 0}, where);
}

Tensor Tensor::permute(std::initializer_list<int> order, Loc where) const {
  std::vector<int> sorted(order);
  std::sort(sorted.begin(), sorted.end());
  bool isPermutation = static_cast<int>(sorted.size()) == rank_;
  for (int dim = 0; isPermutation && dim < rank_; ++dim)
    isPermutation = sorted[dim] == dim;
  if (!isPermutation)
    refuse(ErrorCode::InvalidArgument, where,
           "permute needs each of the " + std::to_string(rank_) + " dimensions once");
  Tensor result = *this;
  int to = 0;
  for (int from : order) {
    result.extents_[to] = extents_[from];
    result.strides_[to++] = strides_[from];
  }
  return result;
}

Tensor Tensor::slice(int dim, int64_t start, int64_t size, Loc where) const {
  int64_t extent = extents_[checked(dim, where)];
  if (start < 0 || size < 0 || start > extent || size > extent - start)
    refuse(ErrorCode::InvalidShape, where,
           "the slice of " + std::to_string(size) + " from " + std::to_string(start) +
               " leaves dimension " + std::to_string(dim) + " of extent " + std::to_string(extent));
  Tensor result = *this;
  result.extents_[dim] = size;
  if (result.numel() > 0)
    result.offset_ += start * strides_[dim];
  return result;
}

Tensor Tensor::reshape(std::vector<int64_t> shape, Loc where) const {
  auto open = std::find(shape.begin(), shape.end(), -1);
  if (open != shape.end()) {
    if (std::count(open, shape.end(), -1) > 1)
      refuse(ErrorCode::InvalidShape, where,
             "the shape " + textOf(shape) + " leaves more than one extent open");
    *open = 1;
    int64_t others = elementsOf(shape, dtype_ == any ? u8 : dtype_, where);
    *open = others > 0 ? numel() / others : 0;
  }
  if (!storage_ || elementsOf(shape, dtype_, where) != numel())
    refuse(ErrorCode::InvalidShape, where,
           "a tensor of " + textOf(extents()) + " cannot be reshaped to " + textOf(shape) +
               ": the number of elements differs");
  if (!isContiguous())
    refuse(ErrorCode::Unsupported, where,
           "reshape needs a contiguous tensor, this one has extents " + textOf(extents()) +
               " and strides " + textOf(strides()) + "; copy it first");
  Tensor result = *this;
  result.rank_ = static_cast<int>(shape.size());
  std::copy(shape.begin(), shape.end(), result.extents_);
  setRowMajor(shape, result.strides_);
  return result;
}

Tensor Tensor::withStrides(std::vector<int64_t> extents, std::vector<int64_t> strides,
                           Loc where) const {
  if (!storage_ || extents.size() != strides.size())
    refuse(ErrorCode::InvalidShape, where,
           "a view needs a tensor and as many strides as extents, got " + textOf(extents) +
               " and " + textOf(strides));
  for (int64_t stride : strides)
    if (stride < 0)
      refuse(ErrorCode::Unsupported, where,
             "stride " + std::to_string(stride) + " is negative; copy the data in the other order");
  if (std::find(strides.begin(), strides.end(), 0) == strides.end())
    elementsOf(extents, dtype_, where);
  else
    elementsOf(extents, u8, where);
  int64_t available = static_cast<int64_t>(storage_->bytes / sizeOf(dtype_)) - offset_;
  if (lastOffset(extents, strides, where) >= available)
    refuse(ErrorCode::InvalidShape, where,
           "the view of extents " + textOf(extents) + " and strides " + textOf(strides) +
               " leaves the " + std::to_string(available) + " elements of its memory");
  Tensor result = *this;
  result.rank_ = static_cast<int>(extents.size());
  std::copy(extents.begin(), extents.end(), result.extents_);
  std::copy(strides.begin(), strides.end(), result.strides_);
  return result;
}

// --- Copies --------------------------------------------------------------------------------------

static std::string elementCount(size_t count) {
  return std::to_string(count) + (count == 1 ? " element" : " elements");
}

static void checkSize(const Tensor &tensor, size_t size, Loc where) {
  size_t wanted = tensor.bytes(), element = tensor.dtype() == any ? 1 : sizeOf(tensor.dtype());
  if (size == wanted)
    return;
  bool areElements = size % element == 0;
  refuse(ErrorCode::InvalidArgument, where,
         "the tensor of " + textOf(tensor.extents()) + " " + nameOf(tensor.dtype()) + " has " +
             (areElements
                  ? elementCount(wanted / element) + ", the host's data " +
                        elementCount(size / element)
                  : std::to_string(wanted) + " bytes, the host's data " + std::to_string(size)));
}

namespace {

/// The bytes of the device's memory that a tensor lies in, as a stream copies them; waits for its copies.
class Span {
public:
  Span(device::Device &device, device::Stream stream, const Tensor &tensor, Loc where)
      : device_(device), stream_(stream), tensor_(tensor), where_(where),
        base_(reinterpret_cast<device::DevicePtr>(tensor.data())) {}

  void upload(const void *source) const {
    if (tensor_.isContiguous())
      return device_.copyToDevice(base_, source, tensor_.bytes(), stream_, where_);
    size_t element = sizeOf(tensor_.dtype()), bytes = bytesWithGaps();
    auto buffer = hostBytes(bytes, where_);
    device_.copyToHost(buffer.get(), base_, bytes, stream_, where_);
    auto *next = static_cast<const std::byte *>(source);
    forEachElement(tensor_.extents(), tensor_.strides(), [&](int64_t offset) {
      std::memcpy(buffer.get() + offset * element, next, element);
      next += element;
    });
    device_.copyToDevice(base_, buffer.get(), bytes, stream_, where_);
  }

  void download(void *target) const {
    copyTo(target);
    device_.noteRead(base_, sizeOf(tensor_.dtype()), tensor_.extents(), tensor_.strides(), where_);
  }

private:
  void copyTo(void *target) const {
    if (tensor_.isContiguous())
      return device_.copyToHost(target, base_, tensor_.bytes(), stream_, where_);
    size_t element = sizeOf(tensor_.dtype()), bytes = bytesWithGaps();
    auto buffer = hostBytes(bytes, where_);
    device_.copyToHost(buffer.get(), base_, bytes, stream_, where_);
    auto *next = static_cast<std::byte *>(target);
    forEachElement(tensor_.extents(), tensor_.strides(), [&](int64_t offset) {
      std::memcpy(next, buffer.get() + offset * element, element);
      next += element;
    });
  }

  size_t bytesWithGaps() const {
    return (lastOffset(tensor_.extents(), tensor_.strides(), where_) + 1) * sizeOf(tensor_.dtype());
  }

  device::Device &device_;
  device::Stream stream_;
  const Tensor &tensor_;
  Loc where_;
  device::DevicePtr base_;
};

detail::StreamState &streamFor(const Tensor &tensor, const Stream &stream, Loc where) {
  detail::StreamState &live = stream.state();
  if (live.owner->id != tensor.deviceHandle())
    refuse(ErrorCode::WrongDevice, where,
           "the tensor is in memory of device " + tensor.device().name() +
               ", the stream is of device " + live.owner->name);
  return live;
}

/// A copy from or to the host, for those who listen.
trace::Span copySpan(const char *what, size_t bytes, Loc where) {
  trace::Span span(what);
  if (!span)
    return span;
  span.note("bytes", static_cast<int64_t>(bytes));
  if (where.line)
    span.note("line", where.file + (":" + std::to_string(where.line)));
  return span;
}

void requireContiguous(const Tensor &tensor, Loc where) {
  if (!tensor.isContiguous())
    refuse(ErrorCode::Unsupported, where,
           "an asynchronous copy needs a contiguous tensor, this one has extents " +
               textOf(tensor.extents()) + " and strides " + textOf(tensor.strides()) +
               "; copy it on the device first");
}

} // namespace

void Tensor::uploadBytes(const void *source, size_t size, Loc where) const {
  checkSize(*this, size, where);
  if (size == 0)
    return;
  detail::refuseOfParent(*storage_->owner);
  detail::refuseInCapture(*storage_->owner, "an upload that waits", where);
  trace::Span span = copySpan("upload", size, where);
  device::Device &device = *storage_->owner->device;
  device.synchronize();
  Span(device, {}, *this, where).upload(source);
  device.synchronize();
}

void Tensor::downloadBytes(void *target, size_t size, Loc where) const {
  checkSize(*this, size, where);
  if (size == 0)
    return;
  detail::refuseOfParent(*storage_->owner);
  detail::refuseInCapture(*storage_->owner, "a download", where);
  trace::Span span = copySpan("download", size, where);
  device::Device &device = *storage_->owner->device;
  device.synchronize();
  Span(device, {}, *this, where).download(target);
}

void Tensor::uploadBytes(const Stream &stream, const void *source, size_t size, Loc where) const {
  checkSize(*this, size, where);
  if (size == 0)
    return;
  trace::Span span = copySpan("upload", size, where);
  detail::StreamState &live = streamFor(*this, stream, where);
  detail::refuseInCapture(live, "an upload that waits", where);
  Span(*live.owner->device, live.handle, *this, where).upload(source);
}

void Tensor::downloadBytes(const Stream &stream, void *target, size_t size, Loc where) const {
  checkSize(*this, size, where);
  if (size == 0)
    return;
  trace::Span span = copySpan("download", size, where);
  detail::StreamState &live = streamFor(*this, stream, where);
  detail::refuseInCapture(live, "a download that waits", where);
  Span(*live.owner->device, live.handle, *this, where).download(target);
}

void Tensor::uploadBytesAsync(const Stream &stream, const void *source, size_t size,
                              Loc where) const {
  checkSize(*this, size, where);
  if (size == 0)
    return;
  trace::Span span = copySpan("upload asynchronously", size, where);
  detail::StreamState &live = streamFor(*this, stream, where);
  requireContiguous(*this, where);
  auto base = reinterpret_cast<device::DevicePtr>(data());
  if (detail::Capture *capture = detail::captureOf(live))
    return capture->upload(live, {base, source, size}, where);
  live.owner->device->copyToDeviceAsync(base, source, size, live.handle, where);
}

void Tensor::downloadBytesAsync(const Stream &stream, void *target, size_t size, Loc where) const {
  checkSize(*this, size, where);
  if (size == 0)
    return;
  trace::Span span = copySpan("download asynchronously", size, where);
  detail::StreamState &live = streamFor(*this, stream, where);
  requireContiguous(*this, where);
  auto base = reinterpret_cast<device::DevicePtr>(data());
  if (detail::Capture *capture = detail::captureOf(live))
    return capture->download(live, {target, base, size}, where);
  live.owner->device->copyToHostAsync(target, base, size, live.handle, where);
}

} // namespace tile
