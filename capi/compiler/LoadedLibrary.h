// Kernels of the language in a shared library: loading it makes them.
#pragma once

#include <tile/Kernel.h>

#include <memory>
#include <string>
#include <vector>

namespace tile::capi {

using Record = std::shared_ptr<const detail::KernelRecord>;

/// A library with its kernels. Its code stays in the process: others may have pointers to it.
class LoadedLibrary {
public:
  /// Loads it, or finds it if it was loaded here before. Errors: IoError, LinkError; InvalidArgument if it makes no
  /// kernel.
  static LoadedLibrary open(const std::string &path);

  const std::vector<Record> &kernels() const { return kernels_; }
  /// The only kernel of a name. Error: InvalidArgument, listing those that there are.
  const Record &kernel(const std::string &name) const;

private:
  LoadedLibrary(std::string path, std::vector<Record> kernels)
      : path_(std::move(path)), kernels_(std::move(kernels)) {}

  std::string path_;
  std::vector<Record> kernels_;
};

/// A kernel with the names of its parameters, constants too; then of those that are arguments and of those that are constants.
struct LoadedKernel {
  Record record;
  std::vector<std::string> names, argumentNames, constantNames;
};

} // namespace tile::capi
