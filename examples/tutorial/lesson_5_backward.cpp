// Lesson 5: a function with a gradient of one's own. docs/tutorial/5-backward.md explains it.
#include <tile/autograd/GradCheck.h>
#include <tile/autograd/Ops.h>
#include <tile/ops/Arithmetic.h>
#include <tile/ops/Map.h>
#include <tile/tile.h>

#include <cstdio>

using namespace tile;
using autograd::Variable;

// [function]
/// Huber's loss of each element: x^2 / 2 where |x| < d, beyond that the straight line d (|x| - d / 2).
struct Huber {
  static constexpr const char *kName = "huber"; // for messages
  double d;

  Tensor forward(autograd::Context &context, const Tensor &x) {
    context.save({x});
    Tensor y = context.stream().tensor(x.dtype(), x.extents());
    auto f = [](Value x, Value d) { return select(abs(x) < d, x * x / 2, d * (abs(x) - d / 2)); };
    ops::map(context.stream(), f, y, x, d);
    return y;
  }
  Tensor backward(autograd::Context &context, const Tensor &dy) {
    const Tensor &x = context.saved(0);
    Tensor dx = context.stream().tensor(x.dtype(), x.extents());
    auto slope = [](Value dy, Value x, Value d) { return dy * clamp(x, -d, d); };
    ops::map(context.stream(), slope, dx, dy, x, d);
    return dx;
  }
};

static Variable huber(const Variable &x, double d, Loc loc = Loc::here()) {
  return autograd::apply(Huber{d}, loc, x);
}
// [end]

// [wrong]
/// The same with a mistake: the slope of the line is forgotten.
struct Wrong : Huber {
  Tensor backward(autograd::Context &context, const Tensor &dy) {
    return ops::multiply(context.stream(), dy, context.saved(0));
  }
};
// [end]

int main() {
  Stream stream = Device::best().stream();

  // [use]
  auto numbers = stream.tensor<double>({2, 3});
  numbers.upload(std::vector<double>{-3, -0.5, 0, 0.25, 1.5, 4});
  Variable x(stream, numbers, autograd::kTrained);
  autograd::sum(huber(x, 1)).backward();
  for (double slope : TensorOf<double>(x.grad()).download())
    std::printf("%g ", slope);
  std::printf("\n");
  // [end]

  // [check]
  auto right = [](std::span<const Variable> inputs) { return huber(inputs[0], 1); };
  std::string fault = autograd::gradcheck(right, {x});
  std::printf("huber: %s\n", fault.empty() ? "its gradient is right" : fault.c_str());

  auto wrong = [](std::span<const Variable> inputs) {
    return autograd::apply(Wrong{{1}}, Loc::here(), inputs[0]);
  };
  std::string found = autograd::gradcheck(wrong, {x});
  std::printf("wrong: %s\n", found.c_str());
  // [end]
  return fault.empty() && !found.empty() ? 0 : 1;
}
