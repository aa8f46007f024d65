// add: every dtype, contiguous and strided, in place, and what it refuses.
#include "tests/execution/Harness.h"
#include "tests/ops/Refusals.h"

#include <tile/ops/Add.h>

using namespace tile;
using namespace tile::test;

namespace {

EXECUTION_SUITE(AddOp);

TEST_P(AddOp, EveryDtypeAndSize) {
  auto check = [&]<class T>(T) {
    for (int64_t size : {1, 7, 1023, 1024, 1025, 2049}) {
      auto x = uniform<T>(size, 0, 50), y = uniform<T>(size, 0, 50, 2);
      auto c = output<T>({size});
      ops::add(stream, input({size}, x), input({size}, y), c.tensor());
      expectAll(c.result(), [&](int64_t i) { return exact(x[size_t(i)]) + exact(y[size_t(i)]); },
                {0.5});
    }
  };
  check(half()), check(bfloat16()), check(float()), check(double());
  check(int8_t()), check(int16_t()), check(int32_t()), check(int64_t());
  check(uint8_t()), check(uint16_t()), check(uint32_t()), check(uint64_t());
}

TEST_P(AddOp, StridedMatricesAndContiguousTensorsOfAnyRank) {
  auto x = uniform<float>(60 * 70), y = uniform<float>(60 * 70, -1, 1, 2);
  auto c = output<float>({60, 70}, 3);
  ops::add(stream, input({60, 70}, x), input({70, 60}, y).T(), c.tensor());
  expectAll(c.result(), [&](int64_t i) { return x[size_t(i)] + y[size_t(i % 70 * 60 + i / 70)]; });
  auto cube = output<float>({3, 20, 70});
  ops::add(stream, input({3, 20, 70}, x), input({3, 20, 70}, y), cube.tensor());
  expectAll(cube.result(), [&](int64_t i) { return x[size_t(i)] + y[size_t(i)]; });
}

TEST_P(AddOp, InPlaceAndEmpty) {
  auto x = uniform<float>(1500);
  auto c = output<float>({1500});
  c.tensor().upload(x);
  ops::add(stream, c.tensor(), input({1500}, x), c.tensor());
  expectAll(c.result(), [&](int64_t i) { return 2 * x[size_t(i)]; });
  auto none = device().tensor<float>({0, 5});
  ops::add(stream, none, none, none);
}

TEST_P(AddOp, Refusals) {
  auto a = device().tensor<float>({10, 4}), b = device().tensor<float>({10, 5});
  auto h = device().tensor<half>({10, 4});
  auto c = device().tensor<float>({10, 4});
  expectRefused(ErrorCode::InvalidShape, "add: a is f32 10x4, but b is f32 10x5",
                [&] { ops::add(stream, a, b, c); });
  expectRefused(ErrorCode::InvalidArgument, "add: a is f32 10x4, but b is f16 10x4",
                [&] { ops::add(stream, a, h, c); });
  expectRefused(ErrorCode::Aliasing, "c is f32 10x4 with a stride of 0", [&] {
    ops::add(stream, a, a, c.withStrides({10, 4}, {4, 0}));
  });
  auto memory = device().tensor<float>({50});
  expectRefused(ErrorCode::Aliasing, "c overlaps a in memory", [&] {
    ops::add(stream, memory.slice(0, 0, 40), memory.slice(0, 0, 40), memory.slice(0, 4, 40));
  });
  auto cube = device().tensor<float>({2, 3, 4});
  expectRefused(ErrorCode::InvalidShape, "must be contiguous", [&] {
    auto permuted = cube.permute({1, 0, 2});
    ops::add(stream, permuted, permuted, permuted);
  });
  auto flags = device().tensor<bool>({10});
  expectRefused(ErrorCode::InvalidArgument, "supported dtypes: f16",
                [&] { ops::add(stream, flags, flags, flags); });
}

} // namespace
