// The graph and the walk back: sums of gradients, versions, hooks, memory, and every mistake a caller can make.
#include "tests/ops/Refusals.h"
#include "tests/ops/autograd/Graphs.h"

#include <pthread.h>

#include <functional>
#include <thread>

using namespace tile;
using namespace tile::test;
using autograd::kTrained;
using autograd::NoGrad;

namespace {

class Autograd : public OnGraphs {};
INSTANTIATE_TEST_SUITE_P(Devices, Autograd, ::testing::ValuesIn(deviceNames(Targets::One)),
                         [](const auto &run) { return testName(run.param); });

TEST_P(Autograd, GradientsOfAllPathsAddUp) {
  Variable a = leaf({3}), b = leaf({4});
  Variable y = a * b + a * a; // dy/da = b + 2a, dy/db = a
  y.backward();
  EXPECT_EQ(numbers(y.value()), Numbers{21});
  EXPECT_EQ(numbers(a.grad()), Numbers{10});
  EXPECT_EQ(numbers(b.grad()), Numbers{3});
}

TEST_P(Autograd, LeavesAccumulateUntilCleared) {
  Variable a = leaf({2});
  (a * a).backward();
  scale(a, 5).backward();
  EXPECT_EQ(numbers(a.grad()), Numbers{9});
  a.clearGrad();
  EXPECT_FALSE(a.grad());
  scale(a, 7).backward();
  EXPECT_EQ(numbers(a.grad()), Numbers{7});
}

TEST_P(Autograd, GradientsOfLeavesShareNoMemory) {
  Variable a = leaf({1}), b = leaf({2});
  (a + b).backward(); // one tensor is the gradient of both
  EXPECT_NE(a.grad().data(), b.grad().data());
}

TEST_P(Autograd, InputsAndAbsentOnesGetNothing) {
  Variable a = leaf({3}), x = leaf({4}, autograd::kInput);
  Variable y = a * x;
  EXPECT_TRUE(y.requiresGrad());
  EXPECT_FALSE((x * x).requiresGrad());
  y.backward();
  EXPECT_EQ(numbers(a.grad()), Numbers{4});
  EXPECT_FALSE(x.grad());
}

TEST_P(Autograd, SeveralOutputsOfWhichSomeAreUsed) {
  for (int used : {0, 1, 2}) {
    Variable a = leaf({3}), b = leaf({5});
    auto [sum, product] = autograd::apply(SumAndProduct(), Loc::here(), a, b);
    Variable y = used == 0 ? sum : used == 1 ? product : sum + product;
    y.backward();
    EXPECT_EQ(numbers(a.grad()), Numbers{used == 0 ? 1. : used == 1 ? 5. : 6.});
    EXPECT_EQ(numbers(b.grad()), Numbers{used == 0 ? 1. : used == 1 ? 3. : 4.});
  }
}

/// Calls a function on a thread with a stack of so many bytes.
void runOnStackOf(size_t bytes, std::function<void()> function) {
  pthread_attr_t attributes;
  ASSERT_EQ(pthread_attr_init(&attributes), 0);
  ASSERT_EQ(pthread_attr_setstacksize(&attributes, bytes), 0);
  auto call = [](void *it) -> void * {
    (*static_cast<std::function<void()> *>(it))();
    return nullptr;
  };
  pthread_t thread;
  ASSERT_EQ(pthread_create(&thread, &attributes, call, &function), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

// The stack has 32 bytes a step: recursion takes several calls a step, of 16 bytes at least.
TEST_P(Autograd, LongChainsNeitherRecurseForwardNorBackNorWhenTheyEnd) {
  constexpr int kSteps = 16384;
  Variable a = leaf({1});
  scale(a, 1).backward(); // compiles, which takes a stack of its own
  a.clearGrad();
  runOnStackOf(32 * kSteps, [&] {
    Variable y = a;
    for (int i = 0; i < kSteps; ++i)
      y = scale(y, 1);
    y.backward({.retainGraph = true});
  });
  EXPECT_EQ(numbers(a.grad()), Numbers{1});
}

TEST_P(Autograd, NoGradRecordsNothing) {
  Variable a = leaf({3});
  {
    NoGrad quiet;
    EXPECT_FALSE((a * a).requiresGrad());
    {
      autograd::WithGrad loud;
      EXPECT_TRUE((a * a).requiresGrad());
    }
    std::thread([] { EXPECT_TRUE(autograd::isRecording()); }).join();
  }
  EXPECT_TRUE((a * a).requiresGrad());
  EXPECT_FALSE((a * a).detach().requiresGrad());
}

TEST_P(Autograd, GradTakesGradientsAtAnyVariableAndFillsNoLeaf) {
  Variable a = leaf({3}), b = leaf({4}), unused = leaf({1});
  Variable m = a * b;
  Variable y = m * m + b;
  Variable outputs[] = {y}, inputs[] = {m, b, unused};
  auto gradients = autograd::grad(outputs, inputs);
  EXPECT_EQ(numbers(gradients[0]), Numbers{24});
  EXPECT_EQ(numbers(gradients[1]), Numbers{24 * 3 + 1});
  EXPECT_FALSE(gradients[2]);
  EXPECT_FALSE(a.grad());
  EXPECT_FALSE(b.grad());
}

/// Counts its backwards.
struct Counting {
  static constexpr const char *kName = "counting";
  int *runs;
  Tensor forward(Context &, const Tensor &x) { return x; }
  Tensor backward(Context &, const Tensor &dy) {
    ++*runs;
    return dy;
  }
};

TEST_P(Autograd, GradComputesOnlyWhatLeadsToTheInputs) {
  int runs = 0;
  Variable a = leaf({3}), b = leaf({4});
  Variable y = autograd::apply(Counting{&runs}, Loc::here(), a) + b;
  Variable inputs[] = {b};
  autograd::grad({&y, 1}, inputs, {}, {.retainGraph = true});
  EXPECT_EQ(runs, 0);
  y.backward();
  EXPECT_EQ(runs, 1);
}

TEST_P(Autograd, HooksSeeAndReplaceGradients) {
  Variable a = leaf({3});
  Variable m = scale(a, 2);
  std::vector<Numbers> seen;
  m.hook([&](const Tensor &g) {
    seen.push_back(numbers(g));
    return ops::affine(stream, g, 10, 0);
  });
  a.hook([&](const Tensor &g) {
    seen.push_back(numbers(g));
    return Tensor();
  });
  int filled = 0;
  a.afterGrad([&](const Variable &leaf) { filled += leaf.grad() ? 1 : 0; });
  (m * m).backward();
  EXPECT_EQ(seen, (std::vector<Numbers>{{12}, {240}}));
  EXPECT_EQ(numbers(a.grad()), Numbers{240});
  EXPECT_EQ(filled, 1);
}

TEST_P(Autograd, MemoryIsReleasedAsTheWalkGoes) {
  const int64_t size = 1 << 16;
  auto memory = stream.tensor<double>({size});
  memory.fill(1);
  Variable a(stream, memory, kTrained);
  Variable y = a;
  for (int i = 0; i < 10; ++i)
    y = y * y; // each saves its input
  size_t before = stream.usage().usedBytes;
  EXPECT_GE(before, 10 * memory.bytes());
  auto seed = stream.tensor<double>({size});
  seed.fill(1);
  y.backward(seed);
  EXPECT_LE(stream.usage().usedBytes, before - 8 * memory.bytes() + 2 * memory.bytes());
}

TEST_P(Autograd, StepsOfALoopAllocateInTheFirstRoundOnly) {
  Variable a = leaf({1, 2, 3}), x = leaf({4, 5, 6}, autograd::kInput);
  auto seed = leaf({1, 1, 1}).value();
  uint64_t allocations = 0;
  for (int round = 0; round < 4; ++round) {
    a.clearGrad();
    (a * x + a * a).backward(seed);
    if (round == 0)
      allocations = stream.usage().allocations;
    EXPECT_EQ(stream.usage().allocations, allocations);
  }
}

TEST_P(Autograd, TwoThreadsHaveTwoGraphs) {
  auto work = [&](double number) {
    Stream own = device().stream();
    auto tensor = own.tensor<double>({1});
    tensor.upload(Numbers{number});
    Variable a(own, tensor, kTrained);
    Variable y = a;
    for (int i = 0; i < 20; ++i)
      y = y + a * a;
    y.backward();
    EXPECT_EQ(numbers(a.grad()), Numbers{1 + 40 * number});
  };
  std::thread first(work, 2), second(work, 3);
  first.join(), second.join();
}

// --- Mistakes ------------------------------------------------------------------------------------

TEST_P(Autograd, BackwardTwice) {
  Variable a = leaf({3});
  Variable y = multiply(a, a);
  int line = __LINE__ - 1;
  y.backward({.retainGraph = true});
  y.backward();
  EXPECT_EQ(numbers(a.grad()), Numbers{12});
  expectRefused(ErrorCode::UseAfterFree,
                "backward() has been run already through 'product' of " + std::string(__FILE__) +
                    ":" + std::to_string(line),
                [&] { y.backward(); });
}

TEST_P(Autograd, ChangesOfSavedTensors) {
  Variable a = leaf({3}), b = leaf({4});
  Variable y = a * b;
  {
    NoGrad quiet;
    ops::fill(stream, 7, b.inPlace());
  }
  expectRefused(ErrorCode::Aliasing,
                "product: tensor 1 that it saved for backward, f64[1], was changed in place since: "
                "it had version 0, now 1",
                [&] {
                  try {
                    y.backward();
                  } catch (const Error &error) { // its line is the forward's
                    throw Error(error.fault(), error.code(), error.message(), Loc::here());
                  }
                });
  expectRefused(ErrorCode::InvalidArgument, "a change in place of f64[1]@", [&] { b.inPlace(); });
}

TEST_P(Autograd, RootsThatAreNone) {
  Variable a = leaf({3, 4}), x = leaf({1}, autograd::kInput);
  expectRefused(ErrorCode::InvalidShape, "backward() of f64[2]@", [&] { scale(a, 2).backward(); });
  expectRefused(ErrorCode::InvalidArgument, "leads to no trained variable",
                [&] { scale(x, 2).backward(); });
  expectRefused(ErrorCode::InvalidShape, "the seed is f64[1]@",
                [&] { scale(a, 2).backward(x.value()); });
  auto elsewhere = Device::open("virtual:sm_90a").tensor<double>({2});
  expectRefused(ErrorCode::InvalidShape, "the seed is f64[2]@virtual:sm_90a, but the variable is",
                [&] { scale(a, 2).backward(elsewhere); });
  expectRefused(ErrorCode::InvalidShape, "the gradient is f64[2]@virtual:sm_90a, but the variable",
                [&] { a.setGrad(elsewhere); });
  expectRefused(ErrorCode::InvalidHandle, "backward() of a variable that is none",
                [&] { Variable().backward(); });
  Variable inputs[] = {x};
  Variable y = scale(a, 2);
  Tensor seeds[] = {a.value()};
  expectRefused(ErrorCode::InvalidArgument, "which wants no gradient", [&] {
    autograd::grad({&y, 1}, inputs, seeds);
  });
}

/// Returns a gradient that is none of its input.
struct Wrong {
  static constexpr const char *kName = "wrong";
  bool isDtype;
  Tensor forward(Context &, const Tensor &x) { return x; }
  Tensor backward(Context &context, const Tensor &dy) {
    return isDtype ? ops::copy(context.stream(), dy, f32) : dy.slice(0, 0, 1);
  }
};

TEST_P(Autograd, GradientsOfTheWrongShape) {
  Variable a = leaf({1, 2});
  Tensor seed = a.value();
  expectRefused(ErrorCode::InvalidShape,
                "returned, for input 0, a gradient f64[1], but the tensor it belongs to is f64[2]",
                [&] { autograd::apply(Wrong{false}, Loc::here(), a).backward(seed); });
  expectRefused(ErrorCode::InvalidShape, "a gradient f32[2], but",
                [&] { autograd::apply(Wrong{true}, Loc::here(), a).backward(seed); });
}

TEST_P(Autograd, AnomaliesNameTheForward) {
  Variable a = leaf({1}), b = leaf({INFINITY}, autograd::kInput),
           zero = leaf({0}, autograd::kInput);
  Variable y = multiply(scale(a, 2), b); // the gradient of y is 0, that of scale(a, 2) 0 * infinity
  std::string forward = std::string(__FILE__) + ":" + std::to_string(__LINE__ - 1);
  Variable z = multiply(y, zero);
  autograd::FindAnomalies watch;
  expectRefused(ErrorCode::InvalidArgument,
                "the gradient that backward of 'product' of " + forward +
                    " computes for input 0, f64[1], has a NaN",
                [&] { z.backward(); });
}

TEST_P(Autograd, VariablesThatAreNone) {
  Variable none;
  EXPECT_FALSE(none);
  EXPECT_THROW(none.value(), Error);
  expectRefused(ErrorCode::InvalidHandle, "a variable needs a tensor",
                [&] { Variable(stream, Tensor()); });
  expectRefused(ErrorCode::InvalidArgument, "f16, bf16, f32 or f64 has gradients",
                [&] { Variable(stream, stream.tensor<int32_t>({1}), kTrained); });
  Stream other = device().stream();
  auto tensor = other.tensor<double>({1});
  expectRefused(ErrorCode::InvalidArgument, "variables of different streams",
                [&] { multiply(leaf({1}), Variable(other, tensor)); });
}

} // namespace
