// Spans: what the runtime does and for how long, for those who listen.
//
//   TILE_TRACE=FILE          writes a trace for Perfetto (docs/measuring.md)
//   NVTX_INJECTION64_PATH    set by NVIDIA's tools, which get the spans as ranges of NVTX
//
// Where nobody listens a span is one load and one branch.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace tile::trace {

enum class Listeners : int { Unknown, None, Some };
extern std::atomic<Listeners> listeners;
/// Asks the environment, the first time. Of `listeners`, which holds the answer afterwards.
bool findListeners();

inline bool isOn() {
  Listeners known = listeners.load(std::memory_order_relaxed);
  return known != Listeners::None && (known == Listeners::Some || findListeners());
}

/// From its construction to its destruction the calling thread does something: `what`, such as "launch", to `whom`. Spans of a
/// thread lie within each other. One that an exception ends is marked as failed.
class Span {
public:
  explicit Span(const char *what, std::string_view whom = {}) {
    if (isOn()) [[unlikely]]
      begin(what, whom);
  }

  /// Whether somebody listens, to whom more can be told.
  explicit operator bool() const { return record_ != nullptr; }
  /// Tells more. Only of a span that somebody listens to.
  void note(const char *key, int64_t value);
  void note(const char *key, std::string_view value);
  /// Parts of the span by name and milliseconds: they are drawn one after the other from its start, each as long as it took.
  void parts(std::span<const std::pair<std::string, double>> parts);

private:
  struct Record;
  struct End {
    void operator()(Record *record) const noexcept;
  };
  void begin(const char *what, std::string_view whom) noexcept;

  std::unique_ptr<Record, End> record_;
};

} // namespace tile::trace
