// A call whose tensors are copies: settings are tried on them, and nothing of the user's changes. Arguments that share memory share
// it still.
#pragma once

#include "runtime/tune/Choose.h"

#include <tile/Device.h>

#include <cstddef>
#include <vector>

namespace tile::tune {

class PrivateCall {
public:
  /// Copies what the arguments refer to, after all that their device has been given. Errors: OutOfMemory; InvalidArgument for an
  /// argument that is no memory of the device.
  explicit PrivateCall(const TunedCall &call);
  ~PrivateCall();
  PrivateCall(const PrivateCall &) = delete;
  PrivateCall &operator=(const PrivateCall &) = delete;

  const Stream &stream() const { return stream_; }
  /// The arguments, in the copies.
  std::span<const HostArg> args() const { return args_; }
  /// What the kernel reads has the contents of the user's again; what it writes alone is set to bytes that no result is made of.
  void restore();

  /// An argument's elements that are written, one after the other in row-major order.
  struct Result {
    DType dtype;
    std::vector<std::byte> bytes;
  };
  /// What the kernel has written; waits for it.
  std::vector<Result> results();

private:
  /// A stretch of memory that arguments lie in.
  struct Range {
    uint64_t from = 0, to = 0, copy = 0;
    bool isWritten = false, isRead = false;
  };
  void findRanges(const TunedCall &call);

  Device device_;
  Stream stream_;
  std::vector<Range> ranges_;
  std::vector<HostArg> args_;
  std::vector<bool> isWritten_; ///< of each argument
};

} // namespace tile::tune
