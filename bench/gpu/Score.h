// What a call costs on a device: milliseconds between two events of a GPU; on the virtual GPU, which has no time of its own,
// the least milliseconds of a model.
#pragma once

#include <tile/Device.h>

#include <nlohmann/json.hpp>

#include <functional>
#include <memory>

namespace tile::bench {

class Scorer {
public:
  virtual ~Scorer() = default;
  /// Makes the call once, which has been made before, so that its kernels are loaded.
  ///   GPU:     {"ms": 0.2, "host_bound": false}
  ///   virtual: {"ms": 0.001, "resource": "issue", "instructions": 1234, "bytes": 5678}
  virtual nlohmann::json score(const std::function<void()> &call) = 0;
};

/// Which of the two it is, is the device's to say.
std::unique_ptr<Scorer> scorerOf(const Device &device, const Stream &stream);

} // namespace tile::bench
