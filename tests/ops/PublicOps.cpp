#include "tests/ops/PublicOps.h"

#include <tile/ops/Activations.h>
#include <tile/ops/Arithmetic.h>
#include <tile/ops/Einsum.h>
#include <tile/ops/Map.h>
#include <tile/ops/Matmul.h>
#include <tile/ops/Optimizers.h>
#include <tile/ops/Random.h>
#include <tile/ops/Reduce.h>

namespace tile::test {

namespace {

using Tensors = std::span<const ops::Operand>;
using enum Parameter::Use;

// Rows of a matrix are R x C; batches and heads of attention B x H x Q x D and B x G x K x D.
struct Letter {
  char name;
  int64_t extent;
};
constexpr Letter kLetters[] = {
    {'1', 1}, {'B', 2}, {'R', 3},  {'C', 6}, {'W', 3},  {'N', 5}, {'H', 4},  {'G', 2},
    {'Q', 3}, {'K', 7}, {'D', 16}, {'P', 4}, {'S', 16}, {'T', 2}, {'V', 11}, {'E', 8},
};

// Extents that an op needs: the widths of heads and rows that something is chosen from, and those that are tied to another.
struct Needed {
  std::string_view op, letters;
};
constexpr Needed kNeeded[] = {
    {"swigluHalves", "CW"},
    {"swigluHalvesBackward", "CW"},
    {"argmax", "C"},
    {"topK", "CW"},
    {"sampleTopK", "C"},
    {"attention", "DG"},
    {"attentionBackward", "DG"},
    {"decodeAttention", "DGS"},
    {"kvCacheAppend", "S"},
    {"rotate", "DE"},
    {"rotateBackward", "DE"},
};

// --- Elementwise ---------------------------------------------------------------------------------

using Unary = void (*)(const Stream &, const ops::Operand &, const ops::Operand &, Loc);
using UnaryNew = Tensor (*)(const Stream &, const ops::Operand &, Loc);
using Binary = void (*)(const Stream &, const ops::Operand &, const ops::Operand &,
                        const ops::Operand &, Loc);
using BinaryNew = Tensor (*)(const Stream &, const ops::Operand &, const ops::Operand &, Loc);

template <Unary F, UnaryNew G> void addUnary(std::vector<PublicOp> &rows, const char *name) {
  rows.push_back({name,
                  {{"x", f32, "RC", Broadcast}, {"y", f32, "RC", Out | Broadcast}},
                  [](const Stream &s, Tensors t) { F(s, t[0], t[1], Loc::here()); }});
  rows.push_back({name, {{"x", f32, "RC", AnyRank}}, [](const Stream &s, Tensors t) {
                    G(s, t[0], Loc::here());
                  }});
}

/// `names` of the inputs and the output.
template <Binary F, BinaryNew G>
void addBinary(std::vector<PublicOp> &rows, const char *name,
               std::array<const char *, 3> names = {"a", "b", "c"}) {
  rows.push_back({name,
                  {{names[0], f32, "RC", Broadcast},
                   {names[1], f32, "RC", Broadcast},
                   {names[2], f32, "RC", Out | Broadcast}},
                  [](const Stream &s, Tensors t) { F(s, t[0], t[1], t[2], Loc::here()); }});
  rows.push_back(
      {name,
       {{names[0], f32, "RC", Broadcast | AnyRank}, {names[1], f32, "RC", Broadcast | AnyRank}},
       [](const Stream &s, Tensors t) { G(s, t[0], t[1], Loc::here()); }});
}

void addActivations(std::vector<PublicOp> &rows) {
  constexpr std::array<const char *, 3> kGradient = {"x", "dy", "dx"};
  addUnary<ops::relu, ops::relu>(rows, "relu");
  addUnary<ops::gelu, ops::gelu>(rows, "gelu");
  addUnary<ops::geluTanh, ops::geluTanh>(rows, "geluTanh");
  addUnary<ops::silu, ops::silu>(rows, "silu");
  addUnary<ops::sigmoid, ops::sigmoid>(rows, "sigmoid");
  addUnary<ops::tanh, ops::tanh>(rows, "tanh");
  addBinary<ops::reluBackward, ops::reluBackward>(rows, "reluBackward", kGradient);
  addBinary<ops::geluBackward, ops::geluBackward>(rows, "geluBackward", kGradient);
  addBinary<ops::geluTanhBackward, ops::geluTanhBackward>(rows, "geluTanhBackward", kGradient);
  addBinary<ops::siluBackward, ops::siluBackward>(rows, "siluBackward", kGradient);
  addBinary<ops::sigmoidBackward, ops::sigmoidBackward>(rows, "sigmoidBackward", kGradient);
  addBinary<ops::tanhBackward, ops::tanhBackward>(rows, "tanhBackward", kGradient);
  addBinary<ops::swiglu, ops::swiglu>(rows, "swiglu", {"a", "b", "y"});
  rows.push_back(
      {"swigluBackward",
       {{"a", f32, "RC", Broadcast},
        {"b", f32, "RC", Broadcast},
        {"dy", f32, "RC", Broadcast},
        {"da", f32, "RC", Out},
        {"db", f32, "RC", Out}},
       [](const Stream &s, Tensors t) { ops::swigluBackward(s, t[0], t[1], t[2], t[3], t[4]); }});
  rows.push_back({"swigluHalves",
                  {{"ab", f32, "RC", Broadcast}, {"y", f32, "RW", Out | Broadcast}},
                  [](const Stream &s, Tensors t) { ops::swigluHalves(s, t[0], t[1]); }});
  rows.push_back({"swigluHalves", {{"ab", f32, "RC", AnyRank}}, [](const Stream &s, Tensors t) {
                    ops::swigluHalves(s, t[0]);
                  }});
  rows.push_back(
      {"swigluHalvesBackward",
       {{"ab", f32, "RC"}, {"dy", f32, "RW", Broadcast}, {"dab", f32, "RC", Out}},
       [](const Stream &s, Tensors t) { ops::swigluHalvesBackward(s, t[0], t[1], t[2]); }});
  rows.push_back({"swigluHalvesBackward",
                  {{"ab", f32, "RC", AnyRank}, {"dy", f32, "RW", Broadcast}},
                  [](const Stream &s, Tensors t) { ops::swigluHalvesBackward(s, t[0], t[1]); }});
}

void addArithmetic(std::vector<PublicOp> &rows) {
  addBinary<ops::add, ops::add>(rows, "add");
  addBinary<ops::subtract, ops::subtract>(rows, "subtract");
  addBinary<ops::multiply, ops::multiply>(rows, "multiply");
  addBinary<ops::divide, ops::divide>(rows, "divide");
  addBinary<ops::maximum, ops::maximum>(rows, "maximum");
  addBinary<ops::minimum, ops::minimum>(rows, "minimum");
  rows.push_back({"affine",
                  {{"x", f32, "RC", Broadcast}, {"y", f32, "RC", Out | Broadcast}},
                  [](const Stream &s, Tensors t) { ops::affine(s, t[0], 2, 1, t[1]); }});
  rows.push_back({"affine", {{"x", f32, "RC", AnyRank}}, [](const Stream &s, Tensors t) {
                    ops::affine(s, t[0], 2, 1);
                  }});
  rows.push_back(
      {"copy",
       {{"x", f32, "RC", Broadcast | AnyDtype}, {"y", f32, "RC", Out | Broadcast | AnyDtype}},
       [](const Stream &s, Tensors t) { ops::copy(s, t[0], t[1]); }});
  rows.push_back({"copy", {{"x", f32, "RC", AnyDtype | AnyRank}}, [](const Stream &s, Tensors t) {
                    ops::copy(s, t[0]);
                  }});
  rows.push_back({"fill",
                  {{"y", f32, "RC", Out | AnyDtype | AnyRank}},
                  [](const Stream &s, Tensors t) { ops::fill(s, 1, t[0]); }});
  rows.push_back({"map",
                  {{"x0", f32, "RC", Broadcast | AnyDtype},
                   {"x1", f32, "RC", Broadcast | AnyDtype},
                   {"y", f32, "RC", Out | Broadcast | AnyDtype}},
                  [](const Stream &s, Tensors t) {
                    ops::map(
                        s, [](Value x0, Value x1) { return cast(f32, x0) + cast(f32, x1); }, t[2],
                        t[0], t[1]);
                  }});
}

// --- Products and sums ---------------------------------------------------------------------------

void addProducts(std::vector<PublicOp> &rows) {
  rows.push_back({"matmul",
                  {{"a", f32, "RK", Broadcast | AnyRank},
                   {"b", f32, "KN", Broadcast},
                   {"c", f32, "RN", Out | Broadcast}},
                  [](const Stream &s, Tensors t) { ops::matmul(s, t[0], t[1], t[2]); }});
  rows.push_back(
      {"matmul",
       {{"a", f32, "BRK", Broadcast},
        {"b", f32, "BKN", Broadcast},
        {"x0", f32, "BRN", Broadcast | AnyDtype},
        {"c", f32, "BRN", Out | Broadcast}},
       [](const Stream &s, Tensors t) {
         ops::matmul(s, t[0], t[1], t[3],
                     ops::epilogue([](Value sums, Value x) { return sums + cast(f32, x); }, t[2]));
       }});
  rows.push_back({"matmul",
                  {{"a", f32, "RK", Broadcast | AnyRank}, {"b", f32, "KN", Broadcast | AnyRank}},
                  [](const Stream &s, Tensors t) { ops::matmul(s, t[0], t[1]); }});
  rows.push_back({"linear",
                  {{"x", f32, "RK"},
                   {"weight", f32, "NK"},
                   {"bias", f32, "N", Optional},
                   {"y", f32, "RN", Out}},
                  [](const Stream &s, Tensors t) { ops::linear(s, t[0], t[1], t[2], t[3]); }});
  rows.push_back({"linear",
                  {{"x", f32, "RK", AnyRank}, {"weight", f32, "NK"}, {"bias", f32, "N", Optional}},
                  [](const Stream &s, Tensors t) { ops::linear(s, t[0], t[1], t[2]); }});
  rows.push_back({"einsum",
                  {{"operand 0", f32, "BRK"}, {"operand 1", f32, "KN"}, {"y", f32, "NBR", Out}},
                  [](const Stream &s, Tensors t) {
                    ops::einsum(s, "brk,kn->nbr", {t[0], t[1]}, t[2]);
                  }});
  rows.push_back({"einsum",
                  {{"operand 0", f32, "BRK"}, {"operand 1", f32, "KN"}},
                  [](const Stream &s, Tensors t) {
                    ops::einsum(s, "brk,kn->nbr", {t[0], t[1]});
                  }});
}

using Reduction = void (*)(const Stream &, const ops::Operand &, const ops::Axes &,
                           const ops::Operand &, Loc);
using ReductionNew = Tensor (*)(const Stream &, const ops::Operand &, const ops::Axes &,
                                const tile::ReduceOptions &, Loc);
template <Reduction F, ReductionNew G>
void addReduction(std::vector<PublicOp> &rows, const char *name) {
  rows.push_back({name, {{"x", f32, "RC"}, {"y", f32, "R", Out}}, [](const Stream &s, Tensors t) {
                    F(s, t[0], 1, t[1], Loc::here());
                  }});
  rows.push_back({name, {{"x", f32, "RC", AnyRank}}, [](const Stream &s, Tensors t) {
                    G(s, t[0], -1, {}, Loc::here());
                  }});
}

void addReductions(std::vector<PublicOp> &rows) {
  addReduction<ops::sum, ops::sum>(rows, "sum");
  addReduction<ops::mean, ops::mean>(rows, "mean");
  addReduction<ops::reduceMax, ops::reduceMax>(rows, "reduceMax");
  addReduction<ops::reduceMin, ops::reduceMin>(rows, "reduceMin");
  addReduction<ops::sumOfSquares, ops::sumOfSquares>(rows, "sumOfSquares");
  rows.push_back({"sumTo",
                  {{"x", f32, "RC", Broadcast | AnyRank}, {"y", f32, "C", Out | AnyRank}},
                  [](const Stream &s, Tensors t) { ops::sumTo(s, t[0], t[1]); }});
}

// --- Random numbers and optimizers -----------------------------------------------------------------

void addRandom(std::vector<PublicOp> &rows) {
  static constexpr ops::Generator kState = {.seed = 3};
  rows.push_back({"rand", {{"y", f32, "RC", Out | AnyRank}}, [](const Stream &s, Tensors t) {
                    ops::Generator generator = kState;
                    ops::rand(s, generator, t[0]);
                  }});
  rows.push_back({"randn", {{"y", f32, "RC", Out | AnyRank}}, [](const Stream &s, Tensors t) {
                    ops::Generator generator = kState;
                    ops::randn(s, generator, t[0]);
                  }});
  rows.push_back(
      {"randint", {{"y", i32, "RC", Out | Index | AnyRank}}, [](const Stream &s, Tensors t) {
         ops::Generator generator = kState;
         ops::randint(s, generator, 0, 9, t[0]);
       }});
  rows.push_back(
      {"bernoulli", {{"y", f32, "RC", Out | AnyDtype | AnyRank}}, [](const Stream &s, Tensors t) {
         ops::Generator generator = kState;
         ops::bernoulli(s, generator, 0.5, t[0]);
       }});
  rows.push_back({"dropout",
                  {{"x", f32, "RC", Broadcast}, {"y", f32, "RC", Out | Broadcast}},
                  [](const Stream &s, Tensors t) {
                    ops::Generator generator = kState;
                    ops::dropout(s, generator, t[0], 0.5, t[1]);
                  }});
  rows.push_back({"dropout", {{"x", f32, "RC", AnyRank}}, [](const Stream &s, Tensors t) {
                    ops::Generator generator = kState;
                    ops::dropout(s, generator, t[0], 0.5);
                  }});
  rows.push_back({"dropoutAdd",
                  {{"x", f32, "RC", Broadcast},
                   {"residual", f32, "RC", Broadcast},
                   {"y", f32, "RC", Out | Broadcast}},
                  [](const Stream &s, Tensors t) {
                    ops::Generator generator = kState;
                    ops::dropoutAdd(s, generator, t[0], t[1], 0.5, t[2]);
                  }});
  rows.push_back(
      {"dropoutAdd",
       {{"x", f32, "RC", Broadcast | AnyRank}, {"residual", f32, "RC", Broadcast | AnyRank}},
       [](const Stream &s, Tensors t) {
         ops::Generator generator = kState;
         ops::dropoutAdd(s, generator, t[0], t[1], 0.5);
       }});
  rows.push_back(
      {"dropoutBackward",
       {{"dy", f32, "RC", Broadcast}, {"dx", f32, "RC", Out | Broadcast}},
       [](const Stream &s, Tensors t) { ops::dropoutBackward(s, kState, t[0], 0.5, t[1]); }});
  rows.push_back({"dropoutBackward", {{"dy", f32, "RC", AnyRank}}, [](const Stream &s, Tensors t) {
                    ops::dropoutBackward(s, kState, t[0], 0.5);
                  }});
}

void addOptimizers(std::vector<PublicOp> &rows) {
  rows.push_back({"sgd",
                  {{"weights", f32, "RC", Out},
                   {"gradient", f32, "RC"},
                   {"velocity", f32, "RC", Out | Optional}},
                  [](const Stream &s, Tensors t) {
                    ops::sgd(s, t[0], t[1], t[2], {.momentum = t[2] ? 0.9 : 0});
                  }});
  rows.push_back(
      {"adamW",
       {{"weights", f32, "RC", Out},
        {"gradient", f32, "RC"},
        {"m", f32, "RC", Out},
        {"v", f32, "RC", Out},
        {"master", f32, "RC", Out | Optional}},
       [](const Stream &s, Tensors t) { ops::adamW(s, t[0], t[1], t[2], t[3], t[4], 1); }});
  rows.push_back({"globalNorm",
                  {{"tensors[0]", f32, "RC", AnyRank},
                   {"tensors[1]", f32, "V", AnyRank},
                   {"norm", f32, "1", Out | AnyRank}},
                  [](const Stream &s, Tensors t) { ops::globalNorm(s, t.first(2), t[2]); }});
  rows.push_back({"clipByNorm",
                  {{"tensors[0]", f32, "RC", Out | AnyRank},
                   {"tensors[1]", f32, "V", Out | AnyRank},
                   {"norm", f32, "1", AnyRank}},
                  [](const Stream &s, Tensors t) { ops::clipByNorm(s, t.first(2), t[2], 1); }});
}

} // namespace

std::string PublicOp::title() const {
  bool isWritten = false;
  for (const Parameter &parameter : parameters)
    isWritten |= parameter.is(Out);
  return isWritten ? name : std::string(name) + ", new";
}

int64_t extentOf(char letter) {
  for (const Letter &known : kLetters)
    if (known.name == letter)
      return known.extent;
  return -1;
}

const std::vector<PublicOp> &publicOps() {
  static const std::vector<PublicOp> all = [] {
    std::vector<PublicOp> rows;
    addActivations(rows), addArithmetic(rows), addProducts(rows), addReductions(rows);
    addRandom(rows), addOptimizers(rows), addRowOps(rows);
    for (PublicOp &row : rows)
      for (const Needed &needed : kNeeded)
        if (row.name == needed.op)
          row.nonEmpty = needed.letters;
    return rows;
  }();
  return all;
}

} // namespace tile::test
