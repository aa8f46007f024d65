#include "runtime/trace/Span.h"

#include "runtime/trace/Nvtx.h"
#include "runtime/trace/TraceFile.h"

#include <nlohmann/json.hpp>

#include <chrono>
#include <cstdio>
#include <exception>
#include <mutex>

namespace tile::trace {

std::atomic<Listeners> listeners = Listeners::Unknown;

bool findListeners() {
  static std::once_flag once;
  std::call_once(once, [] {
    bool any = TraceFile::ofProcess() || Nvtx::ofProcess();
    listeners = any ? Listeners::Some : Listeners::None;
  });
  return listeners == Listeners::Some;
}

namespace {

using Clock = std::chrono::steady_clock;
using Nanoseconds = std::chrono::nanoseconds;

/// A string of JSON, whatever the bytes.
std::string quoted(std::string_view text) {
  using Json = nlohmann::json;
  return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// Microseconds with three digits behind the point, whatever the locale.
std::string microseconds(Nanoseconds time) {
  char text[40];
  std::snprintf(text, sizeof text, "%lld.%03lld", static_cast<long long>(time.count() / 1000),
                static_cast<long long>(time.count() % 1000));
  return text;
}

} // namespace

struct Span::Record {
  void write(TraceFile &file, Clock::time_point end) {
    if (std::uncaught_exceptions() > exceptions)
      note("failed", "true");
    file.add(event(name, start, end - start, args));
    Clock::time_point from = start;
    for (const auto &[part, milliseconds] : parts) {
      auto took = std::chrono::duration_cast<Nanoseconds>(
          std::chrono::duration<double, std::milli>(milliseconds));
      file.add(event(part, from, took, ""));
      from += took;
    }
  }

  /// `value` is JSON.
  void note(const char *key, std::string_view value) {
    if (!args.empty())
      args += ',';
    args.append("\"").append(key).append("\":").append(value);
  }

  /// One of the trace's events, complete ones (X) as their format calls them.
  std::string event(std::string_view title, Clock::time_point from, Nanoseconds took,
                    std::string_view args) const {
    std::string text = "{\"name\":" + quoted(title) + ",\"cat\":\"" + what + "\",\"ph\":\"X\"";
    text += ",\"ts\":" + microseconds(from.time_since_epoch()) + ",\"dur\":" + microseconds(took);
    text += ",\"pid\":" + std::to_string(TraceFile::processId());
    text += ",\"tid\":" + std::to_string(TraceFile::threadId());
    text.append(",\"args\":{").append(args).append("}}");
    return text;
  }

  const char *what;
  std::string name;
  int exceptions = std::uncaught_exceptions();
  std::string args = {}; ///< JSON, without its braces
  std::vector<std::pair<std::string, double>> parts = {};
  Clock::time_point start = {};
};

void Span::begin(const char *what, std::string_view whom) noexcept try {
  std::string name = what;
  if (!whom.empty())
    name += " " + std::string(whom);
  record_.reset(new Record{what, std::move(name)});
  if (Nvtx *nvtx = Nvtx::ofProcess())
    nvtx->push(record_->name.c_str());
  record_->start = Clock::now();
} catch (...) { // what is traced goes on
}

void Span::note(const char *key, int64_t value) { record_->note(key, std::to_string(value)); }

void Span::note(const char *key, std::string_view value) { record_->note(key, quoted(value)); }

void Span::parts(std::span<const std::pair<std::string, double>> parts) {
  record_->parts.assign(parts.begin(), parts.end());
}

void Span::End::operator()(Record *owned) const noexcept try {
  std::unique_ptr<Record> record(owned);
  Clock::time_point end = Clock::now();
  if (Nvtx *nvtx = Nvtx::ofProcess())
    nvtx->pop();
  if (TraceFile *file = TraceFile::ofProcess())
    record->write(*file, end);
} catch (...) { // what is traced goes on
}

} // namespace tile::trace
