// A host application that computes with tilec in memory of its own: a small classifier scores feature vectors, a kernel of
// the application says how sure it is, and Eigen checks everything in float64.
#include "Pool.h"
#include "Reference.h"

#include <tile/ops/Matmul.h>
#include <tile/ops/Norm.h>
#include <tile/ops/Reduce.h>
#include <tile/ops/Softmax.h>
#include <tile/tile.h>

#include <cstdio>
#include <vector>

using namespace tile;

namespace {

constexpr int64_t kRows = 1000, kFeatures = 200, kHidden = 96, kClasses = 10;

/// Entropy of each row of probabilities, and the lead of the largest over the second: one pass over memory.
const auto certainty = kernel("certainty", [](In<f32, 2> probabilities, Out<f32, 1> entropy,
                                              Out<f32, 1> margin, Const Rows, Const Columns) {
  Value program = grid1d(entropy, {Rows});
  Value p = probabilities.tile({Rows, Columns})(program, 0); // zeros beyond the last class
  entropy.tile({Rows})(program) = -sum(p * log(max(p, 1e-30f)), 1);
  Value isFirst = index(1, {Rows, Columns}) == argmax(p, 1, {.keep_dims = true});
  Value others = select(isFirst, 0.0f, p);
  margin.tile({Rows})(program) = reduce_max(p, 1) - reduce_max(others, 1);
});

using RowMajor = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

struct Model {
  Eigen::MatrixXf hidden, output; // column-major, as is Eigen's way
  Eigen::VectorXf bias;
};

struct Scores {
  RowMajor probabilities;
  Eigen::VectorXf entropy, margin, shares;
};

/// Holds the model and the buffers of a batch, all in one pool, and scores one batch after the other.
class Scorer {
public:
  Scorer(const Device &device, const Model &model)
      : pool_(device, 1 << 20), stream_(device.stream()), hidden_(taken(model.hidden)),
        output_(taken(model.output)), bias_(taken(model.bias)) {}

  Scores operator()(const RowMajor &features) {
    pool_.upload(features_, features.data());
    auto x = ref(features_, {kRows, kFeatures});
    auto probabilities = ref(probabilities_, {kRows, kClasses});
    // Strides say how a matrix lies in memory: these two are column-major.
    auto hidden = ref(hidden_.data(), {kFeatures, kHidden}, {1, kFeatures});
    auto output = ref(output_.data(), {kHidden, kClasses}, {1, kHidden});

    // All of this is given to the stream at once; nobody waits until the results are downloaded. Results go where they are
    // told to; what is between is memory of the stream, which takes it again when the tensor goes.
    Tensor normal = ops::layernorm(stream_, x);
    Tensor activations = stream_.tensor<float>({kRows, kHidden});
    auto activate = [](Value sums, Value bias) { return gelu(sums + bias); };
    ops::matmul(stream_, normal, hidden, activations, ops::epilogue(activate, ref(bias_)));
    ops::softmax(stream_, ops::matmul(stream_, activations, output), probabilities);
    Tensor shares = ops::mean(stream_, probabilities, 0);
    certainty.consts(64, 16)(stream_, probabilities, ref(entropy_), ref(margin_));

    // What Eigen owns is downloaded into; what tilec hands out, Eigen maps.
    std::vector<float> found = TensorOf<float>(shares).download();
    Scores scores{RowMajor(kRows, kClasses), Eigen::VectorXf(kRows), Eigen::VectorXf(kRows),
                  Eigen::Map<Eigen::VectorXf>(found.data(), kClasses)};
    pool_.download(probabilities_, scores.probabilities.data());
    pool_.download(entropy_, scores.entropy.data());
    pool_.download(margin_, scores.margin.data());
    return scores;
  }

private:
  std::span<float> taken(const Eigen::Ref<const Eigen::MatrixXf> &matrix) {
    std::span<float> piece = pool_.take(static_cast<size_t>(matrix.size()));
    pool_.upload(piece, matrix.data());
    return piece;
  }

  Pool pool_;
  Stream stream_;
  std::span<float> hidden_, output_, bias_;
  std::span<float> features_ = pool_.take(kRows * kFeatures),
                   probabilities_ = pool_.take(kRows * kClasses), entropy_ = pool_.take(kRows),
                   margin_ = pool_.take(kRows);
};

/// Prints how far a result is from its reference, and says whether that is near enough.
bool isRight(const char *name, const Eigen::MatrixXf &result, const Eigen::MatrixXd &expected) {
  double error = (result.cast<double>() - expected).cwiseAbs().maxCoeff();
  std::printf("%-14s largest error %.1e\n", name, error);
  return error < 2e-5;
}

bool run(const Device &device) {
  std::srand(1); // of Eigen's Random
  Model model{Eigen::MatrixXf::Random(kFeatures, kHidden) / 8,
              Eigen::MatrixXf::Random(kHidden, kClasses), Eigen::VectorXf::Random(kHidden)};
  Scorer score(device, model);
  bool right = true;
  for (int batch = 0; batch < 2; ++batch) {
    RowMajor features = RowMajor::Random(kRows, kFeatures);
    Scores scores = score(features);
    Reference expected = reference(features.cast<double>(), model.hidden.cast<double>(),
                                   model.bias.cast<double>(), model.output.cast<double>());
    right &= isRight("probabilities", scores.probabilities, expected.probabilities);
    right &= isRight("class shares", scores.shares, expected.shares);
    right &= isRight("entropy", scores.entropy, expected.entropy);
    right &= isRight("margin", scores.margin, expected.margin);
  }
  return right;
}

} // namespace

// Everything that can go wrong in tilec arrives here, as one type.
int main() try {
  Device device = Device::best(); // an NVIDIA GPU if there is one, else the virtual GPU
  std::printf("on %s\n", device.name().c_str());
  return run(device) ? 0 : 1;
} catch (const Error &error) {
  // "main.cpp:67: error: matmul: ...": the line of the call, what is wrong, the values, the remedy.
  std::fprintf(stderr, "%s\n", error.what());
  // The caller's fault is a bug of this program. A device's may pass: code() says whether memory ran out, ...
  return error.fault() == Fault::Device ? 3 : 2;
}
