// The matrix product by name.
#include "ops/KernelArgument.h"
#include "ops/byname/Entry.h"
#include "ops/byname/KnobSettings.h"
#include "ops/byname/ProductSettings.h"
#include "ops/matmul/MatmulOperands.h"
#include "ops/matmul/MatmulWork.h"

#include <tile/ops/Matmul.h>

#include <utility>

namespace tile::ops::detail {
namespace {

const auto registeredProgram =
    tunedMatmul(kernel("matmul", MatmulProgram<2, NoEpilogue>()).named(matmulParameters(0)));

/// A matrix with its dimensions exchanged.
HostArg transposed(HostArg matrix) {
  std::swap(matrix.extents[0], matrix.extents[1]);
  std::swap(matrix.strides[0], matrix.strides[1]);
  return matrix;
}

/// Matrices of 8-bit floats are multiplied as the tensor core takes them fastest: b by columns.
HostArg exampleOfB(DType dtype, int64_t k, int64_t n, bool byColumns) {
  return byColumns ? transposed(exampleView(dtype, {n, k})) : exampleView(dtype, {k, n});
}

KernelRequest kernelOf(const OpSettings &settings) {
  DType dtype = settings.dtype("dtype", f16), result = settings.dtype("result", resultOf(dtype));
  int64_t m = settings.extent("M", 4096), n = settings.extent("N", 4096),
          k = settings.extent("K", 4096);
  bool byColumns = settings.flag("columns", isFloat8(dtype));
  DotOptions how = dotOptions(productOptionsOf(settings.forExample(productSettings())));
  HostArg a = exampleView(dtype, {m, k}), b = exampleOfB(dtype, k, n, byColumns),
          c = exampleView(result, {m, n});
  Operand operands[] = {KernelArgument{c}, KernelArgument{a}, KernelArgument{b}};
  Arguments rules = rulesOf("matmul");
  checkProduct(rules, operands, how);
  int multiprocessors = target_info(settings.target()).multiprocessors;
  MatmulShape shape = shapeOf(operands, how, settings.target(), multiprocessors);
  if (isComputedTransposed(shape)) {
    std::swap(a, b);
    a = transposed(a), b = transposed(b), c = transposed(c);
    transpose(operands);
    shape = shapeOf(operands, how, settings.target(), multiprocessors);
  }
  MatmulTiles tiles = withSettings(kMatmulKnobs, chooseTiles(shape), settings);
  auto launcher = withConstants(kMatmulKnobs, tiles, [&](auto... knobs) {
    return registeredProgram.consts(how.precision, how.fast_accumulation, how.accumulator == f16,
                                    knobs...);
  });
  return KernelRequest(launcher.warps(tiles.warps), {a, b, c});
}

const bool registered = registerOp({
    .name = "matmul",
    .summary = "c = a b, the matrix product",
    .inputs = 2,
    .settings = {precisionSetting(), OpSetting::flag("fast", false), accumulatorSetting(),
                 floatDtype()},
    .kernel = kernelOf,
    .outputs =
        [](std::span<const Tensor> in, const OpSettings &settings) {
          Extents extents = extentsOfProduct(rulesOf("matmul"), in[0], in[1]);
          auto list = extents.span();
          return Specs{
              {settings.dtype("dtype", resultOf(in[0].dtype())), {list.begin(), list.end()}}};
        },
    .run =
        [](const Stream &stream, std::span<const Tensor> in, std::span<const Tensor> out,
           const OpSettings &settings) {
          matmul(stream, in[0], in[1], out[0], productOptionsOf(settings));
        },
});

} // namespace
} // namespace tile::ops::detail
