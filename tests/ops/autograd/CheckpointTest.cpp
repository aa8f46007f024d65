// Checkpointed segments: the same gradients bit for bit, less memory, the same random numbers, and every pitfall.
#include "tests/execution/Harness.h"
#include "tests/ops/Refusals.h"

#include <tile/autograd/Checkpoint.h>
#include <tile/autograd/Ops.h>
#include <tile/detail/autograd/Checkpoint.h>
#include <tile/ops/Arithmetic.h>

using namespace tile;
using namespace tile::test;
using namespace tile::autograd;

namespace {

class Checkpoints : public OnDevice {
protected:
  void TearDown() override { EXPECT_EQ(liveNodes(), 0u); }
  Variable leaf(int64_t size, unsigned seed, Role role = kTrained) {
    return Variable(stream, input({size}, uniform<double>(size, -1, 1, seed)), role);
  }
  static std::vector<double> numbers(const Tensor &tensor) {
    return TensorOf<double>(tensor).download();
  }
};
INSTANTIATE_TEST_SUITE_P(Devices, Checkpoints, ::testing::ValuesIn(deviceNames(Targets::One)),
                         [](const auto &run) { return testName(run.param); });

using Inputs = std::span<const Variable>;

TEST_P(Checkpoints, GiveTheSameGradientsForInputsAndCapturedLeaves) {
  Variable a = leaf(5, 1), b = leaf(5, 2), w = leaf(5, 3);
  auto f = [&](Inputs v) { return multiply(add(multiply(v[0], w), v[1]), w); };
  auto gradients = [&](auto run) {
    for (const Variable &v : {a, b, w})
      v.clearGrad();
    Variable in[] = {a, b};
    sum(multiply(run(in), w)).backward();
    return std::array{numbers(a.grad()), numbers(b.grad()), numbers(w.grad())};
  };
  auto plain = gradients(f);
  auto kept = gradients([&](Inputs v) { return checkpoint(f, {v[0], v[1]}); });
  auto nested = gradients([&](Inputs v) {
    return checkpoint([&](Inputs u) { return checkpoint(f, {u[0], u[1]}); }, {v[0], v[1]});
  });
  EXPECT_EQ(plain, kept);
  EXPECT_EQ(plain, nested);
}

TEST_P(Checkpoints, OfInputsThatWantNoGradientTrainWhatTheyCapture) {
  Variable x = leaf(3, 1, kInput), w = leaf(3, 2);
  sum(checkpoint([&](Inputs v) { return multiply(v[0], w); }, {x})).backward();
  EXPECT_EQ(numbers(w.grad()), numbers(x.value()));
}

TEST_P(Checkpoints, AreSeenThroughByGrad) {
  Variable x = leaf(3, 1), w = leaf(3, 2);
  Variable y = sum(add(checkpoint([&](Inputs v) { return multiply(v[0], w); }, {x}), w));
  Variable wanted[] = {w};
  auto gradients = grad({&y, 1}, wanted);
  auto expected = numbers(x.value());
  for (double &number : expected)
    number += 1;
  EXPECT_EQ(numbers(gradients[0]), expected);
  EXPECT_FALSE(w.grad());
  EXPECT_FALSE(x.grad());
}

/// y = x * (a number from a counter), which moves on.
struct Counted {
  static constexpr const char *kName = "counted";
  double number;
  Tensor forward(Context &context, const Tensor &x) {
    return ops::affine(context.stream(), x, number, 0);
  }
  Tensor backward(Context &context, const Tensor &dy) {
    return ops::affine(context.stream(), dy, number, 0);
  }
};

TEST_P(Checkpoints, DrawTheSameNumbersAgain) {
  uint64_t counter = 10;
  auto draw = [&](const Variable &x) {
    autograd::detail::beforeMove(counter);
    return apply(Counted{double(counter++)}, Loc::here(), x);
  };
  Variable x = leaf(1, 1);
  Variable y = checkpoint(
      [&](Inputs v) { return checkpoint([&](Inputs u) { return draw(u[0]); }, {draw(v[0])}); },
      {x});
  EXPECT_EQ(counter, 12u);
  Variable z = draw(y);
  z.backward();
  EXPECT_EQ(counter, 13u) << "running again must not move it";
  EXPECT_EQ(numbers(x.grad()), std::vector<double>{10 * 11 * 12});
}

TEST_P(Checkpoints, DropTheSameElementsAgain) {
  Variable x = leaf(500, 1);
  auto twice = [](const Variable &v, ops::Generator &generator) {
    return dropout(multiply(dropout(v, 0.4, generator), v), 0.3, generator);
  };
  auto gradient = [&](bool keeps) {
    ops::Generator generator{.seed = 7, .offset = 100};
    auto f = [&](Inputs v) { return twice(v[0], generator); };
    Variable in[] = {x};
    x.clearGrad();
    Variable y = sum(keeps ? f(in) : checkpoint(f, {x}));
    uint64_t offset = generator.offset;
    y.backward();
    EXPECT_EQ(offset, 1100u);
    EXPECT_EQ(generator.offset, offset) << "running again must not move it";
    return numbers(x.grad());
  };
  auto kept = gradient(true);
  EXPECT_EQ(gradient(false), kept);
  // d/dx of keep1 * keep2 * x^2 is twice that over x: 0 or 2 x / (0.6 * 0.7)
  auto values = numbers(x.value());
  size_t dropped = 0;
  for (size_t i = 0; i < kept.size(); ++i) {
    dropped += kept[i] == 0;
    if (kept[i] != 0) {
      EXPECT_NEAR(kept[i], 2 * values[i] / (0.6 * 0.7), 1e-12);
    }
  }
  EXPECT_NEAR(double(dropped) / 500, 1 - 0.6 * 0.7, 0.1);
}

TEST_P(Checkpoints, NeedLessMemory) {
  std::vector<std::function<Variable(const Variable &)>> layers(
      16, [](const Variable &x) { return multiply(x, x); });
  Variable x = leaf(1 << 14, 1);
  auto most = [&](auto run) {
    Variable y = run();
    size_t used = stream.usage().usedBytes;
    auto seed = stream.tensor<double>({1 << 14});
    seed.fill(1);
    x.clearGrad();
    y.backward(seed);
    return std::pair{used, numbers(x.grad())};
  };
  auto [plainBytes, plain] = most([&] {
    Variable y = x;
    for (const auto &layer : layers)
      y = layer(y);
    return y;
  });
  auto [keptBytes, kept] = most([&] { return checkpointSequential(layers, x); });
  EXPECT_EQ(plain, kept);
  EXPECT_LT(keptBytes * 3, plainBytes);
}

TEST_P(Checkpoints, Refusals) {
  Variable x = leaf(3, 1);
  Variable y = checkpoint([](Inputs v) { return multiply(v[0], v[0]); }, {x});
  {
    NoGrad quiet;
    ops::fill(stream, 1, x.inPlace());
  }
  auto seed = stream.tensor<double>({3});
  expectRefused(ErrorCode::Aliasing, "checkpoint: input 0, f64[3], was changed in place since",
                [&] { y.backward(seed); });
  int runs = 0;
  Variable z = checkpoint(
      [&](Inputs v) {
        return runs++ ? reshape(v[0], {3, 1}) : multiply(v[0], v[0]);
      },
      {x});
  expectRefused(ErrorCode::InvalidShape, "returned f64[3] at first and f64[3,1] when run again",
                [&] { z.backward(seed); });
  expectRefused(ErrorCode::InvalidHandle, "checkpoint: each input must be a variable",
                [&] { checkpoint([](Inputs v) { return v[0]; }, {Variable()}); });
}

} // namespace
