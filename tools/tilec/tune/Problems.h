// The problems that `tilec tune` tunes for: an input with settings, or lines of a file of shapes.
#pragma once

#include "runtime/tune/Choose.h"

#include <tile/Tensor.h>

#include <string>
#include <vector>

namespace tile::tilec {

/// A kernel and what it is called with; arguments are examples without memory.
struct TuneProblem {
  const detail::KernelRecord *record = nullptr;
  std::vector<int64_t> constants;
  std::vector<HostArg> examples;
  std::string line;              ///< as in a file of shapes
  std::vector<std::string> open; ///< constants that are still to be given, by such a line
};

/// What the words of a command line ask for: `op:NAME`, FILE.cpp or LIB.so, and settings; with `shapes`, a file, every line of it
/// that is of the kernel, or of one of the file's kernels if none is named. The kernels live as long as the process. Errors:
/// InvalidArgument.
std::vector<TuneProblem> problemsOf(std::vector<std::string> words, const std::string &kernel,
                                    const std::string &shapes, const std::string &target);

/// The kernel that such words name, as problemOfLine takes it: constants may be open, and arguments are but examples.
TuneProblem kernelOfLines(std::vector<std::string> words, const std::string &kernel,
                          const std::string &target);

/// The problem of one line of such a file for a kernel. Error: InvalidArgument, which names `place`.
TuneProblem problemOfLine(const TuneProblem &like, const std::string &line,
                          const std::string &place);

/// A call of a problem without memory: what its settings follow from, and no more.
inline tune::TunedCall exampleCall(const TuneProblem &problem, const Device &device) {
  return {*problem.record, device, problem.examples, problem.constants};
}

/// Memory for a problem on a device: floats are drawn from the normal distribution, the same each time; i1 is drawn too, other
/// integers are 0; numbers without a value are 1.
class ProblemMemory {
public:
  ProblemMemory(const TuneProblem &problem, const Device &device);
  tune::TunedCall call() const { return {*problem_.record, device_, args_, problem_.constants}; }

private:
  const TuneProblem &problem_;
  Device device_;
  std::vector<Tensor> tensors_;
  std::vector<HostArg> args_;
};

} // namespace tile::tilec
