// From a matrix product to launches of kernels. Users need ops/Matmul.h alone.
#pragma once

#include <tile/Tuning.h>
#include <tile/ops/Map.h>

namespace tile::ops {
struct MatmulOptions;
}
namespace tile::ops::detail {

/// The tile of C, its step along K and its warps; whether programs are persistent and load the next
/// tile while they store one; whether there is a producer warp; whether two teams alternate tiles
/// (ping-pong); how many blocks of a cluster compute consecutive tiles along M; the number of parts
/// of split-K, each of which a program computes, and whether these programs are the blocks of a
/// cluster.
struct MatmulTiles {
  int m, n, k, warps;
  bool persistent = false, hasProducer = false, pingPong = false;
  int cluster = 1, split = 1;
  bool clustered = false;
  /// Blocks of the cluster that a program is divided among.
  int blocks() const { return clustered ? cluster * split : cluster; }
  bool operator==(const MatmulTiles &) const = default;
};

/// Checks the tensors `c, a, b, x...` and makes them views of one rank: matrices, or the same with
/// one batch dimension in front, which does not move where it is broadcast; or with more, for
/// forSlices. Returns false where nothing is to be done. Throws the errors of `matmul`.
inline constexpr int kMostMatmulDims = 3;
bool foldForMatmul(std::span<Operand> operands, DotOptions how, const CallSite &site);

/// The options in the language's terms.
DotOptions dotOptions(const MatmulOptions &options);

/// A name for each parameter of the kernel, which takes so many arguments for its epilogue.
std::vector<std::string> matmulParameters(size_t arguments);

/// What of the kernel is tuned: its tiles, and how programs share the work on them. Where nothing
/// is known of a product they follow from its shape and the GPU.
std::string matmulObjection(const Config &config, const Problem &problem);
Config matmulConfig(const Problem &problem);
Work matmulWork(const Config &config, const Problem &problem);
template <class... P> Kernel<P...> tunedMatmul(const Kernel<P...> &program) {
  return program.tunable("BM", pow2(16, 256), 128)
      .tunable("BN", pow2(16, 256), 128)
      .tunable("BK", pow2(32, 256), 64)
      .tunable("warps", {4, 8}, 8)
      .tunable("persistent", onOff())
      .tunable("producer", onOff())
      .tunable("pingpong", onOff())
      .tunable("cluster", {1, 2})
      .tunable("split", {1, 2, 4, 8})
      .tunable("clustered", onOff())
      .unless(matmulObjection)
      .otherwise(matmulConfig)
      .work(matmulWork);
}

/// The tile of one program, and which part of K it adds up. `batch` is none of matrices, and `part`
/// where K is not split.
struct MatmulPlace {
  Value batch, m, n, part;
};
MatmulPlace matmulPlace(Out<any, 2> c, MatmulTiles tiles);
MatmulPlace matmulPlace(Out<any, 3> c, MatmulTiles tiles);
/// The same where programs that follow each other have the parts of a tile.
MatmulPlace matmulPart(Out<any, 2> c, MatmulTiles tiles);
MatmulPlace matmulPart(Out<any, 3> c, MatmulTiles tiles);
/// The same of a persistent program, by the number of the tile among all of them.
Value matmulTileCount(Out<any, 2> c, MatmulTiles tiles);
Value matmulTileCount(Out<any, 3> c, MatmulTiles tiles);
Range matmulTilesInTurn(Value count, MatmulTiles tiles);
MatmulPlace matmulPlace(Out<any, 2> c, MatmulTiles tiles, Value number);
MatmulPlace matmulPlace(Out<any, 3> c, MatmulTiles tiles, Value number);
/// The sums of one program, as f32 (f64 of f64), also where they are kept in f16.
Value matmulSums(In<any, 2> a, In<any, 2> b, const MatmulPlace &place, MatmulTiles tiles,
                 DotOptions how);
Value matmulSums(In<any, 3> a, In<any, 3> b, const MatmulPlace &place, MatmulTiles tiles,
                 DotOptions how);

/// An argument of an epilogue as it is kept: a tensor's description, or a number.
template <class X> using EpilogueArgument = std::conditional_t<std::is_arithmetic_v<X>, X, Operand>;

/// A lambda with arguments besides the sums.
template <class F, class... X> struct Epilogue { std::tuple<EpilogueArgument<X>...> arguments; };
struct NoEpilogue {
  Value operator()(Value sums) const { return sums; }
};

/// What one program does.
template <int Rank, class F, class... X> struct MatmulProgram {
  void operator()(In<any, Rank> a, In<any, Rank> b, Out<any, Rank> c,
                  typename MapParameter<X, Rank>::type... x, Const bm, Const bn, Const bk,
                  ConstOf<Precision> precision, ConstOf<bool> isFast, ConstOf<bool> sumsInF16,
                  ConstOf<bool> isPersistent, ConstOf<bool> hasProducer, ConstOf<bool> isPingPong,
                  Const cluster, Const split, ConstOf<bool> isClustered) const {
    MatmulTiles tiles{bm,          bn,         bk,      0,     isPersistent,
                      hasProducer, isPingPong, cluster, split, isClustered};
    DotOptions how{
        .precision = precision, .fast_accumulation = isFast, .accumulator = sumsInF16 ? f16 : any};
    // The tiles of a cluster's blocks are placed as one.
    MatmulTiles tilesOfCluster = tiles;
    tilesOfCluster.m *= tiles.cluster;
    Value rank;
    if (tiles.blocks() > 1)
      rank = tile::cluster(tiles.blocks());
    auto computeTile = [&](MatmulPlace place) {
      if (tiles.cluster > 1)
        place.m = place.m * tiles.cluster + rank;
      if (tiles.clustered)
        place.part = rank;
      compute(a, b, c, x..., tiles, how, place);
    };
    if (tiles.split > 1 && !tiles.clustered)
      return computeTile(matmulPart(c, tiles));
    if (!isPersistent)
      return computeTile(matmulPlace(c, tilesOfCluster));
    for (auto number : matmulTilesInTurn(matmulTileCount(c, tilesOfCluster), tiles))
      computeTile(matmulPlace(c, tilesOfCluster, number));
  }

private:
  static void compute(In<any, Rank> a, In<any, Rank> b, Out<any, Rank> c,
                      const typename MapParameter<X, Rank>::type &...x, MatmulTiles tiles,
                      DotOptions how, MatmulPlace place) {
    Value sums = matmulSums(a, b, place, tiles, how);
    if (tiles.split == 1)
      return finish(c, x..., tiles, place, sums);
    if (!tiles.clustered) // the program that comes last goes on
      return grid_sum(sums, tiles.split, [&](Value all) { finish(c, x..., tiles, place, all); });
    // Each block goes on with a part of the tile.
    tiles.m /= tiles.split;
    place.m = place.m * tiles.split + place.part;
    finish(c, x..., tiles, place, cluster_sum_scatter(sums));
  }

  static void finish(Out<any, Rank> c, const typename MapParameter<X, Rank>::type &...x,
                     MatmulTiles tiles, const MatmulPlace &place, const Value &sums) {
    [[maybe_unused]] auto argument = [&]<class Given, class Param>(const Param &param,
                                                                   Given *) -> Value {
      if constexpr (std::is_arithmetic_v<Given>)
        return std::floating_point<Given> ? cast(sums.dtype(), param) : Value(param);
      else if constexpr (Rank == 2)
        return widened(param.tile({tiles.m, tiles.n})(place.m, place.n));
      else
        return reshape(widened(param.tile({1, tiles.m, tiles.n})(place.batch, place.m, place.n)),
                       {tiles.m, tiles.n});
    };
    Value result =
        broadcast_to(tile::detail::elementwise("matmul's epilogue", {tiles.m, tiles.n}, F(), sums,
                                               argument(x, static_cast<X *>(nullptr))...),
                     {tiles.m, tiles.n});
    if constexpr (Rank == 2)
      c.tile({tiles.m, tiles.n})(place.m, place.n) = cast(c.dtype(), result);
    else
      c.tile({1, tiles.m, tiles.n})(place.batch, place.m, place.n) =
          expand_dims(cast(c.dtype(), result), 0);
  }
};

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
