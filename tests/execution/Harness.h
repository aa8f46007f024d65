// The harness of execution tests: a kernel and a scalar function in, a comparison with double out,
// on each device.
//
//   EXECUTION_SUITE(Math);
//   TEST_P(Math, Exp) {
//     map<float>([](Value x) { return exp(x); }, [](double x) { return std::exp(x); },
//                {.ulps = 4}, uniform<float>(1000));
//   }
//
// Every output lies between guard bands, before and after it and after each row, and is filled with
// a pattern first: elements that a kernel must not touch are checked as well. The virtual GPU runs
// with all its checkers on, so a race or a read out of bounds fails the test too.
#pragma once

#include "tests/execution/Numbers.h"

#include <tile/tile.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

namespace tile::test {

/// What the virtual GPU is while a suite runs.
enum class Targets {
  /// sm_80, then sm_90a.
  All,
  /// sm_86: for suites whose kernels have the same instructions on both, as those without products in loops, floats of 8 bits
  /// and copies of whole tiles do, or are of ops that have suites for both. Of GPUs before Hopper it has least memory.
  One
};

/// The devices of the machine; "cuda:0" is always among them, so that its absence shows as SKIP. TILE_TEST_TARGETS, a comma
/// list as "sm_86,sm_89", names the virtual ones instead.
std::vector<std::string> deviceNames(Targets targets = Targets::All);
/// "cuda:0" as a part of a test's name.
std::string testName(const std::string &device);

/// Declares a suite whose tests run once a device; Targets may follow its name.
#define EXECUTION_SUITE(suite, ...)                                                                \
  class suite : public ::tile::test::OnDevice {};                                                  \
  INSTANTIATE_TEST_SUITE_P(Devices, suite,                                                         \
                           ::testing::ValuesIn(::tile::test::deviceNames(__VA_ARGS__)),            \
                           [](const auto &run) { return ::tile::test::testName(run.param); })

/// An element as memory holds it.
template <class T> using Stored = std::conditional_t<std::is_same_v<T, bool>, unsigned char, T>;

/// An output of static rank between guard bands, row-major, with `gap` elements after each row.
template <class T, int Rank> class Guarded {
public:
  Guarded(const Device &device, const std::array<int64_t, Rank> &extents, int64_t gap = 0)
      : extents_(extents) {
    int64_t size = 1;
    for (int dim = Rank - 1; dim >= 0; --dim) {
      strides_[dim] = size;
      size *= extents[dim] + (dim == Rank - 1 ? gap : 0);
    }
    memory_ = device.tensor<T>({kMargin + size + kMargin});
    std::vector<unsigned char> pattern(memory_.bytes(), kPattern);
    memory_.uploadBytes(pattern.data(), pattern.size());
  }

  /// What the kernel gets.
  TensorOf<T> tensor() const {
    return memory_.slice(0, kMargin, memory_.extent(0) - kMargin)
        .withStrides({extents_.begin(), extents_.end()}, {strides_.begin(), strides_.end()});
  }
  /// The elements in row-major order, after a check that nothing around them was written.
  std::vector<T> result() const {
    std::vector<unsigned char> bytes(memory_.bytes());
    memory_.downloadBytes(bytes.data(), bytes.size());
    std::vector<Stored<T>> values(static_cast<size_t>(tensor().numel()));
    size_t row = static_cast<size_t>(extents_.back());
    for (size_t element = 0; element < values.size(); element += row) {
      unsigned char *from = &bytes[static_cast<size_t>(offsetOf(element)) * sizeof(T)];
      std::memcpy(static_cast<void *>(&values[element]), from, row * sizeof(T));
      std::memset(from, kPattern, row * sizeof(T));
    }
    expectPattern(bytes);
    return std::vector<T>(values.begin(), values.end());
  }

private:
  static constexpr int64_t kMargin = 64;
  static constexpr unsigned char kPattern = 0xA5;

  /// What is left when the elements are taken out. Compared with itself one byte on, which is fast in tests that are not
  /// optimised.
  static void expectPattern(const std::vector<unsigned char> &bytes) {
    if (bytes[0] == kPattern && std::memcmp(&bytes[0], &bytes[1], bytes.size() - 1) == 0)
      return;
    auto wrong = std::ranges::find_if(bytes, [](unsigned char byte) { return byte != kPattern; });
    ADD_FAILURE() << "a kernel wrote outside its output, at element "
                  << (wrong - bytes.begin()) / static_cast<int64_t>(sizeof(T)) - kMargin
                  << " from its start";
  }

  int64_t offsetOf(int64_t element) const {
    int64_t at = kMargin;
    for (int dim = Rank - 1; dim >= 0; --dim)
      at += element % extents_[dim] * strides_[dim], element /= extents_[dim];
    return at;
  }

  std::array<int64_t, Rank> extents_, strides_{};
  TensorOf<T> memory_;
};

/// The sizes round a tile that go wrong first: one, a prime, and one off.
inline std::vector<int64_t> sizesAround(int64_t tile) {
  return {1, 7, tile - 1, tile, tile + 1, 2 * tile + 1};
}

/// One of several functions checked by one kernel.
template <class Reference> struct Row {
  const char *name;
  Reference reference;
  Within within;
};

/// A test that runs once a device, with what its cases need.
class OnDevice : public ::testing::TestWithParam<std::string> {
protected:
  void SetUp() override;

