#include "runtime/host/Capture.h"

#include <algorithm>

namespace tile::detail {
namespace {

thread_local Capture *current = nullptr;

uint64_t nextNumber() {
  static std::atomic<uint64_t> last = 0;
  return ++last;
}

std::string placeOf(Loc where) {
  return where.line ? " at " + std::string(where.file) + ":" + std::to_string(where.line)
                    : std::string();
}

[[noreturn]] void refuse(ErrorCode code, const std::string &message, Loc where = {}) {
  throw Error(Fault::User, code, message, where);
}

[[noreturn]] void refuseWaiting(const Capture &capture, const std::string &what, Loc where) {
  refuse(ErrorCode::NotPreparedForCapture,
         what + " in a capture: the stream is " + capture.describe() +
             ", and nothing of that runs before the graph is replayed; do it before or after",
         where);
}

} // namespace

Capture::Capture(std::shared_ptr<StreamState> stream, std::shared_ptr<GraphMemory> memory,
                 Loc where)
    : number_(nextNumber()), owner_(stream->owner), memory_(std::move(memory)),
      work_(std::make_shared<device::GraphWork>()) {
  work_->where = where;
  join(stream);
  current = this;
}

Capture::~Capture() {
  current = nullptr;
  for (Lane &lane : lanes_)
    lane.stream->capture = nullptr;
  for (const Memory &memory : owner_->held.release(held_))
    memory.giveBack();
}

Capture *Capture::ofThread() { return current; }

std::string Capture::describe() const { return "captured into a graph" + placeOf(work_->where); }

// --- Streams -------------------------------------------------------------------------------------

uint32_t Capture::laneOf(const StreamState &stream) const {
  auto isOf = [&](const Lane &lane) { return lane.stream.get() == &stream; };
  return static_cast<uint32_t>(std::ranges::find_if(lanes_, isOf) - lanes_.begin());
}

uint32_t Capture::join(const std::shared_ptr<StreamState> &stream) {
  uint32_t lane = laneOf(*stream);
  if (lane == lanes_.size()) {
    lanes_.push_back({stream, 0, {}, ""});
    work_->lanes = lane + 1;
    stream->capture = this;
  }
  return lane;
}

uint32_t Capture::recordOn(uint32_t lane) {
  auto event = static_cast<uint32_t>(events_.size());
  std::vector<uint64_t> known = lanes_[lane].knows;
  known.resize(std::max<size_t>(known.size(), lane + 1));
  known[lane] = lanes_[lane].given;
  events_.push_back(std::move(known));
  work_->events = event + 1;
  work_->steps.push_back({lane, {}, device::GraphRecord{event}});
  return event;
}

void Capture::waitOn(uint32_t lane, uint32_t event) {
  const std::vector<uint64_t> &before = events_[event];
  std::vector<uint64_t> &knows = lanes_[lane].knows;
  knows.resize(std::max(knows.size(), before.size()));
  for (size_t i = 0; i < before.size(); ++i)
    knows[i] = std::max(knows[i], before[i]);
  work_->steps.push_back({lane, {}, device::GraphWait{event}});
}

void Capture::record(const StreamState &stream, const EventState &event) {
  eventNumbers_[&event] = recordOn(laneOf(stream));
  event.capture = number_;
}

void Capture::wait(const std::shared_ptr<StreamState> &stream, const EventState &event) {
  waitOn(join(stream), eventNumbers_.at(&event));
}

void Capture::wait(const std::shared_ptr<StreamState> &stream, const StreamState &before) {
  uint32_t event = recordOn(laneOf(before));
  waitOn(join(stream), event);
}

// --- Work ----------------------------------------------------------------------------------------

void Capture::give(const StreamState &stream, device::GraphStep step, const std::string &what) {
  step.lane = laneOf(stream);
  Lane &lane = lanes_[step.lane];
  ++lane.given;
  lane.last = what + placeOf(step.where);
  work_->steps.push_back(std::move(step));
}

void Capture::hold(device::DevicePtr pointer) {
  std::optional<device::DevicePtr> base = owner_->held.foreignAt(pointer);
  if (!base)
    if (auto found = owner_->device->allocationOf(pointer); found && !memory_->owns(found->base))
      base = found->base;
  if (base && held_.insert(*base).second)
    owner_->held.hold(*base);
}

void Capture::launch(const StreamState &stream, device::GraphLaunch launch,
                     std::span<const HostArg> args) {
  for (const HostArg &arg : args)
    if (arg.kind == HostArg::Tensor)
      hold(reinterpret_cast<device::DevicePtr>(arg.pointer));
  std::string what = "the launch of kernel '" + launch.kernel + "'";
  Loc where = launch.config.where;
  give(stream, {0, where, std::move(launch)}, what);
}

void Capture::upload(const StreamState &stream, device::GraphUpload copy, Loc where) {
  hold(copy.target);
  give(stream, {0, where, copy}, "the copy to the device");
}

void Capture::download(const StreamState &stream, device::GraphDownload copy, Loc where) {
  hold(copy.source);
  give(stream, {0, where, copy}, "the copy to the host");
}

void Capture::take(const StreamState &stream, Memory &memory, size_t bytes) {
  memory.graph = memory_;
  memory.lane = laneOf(stream);
  StreamMemory::Block block = memory_->take(memory.lane, bytes);
  memory.base = block.base, memory.blockBytes = block.bytes;
  if (block.isTakenAgain)
    work_->steps.push_back({memory.lane, {}, device::GraphDiscard{block.base, block.bytes}});
}

device::DevicePtr Capture::takeCounters(const StreamState &stream, size_t bytes) {
  return memory_->takeCounters(laneOf(stream), bytes);
}

std::shared_ptr<const device::GraphWork> Capture::finish() {
  const std::vector<uint64_t> &known = lanes_[0].knows;
  for (size_t i = 1; i < lanes_.size(); ++i)
    if (lanes_[i].given > (i < known.size() ? known[i] : 0))
      refuse(ErrorCode::InvalidArgument,
             lanes_[i].last +
                 " went to another stream, which the captured one has not waited for when the "
                 "capture ends: let it, as in stream.wait(other)",
             work_->where);
  return work_;
}

// --- Calls that a capture cannot have ------------------------------------------------------------

Capture *captureBy(Capture *capture) {
  if (capture != current)
    refuse(ErrorCode::NotPreparedForCapture,
           "the stream is being captured into a graph by another thread: use another stream, or "
           "wait for that thread");
  return capture;
}

void refuseIfOthersCapture(const StreamState &stream, const std::string &what, const char *remedy,
                           Loc where) {
  if (stream.isExternal && stream.owner->device->isCapturedByOthers(stream.handle))
    refuse(ErrorCode::NotPreparedForCapture,
           what + " while others capture this stream, which the driver does not allow: " + remedy,
           where);
}

void refuseInCapture(const StreamState &stream, const char *what, Loc where) {
  if (Capture *capture = captureOf(stream))
    refuseWaiting(*capture, what, where);
  refuseIfOthersCapture(stream, what, "do it before or after", where);
}

void refuseInCapture(const DeviceState &device, const char *what, Loc where) {
  if (current && &current->device() == &device)
    refuse(ErrorCode::NotPreparedForCapture,
           std::string(what) + " in a capture: it waits for all work of the device, and a stream " +
               "of it is " + current->describe() + "; do it before or after",
           where);
}

} // namespace tile::detail
