// Settings tried on a device in this process: compiled, run on copies of a call's tensors, compared with what the kernel's own
// settings make of them, and timed. On the virtual GPU, which has no time, they get that of the model.
//
// What a kernel does wrong may take the process with it: `tilec tune` tries in processes of their own.
#pragma once

#include "runtime/tune/Agreement.h"
#include "runtime/tune/Trier.h"

#include <tile/Bench.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tile::tune {

struct AttemptOptions {
  bool runsOwn = true;          ///< false: the kernel's own settings are known to end the process
  double precision = 0.02;      ///< of a time: the width of the median's interval, as part of it
  double finalPrecision = 0.01; ///< likewise of the fastest, which compete with each other, ...
  double mostFinalSeconds = 10; ///< ... for so long
  double mostSeconds = 0.2;     ///< that a time takes to find out
  double restSeconds = 0.2;     ///< before it is found out again, where the device was slowed
};

class Attempts : public Trier {
public:
  /// The kernel is run with its own settings, whose results are the reference; if they do not work, the first that do make it.
  /// On the virtual GPU a problem that takes too long is not run, only compiled.
  explicit Attempts(const TunedCall &call, AttemptOptions options = {});

  Trial attempt(const Config &config) override;
  void compare(std::vector<Trial *> finalists) override;

private:
  struct Settings {
    std::vector<int64_t> constants;
    detail::LaunchOptions launch;
  };
  Settings settingsOf(const Config &config) const;
  void launch(const Settings &settings);
  bool runs(const Config &config) const;
  /// Runs it and has its results for the reference; nothing if that does not work.
  void makeReference(const Config &config);
  /// Compares with the reference, or becomes it.
  std::string checkResults();
  void findTime(const Settings &settings, Trial &trial);
  /// Once more where the device was slowed, or had a clock far from the usual one; in the end with a doubt.
  BenchResult timeAtUsualClock(const Settings &settings, int usualClock,
                               const BenchOptions &options);
  void model(const Settings &settings, Trial &trial);

  TunedCall call_;
  AttemptOptions options_;
  PrivateCall copies_;
  std::vector<PrivateCall::Result> reference_;
  bool hasReference_ = false;
  std::vector<int> clocks_; ///< of the times so far that are not doubtful, in MHz
};

} // namespace tile::tune
