// What ops by name call their tensors, and their settings in words.
#include <tile/OpSignature.h>

#include <initializer_list>

namespace tile::ops {
namespace {

using Names = std::vector<std::string>;
using Meanings = std::map<std::string, std::string>;

// --- Settings ------------------------------------------------------------------------------------

/// What a setting means in every op that has it, unless the op says something else.
const Meanings kUsual = {
    {"accumulator", "what sums are kept in: f32, or f16 of f16 and 8-bit floats"},
    {"axes", "the dimensions that are reduced; all"},
    {"base", "of the frequencies"},
    {"beta1", "of the mean m"},
    {"beta2", "of the mean of squares v"},
    {"causal", "queries do not see keys behind them"},
    {"classes", "how many columns are classes; 0: all"},
    {"deterministic", "the same bits on every call"},
    {"deviation", "the standard deviation"},
    {"dim", "the dimension that rows lie along"},
    {"dims", "how many elements of a head are turned; 0: all"},
    {"dtype", "of the output; that of the first input"},
    {"epsilon", "added to the variance"},
    {"factor", "of x"},
    {"fast", "8-bit floats are added up in fewer bits"},
    {"formula", "letters of each operand, and of the output: ij,jk->ik"},
    {"high", "one above the largest"},
    {"ignore_index", "targets that have no loss"},
    {"indices", "the dtype of indices: i32 or i64"},
    {"interleaved", "pairs are neighbours, not of the two halves"},
    {"k", "how many of each row"},
    {"keep_dims", "they stay, with extent 1"},
    {"label_smoothing", "the share of a target that all classes have evenly"},
    {"largest", "the norm that tensors may have"},
    {"low", "the smallest"},
    {"mean", "of the numbers"},
    {"momentum", "of the velocity"},
    {"of", "dq, dk or dv"},
    {"offset", "how many numbers of the seed were taken before"},
    {"p", "the probability of a 0"},
    {"precision", "of f32 products: ieee, tf32, tf32x3, bf16x3 or bf16x6"},
    {"probability", "of a 1"},
    {"rate", "the learning rate"},
    {"reduction", "none, sum or mean over rows"},
    {"rounding", "of quotients of floats: none, or trunc to an integer toward zero"},
    {"rows", "of the table"},
    {"scale", "of scores; 1 / sqrt(D)"},
    {"seed", "of the random numbers"},
    {"shape", "of the output"},
    {"statistics", "more outputs, which the gradient needs of each row"},
    {"step", "1, 2, ...: the number of this step"},
    {"temperature", "logits are divided by it; 0: the largest"},
    {"value", "of every element"},
    {"weight_decay", "added to the gradient, times the weight"}};

// --- Ops -----------------------------------------------------------------------------------------

bool describeAll(std::initializer_list<const char *> ops, const Names &inputs, const Names &outputs,
                 Meanings own = {}) {
  own.insert(kUsual.begin(), kUsual.end());
  for (const char *op : ops)
    describeOp(op, {inputs, outputs, own});
  return true;
}

const bool elementwise =
    describeAll({"relu", "gelu", "gelu_tanh", "silu", "sigmoid", "tanh", "copy", "bitwise_not"},
                {"x"}, {"y"}) &&
    describeAll({"relu_backward", "gelu_backward", "gelu_tanh_backward", "silu_backward",
                 "sigmoid_backward", "tanh_backward"},
                {"x", "dy"}, {"dx"}) &&
    describeAll({"swiglu"}, {"a", "b"}, {"y"}) &&
    describeAll({"swiglu_backward"}, {"a", "b", "dy"}, {"da", "db"}) &&
    describeAll({"swiglu_halves"}, {"ab"}, {"y"}) &&
    describeAll({"swiglu_halves_backward"}, {"ab", "dy"}, {"dab"}) &&
    describeAll({"add", "subtract", "multiply", "divide", "maximum", "minimum", "equal",
                 "not_equal", "less", "less_equal", "greater", "greater_equal", "bitwise_and",
                 "bitwise_or", "bitwise_xor", "power"},
                {"a", "b"}, {"c"}) &&
    describeAll({"affine"}, {"x"}, {"y"}, {{"offset", "added to it"}}) &&
    describeAll({"fill"}, {"y"}, {});

const bool sums =
    describeAll({"sum", "mean", "reduce_max", "reduce_min", "sum_of_squares", "sum_to"}, {"x"},
                {"y"}) &&
    describeAll({"matmul"}, {"a", "b"}, {"c"}) &&
    describeAll({"linear"}, {"x", "weight", "bias"}, {"y"}) &&
    describeAll({"einsum"}, {"operands"}, {"y"});

const bool rows =
    describeAll({"softmax", "log_softmax"}, {"x"}, {"y"}) &&
    describeAll({"softmax_backward", "log_softmax_backward"}, {"dy", "y"}, {"dx"}) &&
    describeAll({"layernorm"}, {"x", "weight", "bias"}, {"y", "mean", "rstd"}) &&
    describeAll({"rmsnorm"}, {"x", "weight"}, {"y", "rstd"}) &&
    describeAll({"add_layernorm"}, {"x", "residual", "weight", "bias"},
                {"sum", "y", "mean", "rstd"}) &&
    describeAll({"add_rmsnorm"}, {"x", "residual", "weight"}, {"sum", "y", "rstd"}) &&
    describeAll({"layernorm_backward"}, {"dy", "x", "mean", "rstd", "weight"},
                {"dx", "dweight", "dbias"}) &&
    describeAll({"rmsnorm_backward"}, {"dy", "x", "rstd", "weight"}, {"dx", "dweight"}) &&
    describeAll({"cross_entropy"}, {"logits", "targets"}, {"loss", "lse"}) &&
    describeAll({"cross_entropy_backward"}, {"dloss", "logits", "targets", "lse"}, {"dlogits"}) &&
    describeAll({"argmax"}, {"x"}, {"y"}) && describeAll({"top_k"}, {"x"}, {"values", "places"}) &&
    describeAll({"sample_top_k"}, {"logits"}, {"tokens"},
                {{"k", "how many of each row may be drawn"}});

const bool randomNumbers = describeAll({"rand", "randn", "randint", "bernoulli"}, {"y"}, {}) &&
                           describeAll({"dropout"}, {"x"}, {"y"}) &&
                           describeAll({"dropout_add"}, {"x", "residual"}, {"y"}) &&
                           describeAll({"dropout_backward"}, {"dy"}, {"dx"},
                                       {{"p", "as dropout had it"}, {"seed", "as dropout had it"}});

const bool sequences =
    describeAll({"embedding"}, {"table", "indices"}, {"y"}) &&
    describeAll({"embedding_backward"}, {"indices", "dy"}, {"dtable"}) &&
    describeAll({"rotate"}, {"x", "cosines", "sines"}, {"y"}) &&
    describeAll({"rotate_backward"}, {"dy", "cosines", "sines"}, {"dx"}) &&
    describeAll({"rotary"}, {"x", "positions"}, {"y"}) &&
    describeAll({"rotary_backward"}, {"dy", "positions"}, {"dx"}) &&
    describeAll({"rotary_tables"}, {"positions"}, {"cosines", "sines"},
                {{"dims", "how many elements of a head are turned: even"},
                 {"dtype", "of the tables; f32"}}) &&
    describeAll({"attention"}, {"q", "k", "v"}, {"out", "lse"}) &&
    describeAll({"attention_backward"}, {"q", "k", "v", "output", "lse", "dout"},
                {"dq", "dk", "dv"}) &&
    describeAll({"attention_gradient"}, {"q", "k", "v", "dout"}, {"gradient"}) &&
    describeAll({"kv_cache_append"}, {"k", "v", "cache_k", "cache_v", "lengths", "table"}, {}) &&
    describeAll({"decode_attention"}, {"q", "cache_k", "cache_v", "lengths", "table"}, {"out"});

const bool optimizers =
    describeAll({"sgd"}, {"weights", "gradient", "velocity"}, {}) &&
    describeAll({"adamw"}, {"weights", "gradient", "m", "v", "master"}, {},
                {{"epsilon", "added to the root of v"},
                 {"weight_decay", "by which weights shrink, times the rate"}}) &&
    describeAll({"global_norm"}, {"tensors"}, {"norm"}) &&
    describeAll({"clip_by_norm"}, {"norm", "tensors"}, {});

} // namespace
} // namespace tile::ops
