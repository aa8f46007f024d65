// A program whose static variables own every kind of handle, and work that nobody has waited for, when the driver goes down; with
// an argument the context is lost by then. The fake driver ends the process with a status of its own if it is called after that.
#include "tests/runtime/device/fakecuda/FakeCuda.h"

#include <tile/tile.h>

#include <cstdio>
#include <cstdlib>
#include <optional>

using namespace tile;

namespace {

struct Handles {
  std::optional<Device> device;
  Stream stream, closed;
  Event event;
  std::optional<TensorOf<float>> ofDevice, ofStream;
  std::optional<Graph> graph;

  void open() {
    constexpr int64_t kCount = 1000;
    static const auto copy = kernel("copy", [](In<f32, 1> a, Out<f32, 1> b, Const B) {
      Value i = grid1d(b, {B});
      b.tile({B})(i) = a.tile({B})(i);
    });
    device = Device::open("cuda:0");
    stream = device->stream(), closed = device->stream(), event = device->event();
    ofDevice = device->tensor<float>({kCount}), ofStream = stream.tensor<float>({kCount});
    copy.consts(256)(stream, *ofDevice, *ofStream);
    graph = Graph::capture(stream, [&] { copy.consts(256)(stream, *ofDevice, *ofStream); });
    graph->replay(stream);
    event.record(stream);
    closed.close();
  }
};

// Made before the driver was loaded, so destroyed after it went down.
Handles early;

} // namespace

int main(int argc, char **) {
  bool isLost = argc > 1;
  try {
    early.open();
    // Made after, so destroyed while the driver still answers.
    static Handles late;
    late.open();
    if (isLost)
      fakeCudaFail("cuStreamSynchronize", 1, 700);
    late.stream.synchronize();
  } catch (const Error &error) {
    if (isLost && error.code() == ErrorCode::ContextLost)
      return 0;
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
  return isLost ? 3 : 0;
}
