// Compares pieces of work, forgets those that nothing can conflict with any more, and words findings.
#include "runtime/vgpu/streams/StreamRaces.h"

#include <algorithm>

namespace tile::vgpu {
namespace {

using Kind = StreamWork::Kind;

std::string textOf(const SourceLocation &location) {
  return location.file.empty() ? "" : location.file + ":" + std::to_string(location.line);
}

std::string nounOf(const StreamWork &work) {
  switch (work.kind) {
  case Kind::Launch:
    return "kernel '" + work.kernel + "'";
  case Kind::CopyToDevice:
    return "the upload";
  case Kind::CopyToHost:
    return "the download";
  case Kind::CopyOnDevice:
    return "the copy";
  case Kind::Fill:
    return "the fill";
  case Kind::Alloc:
    return "the allocation";
  case Kind::Free:
    return "the release";
  }
  return "work";
}

// "kernel 'scale' on stream 2 (main.cpp:12)".
std::string subjectOf(const StreamWork &work) {
  std::string where = textOf(work.where);
  return nounOf(work) + " on " + work.stream->text() + (where.empty() ? "" : " (" + where + ")");
}

const char *verbOf(const StreamWork &work, TouchKind kind) {
  if (work.kind == Kind::Alloc)
    return "allocates";
  if (work.kind == Kind::Free)
    return "frees";
  return kind == TouchKind::Read         ? "reads"
         : kind == TouchKind::Write      ? "writes"
         : kind == TouchKind::StrongRead ? "reads (by strong accesses)"
                                         : "updates atomically";
}

// "stream 2 (b, made at main.cpp:5)".
std::string namedText(const StreamName &stream, const char *letter) {
  std::string where = textOf(stream.made);
  return stream.text() + " (" + letter + (where.empty() ? "" : ", made at " + where) + ")";
}

// Which line of the program is to change, and what is to be written there.
std::string remedyOf(const StreamWork &first, const StreamWork &second) {
  std::string where = textOf(second.where);
  return "let " + namedText(*second.stream, "b") + " wait for " + namedText(*first.stream, "a") +
         " before " + (where.empty() ? nounOf(second) : where) +
         ": b.wait(a), an Event, or a.synchronize()";
}

Finding findingOf(const StreamWork &first, const StreamWork &second, const Conflict &conflict,
                  const GlobalMemory &memory) {
  Finding finding;
  finding.kind = FindingKind::Race;
  finding.kernel = second.kernel;
  finding.sourceFile = second.where.file;
  finding.sourceLine = second.where.line;
  finding.space = Space::Global;
  finding.address = conflict.bytes.begin;
  finding.bytes = static_cast<uint32_t>(std::min<uint64_t>(conflict.bytes.bytes(), ~uint32_t{0}));
  finding.allocation = memory.locationOf(conflict.bytes.begin);
  finding.message = subjectOf(second) + " " + verbOf(second, conflict.second) + " what " +
                    subjectOf(first) + " " + verbOf(first, conflict.first) +
                    ", and nothing orders them: " + std::to_string(conflict.bytes.bytes()) +
                    " bytes from " + memory.describe(conflict.bytes.begin) + "\n  " +
                    remedyOf(first, second);
  return finding;
}

bool areOrdered(const StreamWork &a, const StreamWork &b) {
  return a.knows.knows(b.queue, b.piece) || b.knows.knows(a.queue, a.piece);
}

} // namespace

std::vector<Finding> StreamRaces::add(StreamWork work) {
  std::vector<Finding> findings, ofAllocations;
  if (work.touched.empty())
    return findings;
  for (Queue &queue : queues_)
    for (const StreamWork &other : queue.work) {
      if (other.queue == work.queue)
        break;
      if (areOrdered(other, work))
        continue;
      const StreamWork &first = other.turn < work.turn ? other : work;
      const StreamWork &second = other.turn < work.turn ? work : other;
      if (auto conflict = firstConflict(first.touched, second.touched))
        (first.kind == Kind::Alloc ? ofAllocations : findings)
            .push_back(findingOf(first, second, *conflict, memory_));
    }
  // Whoever meets what was done with the memory meets its allocation as well, which says less.
  if (findings.empty())
    findings = std::move(ofAllocations);
  if (work.queue >= queues_.size())
    queues_.resize(work.queue + 1);
  Queue &queue = queues_[work.queue];
  queue.work.push_back(std::move(work));
  if (queue.work.size() >= queue.compactAt)
    compact(queue);
  return findings;
}

// Whoever has no order with a piece of work has none with what comes after it in its stream: of bytes that later work touches
// in a way that conflicts with as much, the earlier work need not be remembered.
void StreamRaces::compact(Queue &queue) {
  TouchedBytes later;
  for (auto work = queue.work.rbegin(); work != queue.work.rend(); ++work) {
    supersede(work->touched, later);
    for (TouchKind kind : kTouchKinds)
      later[kind].unite(work->touched[kind]);
  }
  std::erase_if(queue.work, [](const StreamWork &work) { return work.touched.empty(); });
  queue.compactAt = std::max(kCompactAt, 2 * queue.work.size());
}

void StreamRaces::forget(const StreamClock &known) {
  for (Queue &queue : queues_)
    while (!queue.work.empty() && known.knows(queue.work.front().queue, queue.work.front().piece))
      queue.work.pop_front();
}

void StreamRaces::forget(ByteRange bytes) {
  ByteRanges gone(bytes);
  for (Queue &queue : queues_) {
    for (StreamWork &work : queue.work)
      for (TouchKind kind : kTouchKinds)
        work.touched[kind].subtract(gone);
    std::erase_if(queue.work, [](const StreamWork &work) { return work.touched.empty(); });
  }
}

size_t StreamRaces::size() const {
  size_t pieces = 0;
  for (const Queue &queue : queues_)
    pieces += queue.work.size();
  return pieces;
}

} // namespace tile::vgpu
