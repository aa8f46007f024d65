// The host's side of map: broadcasting, and operands folded to the fewest dimensions.
#include <tile/ops/Map.h>

#include "ops/Arguments.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace tile::ops::detail {

namespace {

/// Elements of one program: 8 a thread of 4 warps, 4 where there are some of 8 bytes, whose functions take many
/// registers.
constexpr int kProgramElements = 1024, kWideProgramElements = 512;
/// And no fewer than it has threads: an element that several warps hold is stored by one, and a tensor that is changed in
/// place would be read by the others meanwhile.
constexpr int kFewestProgramElements = 128;
/// The side of a program's square where inputs lie across the output.
constexpr int kSide = 32;
constexpr int64_t kLargestExtent = std::numeric_limits<int32_t>::max();
/// More tensors than anyone gives to one map.
constexpr size_t kMostTensors = 16;

/// Dimensions in the order of the output's memory: extents, and a stride for each operand.
struct Folded {
  int rank = 0;
  int64_t extents[kMaxRank];
  int64_t strides[kMostTensors][kMaxRank];
};

/// The name of a parameter in messages. It allocates nothing, since calls without faults ask for it too.
const char *parameterName(const MapNames &names, size_t outputs, size_t parameter) {
  static const char *const kOutputs[] = {"y", "y1", "y2", "y3", "y4", "y5", "y6", "y7"};
  static const char *const kArguments[] = {"x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7"};
  if (parameter < names.parameters.size())
    return names.parameters.begin()[parameter];
  if (parameter < outputs)
    return parameter < std::size(kOutputs) ? kOutputs[parameter] : "an output";
  parameter -= outputs;
  return parameter < std::size(kArguments) ? kArguments[parameter] : "an argument";
}

/// The tensors of a call under their names.
class Tensors {
public:
  Tensors(const MapCall &call, std::span<const Operand> operands)
      : call_(call), operands_(operands) {}
  size_t size() const { return operands_.size(); }
  Named operator[](size_t i) const {
    return {parameterName(call_.names, call_.outputs, static_cast<size_t>(call_.parameters[i])),
            operands_[i]};
  }

private:
  const MapCall &call_;
  std::span<const Operand> operands_;
};

/// The rules that each tensor keeps by itself, or with the first output.
void checkTensors(const MapCall &call, const Arguments &arguments, const Tensors &tensors) {
  for (size_t i = 0; i < tensors.size(); ++i) {
    arguments.accessible({tensors[i]});
    if (i >= call.outputs)
      arguments.broadcastsTo(tensors[i], tensors[0]);
    else
      arguments.sameExtents(tensors[i], tensors[0]), arguments.elementsDistinct(tensors[i]);
  }
}

/// The rules of overlap, of folded tensors.
void checkOverlap(const MapCall &call, const Arguments &arguments, const Tensors &tensors) {
  for (size_t output = 0; output < call.outputs; ++output)
    for (size_t other = output + 1; other < tensors.size(); ++other)
      if (other < call.outputs)
        arguments.disjoint(tensors[output], tensors[other]);
      else
        arguments.disjointOrSame(tensors[output], tensors[other]);
}

/// All dimensions of extent above 1.
Folded allDims(std::span<const Operand> operands) {
  Folded dims;
  const Operand &output = operands[0];
  for (int dim = 0; dim < output.rank(); ++dim) {
    if (output.extent(dim) == 1)
      continue;
    for (size_t i = 0; i < operands.size(); ++i) {
      int own = dim - (output.rank() - operands[i].rank());
      bool repeats = own < 0 || operands[i].extent(own) == 1;
      dims.strides[i][dims.rank] = repeats ? 0 : operands[i].stride(own);
    }
    dims.extents[dims.rank++] = output.extent(dim);
  }
  return dims;
}

void swapDims(Folded &dims, size_t operands, int a, int b) {
  std::swap(dims.extents[a], dims.extents[b]);
  for (size_t i = 0; i < operands; ++i)
    std::swap(dims.strides[i][a], dims.strides[i][b]);
}

/// The output's largest stride first; equal ones keep their order.
void sortDims(Folded &dims, size_t operands) {
  for (int end = dims.rank; end > 1; --end)
    for (int dim = 0; dim + 1 < end; ++dim)
      if (dims.strides[0][dim] < dims.strides[0][dim + 1])
        swapDims(dims, operands, dim, dim + 1);
}

/// True if every operand walks dimensions `dim` and `dim + 1` as if they were one.
bool canMerge(const Folded &dims, size_t operands, int dim) {
  if (dims.extents[dim] > kLargestExtent / dims.extents[dim + 1])
    return false;
  for (size_t i = 0; i < operands; ++i) {
    int64_t step;
    if (__builtin_mul_overflow(dims.strides[i][dim + 1], dims.extents[dim + 1], &step) ||
        dims.strides[i][dim] != step)
      return false;
  }
  return true;
}

void mergeDims(Folded &dims, size_t operands) {
  int last = 0;
  for (int dim = 1; dim < dims.rank; ++dim) {
    swapDims(dims, operands, last + 1, dim);
    if (!canMerge(dims, operands, last)) {
      ++last;
      continue;
    }
    dims.extents[last] *= dims.extents[last + 1];
    for (size_t i = 0; i < operands; ++i)
      dims.strides[i][last] = dims.strides[i][last + 1];
  }
  dims.rank = std::min(dims.rank, last + 1);
  if (dims.rank == 0) { // one element
    dims.rank = 1, dims.extents[0] = 1;
    for (size_t i = 0; i < operands; ++i)
      dims.strides[i][0] = 1;
  }
}

/// The dimension in which an input has unit stride and the output has not, or -1.
int crossingDim(const Folded &dims, size_t operands, size_t outputs) {
  for (size_t i = outputs; i < operands; ++i)
    for (int dim = 0; dim + 1 < dims.rank; ++dim)
      if (dims.strides[i][dim] == 1 && dims.strides[i][dims.rank - 1] > 1)
        return dim;
  return -1;
}

int tileSide(int64_t extent, int largest) {
  return static_cast<int>(std::bit_ceil(static_cast<uint64_t>(std::min<int64_t>(extent, largest))));
}

MapLaunch tilesFor(const Folded &dims, bool crosses, std::span<const Operand> operands) {
  bool hasWide = std::any_of(operands.begin(), operands.end(),
                             [](const Operand &each) { return sizeOf(each.dtype()) == 8; });
  int elements = hasWide ? kWideProgramElements : kProgramElements;
  MapLaunch launch;
  int64_t last = dims.extents[dims.rank - 1];
  launch.columns = crosses ? kSide : dims.rank == 1 ? elements : tileSide(last, elements);
  if (dims.rank > 1)
    launch.rows = std::max(tileSide(dims.extents[dims.rank - 2], elements / launch.columns),
                           kFewestProgramElements / launch.columns);
  return launch;
}

} // namespace

