// Gradients of tensors without elements: of every function of variables, each extent in turn is 0, and each two. What is
// left has the gradient that differences say: zeros, mostly, of the extents of what was given.
#include "tests/ops/autograd/Gradients.h"

#include <tile/Registry.h>
#include <tile/autograd/Activations.h>
#include <tile/autograd/Attention.h>
#include <tile/autograd/Einsum.h>
#include <tile/autograd/Embedding.h>
#include <tile/autograd/Losses.h>
#include <tile/autograd/Norm.h>
#include <tile/autograd/Ops.h>

#include <set>

using namespace tile;
using namespace tile::test;
using namespace tile::autograd;

namespace {

using Inputs = std::span<const Variable>;

struct Row {
  const char *name;
  std::vector<std::string> inputs; ///< a letter for each dimension; equal letters are equal extents
  std::function<Variable(Inputs)> function;
  std::string never0 = "";    ///< letters whose extents the op does not let become 0
  bool computesInF32 = false; ///< then inputs are cast, and differences take wide steps
};

Variable single(const Variable &x) { return cast(x, f32); }
Variable withoutDim(Variable (*f)(const Variable &, int, Loc), const Variable &x) {
  return f(x, -1, Loc::here());
}

std::vector<Row> rows() {
  return {
      {"add", {"ab", "b"}, [](Inputs v) { return add(v[0], v[1]); }},
      {"subtract", {"ab", "b"}, [](Inputs v) { return subtract(v[0], v[1]); }},
      {"multiply", {"ab", "b"}, [](Inputs v) { return multiply(v[0], v[1]); }},
      {"divide", {"ab", "b"}, [](Inputs v) { return divide(v[0], v[1]); }},
      {"affine", {"ab"}, [](Inputs v) { return affine(v[0], 2, 1); }},
      {"sum", {"abc"}, [](Inputs v) { return sum(v[0], 1); }},
      {"sum of all", {"ab"}, [](Inputs v) { return sum(v[0]); }},
      {"reshape",
       {"ab"},
       [](Inputs v) {
         return reshape(v[0], {v[0].value().extent(1), v[0].value().extent(0)});
       }},
      {"permute",
       {"abc"},
       [](Inputs v) {
         return permute(v[0], {2, 0, 1});
       }},
      {"split",
       {"ab"},
       [](Inputs v) {
         return split(v[0], 1, {v[0].value().extent(1), 0})[0];
       }},
      {"concatenate", {"ab", "ac"}, [](Inputs v) { return concatenate(v, 1); }},
      {"matmul", {"mk", "kn"}, [](Inputs v) { return matmul(v[0], v[1]); }},
      {"matmul of batches", {"bmk", "bkn"}, [](Inputs v) { return matmul(v[0], v[1]); }},
      {"matmul by one b", {"bmk", "kn"}, [](Inputs v) { return matmul(v[0], v[1]); }},
      {"matmul of two batches by one b",
       {"abmk", "kn"},
       [](Inputs v) { return matmul(v[0], v[1]); }},
      {"linear", {"mk", "nk", "n"}, [](Inputs v) { return linear(v[0], v[1], v[2]); }},
      {"linear of batches", {"bmk", "nk", "n"}, [](Inputs v) { return linear(v[0], v[1], v[2]); }},
      {"linear of a vector", {"k", "nk"}, [](Inputs v) { return linear(v[0], v[1]); }},
      {"einsum", {"bij", "jk"}, [](Inputs v) { return einsum("bij,jk->bik", v); }},
      {"einsum of three", {"ij", "jk", "k"}, [](Inputs v) { return einsum("ij,jk,k->i", v); }},
      {"relu", {"ab"}, [](Inputs v) { return relu(v[0]); }},
      {"gelu", {"ab"}, [](Inputs v) { return gelu(v[0]); }},
      {"swiglu", {"ab", "b"}, [](Inputs v) { return swiglu(v[0], v[1]); }},
      {"swigluHalves", {"ae"}, [](Inputs v) { return swigluHalves(v[0]); }},
      {"softmax", {"ab"}, [](Inputs v) { return withoutDim(softmax, v[0]); }},
      {"logSoftmax", {"ab"}, [](Inputs v) { return withoutDim(logSoftmax, v[0]); }},
      {"layernorm",
       {"ab", "b", "b"},
       [](Inputs v) { return layernorm(single(v[0]), single(v[1]), single(v[2])); },
       "",
       true},
      {"rmsnorm",
       {"ab", "b"},
       [](Inputs v) { return rmsnorm(single(v[0]), single(v[1]), 0.1); },
       "",
       true},
      {"addLayernorm",
       {"ab", "ab", "b", "b"},
       [](Inputs v) {
         return addLayernorm(single(v[0]), single(v[1]), single(v[2]), single(v[3]))[1];
       },
       "",
       true},
      {"attention",
       {"bhld", "bhkd", "bhkd"},
       [](Inputs v) { return attention(single(v[0]), single(v[1]), single(v[2])); },
       "hd",
       true},
  };
}

class EmptyGradients : public Gradients {
protected:
  Variable leafOf(const std::string &letters, const std::string &zeros, unsigned seed) {
    std::vector<int64_t> extents;
    for (char letter : letters)
      extents.push_back(zeros.find(letter) != std::string::npos ? 0 : 2 + letter % 2 * 2);
    return leaf(extents, seed, 0.5, 1.5);
  }
  /// The gradient is that of differences, and of the extents of what was given.
  void check(const Row &row, const std::string &zeros) {
    SCOPED_TRACE(std::string(row.name) + ", 0: " + zeros);
    std::vector<Variable> inputs;
    for (const std::string &letters : row.inputs)
      inputs.push_back(leafOf(letters, zeros, static_cast<unsigned>(inputs.size() + 1)));
    GradCheckOptions options;
    if (row.computesInF32)
      options = {.step = 1e-2, .relative = 5e-3, .absolute = 1e-3};
    try {
      EXPECT_EQ(gradcheck(row.function, inputs, options), "");
      sum(row.function(inputs)).backward();
    } catch (const Error &error) {
      ADD_FAILURE() << error.what();
      return;
    }
    for (const Variable &input : inputs)
      EXPECT_EQ(TensorSpec::of(input.grad()).extents, TensorSpec::of(input.value()).extents);
  }
};
INSTANTIATE_TEST_SUITE_P(Devices, EmptyGradients, ::testing::ValuesIn(deviceNames(Targets::One)),
                         [](const auto &run) { return testName(run.param); });

TEST_P(EmptyGradients, OfEveryFunction) {
  for (const Row &row : rows()) {
    std::set<char> letters;
    for (const std::string &input : row.inputs)
      letters.insert(input.begin(), input.end());
    std::erase_if(letters,
                  [&](char letter) { return row.never0.find(letter) != std::string::npos; });
    for (char one : letters)
      for (char other : letters)
        if (one <= other)
          check(row, one == other ? std::string(1, one) : std::string({one, other}));
  }
}

TEST_P(EmptyGradients, OfEmbeddingsAndLosses) {
  auto table = leaf({3, 4});
  for (std::vector<int64_t> extents : {std::vector<int64_t>{0}, {2, 0}, {0, 2}}) {
    Tensor indices = device().tensor<int32_t>(extents);
    sum(embedding(table, indices)).backward();
    EXPECT_EQ(TensorOf<double>(table.grad()).download(), std::vector<double>(12, 0.0));
  }
  auto logits = leaf({0, 5});
  Tensor targets = device().tensor<int32_t>({0});
  crossEntropy(logits, targets, {.reduction = ops::LossReduction::Sum}).backward();
  EXPECT_EQ(logits.grad().numel(), 0);
}

} // namespace
