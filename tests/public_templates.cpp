// Instantiates the templates of the public headers as user programs do: public_headers.py compiles it with every compiler,
// where no warning is let pass.
#include <tile/autograd/Function.h>
#include <tile/ops/Map.h>
#include <tile/ops/Matmul.h>
#include <tile/tile.h>

using namespace tile;

void products(const Stream &stream, ops::Operand x) {
  ops::matmul(stream, x, x, x);
  ops::matmul(stream, x, x, x, {.precision = Precision::ieee});
  ops::matmul(stream, x, x, x, ops::MatmulOptions());
  ops::matmul(stream, x, x, x, [](Value sums) { return gelu(sums); });
  ops::matmul(stream, x, x, x, ops::epilogue([](Value sums, Value y) { return sums + y; }, x));
  ops::matmul(stream, x, x, x, ops::epilogue([](Value sums, Value y) { return sums * y; }, 2.0f));
}

void maps(const Stream &stream, ops::Operand x) {
  ops::map(
      stream, [](Value) { return zeros(f32, {}); }, x, x);
  ops::map(
      stream, [](Value a, Value b, Value c) { return a * b + c; }, x, x, 1.0f, 2);
  ops::map(
      stream,
      [](Value a) {
        return std::array{a, -a};
      },
      ops::outputs(x, x), x);
  ops::map(
      stream, [](Value position) { return cast(f32, position); }, x, ops::Position());
}

const auto scale = kernel("scale", [](In<f32, 1> x, Out<f32, 1> y, Scalar<f32> s, Const B) {
  Value i = grid1d(y, {B});
  y.tile({B})(i) = x.tile({B})(i) * s;
});

void calls(const Stream &stream, std::span<const float> x, std::span<float> y) {
  scale.consts(256).warps(8)(stream, ref(x), ref(y, {4}), 0.5f);
  scale.consts(256)(stream, ref(x.data(), {4}, {2}), ref(y), 2);
}

const auto choose = kernel("choose", [](In<f32, 1> x, Out<f32, 1> y, Const B,
                                        ConstOf<bool> isDoubled, ConstOf<Precision> precision) {
  Value i = grid1d(y, {B}), value = select(full(i1, {B}, isDoubled), x.tile({B})(i), 0.0f);
  if (isDoubled && precision != Precision::ieee)
    value += value;
  y.tile({B})(i) = value;
});

// A class of somebody else's, with its description beside it.
namespace others {
struct Buffer {
  float *data;
  int64_t size;
};
inline HostArg toHostArg(const Buffer &buffer) {
  return tile::toHostArg(ref(buffer.data, {buffer.size}));
}
} // namespace others

void calls(const Stream &stream, others::Buffer x) {
  choose.consts(256, true, Precision::tf32)(stream, x, x);
  ops::map(
      stream, [](Value a) { return -a; }, x, x);
}

struct Copy {
  static constexpr const char *kName = "copy";
  Tensor forward(autograd::Context &, const Tensor &x) { return x; }
  Tensor backward(autograd::Context &, const Tensor &dy) { return dy; }
};
autograd::Variable copy(const autograd::Variable &x) {
  return autograd::apply(Copy(), Loc::here(), x);
}
