// The norm of all elements of many tensors, and scaling by it: a kernel for each tensor leaves the sums of squares of its
// programs in one list, which a last one adds up.
#include <tile/ops/Optimizers.h>

#include "ops/NewTensor.h"
#include "ops/Rows.h"

#include <tile/ops/Arithmetic.h>
#include <tile/ops/Map.h>
#include <tile/tile.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

namespace tile::ops {

namespace {

const auto partialSquares = kernel("partial_squares", [](In<any, 1> x, Out<f32, 1> sums, Const B) {
                              Value program = grid1d(sums, {1});
                              DType dtype = widestOf({x.dtype()});
                              auto total = var(zeros(dtype, {B}));
                              for (auto k : range(program, cdiv(x.dim(0), B), sums.dim(0))) {
                                Value part = cast(dtype, x.tile({B})(k));
                                total = total + part * part;
                              }
                              sums.tile({1})(program) =
                                  cast(f32, sum(total, 0, {.keep_dims = true}));
                            }).named("x", "sums", "B");

const auto rootOfSum = kernel("root_of_sum", [](In<f32, 1> sums, Out<f32, 1> norm, Const B) {
                         auto total = var(zeros(f32, {B}));
                         for (auto k : range(cdiv(sums.dim(0), B)))
                           total = total + sums.tile({B})(k);
                         Value one = grid1d(norm, {1});
                         norm.tile({1})(one) = sqrt(sum(total, 0, {.keep_dims = true}));
                       }).named("sums", "norm", "B");

constexpr int kTileElements = 2048, kSums = 1024;
/// Programs that keep a large GPU busy.
constexpr int64_t kMostPrograms = 256;
/// The most elements that one launch can index by i32; longer tensors take several.
constexpr int64_t kMostElements = std::numeric_limits<int32_t>::max() - kTileElements;

struct Clip {
  Value operator()(Value x, Value norm, Value largest) const {
    return x * min_nan(1.0f, largest / norm);
  }
};

void checkNorm(const Arguments &arguments, const Operand &norm) {
  arguments.dtypeIn({"norm", norm}, {f32});
  arguments.oneElement({"norm", norm}), arguments.accessible({{"norm", norm}});
}

/// The rules of each tensor by itself, and with norm.
void checkTensors(const Arguments &arguments, std::span<const Operand> tensors,
                  const Operand &norm) {
  for (size_t i = 0; i < tensors.size(); ++i) {
    NameInList name("tensors", i);
    Named tensor{name.text(), tensors[i]};
    arguments.dtypeIn(tensor, {f16, bf16, f32, f64});
    arguments.accessible({tensor});
    arguments.disjoint({"norm", norm}, tensor);
  }
}

int64_t programsFor(int64_t elements) {
  return std::min((elements + kTileElements - 1) / kTileElements, kMostPrograms);
}

/// All elements as a vector in the order of memory, which no sum minds; nothing if there are gaps between them.
std::optional<Operand> flattened(const Operand &x) {
  std::array<int, kMaxRank> dims;
  for (int dim = 0; dim < x.rank(); ++dim)
    dims[static_cast<size_t>(dim)] = dim;
  std::sort(dims.begin(), dims.begin() + x.rank(),
            [&](int a, int b) { return x.stride(a) < x.stride(b); });
  int64_t count = 1;
  for (int i = 0; i < x.rank(); ++i) {
    int dim = dims[static_cast<size_t>(i)];
    if (x.extent(dim) == 1)
      continue;
    if (x.stride(dim) != count)
      return {};
    count *= x.extent(dim);
  }
  return x.strided(std::array{count}, std::array{int64_t{1}});
}

/// Calls `run` for parts of `count` elements that a kernel can walk: where a part begins, and its size.
template <class Run> void forParts(int64_t count, Run run) {
  for (int64_t begin = 0; begin < count; begin += kMostElements)
    run(begin, std::min(kMostElements, count - begin));
}

} // namespace

void globalNorm(const Stream &stream, std::span<const Operand> tensors, const Operand &norm,
                Loc loc) {
  Arguments arguments("globalNorm", {stream, loc});
  checkNorm(arguments, norm), checkTensors(arguments, tensors, norm);
  arguments.elementsDistinct({"norm", norm});
  int64_t programs = 0;
  for (const Operand &tensor : tensors)
    forParts(tensor.numel(), [&](int64_t, int64_t size) { programs += programsFor(size); });
  CallSite site(stream, loc);
  Tensor list = stream.tensor(f32, std::array{programs});
  Operand sums = list;
  int64_t next = 0;
  for (const Operand &tensor : tensors) {
    std::optional<Operand> flat = flattened(tensor);
    Tensor copied = flat ? Tensor() : copy(stream, tensor, any, loc);
    Operand elements = flat ? *flat : *flattened(copied);
    forParts(tensor.numel(), [&](int64_t begin, int64_t size) {
      int64_t count = programsFor(size);
      partialSquares.consts(kTileElements)(site, elements.slice(0, begin, size),
                                           sums.slice(0, next, count));
      next += count;
    });
  }
  rootOfSum.consts(kSums)(site, sums, norm.reshaped({1}));
}

void clipByNorm(const Stream &stream, std::span<const Operand> tensors, const Operand &norm,
                double largest, Loc loc) {
  Arguments arguments("clipByNorm", {stream, loc});
  checkNorm(arguments, norm), checkTensors(arguments, tensors, norm);
  arguments.listApart("tensors", tensors);
  if (!(largest >= 0))
    arguments.fail(ErrorCode::InvalidArgument,
                   "largest is " + std::to_string(largest) + "; it must be 0 or more");
  Operand one = norm.reshaped({});
  for (const Operand &tensor : tensors)
    detail::mapNamed({"clipByNorm", {"tensor", "tensor", "norm", "largest"}}, CallSite(stream, loc),
                     Clip(), std::array{tensor}, tensor, one, largest);
}

} // namespace tile::ops