MapLaunch foldForMap(const MapCall &call, std::span<Operand> operands) {
  Arguments arguments(call.names.op, call.site);
  size_t count = operands.size();
  if (count > kMostTensors)
    arguments.fail(ErrorCode::Unsupported,
                   "takes at most " + std::to_string(kMostTensors) + " tensors");
  Tensors tensors(call, operands);
  checkTensors(call, arguments, tensors);
  if (operands[0].numel() == 0)
    return {.isEmpty = true};
  Folded dims = allDims(operands);
  if (!call.inOrder)
    sortDims(dims, count);
  mergeDims(dims, count);
  if (dims.rank > kMostMapDims && call.inOrder)
    arguments.fail(ErrorCode::Unsupported,
                   "the tensors walk " + std::to_string(dims.rank) +
                       " dimensions in different ways, positions can be counted in " +
                       std::to_string(kMostMapDims) + ": copy one to a contiguous tensor first");
  int crossing = call.inOrder ? -1 : crossingDim(dims, count, call.outputs);
  if (crossing >= 0)
    swapDims(dims, count, crossing, dims.rank - 2);
  for (size_t i = 0; i < count; ++i)
    operands[i] = operands[i].strided({dims.extents, static_cast<size_t>(dims.rank)},
                                      {dims.strides[i], static_cast<size_t>(dims.rank)});
  checkOverlap(call, arguments, tensors);
  return tilesFor(dims, crossing >= 0, operands);
}

void forSlices(std::span<const Operand> operands, int mostDims,
               tile::detail::FunctionRef<void(std::span<const Operand>)> run) {
  if (operands[0].rank() <= mostDims)
    return run(operands);
  std::array<Operand, kMostTensors> slices;
  for (int64_t index = 0; index < operands[0].extent(0); ++index) {
    for (size_t i = 0; i < operands.size(); ++i)
      slices[i] = operands[i].at(index);
    forSlices({slices.data(), operands.size()}, mostDims, run);
  }
}

std::vector<std::string> parameterNames(const MapNames &names, size_t outputs, size_t arguments) {
  std::vector<std::string> result;
  for (size_t i = 0; i < outputs + arguments; ++i)
    result.push_back(parameterName(names, outputs, i));
  result.insert(result.end(), {"BM", "BN"});
  return result;
}

Value widened(Value x) {
  DType dtype = x.dtype();
  return isFloat(dtype) && dtype != f32 && dtype != f64 ? cast(f32, x) : x;
}

Value positions(std::span<const Value> extents, std::span<const Value> at, const Shape &tile) {
  Value total = cast(i64, full(i32, tile, 0));
  for (int dim = 0; dim < tile.rank(); ++dim) {
    Value along = at[static_cast<size_t>(dim)] * static_cast<int>(tile[dim]) + index(dim, tile);
    total = total * cast(i64, extents[static_cast<size_t>(dim)]) + cast(i64, along);
  }
  return total;
}

} // namespace tile::ops::detail
