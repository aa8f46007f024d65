// Operands loaded through pointers under a mask reach the product through shared memory: what the mask
// leaves out is zero there.
#include "tests/conformance/Near.h"

using namespace tile;
using namespace tile::test;

namespace {

class ConformanceMaskedOperands : public OnDevice {
protected:
  template <class T> void check() {
    static const auto program =
        kernel("masked", [](In<dtypeOf<T>, 1> a, In<dtypeOf<T>, 1> b, Out<f32, 2> d,
                            Scalar<i32> countA, Scalar<i32> countB) {
          Value rows = expand_dims(arange(32), 1), columns = expand_dims(arange(32), 0);
          Value atA = rows * 16 + expand_dims(arange(16), 0);
          Value atB = expand_dims(arange(16), 1) * 32 + columns;
          Value x = load(a.ptr() + atA, atA < countA, 0), y = load(b.ptr() + atB, atB < countB, 0);
          d.tile({32, 32})(0, 0) = dot(x, y);
        });
    for (int count : {0, 1, 15, 16, 37, 500, 512}) {
      SCOPED_TRACE(count);
      // Beyond the mask stand NaNs, so that one read would show.
      std::vector<T> a = uniform<T>(512, -1, 1, 1), b = uniform<T>(512, -1, 1, 2);
      for (int i = count; i < 512; ++i)
        a[size_t(i)] = T(NAN);
      for (int i = 511 - count / 2; i < 512; ++i)
        b[size_t(i)] = T(NAN);
      int countB = 511 - count / 2;
      auto d = output<float>({32, 32}, 1);
      program.grid(1)(stream, input({512}, a), input({512}, b), d.tensor(), count, countB);
      expectClose(d.result(),
                  [&](int64_t i) {
                    double sum = 0;
                    for (int64_t k = 0; k < 16; ++k) {
                      int64_t atA = i / 32 * 16 + k, atB = k * 32 + i % 32;
                      if (atA < count && atB < countB)
                        sum += exact(a[size_t(atA)]) * exact(b[size_t(atB)]);
                    }
                    return sum;
                  },
                  {1e-2, 0});
    }
  }
};
INSTANTIATE_TEST_SUITE_P(Devices, ConformanceMaskedOperands,
                         ::testing::ValuesIn(deviceNames(Targets::One)),
                         [](const auto &run) { return testName(run.param); });

TEST_P(ConformanceMaskedOperands, Bf16) { check<bfloat16>(); }
TEST_P(ConformanceMaskedOperands, F16) { check<half>(); }
TEST_P(ConformanceMaskedOperands, F32) { check<float>(); }

} // namespace
