#include "frontend/trace/FunctionAttributes.h"

#include "frontend/trace/LaunchTime.h"
#include "ir/tile/TileDialect.h"

#include <mlir/IR/AffineMap.h>

using namespace mlir;

namespace tile::frontend {

// The extents whose values the kernel asked for, -1 for others; empty if there are none.
static SmallVector<int64_t> specializedExtents(const Trace &trace, int argument) {
  const std::vector<int64_t> &known = trace.binding().args[argument].extents;
  SmallVector<int64_t> extents;
  for (ValueUse use : trace.uses.values) {
    if (use.arg != argument || use.dim < 0)
      continue;
    extents.resize(known.size(), -1);
    extents[use.dim] = known[use.dim];
  }
  return extents;
}

DictionaryAttr argumentAttributes(OpBuilder &builder, const Trace &trace, int argument,
                                  const detail::ParamSpec &spec, const std::string &name) {
  NamedAttrList list;
  if (!name.empty())
    list.set(ir::kNameAttr, builder.getStringAttr(name));
  if (spec.kind == detail::ParamSpec::Scalar)
    return list.getDictionary(builder.getContext());
  const char *access = spec.kind == detail::ParamSpec::In    ? "in"
                       : spec.kind == detail::ParamSpec::Out ? "out"
                                                             : "inout";
  list.set(ir::kAccessAttr, builder.getStringAttr(access));
  if (SmallVector<int64_t> extents = specializedExtents(trace, argument); !extents.empty())
    list.set(ir::kExtentsAttr, builder.getDenseI64ArrayAttr(extents));
  SmallVector<int32_t> aliases;
  for (auto [first, second] : trace.graph().aliases)
    if (first == argument)
      aliases.push_back(second);
  if (!aliases.empty())
    list.set(ir::kMayAliasAttr, builder.getDenseI32ArrayAttr(aliases));
  return list.getDictionary(builder.getContext());
}

namespace {

/// Numbers of programs as affine expressions of symbols, each of which is an extent or scalar of the call.
class GridExpressions {
public:
  GridExpressions(const Graph &graph, Builder &builder) : graph_(graph), builder_(builder) {}

  AffineExpr of(const std::vector<GridAxis> &axes, SmallVectorImpl<mlir::Attribute> &symbols) {
    AffineExpr product;
    for (const GridAxis &axis : axes) {
      AffineExpr count = launchExpression(axis.extent, symbols).ceilDiv(axis.divisor);
      product = product ? product * count : count;
    }
    return product;
  }

private:
  AffineExpr launchExpression(NodeId id, SmallVectorImpl<mlir::Attribute> &symbols) {
    LaunchTerm term = *launchTerm(graph_, id);
    auto both = [&](auto combine) {
      AffineExpr lhs = launchExpression(term.lhs, symbols);
      return combine(lhs, launchExpression(term.rhs, symbols));
    };
    switch (term.kind) {
    case LaunchTerm::Constant:
      return builder_.getAffineConstantExpr(term.number);
    case LaunchTerm::Add:
      return both([](AffineExpr a, AffineExpr b) { return a + b; });
    case LaunchTerm::Subtract:
      return both([](AffineExpr a, AffineExpr b) { return a - b; });
    case LaunchTerm::Multiply:
      return both([](AffineExpr a, AffineExpr b) { return a * b; });
    case LaunchTerm::Divide:
      return both([](AffineExpr a, AffineExpr b) { return a.floorDiv(b); });
    case LaunchTerm::Extent:
    case LaunchTerm::Scalar:
      break;
    }
    mlir::Attribute symbol = builder_.getDenseI32ArrayAttr(
        {static_cast<int32_t>(term.number), static_cast<int32_t>(term.dim)});
    auto found = llvm::find(symbols, symbol);
    auto position = static_cast<unsigned>(found - symbols.begin());
    if (found == symbols.end())
      symbols.push_back(symbol);
    return builder_.getAffineSymbolExpr(position);
  }

  const Graph &graph_;
  Builder &builder_;
};

} // namespace

void setGrid(Operation *function, const Trace &trace) {
  Builder builder(function->getContext());
  if (trace.grid.persistent)
    function->setAttr(ir::kPersistentAttr, builder.getUnitAttr());
  if (trace.teams > 1)
    function->setAttr(ir::kTeamsAttr, builder.getI32IntegerAttr(trace.teams));
  if (trace.cluster > 1)
    function->setAttr(ir::kClusterAttr, builder.getI32IntegerAttr(trace.cluster));
  if (trace.grid.results.empty())
    return;
  SmallVector<mlir::Attribute> symbols;
  SmallVector<AffineExpr> results;
  for (const std::vector<GridAxis> &axes : trace.grid.results)
    results.push_back(GridExpressions(trace.graph(), builder).of(axes, symbols));
  AffineMap map =
      AffineMap::get(0, static_cast<unsigned>(symbols.size()), results, builder.getContext());
  function->setAttr(ir::kGridAttr, AffineMapAttr::get(map));
  function->setAttr(ir::kGridSymbolsAttr, builder.getArrayAttr(symbols));
}

void setSettings(Operation *function, const detail::CompileSettings &settings) {
  Builder builder(function->getContext());
  function->setAttr(ir::kWarpsAttr, builder.getI32IntegerAttr(settings.warps));
  if (settings.maxRegisters)
    function->setAttr(ir::kMaxRegistersAttr, builder.getI32IntegerAttr(settings.maxRegisters));
  if (settings.occupancy != 1)
    function->setAttr(ir::kOccupancyAttr, builder.getI32IntegerAttr(settings.occupancy));
  if (!settings.fpFusion)
    function->setAttr(ir::kNoFusionAttr, builder.getUnitAttr());
  if (settings.flushDenormals)
    function->setAttr(ir::kFlushDenormalsAttr, builder.getUnitAttr());
}

} // namespace tile::frontend
