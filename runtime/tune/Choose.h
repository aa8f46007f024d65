// The settings of a launch: found out once for a problem, and remembered for calls like it.
#pragma once

#include "base/ForkLocks.h"
#include "runtime/tune/Key.h"
#include "runtime/tune/Known.h"
#include "runtime/tune/Mode.h"

#include <tile/Device.h>

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace tile::tune {

/// Chooses settings by what is known of a problem. Thread-safe.
class Chooser {
public:
  Chooser(Mode mode, std::unique_ptr<KnownResults> known, std::string recordFile);
  /// The one that the environment asks for.
  static Chooser &ofProcess();

  /// Error: NotTuned in the mode Pinned.
  TunedChoice choose(const TunedCall &call);

private:
  std::optional<TunedChoice> fromKnown(const TunedCall &call, const std::string &key);
  void record(const TunedCall &call, const std::string &key);
  std::optional<TunedChoice> tryNow(const TunedCall &call, const std::string &key);

  Mode mode_;
  std::string recordFile_;
  bool isRecordLost_ = false; ///< it could not be written, which was told
  base::ForkMutex mutex_;
  std::unique_ptr<KnownResults> known_;
  std::map<std::string, std::vector<Known>> byProblem_; ///< what was looked up, or tried here
  std::set<std::string> recorded_;
};

} // namespace tile::tune
