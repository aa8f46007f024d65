// From a matrix product to launches of kernels. Users need ops/Matmul.h alone.
#pragma once

#include <tile/detail/ops/Knobs.h>
#include <tile/detail/ops/MatmulSchedule.h>
#include <tile/ops/Map.h>

namespace tile::ops {
struct MatmulOptions;
}
namespace tile::ops::detail {

/// The tile of C, its step along K, its warps (per consumer where there are two), and its schedule.
struct MatmulTiles {
  int m = 0, n = 0, k = 0, warps = 0;
  MatmulSchedule schedule = MatmulSchedule::OneTile;

  constexpr const MatmulScheduleRow &row() const { return rowOf(schedule); }
  bool operator==(const MatmulTiles &) const = default;
};

/// All that is tuned of a matmul.
inline constexpr std::tuple kMatmulKnobs{
    Knob{"BM", &MatmulTiles::m, std::array{16, 32, 64, 128, 256}, 128},
    Knob{"BN", &MatmulTiles::n, std::array{16, 32, 64, 128, 256}, 128},
    Knob{"BK", &MatmulTiles::k, std::array{32, 64, 128, 256}, 64},
    LaunchKnob{"warps", &MatmulTiles::warps, std::array{4, 8}, 8},
    Knob{"schedule", &MatmulTiles::schedule, kMatmulSchedules, MatmulSchedule::OneTile}};

/// Checks the tensors `c, a, b, x...` and makes them views of one rank: matrices, or the same with
/// one batch dimension in front, which does not move where it is broadcast; or with more, for
/// forSlices. Returns false where nothing is to be done. Throws the errors of `matmul`.
inline constexpr int kMostMatmulDims = 3;
bool foldForMatmul(std::span<Operand> operands, DotOptions how, const CallSite &site);

/// The options in the language's terms.
DotOptions dotOptions(const MatmulOptions &options);

/// A name for each parameter of the kernel, which takes that many arguments for its epilogue.
std::vector<std::string> matmulParameters(size_t arguments);

/// What the tuner asks: why knobs do not fit a problem (empty if they do), the knobs that follow
/// from its shape and the GPU, and the work of a launch.
std::string matmulObjection(const Config &config, const Problem &problem);
Config matmulConfig(const Problem &problem);
Work matmulWork(const Config &config, const Problem &problem);
template <class... P> Kernel<P...> tunedMatmul(const Kernel<P...> &program) {
  return tunable(program, kMatmulKnobs)
      .unless(matmulObjection)
      .otherwise(matmulConfig)
      .work(matmulWork);
}

/// The coordinates of a program's tile of C, in tiles, and its part of K. Matrices have no `batch`,
/// and tiles without split-K no `part`.
struct MatmulCoordinates {
  Value batch, m, n, part;
};
MatmulCoordinates matmulCoordinates(Out<any, 2> c, MatmulTiles tiles);
MatmulCoordinates matmulCoordinates(Out<any, 3> c, MatmulTiles tiles);
/// The same for split-K through memory: consecutive programs have the parts of a tile.
MatmulCoordinates splitKCoordinates(Out<any, 2> c, MatmulTiles tiles);
MatmulCoordinates splitKCoordinates(Out<any, 3> c, MatmulTiles tiles);
/// The same for a persistent program, by the number of the tile among all of them.
Value matmulTileCount(Out<any, 2> c, MatmulTiles tiles);
Value matmulTileCount(Out<any, 3> c, MatmulTiles tiles);
Range persistentTiles(Value count, MatmulTiles tiles);
MatmulCoordinates matmulCoordinates(Out<any, 2> c, MatmulTiles tiles, Value number);
MatmulCoordinates matmulCoordinates(Out<any, 3> c, MatmulTiles tiles, Value number);
/// The accumulators of one program, as f32 (f64 of f64), also where dots accumulate in f16.
Value matmulSums(In<any, 2> a, In<any, 2> b, const MatmulCoordinates &at, MatmulTiles tiles,
                 DotOptions how);
Value matmulSums(In<any, 3> a, In<any, 3> b, const MatmulCoordinates &at, MatmulTiles tiles,
                 DotOptions how);

/// An argument of an epilogue as it is kept: a tensor's description, or a number.
template <class X> using EpilogueArgument = std::conditional_t<std::is_arithmetic_v<X>, X, Operand>;

/// A lambda with arguments besides the sums.
template <class F, class... X> struct Epilogue { std::tuple<EpilogueArgument<X>...> arguments; };
struct NoEpilogue {
  Value operator()(Value sums) const { return sums; }
};

template <class... X> struct EpilogueTypes {};

/// The kernel: `Knobs` are the types of the parameters that follow from kMatmulKnobs.
template <int Rank, class F, class X, class Knobs> struct MatmulKernel;
template <int Rank, class F, class... X, class... Knobs>
struct MatmulKernel<Rank, F, EpilogueTypes<X...>, KnobParameters<Knobs...>> {
  void operator()(In<any, Rank> a, In<any, Rank> b, Out<any, Rank> c,
                  typename MapParameter<X, Rank>::type... x, ConstOf<Precision> precision,
                  ConstOf<bool> isFast, ConstOf<bool> sumsInF16, Knobs... knobs) const {
    auto tiles = planOfConstants<MatmulTiles>(kMatmulKnobs, knobs...);
    const MatmulScheduleRow &row = tiles.row();
    DotOptions how{
        .precision = precision, .fast_accumulation = isFast, .accumulator = sumsInF16 ? f16 : any};
    // The consecutive tiles of a multicast cluster have the coordinates of one.
    MatmulTiles tilesOfCluster = tiles;
    tilesOfCluster.m *= row.multicast;
    Value rank;
    if (row.clusterBlocks() > 1)
      rank = tile::cluster(row.clusterBlocks());
    auto computeTile = [&](MatmulCoordinates at) {
      if (row.multicast > 1)
        at.m = at.m * row.multicast + rank;
      if (row.addsUpInCluster())
        at.part = rank;
      compute(a, b, c, x..., tiles, how, at);
    };
    if (row.addsUpInMemory())
      return computeTile(splitKCoordinates(c, tiles));
    if (!row.isPersistent)
      return computeTile(matmulCoordinates(c, tilesOfCluster));
    for (auto number : persistentTiles(matmulTileCount(c, tilesOfCluster), tiles))
      computeTile(matmulCoordinates(c, tilesOfCluster, number));
  }

private:
  static void compute(In<any, Rank> a, In<any, Rank> b, Out<any, Rank> c,
                      const typename MapParameter<X, Rank>::type &...x, MatmulTiles tiles,
                      DotOptions how, MatmulCoordinates at) {
    const MatmulScheduleRow &row = tiles.row();
    Value sums = matmulSums(a, b, at, tiles, how);
    if (row.addsUpInMemory()) // the last program runs the epilogue
      return grid_sum(sums, row.split.parts, [&](Value all) { finish(c, x..., tiles, at, all); });
    if (!row.addsUpInCluster())
      return finish(c, x..., tiles, at, sums);
    // Each block runs the epilogue of a part of the tile.
    tiles.m /= row.split.parts;
    at.m = at.m * row.split.parts + at.part;
    finish(c, x..., tiles, at, cluster_sum_scatter(sums));
  }

