// A line that tells how far a training run is: on a terminal it is written over, elsewhere it comes a dozen times.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>

#include <unistd.h>

class Progress {
public:
  /// Of a run of so many steps, of which `first` are done already, that work on `unit`s, so many each.
  Progress(int64_t steps, const char *unit, int64_t unitsPerStep, int64_t first = 0)
      : steps_(steps), first_(first), unit_(unit), unitsPerStep_(unitsPerStep) {}

  /// After `done` steps, the last of which had this loss.
  void show(int64_t done, double loss) {
    bool isLast = done == steps_;
    if (!isTerminal_ && !isLast && done * kLines / steps_ == (done - 1) * kLines / steps_)
      return;
    double seconds = std::chrono::duration<double>(Clock::now() - start_).count();
    double perStep = seconds / static_cast<double>(std::max<int64_t>(done - first_, 1));
    int filled = static_cast<int>(kWidth * done / steps_);
    std::string bar = std::string(static_cast<size_t>(filled), '#') +
                      std::string(static_cast<size_t>(kWidth - filled), '.');
    auto left = static_cast<int64_t>(perStep * static_cast<double>(steps_ - done));
    std::printf("%sstep %lld/%lld [%s] loss %.4f  %.0f %s/s  %lld:%02lld left%s",
                isTerminal_ ? "\r" : "", static_cast<long long>(done),
                static_cast<long long>(steps_), bar.c_str(), loss,
                static_cast<double>(unitsPerStep_) / std::max(perStep, 1e-9), unit_,
                static_cast<long long>(left / 60), static_cast<long long>(left % 60),
                isTerminal_ && !isLast ? "  " : "\n");
    std::fflush(stdout);
  }

private:
  using Clock = std::chrono::steady_clock;
  static constexpr int kWidth = 24, kLines = 12;
  int64_t steps_, first_;
  const char *unit_;
  int64_t unitsPerStep_;
  bool isTerminal_ = isatty(STDOUT_FILENO) != 0;
  Clock::time_point start_ = Clock::now();
};
