// Who tries settings for the tuner: a device of this process (Attempts.h), processes of their own, or a recording.
#pragma once

#include "runtime/tune/Key.h"
#include "runtime/tune/Trial.h"

#include <vector>

namespace tile::tune {

class Trier {
public:
  virtual ~Trier() = default;
  /// The version of the call's kernel, which is found out by running its function.
  virtual std::string versionOf(const TunedCall &call) {
    return tune::versionOf(call.record, call.args, call.constants);
  }
  /// Tries settings once and says how that ended; of the result, what the trial is for is the tuner's to fill in.
  virtual Trial attempt(const Config &config) = 0;
  /// These will be tried soon, in this order: they may be compiled meanwhile.
  virtual void expect(const std::vector<Config> &configs) {}
  /// Times some that were right once more, in turns, so that what disturbs one disturbs all.
  virtual void compare(std::vector<Trial *> finalists) {}
};

} // namespace tile::tune
