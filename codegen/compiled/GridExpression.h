// The launch grid as a small expression over extents, so that launching needs no compiler.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace mlir {
class AffineMap;
} // namespace mlir

namespace tile::codegen {

/// A number of programs per grid axis, each a postfix program over the extents of the kernel's arguments.
class GridExpression {
public:
  /// Extent `dim` of view argument `arg`; dim -1 is the value of a scalar argument.
  struct Symbol {
    int32_t arg = 0, dim = 0;
    friend bool operator==(const Symbol &, const Symbol &) = default;
  };

  GridExpression() = default;
  /// From a map over symbols.
  GridExpression(mlir::AffineMap map, std::vector<Symbol> symbols);

  /// False for a kernel whose grid must be given at launch.
  bool isDerived() const { return !axes_.empty(); }
  const std::vector<Symbol> &symbols() const { return symbolList_; }
  /// The expression as numbers, to be kept; and the expression that such numbers stand for, nothing if they stand for none.
  std::vector<int64_t> words() const;
  static std::optional<GridExpression> of(std::span<const int64_t> words);
  /// Programs along x, y, z; `values` holds one value a symbol. Negative results count as 0.
  std::array<int64_t, 3> evaluate(std::span<const int64_t> values) const;

private:
  enum class Op : uint8_t { Constant, Symbol, Add, Multiply, CeilDivide, FloorDivide, Modulo };
  struct Step {
    Op op;
    int64_t value;
  };
  struct Builder;
  bool isValid(const std::vector<Step> &steps) const;

  std::vector<Symbol> symbolList_;
  std::vector<std::vector<Step>> axes_;
};

/// Of a persistent kernel with so many tiles: no more programs than run at once, and of those as few as need no more rounds. Fewer
/// contend less for memory.
int64_t fewestPrograms(int64_t tiles, int64_t atOnce);

} // namespace tile::codegen
