// Memory, and the work on it that needs no kernel; streams and events.
#include "runtime/vgpu/MemoryDevice.h"

#include "runtime/vgpu/HostRequests.h"

#include <cstring>

namespace tile::vgpu {

using device::DevicePtr;

// --- What all calls do -----------------------------------------------------------------------------

std::shared_ptr<StreamQueue> MemoryDevice::queueOf(device::Stream stream) const {
  return stream ? streamHandles_.get(stream)->queue : streams_.defaultQueue();
}

// Forgets work that the host has waited for: once queues are empty, it comes before all
// that is still to run.
void MemoryDevice::forgetKnown() {
  if (streams_.areIdle())
    races_.forget(streams_.hostKnows());
}

void MemoryDevice::touch(StreamWork &work, ByteRange read, ByteRange written) const {
  if (!checks_.race)
    return;
  work.touched[TouchKind::Read].append(read);
  work.touched[TouchKind::Write].append(written);
}

void MemoryDevice::noteWork(StreamWork work) {
  for (Finding &finding : races_.add(std::move(work)))
    untold_.push_back(std::move(finding));
}

void MemoryDevice::give(device::Stream stream, StreamWork work, std::function<void()> act) {
  std::shared_ptr<StreamQueue> queue = queueOf(stream);
  streams_.give(*queue, [this, queue = queue.get(), work = std::move(work), act]() mutable {
    queue->inFlight = nullptr;
    noteWork(std::move(work));
    act();
  });
}

void MemoryDevice::giveCopyToDevice(DevicePtr target, const void *source, size_t bytes,
                                    device::Stream stream, Loc where) {
  auto check = [=, this] { requireRange(memory_, "copyToDevice: target", target, bytes); };
  check();
  requireHostPointer("copyToDevice: source", source, bytes);
  StreamWork work = streams_.next(*queueOf(stream), Kind::CopyToDevice, where);
  touch(work, {}, {target, target + bytes});
  give(stream, std::move(work), [=, this] {
    check();
    if (bytes == 0)
      return;
    std::memcpy(memory_.host(target, bytes), source, bytes);
    memory_.valid().setRange(target - kGlobalBase, bytes, true);
  });
}

void MemoryDevice::giveCopyToHost(void *target, DevicePtr source, size_t bytes,
                                  device::Stream stream, Loc where) {
  auto check = [=, this] { requireRange(memory_, "copyToHost: source", source, bytes); };
  check();
  requireHostPointer("copyToHost: target", target, bytes);
  StreamWork work = streams_.next(*queueOf(stream), Kind::CopyToHost, where);
  touch(work, {source, source + bytes}, {});
  give(stream, std::move(work), [=, this] {
    check();
    if (bytes)
      std::memcpy(target, memory_.host(source, bytes), bytes);
  });
}

void MemoryDevice::deliver(const std::vector<Finding> &findings, const FindingSink &sink) {
  if (findings.empty())
    return;
  if (sink) {
    sink(findings);
    return;
  }
  std::vector<std::string> notes;
  for (size_t i = 1; i < findings.size(); ++i)
    notes.push_back(findings[i].text());
  // Its line is said by the error.
  const Finding &first = findings[0];
  std::string text = first.text(), line = first.sourceFile + ":" + std::to_string(first.sourceLine);
  if (!first.sourceFile.empty() && text.starts_with(line + ": "))
    text.erase(0, line.size() + 2);
  throw Error(Fault::Device, ErrorCode::DeviceFinding, text,
              {first.sourceFile.c_str(), first.sourceLine}, std::move(notes));
}

// --- Memory --------------------------------------------------------------------------------------

DevicePtr MemoryDevice::alloc(size_t bytes, device::Stream stream, Loc where) {
  std::lock_guard lock(mutex_);
  std::shared_ptr<StreamQueue> queue = queueOf(stream);
  uint64_t address = memory_.allocate(bytes);
  if (address == 0)
    throw Error(Fault::User, ErrorCode::OutOfMemory,
                "out of memory: " + std::to_string(bytes) + " bytes asked for, " +
                    std::to_string(memory_.limitBytes() - memory_.usedBytes()) + " of " +
                    std::to_string(memory_.limitBytes()) + " are free");
  if (stream) {
    ofStreams_.insert(address);
    StreamWork work = streams_.next(*queue, Kind::Alloc, where);
    touch(work, {}, {address, address + bytes});
    noteWork(std::move(work));
  }
  return address;
}

void MemoryDevice::free(DevicePtr pointer, device::Stream stream, Loc where) {
  std::lock_guard lock(mutex_);
  std::shared_ptr<StreamQueue> queue = queueOf(stream);
  if (pointer == 0)
    return;
  const GlobalMemory::Block *block = memory_.near(pointer);
  if (!block || block->base != pointer || block->isVariable)
    fail(ErrorCode::InvalidArgument,
         "free: " + hex(pointer) + " was not returned by alloc: " + memory_.describe(pointer));
  if (!block->live)
    fail(ErrorCode::UseAfterFree, "free: " + hex(pointer) + " has been freed already");
  ByteRange bytes{pointer, pointer + block->bytes};
  if (ofStreams_.erase(pointer) && stream) {
    quietly([&] { streams_.run(*queue); });
    StreamWork work = streams_.next(*queue, Kind::Free, where);
    touch(work, {}, bytes);
    noteWork(std::move(work));
  } else {
    quietly([&] { streams_.finish(); });
  }
  memory_.release(pointer);
  races_.forget(bytes);
}

std::optional<device::Allocation> MemoryDevice::allocationOf(DevicePtr pointer) const {
  std::lock_guard lock(mutex_);
  const GlobalMemory::Block *block = memory_.find(pointer);
  if (!block)
    return std::nullopt;
  return device::Allocation{block->base, block->bytes};
}

void MemoryDevice::copyToDevice(DevicePtr target, const void *source, size_t bytes,
                                device::Stream stream, Loc where) {
  tell([&] {
    giveCopyToDevice(target, source, bytes, stream, where);
    streams_.finish(*queueOf(stream));
  });
}

void MemoryDevice::copyToDeviceAsync(DevicePtr target, const void *source, size_t bytes,
                                     device::Stream stream, Loc where) {
  tell([&] { giveCopyToDevice(target, source, bytes, stream, where); });
}

void MemoryDevice::copyToHost(void *target, DevicePtr source, size_t bytes, device::Stream stream,
                              Loc where) {
  tell([&] {
    giveCopyToHost(target, source, bytes, stream, where);
    streams_.finish(*queueOf(stream));
  });
}

void MemoryDevice::copyToHostAsync(void *target, DevicePtr source, size_t bytes,
                                   device::Stream stream, Loc where) {
  tell([&] { giveCopyToHost(target, source, bytes, stream, where); });
}

void MemoryDevice::copyOnDevice(DevicePtr target, DevicePtr source, size_t bytes,
                                device::Stream stream, Loc where) {
  tell([&] {
    auto check = [=, this] {
      requireRange(memory_, "copyOnDevice: target", target, bytes);
      requireRange(memory_, "copyOnDevice: source", source, bytes);
    };
    check();
    StreamWork work = streams_.next(*queueOf(stream), Kind::CopyOnDevice, where);
    touch(work, {source, source + bytes}, {target, target + bytes});
    give(stream, std::move(work), [=, this] {
      check();
      if (bytes == 0)
        return;
      std::memmove(memory_.host(target, bytes), memory_.host(source, bytes), bytes);
      memory_.valid().copyRange(target - kGlobalBase, memory_.valid(), source - kGlobalBase, bytes);
    });
  });
}

void MemoryDevice::fill(DevicePtr target, uint8_t value, size_t bytes, device::Stream stream,
                        Loc where) {
  tell([&] {
    auto check = [=, this] { requireRange(memory_, "fill: target", target, bytes); };
    check();
    StreamWork work = streams_.next(*queueOf(stream), Kind::Fill, where);
    touch(work, {}, {target, target + bytes});
    give(stream, std::move(work), [=, this] {
      check();
      if (bytes == 0)
        return;
      std::memset(memory_.host(target, bytes), value, bytes);
      memory_.valid().setRange(target - kGlobalBase, bytes, true);
    });
  });
}

void MemoryDevice::discard(DevicePtr pointer, size_t bytes, device::Stream stream) {
  std::lock_guard lock(mutex_);
  requireRange(memory_, "discard", pointer, bytes);
  quietly([&] {
    streams_.give(*queueOf(stream), [=, this] {
      if (memory_.find(pointer))
        memory_.invalidate(pointer - kGlobalBase, bytes);
    });
  });
}

size_t MemoryDevice::countUnwritten(DevicePtr pointer, size_t elementBytes, size_t count) const {
  std::lock_guard lock(mutex_);
  requireRange(memory_, "countUnwritten", pointer, elementBytes * count);
  const int64_t extent = static_cast<int64_t>(count), stride = 1;
  return vgpu::countUnwritten(memory_.valid(), {pointer, elementBytes, {&extent, 1}, {&stride, 1}});
}

void MemoryDevice::noteRead(DevicePtr base, size_t elementBytes, std::span<const int64_t> extents,
                            std::span<const int64_t> strides, Loc where) {
  std::lock_guard lock(mutex_);
  if (checks_.init && memory_.find(base))
    unwrittenReads_.note(memory_, {base, elementBytes, extents, strides}, where);
}

void MemoryDevice::nameMemory(DevicePtr pointer, const std::string &name) {
  std::lock_guard lock(mutex_);
  if (!memory_.rename(pointer, name))
    fail(ErrorCode::InvalidArgument, "nameMemory: no memory begins at " + hex(pointer));
}

// --- Streams and events --------------------------------------------------------------------------

device::Stream MemoryDevice::createStream(Loc where) {
  std::lock_guard lock(mutex_);
  SourceLocation made{where.line ? where.file : "", where.line};
  return streamHandles_.insert(
      std::make_shared<StreamHandle>(StreamHandle{streams_.make(std::move(made))}));
}

device::Stream MemoryDevice::adoptStream(void *native, Loc) {
  std::lock_guard lock(mutex_);
  auto queue = streams_.find(reinterpret_cast<uintptr_t>(native));
  if (!queue)
    fail(ErrorCode::InvalidHandle, "the virtual GPU has no stream " +
                                       hex(reinterpret_cast<uintptr_t>(native)) +
                                       ": it takes what Stream::native() of one of its own gave");
  return streamHandles_.insert(std::make_shared<StreamHandle>(StreamHandle{queue, false}));
}

void *MemoryDevice::nativeOf(device::Stream stream) const {
  std::lock_guard lock(mutex_);
  return reinterpret_cast<void *>(queueOf(stream)->name->number);
}

void MemoryDevice::destroyStream(device::Stream stream) {
  std::lock_guard lock(mutex_);
  auto handle = streamHandles_.remove(stream);
  if (handle->isOwner)
    quietly([&] { streams_.end(handle->queue); });
}

void MemoryDevice::synchronize(device::Stream stream) {
  tell([&] { streams_.finish(*queueOf(stream)); });
}

void MemoryDevice::synchronize() {
  tell([&] { streams_.finish(); });
}

void MemoryDevice::drain(device::Stream stream) noexcept {
  std::lock_guard lock(mutex_);
  quietly([&] { streams_.finish(*queueOf(stream)); });
  forgetKnown();
}

void MemoryDevice::drain() noexcept {
  std::lock_guard lock(mutex_);
  quietly([&] { streams_.finish(); });
  forgetKnown();
}

device::Event MemoryDevice::createEvent() {
  return events_.insert(std::make_shared<EventHandle>());
}

void MemoryDevice::destroyEvent(device::Event event) { events_.remove(event); }

void MemoryDevice::record(device::Event event, device::Stream stream) {
  auto handle = events_.get(event);
  tell([&] { handle->record = streams_.record(queueOf(stream)); });
}

void MemoryDevice::wait(device::Stream stream, device::Event event) {
  auto handle = events_.get(event);
  tell([&] {
    std::shared_ptr<StreamQueue> queue = queueOf(stream);
    if (handle->record)
      streams_.wait(*queue, handle->record);
  });
}

void MemoryDevice::synchronize(device::Event event) {
  auto handle = events_.get(event);
  tell([&] {
    if (handle->record)
      streams_.finish(*handle->record);
  });
}

bool MemoryDevice::isDone(device::Event event) {
  auto handle = events_.get(event);
  bool isReached = true;
  tell([&] { isReached = !handle->record || streams_.isReached(*handle->record); });
  return isReached;
}

bool MemoryDevice::waitUntil(device::Event event, std::chrono::steady_clock::time_point) {
  synchronize(event);
  return true;
}

float MemoryDevice::elapsedMs(device::Event start, device::Event stop) {
  auto from = events_.get(start), to = events_.get(stop);
  float milliseconds = 0;
  tell([&] {
    for (const auto &event : {from, to}) {
      if (!event->record)
        fail(ErrorCode::InvalidHandle, "elapsedMs: the event has not been recorded");
      streams_.finish(*event->record);
      if (!event->record->reached)
        fail(ErrorCode::InvalidHandle, "elapsedMs: the work before the event has failed");
    }
    milliseconds =
        std::chrono::duration<float, std::milli>(*to->record->reached - *from->record->reached)
            .count();
  });
  return milliseconds;
}

} // namespace tile::vgpu
