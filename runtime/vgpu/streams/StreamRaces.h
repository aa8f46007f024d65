// Races between streams: what pieces of work have touched that the host has not waited for yet, and
// which of them meet without an order.
//
// Pieces of work are compared by the clocks they had when they were given to their streams,
// whenever they run.
#pragma once

#include "runtime/vgpu/check/Checks.h"
#include "runtime/vgpu/check/TouchedBytes.h"
#include "runtime/vgpu/machine/Memory.h"
#include "runtime/vgpu/streams/StreamClock.h"

#include <deque>
#include <memory>

namespace tile::vgpu {

/// The name of a stream in reports.
struct StreamName {
  uint64_t number = 0; // of the device's streams, from 1; 0 is the default stream
  SourceLocation made; // by a line of the host's program
  std::string text() const {
    return number ? "stream " + std::to_string(number) : std::string("the default stream");
  }
};

/// A piece of work: what was asked for, where, and what it comes after.
struct StreamWork {
  enum class Kind : uint8_t { Launch, CopyToDevice, CopyToHost, CopyOnDevice, Fill, Alloc, Free };
  Kind kind = Kind::Launch;
  std::string kernel;   // of a launch
  SourceLocation where; // a line of the host's program; none if the host did not say
  std::shared_ptr<const StreamName> stream;
  uint32_t queue = 0;   // the stream, to clocks
  uint64_t piece = 0;   // its number in the stream
  uint64_t turn = 0;    // its number on the device
  StreamClock knows;    // what it comes after
  TouchedBytes touched; // once it has run
};

class StreamRaces {
public:
  explicit StreamRaces(const GlobalMemory &memory) : memory_(memory) {}

  /// The work has run. Returns the first conflict with each piece of work that has run and has no
  /// order with it.
  std::vector<Finding> add(StreamWork work);
  /// The host has waited for this, and no work that is still to run came before that.
  void forget(const StreamClock &known);
  /// Memory is freed and may come back: nothing about it is to be remembered.
  void forget(ByteRange bytes);
  /// Pieces of work remembered.
  size_t size() const;

private:
  struct Queue {
    std::deque<StreamWork> work; // in order
    size_t compactAt = kCompactAt;
  };
  static constexpr size_t kCompactAt = 64;

  void compact(Queue &queue);

  const GlobalMemory &memory_;
  std::vector<Queue> queues_;
};

} // namespace tile::vgpu
