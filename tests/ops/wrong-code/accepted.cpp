// expect-ok
#include <tile/autograd/Function.h>
#include <tile/ops/Matmul.h>
using namespace tile;
using autograd::Context;
using autograd::Variable;

struct Product {
  static constexpr const char *kName = "product";
  Tensor forward(Context &, const Tensor &a, const Tensor &) { return a; }
  std::array<Tensor, 2> backward(Context &, const Tensor &dy) { return {dy, dy}; }
};
Variable apply(const Variable &a, const Variable &b) {
  return autograd::apply(Product(), Loc::here(), a, b);
}
void call(const Stream &stream, const Tensor &x, float factor) {
  ops::map(
      stream, [](Value x, Value factor) { return x * factor; }, x, x, factor);
  ops::matmul(stream, x, x, x, [](Value sums) { return sums * 2; });
  ops::matmul(stream, x, x, x, [](Value sums) { return sums * 2; }, {.precision = Precision::tf32});
  ops::matmul(stream, x, x, x, {.precision = Precision::tf32});
}
