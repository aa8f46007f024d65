// Orders work by clocks, keeps it in queues, and runs it when somebody waits for it.
#include "runtime/vgpu/streams/Streams.h"

#include <utility>

namespace tile::vgpu {

Streams::Streams() {
  default_ = std::make_shared<StreamQueue>();
  default_->name = std::make_shared<StreamName>();
  pieces_.push_back(0);
  queues_.push_back(default_);
}

void Streams::setSchedule(Schedule schedule, uint64_t seed) {
  schedule_ = schedule;
  choices_.reset(seed, 0);
}

// --- Streams -------------------------------------------------------------------------------------

std::shared_ptr<StreamQueue> Streams::make(SourceLocation made) {
  auto queue = std::make_shared<StreamQueue>();
  queue->name = std::make_shared<StreamName>(StreamName{++made_, std::move(made)});
  // A stream that has ended lets another one count on if nobody can take the work of both for unordered.
  auto isKnown = [&](uint32_t index) { return host_.knows(index, pieces_[index]); };
  if (auto ended = std::ranges::find_if(ended_, isKnown); ended != ended_.end()) {
    queue->index = *ended;
    ended_.erase(ended);
  } else {
    queue->index = static_cast<uint32_t>(pieces_.size());
    pieces_.push_back(0);
  }
  std::erase_if(queues_, [](const auto &known) { return known.expired(); });
  queues_.push_back(queue);
  return queue;
}

void Streams::end(std::shared_ptr<StreamQueue> queue) {
  run(*queue);
  ended_.push_back(queue->index);
}

std::shared_ptr<StreamQueue> Streams::find(uint64_t number) const {
  for (const auto &known : queues_)
    if (auto queue = known.lock(); queue && queue->name->number == number)
      return queue;
  return nullptr;
}

// --- Work ----------------------------------------------------------------------------------------

StreamWork Streams::next(StreamQueue &queue, StreamWork::Kind kind, Loc where) {
  queue.clock.acquire(host_);
  StreamWork work;
  work.kind = kind;
  work.where = {where.line ? where.file : "", where.line};
  work.stream = queue.name;
  work.queue = queue.index;
  work.piece = ++pieces_[queue.index];
  work.turn = ++turns_;
  work.knows = queue.clock;
  queue.clock.acquire(queue.index, work.piece);
  return work;
}

void Streams::give(StreamQueue &queue, std::function<void()> work) {
  ++queue.given;
  ++waiting_;
  queue.waiting.push_back(std::move(work));
  if (schedule_ == Schedule::Eager || &queue == default_.get())
    return run(queue);
  if (schedule_ == Schedule::Random)
    runSome();
  for (size_t i = 0; waiting_ > kMostWaiting && i < queues_.size(); ++i)
    if (auto known = queues_[i].lock())
      run(*known);
}

void Streams::runOne(StreamQueue &queue) {
  std::function<void()> work = std::move(queue.waiting.front());
  queue.waiting.pop_front();
  --waiting_;
  ++queue.done;
  work();
}

void Streams::runTo(StreamQueue &queue, uint64_t position) {
  while (queue.done < position)
    runOne(queue);
}

void Streams::run(StreamQueue &queue) { runTo(queue, queue.given); }

// The last streams first: they are those that may have to wait for the others and do not.
void Streams::runAll() {
  for (size_t i = queues_.size(); i-- > 0;)
    if (auto queue = queues_[i].lock())
      run(*queue);
}

void Streams::runSome() {
  for (const auto &known : queues_)
    if (auto queue = known.lock())
      while (!queue->waiting.empty() && choices_.oneIn(3))
        runOne(*queue);
}

// --- Order ---------------------------------------------------------------------------------------

std::shared_ptr<EventRecord> Streams::record(const std::shared_ptr<StreamQueue> &queue) {
  queue->clock.acquire(host_);
  auto event = std::make_shared<EventRecord>();
  event->queue = queue;
  event->position = queue->given + 1;
  event->knows = queue->clock;
  give(*queue, [event, queue = queue.get()] {
    queue->inFlight = nullptr;
    event->reached = std::chrono::steady_clock::now();
  });
  return event;
}

void Streams::wait(StreamQueue &queue, std::shared_ptr<EventRecord> event) {
  queue.clock.acquire(event->knows);
  give(queue, [this, event = std::move(event), &queue] {
    queue.inFlight = nullptr;
    if (auto before = event->queue.lock())
      runTo(*before, event->position);
  });
}

void Streams::finish(StreamQueue &queue) {
  run(queue);
  queue.inFlight = nullptr;
  host_.acquire(queue.clock);
}

void Streams::finish(const EventRecord &event) {
  if (auto queue = event.queue.lock())
    runTo(*queue, event.position);
  host_.acquire(event.knows);
}

void Streams::finish() {
  runAll();
  for (const auto &known : queues_)
    if (auto queue = known.lock())
      queue->inFlight = nullptr;
  for (uint32_t index = 0; index < pieces_.size(); ++index) // streams that have ended as well
    host_.acquire(index, pieces_[index]);
}

bool Streams::isReached(const EventRecord &event) {
  auto queue = event.queue.lock();
  if (queue && queue->done < event.position) {
    runOne(*queue);
    return false;
  }
  host_.acquire(event.knows);
  return true;
}

} // namespace tile::vgpu
