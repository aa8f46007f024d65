// A grid expression from an affine map: the one thing about it that knows MLIR.
#include "codegen/compiled/GridExpression.h"

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"

namespace tile::codegen {

struct GridExpression::Builder {
  std::vector<Step> &steps;

  void add(mlir::AffineExpr expr) {
    if (auto constant = llvm::dyn_cast<mlir::AffineConstantExpr>(expr))
      return steps.push_back({Op::Constant, constant.getValue()});
    if (auto symbol = llvm::dyn_cast<mlir::AffineSymbolExpr>(expr))
      return steps.push_back({Op::Symbol, symbol.getPosition()});
    auto binary =
        llvm::cast<mlir::AffineBinaryOpExpr>(expr); // maps have no dims: verified on the kernel
    add(binary.getLHS());
    add(binary.getRHS());
    steps.push_back({opOf(binary.getKind()), 0});
  }

  static Op opOf(mlir::AffineExprKind kind) {
    switch (kind) {
    case mlir::AffineExprKind::Add:
      return Op::Add;
    case mlir::AffineExprKind::Mul:
      return Op::Multiply;
    case mlir::AffineExprKind::CeilDiv:
      return Op::CeilDivide;
    case mlir::AffineExprKind::FloorDiv:
      return Op::FloorDivide;
    default:
      return Op::Modulo;
    }
  }
};

GridExpression::GridExpression(mlir::AffineMap map, std::vector<Symbol> symbols)
    : symbolList_(std::move(symbols)) {
  for (mlir::AffineExpr expr : map.getResults())
    Builder{axes_.emplace_back()}.add(expr);
}

} // namespace tile::codegen
