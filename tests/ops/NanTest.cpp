// NaN of any bits into an op, NaN out of it, and no finding: which of two NaN a sum in f64 hands on depends on the order of its
// operands, and threads that hold one result have added in different orders.
#include "tests/execution/Harness.h"

#include <tile/ops/CrossEntropy.h>
#include <tile/ops/Einsum.h>
#include <tile/ops/Embedding.h>
#include <tile/ops/Optimizers.h>
#include <tile/ops/Reduce.h>
#include <tile/ops/Softmax.h>

using namespace tile;
using namespace tile::test;

namespace {

/// NaN of random payloads and signs, quiet and signalling.
template <class T> T anyNan(Random &random) {
  using Bits = std::conditional_t<sizeof(T) == 8, uint64_t,
                                  std::conditional_t<sizeof(T) == 4, uint32_t, uint16_t>>;
  constexpr int kDigits = mantissaBits(dtypeOf<T>);
  constexpr Bits kPayload = (Bits(1) << kDigits) - 1, kSign = Bits(1) << (8 * sizeof(T) - 1);
  auto bits = static_cast<Bits>(random.bits());
  return std::bit_cast<T>(static_cast<Bits>((bits & (kPayload | kSign)) | 1 |
                                            (static_cast<Bits>(~(kPayload | kSign)))));
}

class NanOps : public OnDevice {
protected:
  template <class T> TensorOf<T> nans(std::vector<int64_t> shape) {
    int64_t count = 1;
    for (int64_t extent : shape)
      count *= extent;
    std::vector<T> values(static_cast<size_t>(count));
    for (T &value : values)
      value = anyNan<T>(random_);
    return input(std::move(shape), values);
  }

  void expectNan(const char *what, const Tensor &tensor) {
    SCOPED_TRACE(what);
    std::vector<unsigned char> bytes(tensor.bytes());
    tensor.downloadBytes(bytes.data(), bytes.size());
    auto check = [&]<class T>(T) {
      for (size_t at = 0; at < bytes.size(); at += sizeof(T)) {
        T value;
        std::memcpy(&value, &bytes[at], sizeof(T));
        ASSERT_TRUE(std::isnan(exact(value)))
            << "element " << at / sizeof(T) << " is " << show(value);
      }
    };
    DType dtype = tensor.dtype();
    if (dtype == f64)
      check(double());
    else if (dtype == f32)
      check(float());
    else if (dtype == f16)
      check(half());
    else
      check(bfloat16());
  }

  /// Those of the rows of a matrix, and of all of it.
  template <class T> void checkRows(int64_t columns) {
    SCOPED_TRACE(std::string(nameOf(dtypeOf<T>)) + ", columns " + std::to_string(columns));
    auto x = nans<T>({3, columns}), y = nans<T>({3, columns});
    expectNan("sum", ops::sum(stream, x));
    expectNan("sum of rows", ops::sum(stream, x, {1}));
    expectNan("sum of columns", ops::sum(stream, x, {0}));
    expectNan("mean", ops::mean(stream, x, {1}));
    expectNan("sumOfSquares", ops::sumOfSquares(stream, x));
    expectNan("reduceMax", ops::reduceMax(stream, x));
    expectNan("softmax", ops::softmax(stream, x));
    expectNan("logSoftmax", ops::logSoftmax(stream, x));
    expectNan("softmaxBackward", ops::softmaxBackward(stream, x, y));
    expectNan("logSoftmaxBackward", ops::logSoftmaxBackward(stream, x, y));
    expectNan("crossEntropy", ops::crossEntropy(stream, x, input<int32_t>({3}, {0, 1, 2})));
  }

  template <class T> void checkProducts() {
    constexpr int64_t kLength = 100;
    auto x = nans<T>({3, kLength}), y = nans<T>({3, kLength});
    expectNan("einsum of rows", ops::einsum(stream, "ij,ij->i", {x, y}));
    expectNan("einsum as a product", ops::einsum(stream, "ij,kj->ik", {x, y}));
    auto norm = input<float>({1}, {0});
    std::vector<ops::Operand> both = {x, y};
    ops::globalNorm(stream, both, norm);
    expectNan("globalNorm", norm);
    auto table = nans<T>({3, 20});
    std::vector<int32_t> rows(kLength);
    for (size_t i = 0; i < rows.size(); ++i)
      rows[i] = static_cast<int32_t>(i % 3);
    ops::embeddingBackward(stream, input({kLength}, rows), nans<T>({kLength, 20}), table);
    expectNan("embeddingBackward", table);
  }

private:
  Random random_{5};
};
INSTANTIATE_TEST_SUITE_P(Devices, NanOps, ::testing::ValuesIn(deviceNames()),
                         [](const auto &run) { return testName(run.param); });

TEST_P(NanOps, OfF64) {
  for (int64_t columns : {33, 1500})
    checkRows<double>(columns);
  checkProducts<double>();
}

TEST_P(NanOps, OfNarrowerFloats) {
  checkRows<float>(33), checkRows<half>(33), checkRows<bfloat16>(33);
  checkProducts<float>();
}

} // namespace
