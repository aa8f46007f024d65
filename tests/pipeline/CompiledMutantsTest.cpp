// Mutants of our own pipelines must be found by the virtual GPU, under one of its schedules: by a check, or by other results.
#include "tests/pipeline/CompiledMutants.h"
#include "tests/pipeline/KernelAttempt.h"

#include <cstdio>
#include <map>

namespace tile::test {
namespace {

// What waits for no group is seen soonest where copies arrive as late as they may.
constexpr Order kOrders[] = {{vgpu::Schedule::Lazy, 0},
                             {vgpu::Schedule::Random, 1},
                             {vgpu::Schedule::Eager, 0},
                             {vgpu::Schedule::Random, 2},
                             {vgpu::Schedule::Random, 3}};

struct Subject {
  std::string name, target;
  std::function<void(Attempt &, int steps)> run;
};

// --- Kernels -------------------------------------------------------------------------------------

constexpr int kRows = 32, kColumns = 32, kDepth = 16;
/// Iterations: what follows the loop lies in the slots that the last ones have read after some numbers alone.
constexpr int kSteps[] = {4, 5, 6};

const auto product = kernel(
    "mutated_product", [](In<any, 2> a, In<any, 2> b, Out<f32, 2> d, Const depth, Const stages) {
      auto sums = var(zeros(f32, {kRows, kColumns}));
      for (auto k : range(cdiv(a.dim(1), depth)).stages(stages))
        sums = dot(a.tile({kRows, depth})(0, k), b.tile({depth, kColumns})(k, 0), sums);
      d.tile({kRows, kColumns})(0, 0) = sums;
    });

/// `tail` elements are missing to whole tiles in each direction.
template <class T> Subject dotOf(const char *name, const char *target, int stages, int tail) {
  return {name, target, [=](Attempt &attempt, int steps) {
            int depth = 64 / static_cast<int>(sizeof(T));
            int64_t width = steps * depth - tail, rows = kRows - tail, columns = kColumns - tail;
            attempt.run(product.consts(depth, stages).warps(2).grid(1),
                        attempt.input<T>({rows, width}, 1), attempt.input<T>({width, columns}, 2),
                        attempt.output<float>({rows, columns}));
          }};
}

Subject opMatmul(const char *dtype, const char *target) {
  return {"op:matmul " + std::string(dtype), target, [=](Attempt &attempt, int steps) {
            auto launch = [&]<class T>(T) {
              int64_t depth = steps * 32 - 16;
              auto a = attempt.input<T>({32, depth}, 1), b = attempt.input<T>({depth, 32}, 2),
                   c = attempt.output<T>({32, 32});
              attempt.runOp(
                  "matmul",
                  {{"dtype", dtype}, {"BM", "32"}, {"BN", "32"}, {"BK", "32"}, {"warps", "2"}},
                  {toHostArg(a), toHostArg(b), toHostArg(c)});
            };
            if (dtype == std::string("f16"))
              launch(half());
            else if (dtype == std::string("bf16"))
              launch(bfloat16());
            else
              launch(float());
          }};
}

Subject opAttention(const char *target) {
  return {
      "op:attention causal", target, [](Attempt &attempt, int steps) {
        int64_t keys = steps * 64 - 20;
        auto q = attempt.input<half>({1, 1, 64, 64}, 1),
             k = attempt.input<half>({1, 1, keys, 64}, 2),
             v = attempt.input<half>({1, 1, keys, 64}, 3),
             out = attempt.output<half>({1, 1, 64, 64});
        attempt.runOp(
            "attention",
            {{"B", "1"}, {"H", "1"}, {"Lq", "64"}, {"D", "64"}, {"Lk", "320"}, {"causal", "1"}},
            {toHostArg(q), toHostArg(k), toHostArg(v), toHostArg(out), exampleScalar(f32, 0.125f)});
      }};
}

// The sums of the gradient of keys and values: one loaded tile is an operand of two products.
Subject keyGradient() {
  static const auto program =
      kernel("mutated_gradient", [](In<f16, 2> q, In<f16, 2> gradient, In<f16, 2> k, Out<f32, 2> dk,
                                    Out<f32, 2> dv, Const stages) {
        Value keys = k.tile({kRows, kDepth})(0, 0);
        auto dkSums = var(zeros(f32, {kRows, kDepth})), dvSums = var(zeros(f32, {kRows, kDepth}));
        for (auto m : range(cdiv(q.dim(0), kColumns)).stages(stages)) {
          Value rows = q.tile({kColumns, kDepth})(m, 0),
                upper = gradient.tile({kColumns, kDepth})(m, 0);
          Value weights = dot(keys, trans(rows));
          dvSums = dot(cast(f16, weights), upper, dvSums);
          dkSums = dot(cast(f16, weights - dot(keys, trans(upper))), rows, dkSums);
        }
        dk.tile({kRows, kDepth})(0, 0) = dkSums;
        dv.tile({kRows, kDepth})(0, 0) = dvSums;
      });
  return {"gradient of keys", "sm_80", [](Attempt &attempt, int steps) {
            int64_t queries = steps * kColumns - 5;
            attempt.run(
                program.consts(2).warps(2).grid(1), attempt.input<half>({queries, kDepth}, 1),
                attempt.input<half>({queries, kDepth}, 2), attempt.input<half>({kRows, kDepth}, 3),
                attempt.output<float>({kRows, kDepth}), attempt.output<float>({kRows, kDepth}));
          }};
}

// Rows of b are gathered through pointers, which go to their ring through registers, beside copies of a.
Subject gather() {
  static const auto program =
      kernel("mutated_gather",
             [](In<f16, 2> a, In<f16, 2> b, In<i32, 1> index, Out<f32, 2> d, Const stages) {
               auto sums = var(zeros(f32, {kRows, kColumns}));
               Value columns = expand_dims(arange(kColumns), 0);
               for (auto k : range(cdiv(a.dim(1), kDepth)).stages(stages)) {
                 Value rows = expand_dims(index.tile({kDepth})(k) & 31, 1);
                 sums = dot(a.tile({kRows, kDepth})(0, k),
                            load(b.ptr() + rows * cast(i32, b.stride(0)) + columns), sums);
               }
               d.tile({kRows, kColumns})(0, 0) = sums;
             });
  return {"gathered rows", "sm_80", [](Attempt &attempt, int steps) {
            int64_t depth = steps * kDepth - 8;
            attempt.run(program.consts(3).warps(2).grid(1), attempt.input<half>({kRows, depth}, 1),
                        attempt.input<half>({32, kColumns}, 2), attempt.input<int32_t>({depth}, 3),
                        attempt.output<float>({kRows, kColumns}));
          }};
}

// Rows of b are of an odd length, so that no copy has their alignment: they go through registers.
Subject throughRegisters() {
  return {"through registers", "sm_80", [](Attempt &attempt, int steps) {
            int64_t width = steps * 32;
            attempt.run(product.consts(32, 3).warps(2).grid(1),
                        attempt.input<half>({kRows, width}, 1), attempt.input<half>({width, 31}, 2),
                        attempt.output<float>({kRows, 31}));
          }};
}

// Two loops whose rings may share memory.
Subject twoLoops() {
  static const auto program = kernel("mutated_loops", [](In<f16, 2> a, In<f16, 2> b, Out<f32, 2> d,
                                                         Const stages) {
    auto sums = var(zeros(f32, {kRows, kColumns}));
    Value steps = cdiv(a.dim(1), kDepth);
    for (auto k : range(steps).stages(stages))
      sums = dot(a.tile({kRows, kDepth})(0, k), b.tile({kDepth, kColumns})(k, 0), sums);
    for (auto k : range(steps).stages(stages))
      sums = dot(a.tile({kRows, kDepth})(0, steps - 1 - k), b.tile({kDepth, kColumns})(k, 0), sums);
    d.tile({kRows, kColumns})(0, 0) = sums;
  });
  return {"two loops", "sm_80", [](Attempt &attempt, int steps) {
            int64_t depth = steps * kDepth;
            attempt.run(program.consts(3).warps(2).grid(1), attempt.input<half>({kRows, depth}, 1),
                        attempt.input<half>({depth, kColumns}, 2),
                        attempt.output<float>({kRows, kColumns}));
          }};
}

// A product by wgmma, which stays under way while the loop goes round.
Subject product64(int stages) {
  static const auto program =
      kernel("mutated_wgmma", [](In<f16, 2> a, In<f16, 2> b, Out<f32, 2> d, Const stages) {
        constexpr int kSide = 64, kSteps = 32;
        auto sums = var(zeros(f32, {kSide, kSide}));
        for (auto k : range(cdiv(a.dim(1), kSteps)).stages(stages))
          sums = dot(a.tile({kSide, kSteps})(0, k), b.tile({kSteps, kSide})(k, 0), sums);
        d.tile({kSide, kSide})(0, 0) = sums;
      });
  return {
      "wgmma, " + std::to_string(stages) + " stages", "sm_90a", [=](Attempt &attempt, int steps) {
        int64_t depth = steps * 32 - 8;
        attempt.run(program.consts(stages).warps(4).grid(1), attempt.input<half>({64, depth}, 1),
                    attempt.input<half>({depth, 64}, 2), attempt.output<float>({64, 64}));
      }};
}

// The same in a loop of another, round which the barriers are made anew.
Subject nestedLoops() {
  static const auto program =
      kernel("mutated_nest", [](In<f16, 2> a, In<f16, 2> b, Out<f32, 3> d, Const stages) {
        constexpr int kSide = 64, kSteps = 32;
        for (auto i : range(d.dim(0))) {
          auto sums = var(zeros(f32, {kSide, kSide}));
          for (auto k : range(cdiv(a.dim(1), kSteps)).stages(stages))
            sums = dot(a.tile({kSide, kSteps})(i, k), b.tile({kSteps, kSide})(k, 0), sums);
          d.tile({1, kSide, kSide})(i, 0, 0) = reshape(sums, {1, kSide, kSide});
        }
      });
  return {"wgmma in a nest", "sm_90a", [=](Attempt &attempt, int steps) {
            int64_t depth = steps * 32 - 8;
            attempt.run(program.consts(3).warps(4).grid(1), attempt.input<half>({128, depth}, 1),
                        attempt.input<half>({depth, 64}, 2), attempt.output<float>({2, 64, 64}));
          }};
}

// The same as one loop: loads of the second tile run on while the copy engine stores the first, in three parts.
Subject persistentProgram() {
  static const auto program =
      kernel("mutated_persistent", [](In<f16, 2> a, In<f16, 2> b, Out<f16, 2> d, Const stages) {
        constexpr int kSide = 64, kWide = 192, kSteps = 32;
        Value first = program_id(0) + 1; // a place whose indices differ
        for (auto i : range(first, cdiv(d.dim(0), kSide), num_programs(0)).flatten()) {
          auto sums = var(zeros(f32, {kSide, kWide}));
          for (auto k : range(cdiv(a.dim(1), kSteps)).stages(stages))
            sums = dot(a.tile({kSide, kSteps})(i, k), b.tile({kSteps, kWide})(k, 0), sums);
          d.tile({kSide, kWide})(i, 0) = cast(f16, sums);
        }
      });
  return {"persistent wgmma", "sm_90a", [=](Attempt &attempt, int steps) {
            int64_t depth = steps * 32 - 8;
            attempt.run(program.consts(3).warps(4).grid(1), attempt.input<half>({192, depth}, 1),
                        attempt.input<half>({depth, 192}, 2), attempt.output<half>({192, 192}));
          }};
}

// Two groups of warps take turns, and the second product of an iteration lags behind the first, whose rings of their own hold
// what each reads; a warp of its own may load for them.
Subject turns(int stages, bool specializes) {
  static const auto program =
      kernel("mutated_turns", [](In<f16, 2> q, In<f16, 2> k, In<f16, 2> v, Out<f32, 2> d,
                                 Const stages, ConstOf<bool> specializes) {
        constexpr int kQueries = 128, kKeys = 32, kWidth = 16;
        Value queries = q.tile({kQueries, kWidth})(0, 0);
        auto sums = var(zeros(f32, {kQueries, kWidth}));
        Range loop = range(cdiv(k.dim(0), kKeys)).stages(stages).overlap_dots();
        for (auto j : specializes ? loop.warp_specialize() : loop) {
          Value scores = dot(queries, k.T().tile({kWidth, kKeys})(0, j));
          Value most = expand_dims(reduce_max(scores, 1), 1);
          sums = dot(cast(f16, scores - most), v.tile({kKeys, kWidth})(j, 0), sums * 0.5f);
        }
        d.tile({kQueries, kWidth})(0, 0) = sums;
      });
  std::string name = specializes ? "wgmma in roles" : "wgmma in turns";
  return {name + ", " + std::to_string(stages) + " stages", "sm_90a",
          [=](Attempt &attempt, int steps) {
            int64_t keys = steps * 32 - 5;
            attempt.run(program.consts(stages, specializes).warps(8).grid(1),
                        attempt.input<half>({128, 16}, 1), attempt.input<half>({keys, 16}, 2),
                        attempt.input<half>({keys, 16}, 3), attempt.output<float>({128, 16}));
          }};
}

// Teams read the same fills, and have memory of their own for sums across their warps and for stores by the engine.
Subject teamsOfWarps() {
  static const auto program = kernel("mutated_teams", [](In<f16, 2> x, In<f16, 2> b, Out<f16, 2> y,
                                                         Out<f32, 2> sums, Const count) {
    constexpr int kSide = 64, kSteps = 32;
    Value tile = program_id(0) * count + teams(count);
    Value rows = x.tile({kSide, kSteps})(tile, 0);
    auto total = var(zeros(f32, {kSide, kSide}));
    for (auto n : range(cdiv(b.dim(0), kSteps)).stages(3).warp_specialize())
      total = dot(rows, b.tile({kSteps, kSide})(n, 0), total);
    y.tile({kSide, kSide})(tile, 0) = cast(f16, total);
    sums.tile({1, kSide})(tile, 0) = expand_dims(sum(total, 0), 0);
  });
  return {"teams", "sm_90a", [=](Attempt &attempt, int steps) {
            attempt.run(program.consts(2).warps(4).grid(1), attempt.input<half>({128, 32}, 1),
                        attempt.input<half>({steps * 32 - 5, 64}, 2),
                        attempt.output<half>({128, 64}), attempt.output<float>({2, 64}));
          }};
}

// Teams take turns at tiles, whose loads one warp issues for both, and store by the engine.
Subject teamsInTurn() {
  static const auto program =
      kernel("mutated_ping_pong", [](In<f16, 2> x, In<f16, 2> b, Out<f16, 2> y) {
        constexpr int kSide = 64, kSteps = 32;
        for (auto m : range(cdiv(y.dim(0), kSide)).flatten().ping_pong()) {
          auto total = var(zeros(f32, {kSide, kSide}));
          for (auto k : range(cdiv(b.dim(0), kSteps)).stages(3).warp_specialize())
            total = dot(x.tile({kSide, kSteps})(m, k), b.tile({kSteps, kSide})(k, 0), total);
          y.tile({kSide, kSide})(m, 0) = cast(f16, total);
        }
      });
  return {"teams in turn", "sm_90a", [=](Attempt &attempt, int steps) {
            constexpr int64_t kRows = 5 * 64;
            int64_t depth = steps * 32;
            attempt.run(program.warps(4).grid(1), attempt.input<half>({kRows, depth}, 1),
                        attempt.input<half>({depth, 64}, 2), attempt.output<half>({kRows, 64}));
          }};
}

// Blocks of a cluster copy a share of b each, and their own rows of a.
Subject clusterOfBlocks() {
  static const auto program =
      kernel("mutated_cluster", [](In<f16, 2> a, In<f16, 2> b, Out<f32, 2> c) {
        constexpr int kSide = 64, kSteps = 32;
        Value m = program_id(0) * 2 + cluster(2);
        auto sums = var(zeros(f32, {kSide, kSide}));
        for (auto k : range(cdiv(b.dim(0), kSteps)).stages(3).warp_specialize())
          sums = dot(a.tile({kSide, kSteps})(m, k), b.tile({kSteps, kSide})(k, 0), sums);
        c.tile({kSide, kSide})(m, 0) = sums;
      });
  return {"cluster", "sm_90a", [=](Attempt &attempt, int steps) {
            int64_t depth = steps * 32;
            attempt.run(program.warps(4).grid(1), attempt.input<half>({128, depth}, 1),
                        attempt.input<half>({depth, 64}, 2), attempt.output<float>({128, 64}));
          }};
}

// Blocks of a cluster have a part of K each, and add up what they get: in a loop, so that one sum's memory is the next one's.
Subject clusterSums() {
  static const auto program =
      kernel("mutated_cluster_sums", [](In<f16, 2> a, In<f16, 2> b, Out<f32, 2> c) {
        constexpr int kSide = 64, kSteps = 32;
        Value rank = cluster(2), half = cdiv(b.dim(0), kSteps * 2);
        for (auto m : range(cdiv(a.dim(0), kSide))) {
          auto sums = var(zeros(f32, {kSide, kSide}));
          for (auto k : range(rank * half, (rank + 1) * half).stages(3))
            sums = dot(a.tile({kSide, kSteps})(m, k), b.tile({kSteps, kSide})(k, 0), sums);
          c.tile({kSide / 2, kSide})(m * 2 + rank, 0) = cluster_sum_scatter(sums);
        }
      });
  return {"cluster sums", "sm_90a", [=](Attempt &attempt, int steps) {
            int64_t depth = int64_t{steps} * 2 * 32;
            attempt.run(program.warps(4).grid(1), attempt.input<half>({128, depth}, 1),
                        attempt.input<half>({depth, 64}, 2), attempt.output<float>({128, 64}));
          }};
}

// Programs have a part of K each, and the one that comes last stores the sum.
Subject gridSums() {
  static const auto program =
      kernel("mutated_grid_sums", [](In<f16, 2> a, In<f16, 2> b, Out<f32, 2> c) {
        constexpr int kSide = 64, kSteps = 32;
        Value m = program_id(0) / 2, part = program_id(0) % 2, half = cdiv(b.dim(0), kSteps * 2);
        auto sums = var(zeros(f32, {kSide, kSide}));
        for (auto k : range(part * half, (part + 1) * half).stages(3))
          sums = dot(a.tile({kSide, kSteps})(m, k), b.tile({kSteps, kSide})(k, 0), sums);
        grid_sum(sums, 2, [&](const Value &all) { c.tile({kSide, kSide})(m, 0) = all; });
      });
  return {"grid sums", "sm_90a", [=](Attempt &attempt, int steps) {
            int64_t depth = int64_t{steps} * 2 * 32;
            attempt.run(program.warps(4).grid(4), attempt.input<half>({128, depth}, 1),
                        attempt.input<half>({depth, 64}, 2), attempt.output<float>({128, 64}));
          }};
}

// What one product gives goes through shared memory to another with rows for columns, whose result is added to a view; a
// third begins before the warps meet for that.
Subject addition() {
  static const auto program =
      kernel("mutated_addition", [](In<f16, 2> k, In<f16, 2> q, InOut<f32, 2> dq, Out<f32, 2> dk) {
        constexpr int kSide = 64, kWidth = 16;
        Value keys = k.tile({kSide, kWidth})(0, 0);
        auto sums = var(zeros(f32, {kSide, kWidth}));
        for (auto m : range(cdiv(q.dim(0), kSide)).stages(2).warp_specialize()) {
          Value scores = dot(keys, q.T().tile({kWidth, kSide})(0, m));
          Value slopes = cast(f16, scores * 0.25f);
          Value part = dot(trans(slopes), keys);
          sums = dot(slopes, q.tile({kSide, kWidth})(m, 0), sums);
          atomic_add(dq.tile({kSide, kWidth})(m, 0), part);
        }
        dk.tile({kSide, kWidth})(0, 0) = sums;
      });
  return {"addition", "sm_90a", [=](Attempt &attempt, int steps) {
            attempt.run(program.warps(4).grid(1), attempt.input<half>({64, 16}, 1),
                        attempt.input<half>({steps * 64 - 5, 16}, 2),
                        attempt.output<float>({steps * 64 - 5, 16}),
                        attempt.output<float>({64, 16}));
          }};
}

std::vector<Subject> subjects() {
  return {dotOf<half>("f16, 2 stages", "sm_80", 2, 0),
          dotOf<half>("f16, 3 stages, tail", "sm_80", 3, 8),
          dotOf<bfloat16>("bf16, 4 stages, tail", "sm_80", 4, 8),
          dotOf<float>("f32, 3 stages", "sm_80", 3, 0),
          dotOf<half>("f16, 3 stages, sm_90a", "sm_90a", 3, 8),
          product64(2),
          product64(4),
          nestedLoops(),
          persistentProgram(),
          turns(2, false),
          turns(2, true),
          turns(3, true),
          teamsOfWarps(),
          teamsInTurn(),
          clusterOfBlocks(),
          clusterSums(),
          gridSums(),
          addition(),
          opMatmul("f16", "sm_80"),
          opMatmul("bf16", "sm_80"),
          opMatmul("f32", "sm_80"),
          opAttention("sm_80"),
          keyGradient(),
          gather(),
          throughRegisters(),
          twoLoops()};
}

// --- The test ------------------------------------------------------------------------------------

using Expected = std::map<int, Bytes>; ///< the results after so many iterations

bool shows(const Subject &subject, const codegen::CompiledKernel &kernel,
           const Expected &expected) {
  for (Order order : kOrders)
    for (const auto &[steps, results] : expected)
      try {
        Attempt attempt(subject.target, order, &kernel);
        subject.run(attempt, steps);
        if (attempt.results() != results)
          return true;
      } catch (const Error &) {
        return true;
      }
  return false;
}

struct Tally {
  int all = 0, shown = 0, excused = 0;
};
using Tallies = std::map<std::string, Tally>;

void tryMutants(const Subject &subject, Tallies &tallies) {
  Expected expected;
  codegen::CompiledKernel kernel;
  for (int steps : kSteps) {
    Attempt whole(subject.target, kOrders[0], expected.empty() ? nullptr : &kernel);
    subject.run(whole, steps);
    if (expected.empty())
      kernel = whole.compiled();
    expected[steps] = whole.results();
  }
  ASSERT_FALSE(shows(subject, kernel, expected)) << subject.name;
  std::string ptx = kernel.ptx;
  const char *wait =
      subject.target == std::string("sm_90a") ? "mbarrier.try_wait" : "cp.async.wait_group";
  ASSERT_NE(ptx.find(wait), std::string::npos) << subject.name;
  for (const CompiledMutant &mutant : compiledMutantsOf(ptx)) {
    kernel.ptx = mutant.ptx;
    bool isShown = shows(subject, kernel, expected), isExcused = !isShown && !mutant.excuse.empty();
    for (const std::string &name : {subject.name, mutant.what, std::string("together")}) {
      Tally &tally = tallies[name];
      tally.all += 1, tally.shown += isShown, tally.excused += isExcused;
    }
    EXPECT_TRUE(isShown || isExcused)
        << subject.name << ": survives: " << mutant.what << ", line " << mutant.line;
  }
}

TEST(CompiledMutants, AreFound) {
  Tallies tallies;
  for (const Subject &subject : subjects())
    tryMutants(subject, tallies);
  for (const auto &[name, tally] : tallies)
    std::printf("%-30s %4d mutants, %4d found, %4d of the others compute the same\n", name.c_str(),
                tally.all, tally.shown, tally.excused);
  EXPECT_GT(tallies["together"].shown, 800)
      << "the compiler's text is not what the changes look for";
}

} // namespace
} // namespace tile::test