  static void finish(Out<any, Rank> c, const typename MapParameter<X, Rank>::type &...x,
                     MatmulTiles tiles, const MatmulCoordinates &at, const Value &sums) {
    [[maybe_unused]] auto argument = [&]<class Given, class Param>(const Param &param,
                                                                   Given *) -> Value {
      if constexpr (std::is_arithmetic_v<Given>)
        return std::floating_point<Given> ? cast(sums.dtype(), param) : Value(param);
      else if constexpr (Rank == 2)
        return widened(param.tile({tiles.m, tiles.n})(at.m, at.n));
      else
        return reshape(widened(param.tile({1, tiles.m, tiles.n})(at.batch, at.m, at.n)),
                       {tiles.m, tiles.n});
    };
    Value result =
        broadcast_to(tile::detail::elementwise("matmul's epilogue", {tiles.m, tiles.n}, F(), sums,
                                               argument(x, static_cast<X *>(nullptr))...),
                     {tiles.m, tiles.n});
    if constexpr (Rank == 2)
      c.tile({tiles.m, tiles.n})(at.m, at.n) = cast(c.dtype(), result);
    else
      c.tile({1, tiles.m, tiles.n})(at.batch, at.m, at.n) = expand_dims(cast(c.dtype(), result), 0);
  }
};

template <int Rank, class F, class... X>
using MatmulProgram = MatmulKernel<Rank, F, EpilogueTypes<X...>, ParametersOfKnobs<kMatmulKnobs>>;

template <int Rank, class F, class... X>
void launchMatmul(CallSite site, std::span<const Operand> operands, DotOptions how,
                  const std::tuple<X...> &arguments) {
  static const auto program = tunedMatmul(
      kernel("matmul", MatmulProgram<Rank, F, X...>()).named(matmulParameters(sizeof...(X))));
  const Operand *next = operands.data() + 3;
  auto given = [&]<class Given>(const Given &argument) {
    if constexpr (std::is_arithmetic_v<Given>)
      return argument;
    else
      return *next++;
  };
  std::apply(
      [&](const X &...argument) {
        std::tuple folded{given(argument)...}; // braces: in order
        std::apply(
            [&](const auto &...x) {
              program.tuned()
                  .with("precision", how.precision)
                  .with("fast", how.fast_accumulation)
                  .with("f16sums", how.accumulator == f16)(site, operands[1], operands[2],
                                                           operands[0], x...);
            },
            folded);
      },
      arguments);
}

template <class F, class... X>
void matmulWith(CallSite site, const Operand &a, const Operand &b, const Operand &c,
                const std::tuple<X...> &arguments, const MatmulOptions &options) {
  std::array<Operand, 3 + (size_t{0} + ... + (std::is_arithmetic_v<X> ? 0 : 1))> operands{c, a, b};
  size_t count = 3;
  auto add = [&]<class Given>(const Given &argument) {
    if constexpr (!std::is_arithmetic_v<Given>)
      operands[count++] = argument;
  };
  std::apply([&](const X &...argument) { (add(argument), ...); }, arguments);
  const DotOptions how = dotOptions(options);
  if (!foldForMatmul(operands, how, site))
    return;
  forSlices(operands, kMostMatmulDims, [&](std::span<const Operand> slice) {
    if (slice[0].rank() == 2)
      launchMatmul<2, F>(site, slice, how, arguments);
    else
      launchMatmul<3, F>(site, slice, how, arguments);
  });
}

/// Refuses what is no epilogue, with one sentence.
template <class F> constexpr bool checkEpilogue() {
  constexpr bool kIsClass = std::is_class_v<F>, kTakesSums = std::is_invocable_r_v<Value, F, Value>;
  constexpr bool kIsPlain = std::is_empty_v<F> && std::is_default_constructible_v<F>;
  static_assert(kIsClass,
                "matmul takes, after c, options or an epilogue: a precision is written as "
                "{.precision = Precision::tf32}");
  static_assert(!kIsClass || kTakesSums,
                "matmul's epilogue takes a Value, the tile of sums, and returns a Value");
  static_assert(!kTakesSums || kIsPlain,
                "matmul takes an epilogue lambda without captures: write numbers into it, or give "
                "arguments with ops::epilogue(lambda, tensors and numbers)");
  return kTakesSums && kIsPlain;
}

} // namespace tile::ops::detail
