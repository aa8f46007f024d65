// A program whose static variables own every kind of handle, and work that nobody has waited for, when the driver goes down. The
// fake driver ends the process with a status of its own if it is called after that.
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

int main() {
  try {
    early.open();
    // Made after, so destroyed while the driver still answers.
    static Handles late;
    late.open();
  } catch (const Error &error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
  return 0;
}
