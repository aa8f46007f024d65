// From a call of map to launches of kernels. Users need ops/Map.h alone.
#pragma once

#include <tile/detail/Elementwise.h>
#include <tile/ops/Operand.h>
#include <tile/tile.h>

#include <array>

namespace tile::ops {

struct Position;

namespace detail {

/// The tile of one program, over the last two dimensions of the folded operands.
struct MapLaunch {
  int rows = 1, columns = 1;
  bool isEmpty = false; ///< nothing to do
};
/// A kernel takes operands of this many dimensions at most.
inline constexpr int kMostMapDims = 5;

/// What messages call an elementwise op, its outputs and its arguments, in this order. No names: y,
/// y1, ..., x0, x1, ...
struct MapNames {
  const char *op;
  std::initializer_list<const char *> parameters;
};

/// What is to be known of a call of map besides its tensors.
struct MapCall {
  const MapNames &names;
  std::span<const int> parameters; ///< of each tensor
  size_t outputs;                  ///< so many tensors are written; they come first
  bool inOrder;                    ///< dimensions keep their row-major order
  const CallSite &site;
};

/// Checks the tensors, broadcasts the inputs to the outputs and merges dimensions that all walk
/// alike: `operands` become views of one rank and equal extents. Throws the errors of `map`.
MapLaunch foldForMap(const MapCall &call, std::span<Operand> operands);

/// Calls `run` for the operands, or for each of their slices along the outermost dimensions if they
/// have more than a kernel takes.
void forSlices(std::span<const Operand> operands, int mostDims,
               tile::detail::FunctionRef<void(std::span<const Operand>)> run);

/// A name for each parameter of the kernel.
std::vector<std::string> parameterNames(const MapNames &names, size_t outputs, size_t arguments);

/// f32 for 16-bit and smaller floats, else x itself.
Value widened(Value x);
/// Row-major positions of the elements of a tile: `at` are its indices, in tiles.
Value positions(std::span<const Value> extents, std::span<const Value> at, const Shape &tile);

template <class X>
inline constexpr bool kIsMapTensor = !std::is_arithmetic_v<X> && !std::is_same_v<X, Position>;

/// The kernel's parameter for an argument of map. Nobody reads that of a Position.
template <class X, int Rank> struct MapParameter { using type = In<any, Rank>; };
template <std::floating_point X, int Rank> struct MapParameter<X, Rank> {
  using type = Scalar<std::is_same_v<X, float> ? f32 : f64>;
};
template <std::integral X, int Rank> struct MapParameter<X, Rank> {
  using type = Scalar<sizeof(X) <= 4 ? i32 : i64>;
};
template <int Rank> struct MapParameter<Position, Rank> { using type = Scalar<i1>; };

template <int Rank, class View, size_t... Dim>
auto tileAt(const View &view, const Shape &tile, const Value *at, std::index_sequence<Dim...>) {
  return view.tile(tile)(at[Dim]...);
}

/// What one program does: loads a tile of each input, applies F and stores.
template <class F, int Rank, class Outputs, class... X> struct MapProgram;
template <class F, int Rank, class... Y, class... X>
struct MapProgram<F, Rank, tile::detail::Params<Y...>, X...> {
  void operator()(Y... y, typename MapParameter<X, Rank>::type... x, Const rows,
                  Const columns) const {
    auto &first = std::get<0>(std::tie(y...));
    Shape tile;
    for (int dim = 0; dim < Rank; ++dim)
      tile.append(dim == Rank - 1 ? int(columns) : dim == Rank - 2 ? int(rows) : 1);
    std::array<Value, Rank> extents, at;
    for (int dim = 0; dim < Rank; ++dim)
      extents[dim] = first.dim(dim);
    Value programs = cdiv(extents[0], static_cast<int>(tile[0]));
    for (int dim = 1; dim < Rank; ++dim)
      programs = programs * cdiv(extents[dim], static_cast<int>(tile[dim]));
    Value program = grid1d(programs, 1);
    for (int dim = Rank - 1; dim > 0; --dim) {
      Value tiles = cdiv(extents[dim], static_cast<int>(tile[dim]));
      at[dim] = program % tiles, program = program / tiles;
    }
    at[0] = program;
    bool isDouble = (... || (y.dtype() == f64));
    auto argument = [&]<class Given, class Param>(const Param &param, Given *) -> Value {
      if constexpr (std::is_same_v<Given, Position>) {
        return positions(extents, at, tile);
      } else if constexpr (std::is_arithmetic_v<Given>) {
        return std::floating_point<Given> && !isDouble ? cast(f32, param) : Value(param);
      } else {
        for (int dim = 0; dim < Rank; ++dim)
          assume(param.dim(dim) == extents[dim]);
        return widened(tileAt<Rank>(param, tile, at.data(), std::make_index_sequence<Rank>()));
      }
    };
    store(tile::detail::elementwise("map", tile, F(), argument(x, static_cast<X *>(nullptr))...),
          tile, at, y...);
  }

private:
  static void store(const Value &value, const Shape &tile, const std::array<Value, Rank> &at,
                    const Y &...y) requires(sizeof...(Y) == 1) {
    store(std::array{value}, tile, at, y...);
  }
  static void store(const std::array<Value, sizeof...(Y)> &values, const Shape &tile,
                    const std::array<Value, Rank> &at, const Y &...y) {
    size_t i = 0;
    ((tileAt<Rank>(y, tile, at.data(), std::make_index_sequence<Rank>()) =
          cast(y.dtype(), broadcast_to(values[i++], tile))),
     ...);
  }
};

template <int Rank, size_t> using MapOutput = Out<any, Rank>;
template <int Rank, size_t... I>
auto mapOutputs(std::index_sequence<I...>) -> tile::detail::Params<MapOutput<Rank, I>...>;

template <class F, int Rank, size_t Outs, class... X> const auto &mapKernel(const MapNames &names) {
  using Program =
      MapProgram<F, Rank, decltype(mapOutputs<Rank>(std::make_index_sequence<Outs>())), X...>;
  static const auto program =
      kernel(names.op, Program()).named(parameterNames(names, Outs, sizeof...(X)));
  return program;
}

template <class F, int Rank, size_t Outs, class... X, size_t... O>
void launchMap(const MapNames &names, CallSite site, const MapLaunch &launch,
               const Operand *operands, std::index_sequence<O...>, const X &...x) {
  const Operand *next = operands + Outs;
  // Evaluated in order: braces.
  auto argument = [&]<class Given>(const Given &given) {
    if constexpr (std::is_same_v<Given, Position>)
      return false;
    else if constexpr (std::is_arithmetic_v<Given>)
      return given;
    else
      return *next++;
  };
  std::tuple arguments{argument(x)...};
  std::apply(
      [&](const auto &...in) {
        mapKernel<F, Rank, Outs, X...>(names).consts(launch.rows,
                                                     launch.columns)(site, operands[O]..., in...);
      },
      arguments);
}

/// `map` under the name of an op.
template <class F, size_t Outs, class... X>
void mapNamed(const MapNames &names, CallSite site, F, const std::array<Operand, Outs> &y,
              const X &...x) {
  static_assert(std::is_empty_v<F> && std::is_default_constructible_v<F>,
                "map takes a lambda without captures: pass numbers as arguments of map");
  constexpr size_t kTensors = Outs + (size_t{0} + ... + (kIsMapTensor<X> ? 1 : 0));
  constexpr bool kInOrder = (... || std::is_same_v<X, Position>);
  std::array<Operand, kTensors> operands;
  std::array<int, kTensors> parameters; // of each operand
  size_t count = 0;
  int parameter = 0;
  auto add = [&]<class Given>(const Given &given) {
    if constexpr (kIsMapTensor<Given>)
      parameters[count] = parameter, operands[count++] = given;
    ++parameter;
  };
  for (const Operand &output : y)
    add(output);
  (add(x), ...);
  MapLaunch launch = foldForMap({names, parameters, Outs, kInOrder, site}, operands);
  if (launch.isEmpty)
    return;
  forSlices(operands, kMostMapDims, [&](std::span<const Operand> slice) {
    auto go = [&]<int Rank>(std::integral_constant<int, Rank>) {
      launchMap<F, Rank, Outs>(names, site, launch, slice.data(), std::make_index_sequence<Outs>(),
                               x...);
    };
    static_assert(kMostMapDims == 5);
    switch (slice[0].rank()) {
    case 1:
      return go(std::integral_constant<int, 1>());
    case 2:
      return go(std::integral_constant<int, 2>());
    case 3:
      return go(std::integral_constant<int, 3>());
    case 4:
      return go(std::integral_constant<int, 4>());
    default:
      return go(std::integral_constant<int, 5>());
    }
  });
}

} // namespace detail

} // namespace tile::ops
