// Graphs of a CUDA device. Recorded work is given to streams of our own while the driver captures those: a moment without code of
// users, in one thread, in which nothing is loaded, allocated or waited for.
#pragma once

#include "runtime/device/CudaContext.h"
#include "runtime/device/GraphWork.h"
#include "runtime/device/Handles.h"

namespace tile::device {

struct CudaGraph {
  std::shared_ptr<const GraphWork> work;
  cuda::CUgraphExec handle = nullptr;
  std::shared_ptr<const std::string> name; // for messages, if it was the last thing launched
};

class CudaGraphs {
public:
  explicit CudaGraphs(const CudaContext &context) : context_(context) {}

  /// `device` is the one of the context, by which the work is given.
  Graph create(Device &device, std::shared_ptr<const GraphWork> work);
  void update(Device &device, Graph handle, std::shared_ptr<const GraphWork> work);
  void replay(Graph handle, cuda::CUstream on) const;
  void destroy(Graph handle);
  /// Destroys all, when the device ends.
  void destroyAll();

private:
  const CudaContext &context_;
  HandleTable<GraphTag, CudaGraph> graphs_{"graph"};
};

} // namespace tile::device
