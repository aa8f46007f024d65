// What users' functions, hooks and segments do wrong: the error arrives as it was thrown or names the function, and what
// was begun is undone, so that the same graph can be walked again.
#include "tests/ops/Refusals.h"
#include "tests/ops/autograd/Graphs.h"

#include <tile/autograd/Checkpoint.h>
#include <tile/autograd/Ops.h>
#include <tile/detail/autograd/Checkpoint.h>

#include <stdexcept>

using namespace tile;
using namespace tile::test;
using autograd::kTrained;
using Inputs = std::span<const Variable>;

namespace {

class AutogradFaults : public OnGraphs {};
INSTANTIATE_TEST_SUITE_P(Devices, AutogradFaults, ::testing::ValuesIn(deviceNames(Targets::One)),
                         [](const auto &run) { return testName(run.param); });

/// Throws the first time its backward runs.
struct Failing {
  static constexpr const char *kName = "failing";
  bool *fails;
  Tensor forward(Context &, const Tensor &x) { return x; }
  Tensor backward(Context &, const Tensor &dy) {
    if (std::exchange(*fails, false))
      throw std::runtime_error("backward failed");
    return dy;
  }
};

TEST_P(AutogradFaults, AWalkThatThrewCanBeRunAgain) {
  bool fails = true;
  Variable a = leaf({3});
  Variable y = autograd::apply(Failing{&fails}, Loc::here(), a * a) * a;
  EXPECT_THROW(y.backward({.retainGraph = true}), std::runtime_error);
  EXPECT_TRUE(autograd::isRecording()) << "backward ran in the scope of a NoGrad";
  a.clearGrad(); // what had reached it before
  y.backward();
  EXPECT_EQ(numbers(a.grad()), Numbers{27});
}

TEST_P(AutogradFaults, HooksThatThrow) {
  Variable a = leaf({3});
  bool fails = true;
  auto once = [&](const Tensor &) -> Tensor {
    if (std::exchange(fails, false))
      throw std::runtime_error("hook failed");
    return {};
  };
  Variable m = scale(a, 2);
  m.hook(once);
  Variable y = m * m;
  EXPECT_THROW(y.backward({.retainGraph = true}), std::runtime_error);
  EXPECT_FALSE(a.grad());
  y.backward({.retainGraph = true});
  EXPECT_EQ(numbers(a.grad()), Numbers{24});

  fails = true, a.clearGrad(), a.hook(once);
  EXPECT_THROW(y.backward({.retainGraph = true}), std::runtime_error);
  EXPECT_FALSE(a.grad());
  a.afterGrad([](const Variable &) { throw std::runtime_error("after"); });
  EXPECT_THROW(y.backward(), std::runtime_error);
  EXPECT_EQ(numbers(a.grad()), Numbers{24}) << "the gradient was there before the hook ran";
}

TEST_P(AutogradFaults, HooksThatReturnAnotherShape) {
  Variable a = leaf({3, 4});
  Variable m = scale(a, 2);
  std::string forward = std::string(__FILE__) + ":" + std::to_string(__LINE__ - 1);
  m.hook([](const Tensor &g) { return g.slice(0, 0, 1); });
  expectRefused(ErrorCode::InvalidShape,
                "the hook of an output of 'scale' of " + forward +
                    " returned a gradient f64[1], but the tensor it belongs to is f64[2]",
                [&] { m.backward(a.value()); });
}

TEST_P(AutogradFaults, HooksMayWalkGraphsOfTheirOwn) {
  Variable a = leaf({3}), b = leaf({5});
  Variable m = scale(a, 2);
  m.hook([&](const Tensor &) {
    (b * b).backward(); // fills b, although the walk outside fills no leaf and asks for a
    scale(a, 7).backward();
    return Tensor();
  });
  Variable y = m * m, inputs[] = {a};
  EXPECT_EQ(numbers(autograd::grad({&y, 1}, inputs)[0]), Numbers{24});
  ASSERT_TRUE(b.grad() && a.grad());
  EXPECT_EQ(numbers(b.grad()), Numbers{10});
  EXPECT_EQ(numbers(a.grad()), Numbers{7});
}

TEST_P(AutogradFaults, SegmentsThatThrow) {
  Variable a = leaf({3});
  int run = 0, failing = 0;
  uint64_t counter = 7;
  auto segment = [&](Inputs v) {
    autograd::detail::beforeMove(counter);
    ++counter;
    if (run++ == failing)
      throw std::runtime_error("segment failed");
    return v[0] * v[0];
  };
  EXPECT_THROW(autograd::checkpoint(segment, {a}), std::runtime_error);
  EXPECT_TRUE(autograd::isRecording());

  run = 0, failing = 1; // when backward() runs it again
  Variable y = autograd::checkpoint(segment, {a});
  uint64_t after = counter;
  EXPECT_THROW(y.backward({.retainGraph = true}), std::runtime_error);
  EXPECT_EQ(counter, after) << "set back for the second run, and not restored";
  EXPECT_TRUE(autograd::isRecording());
  y.backward();
  EXPECT_EQ(numbers(a.grad()), Numbers{6});
}

TEST_P(AutogradFaults, SegmentsThatAreNone) {
  Variable a = leaf({3});
  expectRefused(ErrorCode::InvalidArgument, "checkpoint: there is no function to run",
                [&] { autograd::checkpoint({}, {a}); });
  expectRefused(ErrorCode::InvalidHandle, "checkpoint: its segment returned no variable",
                [&] { autograd::checkpoint([](Inputs) { return Variable(); }, {a}); });
}

/// Returns no tensor.
struct Empty {
  static constexpr const char *kName = "empty";
  Tensor forward(Context &, const Tensor &) { return {}; }
  Tensor backward(Context &, const Tensor &dy) { return dy; }
};
/// Asks for more than it saved.
struct Forgetful {
  static constexpr const char *kName = "forgetful";
  Tensor forward(Context &context, const Tensor &x) {
    context.save({x});
    return x;
  }
  Tensor backward(Context &context, const Tensor &) { return context.saved(1); }
};

TEST_P(AutogradFaults, FunctionsThatReturnOrSaveTooLittle) {
  Variable a = leaf({3});
  expectRefused(ErrorCode::InvalidHandle, "empty: forward returned no tensor for output 0",
                [&] { autograd::apply(Empty(), Loc::here(), a); });
  Loc where = Loc::here();
  expectRefused(ErrorCode::InvalidArgument,
                "forgetful: tensor 1 is asked for, 1 were saved in forward",
                [&] { autograd::apply(Forgetful(), where, a).backward(); });
}

TEST_P(AutogradFaults, GradientsThatWereGivenAreNotChanged) {
  Variable a = leaf({3});
  auto mine = stream.tensor<double>({1});
  mine.upload(Numbers{100});
  a.setGrad(mine);
  scale(a, 2).backward();
  EXPECT_EQ(numbers(a.grad()), Numbers{102});
  EXPECT_EQ(numbers(mine), Numbers{100});
  Tensor kept = a.grad();
  scale(a, 2).backward();
  EXPECT_EQ(numbers(a.grad()), Numbers{104});
  EXPECT_EQ(numbers(kept), Numbers{102});
}

} // namespace
