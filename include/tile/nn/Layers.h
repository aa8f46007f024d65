// The layers that models are made of. Each makes its parameters on a stream, from a generator of
// random numbers: the same generator gives the same parameters.
//
// Errors (InvalidArgument, InvalidShape), at the caller's line: sizes below 1, a dtype that is not
// f16, bf16, f32 or f64 (norms: f16, bf16, f32), and those of the function of variables that a
// layer calls.
#pragma once

#include <tile/nn/Module.h>
#include <tile/ops/Random.h>

#include <array>
#include <optional>

namespace tile::nn {

struct LinearOptions {
  bool bias = true;
  DType dtype = f32;
  /// The standard deviation of the initial weights, which are normally distributed; by default
  /// 1 / sqrt(inputs). The initial bias is 0.
  std::optional<double> deviation = {};
};
/// y = x weight^T + bias: weight is outputs x inputs, x has any leading dimensions.
struct Linear : Module {
  Variable weight, bias;

  Linear(const Stream &stream, ops::Generator &generator, int64_t inputs, int64_t outputs,
         const LinearOptions &options = {}, Loc loc = Loc::here());
  Variable operator()(const Variable &x, Loc loc = Loc::here()) const;
  void members(Members &add) const override;
};

struct EmbeddingOptions {
  DType dtype = f32;
  double deviation = 1; ///< of the table, which is normally distributed
};
/// y[i..., :] = table[indices[i...], :]: table is rows x width.
struct Embedding : Module {
  Variable table;

  Embedding(const Stream &stream, ops::Generator &generator, int64_t rows, int64_t width,
            const EmbeddingOptions &options = {}, Loc loc = Loc::here());
  Variable operator()(const Tensor &indices, Loc loc = Loc::here()) const;
  void members(Members &add) const override;
};

struct NormOptions {
  double epsilon = 1e-5;
  bool bias = true; ///< of LayerNorm
  DType dtype = f32;
};
/// Layer normalisation of the last dimension, of extent `width`; begins with weights of 1 and
/// biases of 0.
struct LayerNorm : Module {
  Variable weight, bias;
  double epsilon;

  LayerNorm(const Stream &stream, int64_t width, const NormOptions &options = {},
            Loc loc = Loc::here());
  Variable operator()(const Variable &x, Loc loc = Loc::here()) const;
  /// {x + residual, the norm of that}, in one kernel.
  std::array<Variable, 2> ofSum(const Variable &x, const Variable &residual,
                                Loc loc = Loc::here()) const;
  void members(Members &add) const override;
};
/// Root-mean-square normalisation of the last dimension.
struct RmsNorm : Module {
  Variable weight;
  double epsilon;

  RmsNorm(const Stream &stream, int64_t width, const NormOptions &options = {},
          Loc loc = Loc::here());
  Variable operator()(const Variable &x, Loc loc = Loc::here()) const;
  /// {x + residual, the norm of that}, in one kernel.
  std::array<Variable, 2> ofSum(const Variable &x, const Variable &residual,
                                Loc loc = Loc::here()) const;
  void members(Members &add) const override;
};

enum class Activation { Relu, Gelu, GeluTanh, Silu, Swiglu };

struct MlpOptions {
  Activation activation = Activation::GeluTanh;
  LinearOptions up = {}, down = {};
};
/// down(activation(up(x))): width -> hidden -> width. With Swiglu `up` has two outputs per hidden
/// element, the gates first.
struct Mlp : Module {
  Linear up, down;
  Activation activation;

  Mlp(const Stream &stream, ops::Generator &generator, int64_t width, int64_t hidden,
      const MlpOptions &options = {}, Loc loc = Loc::here());
  Variable operator()(const Variable &x, Loc loc = Loc::here()) const;
  void members(Members &add) const override;
};

} // namespace tile::nn
