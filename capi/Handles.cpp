#include "capi/Handles.h"

#include <array>
#include <atomic>
#include <mutex>
#include <string>
#include <vector>

namespace tile::capi {
namespace {

// A word, from its lowest bit on: the kind, how often the place was taken, the place, the mark. User programs have no
// addresses with the mark.
constexpr int kKindBits = 4, kTurnBits = 20, kPlaceBits = 24;
constexpr uint64_t kMark = 0x711e;
constexpr size_t kChunk = 1024, kChunks = (size_t(1) << kPlaceBits) / kChunk;
constexpr uint32_t kLastTurn = (uint32_t(1) << kTurnBits) - 1;

struct Word {
  Kind kind;
  uint32_t turn, place;
  bool isMarked;
};

constexpr uint64_t packed(Kind kind, uint32_t turn, uint32_t place) {
  return static_cast<uint64_t>(kind) | uint64_t{turn} << kKindBits |
         uint64_t{place} << (kKindBits + kTurnBits) | kMark << (kKindBits + kTurnBits + kPlaceBits);
}

Word unpacked(const void *handle) {
  auto word = reinterpret_cast<uint64_t>(handle);
  return {static_cast<Kind>(word & ((1 << kKindBits) - 1)),
          static_cast<uint32_t>(word >> kKindBits) & kLastTurn,
          static_cast<uint32_t>(word >> (kKindBits + kTurnBits)) & ((1u << kPlaceBits) - 1),
          word >> (kKindBits + kTurnBits + kPlaceBits) == kMark};
}

struct Place {
  std::mutex mutex;
  uint32_t turn = 0;
  std::shared_ptr<void> object;
};
using Chunk = std::array<Place, kChunk>;

/// Places are never freed: whoever has an old word may look there.
class Table {
public:
  static Table &get() {
    static auto *table = new Table; // handles may be released while the process ends
    return *table;
  }

  uint64_t enter(Kind kind, std::shared_ptr<void> object) {
    uint32_t index = takePlace();
    Place &place = *at(index);
    std::lock_guard lock(place.mutex);
    place.object = std::move(object);
    ++live_;
    return packed(kind, place.turn, index);
  }

  /// Null if the word is none, or an old one.
  std::shared_ptr<void> find(const Word &word) {
    Place *place = at(word.place);
    if (!place)
      return nullptr;
    std::lock_guard lock(place->mutex);
    return place->turn == word.turn ? place->object : nullptr;
  }

  std::shared_ptr<void> remove(const Word &word) {
    Place *place = at(word.place);
    if (!place)
      return nullptr;
    std::shared_ptr<void> object;
    {
      std::lock_guard lock(place->mutex);
      if (place->turn != word.turn || !place->object)
        return nullptr;
      object = std::move(place->object);
      place->object = nullptr;
      ++place->turn;
    }
    --live_;
    if (word.turn != kLastTurn) // then the place has had all its words
      leavePlace(word.place);
    return object;
  }

  size_t live() const { return live_; }

private:
  Place *at(uint32_t index) const {
    Chunk *chunk = chunks_[index / kChunk].load(std::memory_order_acquire);
    return chunk ? &(*chunk)[index % kChunk] : nullptr;
  }

  uint32_t takePlace() {
    std::lock_guard lock(mutex_);
    if (!free_.empty()) {
      uint32_t index = free_.back();
      free_.pop_back();
      return index;
    }
    if (used_ == kChunks * kChunk)
      throw Error(Fault::User, ErrorCode::ResourceExceeded,
                  "there are " + std::to_string(used_) +
                      " handles: release those that are not used any more");
    if (used_ % kChunk == 0) {
      free_.reserve(used_ + kChunk); // so that leavePlace cannot fail
      chunks_[used_ / kChunk].store(new Chunk, std::memory_order_release);
    }
    return static_cast<uint32_t>(used_++);
  }

  void leavePlace(uint32_t index) {
    std::lock_guard lock(mutex_);
    free_.push_back(index);
  }

  std::array<std::atomic<Chunk *>, kChunks> chunks_ = {};
  std::mutex mutex_; ///< guards what follows
  std::vector<uint32_t> free_;
  size_t used_ = 0;
  std::atomic<size_t> live_ = 0;
};

std::string articled(Kind kind) {
  return std::string(kind == Kind::Event || kind == Kind::Archive ? "an " : "a ") + nounOf(kind);
}

[[noreturn]] void refuse(Kind kind, const void *handle, const char *argument) {
  Word word = unpacked(handle);
  std::string name = std::string("'") + argument + "' is ", wanted = articled(kind);
  if (!handle)
    name += "NULL: " + wanted + " is expected";
  else if (!word.isMarked || !*nounOf(word.kind))
    name += "no handle of tilec: " + wanted + " is expected";
  else if (word.kind != kind)
    name += articled(word.kind) + ": " + wanted + " is expected";
  else
    name += wanted + " that was released";
  throw Error(Fault::User, ErrorCode::InvalidHandle, name);
}

} // namespace

const char *nounOf(Kind kind) {
  constexpr const char *kNouns[] = {"",        "device",   "stream",    "event",
                                    "tensor",  "graph",    "library",   "kernel",
                                    "archive", "function", "prediction"};
  auto index = static_cast<size_t>(kind);
  return index < std::size(kNouns) ? kNouns[index] : "";
}

uint64_t enter(Kind kind, std::shared_ptr<void> object) {
  return Table::get().enter(kind, std::move(object));
}

std::shared_ptr<void> find(Kind kind, const void *handle, const char *argument) {
  Word word = unpacked(handle);
  if (word.isMarked && word.kind == kind)
    if (std::shared_ptr<void> object = Table::get().find(word))
      return object;
  refuse(kind, handle, argument);
}

std::shared_ptr<void> remove(Kind kind, const void *handle, const char *argument) {
  Word word = unpacked(handle);
  if (word.isMarked && word.kind == kind)
    if (std::shared_ptr<void> object = Table::get().remove(word))
      return object;
  refuse(kind, handle, argument);
}

size_t liveHandles() { return Table::get().live(); }

} // namespace tile::capi
