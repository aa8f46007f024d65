// Elimination over GF(2): an echelon basis kept sorted by leading bit serves every query.
#include "ir/layout/LinearMap.h"

#include <bit>

namespace tile::layout {

static int leadingBit(uint64_t vector) { return std::bit_width(vector) - 1; }

Subspace::Subspace(const std::vector<uint64_t> &vectors) {
  for (size_t i = 0; i < vectors.size(); ++i)
    insert(vectors[i], uint64_t(1) << i);
}

Subspace::Row Subspace::reduce(uint64_t vector) const {
  Row result{vector, 0};
  for (const Row &row : rows_) {
    if (result.vector >> leadingBit(row.vector) & 1) {
      result.vector ^= row.vector;
      result.tag ^= row.tag;
    }
  }
  return result;
}

bool Subspace::insert(uint64_t vector, uint64_t tag) {
  Row rest = reduce(vector);
  if (rest.vector == 0)
    return false;
  rest.tag ^= tag;
  size_t position = 0;
  while (position < rows_.size() && rows_[position].vector > rest.vector)
    ++position;
  rows_.insert(rows_.begin() + static_cast<std::ptrdiff_t>(position), rest);
  return true;
}

std::optional<uint64_t> Subspace::solve(uint64_t vector) const {
  Row rest = reduce(vector);
  if (rest.vector != 0)
    return std::nullopt;
  return rest.tag;
}

std::vector<uint64_t> Subspace::basis() const {
  std::vector<uint64_t> result;
  for (const Row &row : rows_)
    result.push_back(row.vector);
  return result;
}

std::vector<uint64_t> intersect(const std::vector<uint64_t> &a, const std::vector<uint64_t> &b) {
  // A vector of b that depends on a and earlier vectors of b names an element of both spans: the
  // part of the combination that comes from a. Tags count only a's vectors, by value.
  Subspace sum;
  std::vector<uint64_t> result;
  for (uint64_t vector : a)
    sum.insert(vector, vector);
  for (uint64_t vector : b) {
    std::optional<uint64_t> fromA = sum.solve(vector);
    if (!fromA) {
      sum.insert(vector, 0);
      continue;
    }
    if (*fromA != 0)
      result.push_back(*fromA);
  }
  return Subspace(result).basis();
}

LinearMap LinearMap::identity(int bits) {
  std::vector<uint64_t> columns;
  for (int i = 0; i < bits; ++i)
    columns.push_back(uint64_t(1) << i);
  return LinearMap(std::move(columns));
}

uint64_t LinearMap::apply(uint64_t input) const {
  uint64_t result = 0;
  constexpr size_t kMostInputs = 64;
  if (cols_.size() < kMostInputs)
    input &= (uint64_t(1) << cols_.size()) - 1;
  for (; input != 0; input &= input - 1) // without its lowest bit
    result ^= cols_[static_cast<size_t>(std::countr_zero(input))];
  return result;
}

LinearMap LinearMap::compose(const LinearMap &inner) const {
  std::vector<uint64_t> columns;
  for (uint64_t column : inner.cols_)
    columns.push_back(apply(column));
  return LinearMap(std::move(columns));
}

uint64_t LinearMap::redundantInputs() const {
  Subspace span;
  uint64_t mask = 0;
  for (size_t i = 0; i < cols_.size(); ++i)
    if (!span.insert(cols_[i]))
      mask |= uint64_t(1) << i;
  return mask;
}

std::vector<uint64_t> LinearMap::kernel() const {
  Subspace span;
  std::vector<uint64_t> result;
  for (size_t i = 0; i < cols_.size(); ++i) {
    uint64_t bit = uint64_t(1) << i;
    if (std::optional<uint64_t> combination = span.solve(cols_[i]))
      result.push_back(*combination ^ bit);
    else
      span.insert(cols_[i], bit);
  }
  return result;
}

std::optional<uint64_t> LinearMap::solve(uint64_t output) const {
  return Subspace(cols_).solve(output);
}

std::optional<LinearMap> LinearMap::invert(int outputBits) const {
  Subspace span(cols_);
  std::vector<uint64_t> columns;
  for (int i = 0; i < outputBits; ++i) {
    std::optional<uint64_t> input = span.solve(uint64_t(1) << i);
    if (!input)
      return std::nullopt;
    columns.push_back(*input);
  }
  return LinearMap(std::move(columns));
}

} // namespace tile::layout
