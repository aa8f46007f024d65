// Linear algebra over GF(2), the one piece of mathematics below layouts and swizzles.
//
// A vector is the bits of a word, addition is XOR, and a linear map is a list of columns: input bit
// i contributes columns[i] when it is set. Everything the compiler asks about layouts (is it
// one-to-one, which bits only duplicate data, who holds element x, does this swizzle collide) is a
// question about spans, kernels and solutions of such maps, answered here by elimination in a few
// machine words.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace tile::layout {

/// A growing subspace. Each inserted vector carries a tag; `solve` returns the XOR of the tags of
/// the inserted vectors that add up to the asked one, so tags usually name input bits.
class Subspace {
public:
  Subspace() = default;
  /// The span of `vectors`, vector i tagged 1 << i.
  explicit Subspace(const std::vector<uint64_t> &vectors);

  /// Adds a vector; false if it was in the span already (then nothing changes).
  bool insert(uint64_t vector, uint64_t tag = 0);
  [[nodiscard]] bool contains(uint64_t vector) const { return reduce(vector).vector == 0; }
  /// Tags of a combination equal to `vector`, or nothing if it lies outside.
  [[nodiscard]] std::optional<uint64_t> solve(uint64_t vector) const;
  [[nodiscard]] int dimension() const { return static_cast<int>(rows_.size()); }
  /// One basis of the subspace (in echelon form, leading bits distinct).
  [[nodiscard]] std::vector<uint64_t> basis() const;

private:
  struct Row {
    uint64_t vector, tag;
  };
  [[nodiscard]] Row reduce(uint64_t vector) const;
  std::vector<Row> rows_; // sorted by leading bit, highest first
};

/// The vectors that lie in both spans, as a basis.
std::vector<uint64_t> intersect(const std::vector<uint64_t> &a, const std::vector<uint64_t> &b);

/// A linear map from input bits to words.
class LinearMap {
public:
  LinearMap() = default;
  explicit LinearMap(std::vector<uint64_t> columns) : cols_(std::move(columns)) {}
  static LinearMap identity(int bits);

  [[nodiscard]] int numInputs() const { return static_cast<int>(cols_.size()); }
  [[nodiscard]] const std::vector<uint64_t> &columns() const { return cols_; }
  /// XOR of the columns of the set bits; bits beyond numInputs() contribute nothing.
  [[nodiscard]] uint64_t apply(uint64_t input) const;
  /// The map x -> this(inner(x)).
  [[nodiscard]] LinearMap compose(const LinearMap &inner) const;
  [[nodiscard]] int rank() const { return Subspace(cols_).dimension(); }
  [[nodiscard]] bool isInjective() const { return rank() == numInputs(); }
  [[nodiscard]] bool isSurjective(int outputBits) const { return rank() == outputBits; }
  /// Mask of input bits whose column is a combination of the columns before it: clearing them loses
  /// no output, and what is left is injective.
  [[nodiscard]] uint64_t redundantInputs() const;
  /// Inputs that map to zero, as a basis.
  [[nodiscard]] std::vector<uint64_t> kernel() const;
  /// An input that maps to `output` and has no redundant bit set, or nothing if there is none.
  [[nodiscard]] std::optional<uint64_t> solve(uint64_t output) const;
  /// A right inverse on `outputBits` output bits: apply(inverse.apply(y)) == y; redundant inputs
  /// stay zero. Nothing if some output is not reached.
  [[nodiscard]] std::optional<LinearMap> invert(int outputBits) const;

  friend bool operator==(const LinearMap &, const LinearMap &) = default;

private:
  std::vector<uint64_t> cols_;
};

} // namespace tile::layout
