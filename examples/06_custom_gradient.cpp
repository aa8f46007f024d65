// A function of variables with a backward of one's own: the Swish y = x * sigmoid(b * x).
#include <tile/autograd/GradCheck.h>
#include <tile/autograd/Ops.h>

#include <cstdio>

using namespace tile;
using autograd::Variable;

struct Swish {
  static constexpr const char *kName = "swish";
  double b;

  Tensor forward(autograd::Context &context, const Tensor &x) {
    context.save({x});
    Tensor y = context.stream().tensor(x.dtype(), x.extents());
    ops::map(
        context.stream(), [](Value x, Value b) { return x * sigmoid(b * x); }, y, x, b);
    return y;
  }
  Tensor backward(autograd::Context &context, const Tensor &dy) {
    const Tensor &x = context.saved(0);
    Tensor dx = context.stream().tensor(x.dtype(), x.extents());
    auto slope = [](Value x, Value dy, Value b) {
      Value s = sigmoid(b * x);
      return dy * s * (1.0f + b * x * (1.0f - s));
    };
    ops::map(context.stream(), slope, dx, x, dy, b);
    return dx;
  }
};
Variable swish(const Variable &x, double b, Loc loc = Loc::here()) {
  return autograd::apply(Swish{b}, loc, x);
}

int main() {
  Stream stream = Device::best().stream();
  auto numbers = stream.tensor<double>({2, 3});
  numbers.upload(std::vector<double>{-2, -1, -0.1, 0.3, 1, 4});
  Variable x(stream, numbers, autograd::kTrained);
  auto f = [](std::span<const Variable> v) { return swish(v[0], 1.5); };
  std::string fault = autograd::gradcheck(f, {x});
  std::printf("swish: %s\n", fault.empty() ? "its gradient is right" : fault.c_str());
  return fault.empty() ? 0 : 1;
}