  const Device &device() const { return *device_; }
  Stream stream;

  template <class T> TensorOf<T> input(std::vector<int64_t> shape, const std::vector<T> &values) {
    // Not upload(): std::vector<bool> packs its elements.
    auto tensor = device().tensor<T>(std::move(shape));
    std::vector<Stored<T>> bytes(values.begin(), values.end());
    tensor.uploadBytes(bytes.data(), bytes.size() * sizeof(T));
    return tensor;
  }
  template <class T, size_t Rank>
  Guarded<T, int(Rank)> output(const int64_t (&extents)[Rank], int64_t gap = 0) {
    std::array<int64_t, Rank> list;
    std::copy_n(extents, Rank, list.begin());
    return Guarded<T, int(Rank)>(device(), list, gap);
  }

  /// y[i] = f(x[i]), in tiles of `tile`, against `reference` of each element.
  template <class X, class Y = X, class F, class Reference>
  void map(F, Reference reference, Within within, const std::vector<X> &x, int tile = 256,
           int warps = 4) {
    static const auto program =
        kernel("map", [](In<dtypeOf<X>, 1> x, Out<dtypeOf<Y>, 1> y, Const B) {
          Value i = grid1d(y, {B});
          y.tile({B})(i) = F()(x.tile({B})(i));
        });
    int64_t size = static_cast<int64_t>(x.size());
    auto results = output<Y>({size});
    program.consts(tile).warps(warps)(stream, input({size}, x), results.tensor());
    std::vector<Y> y = results.result();
    for (size_t i = 0; i < x.size(); ++i)
      if (!expectNear<Y>(y[i], reference(exact(x[i])), within,
                         [&] { return "f(" + show(x[i]) + ")"; }))
        return;
  }

  /// Many functions of the same operands in one kernel, which saves compiles: F returns one Value a
  /// row, in the order of `rows`, whose references take as many operands as there are inputs.
  template <class X, class Y = X, class F, class Reference>
  void mapRows(F, const std::vector<Row<Reference>> &rows, const std::vector<X> &x, int tile = 256,
               int warps = 4) {
    static const auto program =
        kernel("map_rows", [](In<dtypeOf<X>, 1> x, Out<dtypeOf<Y>, 2> y, Const B) {
          Value i = grid1d(x, {B});
          storeRows(y, i, F()(x.tile({B})(i)), B);
        });
    int64_t size = static_cast<int64_t>(x.size());
    auto results = output<Y>({static_cast<int64_t>(rows.size()), size}, 3);
    program.consts(tile).warps(warps)(stream, input({size}, x), results.tensor());
    compareRows<Y>(
        results.result(), rows, x.size(),
        [&](const Row<Reference> &row, size_t i) { return row.reference(exact(x[i])); },
        [&](size_t i) { return show(x[i]); });
  }
  template <class X, class Z = X, class F, class Reference>
  void zipRows(F, const std::vector<Row<Reference>> &rows, const std::vector<X> &x,
               const std::vector<X> &y, int tile = 256, int warps = 4) {
    static const auto program = kernel(
        "zip_rows", [](In<dtypeOf<X>, 1> x, In<dtypeOf<X>, 1> y, Out<dtypeOf<Z>, 2> z, Const B) {
          Value i = grid1d(x, {B});
          storeRows(z, i, F()(x.tile({B})(i), y.tile({B})(i)), B);
        });
    int64_t size = static_cast<int64_t>(x.size());
    auto results = output<Z>({static_cast<int64_t>(rows.size()), size}, 3);
    program.consts(tile).warps(warps)(stream, input({size}, x), input({size}, y), results.tensor());
    compareRows<Z>(
        results.result(), rows, x.size(),
        [&](const Row<Reference> &row, size_t i) {
          return row.reference(exact(x[i]), exact(y[i]));
        },
        [&](size_t i) { return show(x[i]) + ", " + show(y[i]); });
  }

  /// Compares a whole output with reference(i).
  template <class T, class Reference>
  void expectAll(const std::vector<T> &results, Reference reference, Within within = kExactly) {
    for (size_t i = 0; i < results.size(); ++i)
      if (!expectNear<T>(results[i], static_cast<Exact<T>>(reference(static_cast<int64_t>(i))),
                         within, [&] { return "element " + std::to_string(i); }))
        return;
  }

private:
  template <class View>
  static void storeRows(View &y, Value i, const std::vector<Value> &results, int tile) {
    for (size_t row = 0; row < results.size(); ++row)
      y.tile({1, tile})(static_cast<int>(row), i) = expand_dims(results[row], 0);
  }
  template <class Y, class Rows, class Reference, class Operands>
  void compareRows(const std::vector<Y> &results, const Rows &rows, size_t size,
                   Reference reference, Operands operands) {
    for (size_t row = 0; row < rows.size(); ++row)
      for (size_t i = 0; i < size; ++i)
        if (!expectNear<Y>(results[row * size + i], static_cast<Exact<Y>>(reference(rows[row], i)),
                           rows[row].within,
                           [&] { return std::string(rows[row].name) + "(" + operands(i) + ")"; }))
          break;
  }

  std::optional<Device> device_;
};

} // namespace tile::test
