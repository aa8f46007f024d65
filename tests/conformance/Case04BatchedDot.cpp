// Batched products in blocks of 32x32, for several batches and numbers of warps.
#include "tests/conformance/Near.h"

using namespace tile;
using namespace tile::test;

namespace {

class ConformanceBatchedDot : public OnDevice {
protected:
  template <class T, class C> void check(int batch, int size, int warps) {
    static const auto program = kernel("batched", [](In<dtypeOf<T>, 3> a, In<dtypeOf<T>, 3> b,
                                                     Out<dtypeOf<C>, 3> d, Const B, Const K) {
      Value m = program_id(0), n = program_id(1);
      d.tile({B, 32, 32})(0, m, n) = dot(a.tile({B, 32, K})(0, m, 0), b.tile({B, K, 32})(0, 0, n));
    });
    SCOPED_TRACE("batch " + std::to_string(batch) + " size " + std::to_string(size) + " warps " +
                 std::to_string(warps));
    double bound = isFloat(dtypeOf<T>) ? 1 : 127;
    std::vector<T> a = uniform<T>(batch * size * size, -bound, bound, 1),
                   b = uniform<T>(batch * size * size, -bound, bound, 2);
    auto d = output<C>({batch, size, size}, 1);
    program.consts(batch, size)
        .warps(warps)
        .grid(size / 32, size / 32)(stream, input({batch, size, size}, a),
                                    input({batch, size, size}, b), d.tensor());
    expectClose(d.result(),
                [&](int64_t i) {
                  int64_t row = i / size, column = i % size, matrix = row / size;
                  double sum = 0;
                  for (int64_t k = 0; k < size; ++k)
                    sum +=
                        static_cast<double>(exact(a[size_t(row * size + k)])) *
                        static_cast<double>(exact(b[size_t((matrix * size + k) * size + column)]));
                  return sum;
                },
                {1e-2, 1e-2});
  }
};
INSTANTIATE_TEST_SUITE_P(Devices, ConformanceBatchedDot,
                         ::testing::ValuesIn(deviceNames(Targets::One)),
                         [](const auto &run) { return testName(run.param); });

TEST_P(ConformanceBatchedDot, Bytes) {
  for (int batch : {1, 2, 4, 8})
    for (int warps : {1, 2, 4, 8, 16})
      check<int8_t, int32_t>(batch, warps == 4 ? 64 : 32, warps);
}
TEST_P(ConformanceBatchedDot, Halves) {
  for (int batch : {1, 2, 4, 8})
    for (int warps : {1, 2, 4, 8, 16})
      check<half, float>(batch, warps == 4 ? 64 : 32, warps);
}
// Where a batch of wide elements does not fit into shared memory or registers there is nothing to compute.
TEST_P(ConformanceBatchedDot, Floats) {
  for (int batch : {1, 2, 4})
    for (int warps : {4, 16})
      check<float, float>(batch, batch == 4 ? 32 : 64, warps);
}
TEST_P(ConformanceBatchedDot, Doubles) {
  for (int batch : {1, 2, 4})
    for (int warps : {4, 16})
      check<double, double>(batch, batch == 4 ? 32 : 64, warps);
}

} // namespace
