// Emits nodes one to one: a node's name is its MLIR operation. Only constants, control flow and the
// function itself, with its facts about arguments and the grid, need more than a name.
#include "frontend/trace/Emit.h"

#include "frontend/trace/FactAttributes.h"
#include "frontend/trace/LaunchTime.h"
#include "frontend/trace/Ordering.h"
#include "ir/TileDialect.h"

#include <mlir/Dialect/Arith/IR/Arith.h>
#include <mlir/Dialect/Func/IR/FuncOps.h>
#include <mlir/IR/Builders.h>

#include <llvm/ADT/StringSet.h>

#include <cmath>

using namespace mlir;
using tile::Loc;

namespace tile::frontend {

namespace {

using mlir::Value;

class Emitter {
public:
  Emitter(const Trace &trace, MLIRContext &context)
      : trace_(trace), graph_(trace.graph()), builder_(&context), order_(orderTrace(graph_)),
        values_(graph_.nodes.size()) {}

  OwningOpRef<ModuleOp> run();

private:
  // Types, locations, attributes.
  Type elementType(DType dtype);
  Type typeOf(const TileType &type);
  Location locationOf(const Loc &loc);
  mlir::Attribute attributeOf(const frontend::Attribute &attribute);

  // Nodes.
  Value valueOf(NodeId id) const { return values_[graph_.resolve(id)]; }
  SmallVector<Value> valuesOf(ArrayRef<NodeId> ids) const;
  void emitScope(ScopeId scope);
  void emitNode(NodeId id);
  void emitConstant(NodeId id, const Node &node);
  void emitRegions(Operation *op, const Node &node);
  void emitTerminator(ScopeId scope, const Node &owner, Location loc);
  Operation *create(StringRef name, Location loc, ArrayRef<Value> operands, ArrayRef<Type> results,
                    ArrayRef<NamedAttribute> attributes = {}, unsigned regions = 0);

  // The function.
  func::FuncOp emitFunction(ModuleOp module);
  DictionaryAttr argumentAttributes(int argument, const detail::ParamSpec &spec,
                                    const std::string &name);
  SmallVector<int64_t> specializedExtents(int argument);
  void emitArguments(Block &entry);
  void emitCallables(ModuleOp module);
  void emitCallable(ModuleOp module, const Function &function);
  void addGrid(Operation *function);
  AffineExpr gridExpression(const std::vector<GridAxis> &axes,
                            SmallVectorImpl<mlir::Attribute> &symbols);
  AffineExpr launchExpression(NodeId id, SmallVectorImpl<mlir::Attribute> &symbols);
  void addSettings(Operation *function);

  const Trace &trace_;
  const Graph &graph_;
  OpBuilder builder_;
  std::vector<std::vector<NodeId>> order_;
  std::vector<Value> values_;
  std::vector<std::vector<Value>> results_; ///< of nodes with several, by node; sized on first use
};

// --- Types, locations, attributes ----------------------------------------------------------------

Type Emitter::elementType(DType dtype) {
  switch (dtype) {
  case DType::F16:
    return builder_.getF16Type();
  case DType::BF16:
    return builder_.getBF16Type();
  case DType::F32:
    return builder_.getF32Type();
  case DType::F64:
    return builder_.getF64Type();
  case DType::E4M3:
    return builder_.getType<Float8E4M3FNType>();
  case DType::E5M2:
    return builder_.getType<Float8E5M2Type>();
  case DType::I1:
    return builder_.getI1Type();
  default:
    return builder_.getIntegerType(static_cast<unsigned>(sizeOf(dtype)) * 8);
  }
}

Type Emitter::typeOf(const TileType &type) {
  Type element = elementType(type.dtype);
  if (type.category == TileType::View)
    return ir::ViewType::get(builder_.getContext(), type.viewRank, element);
  if (type.category == TileType::Pointer)
    element = ir::PtrType::get(builder_.getContext(), element);
  if (type.isScalar())
    return element;
  return RankedTensorType::get(ArrayRef(type.shape.begin(), type.shape.end()), element);
}

Location Emitter::locationOf(const Loc &loc) {
  if (!*loc.file)
    return builder_.getUnknownLoc();
  return FileLineColLoc::get(builder_.getContext(), loc.file, loc.line, 0);
}

mlir::Attribute Emitter::attributeOf(const frontend::Attribute &attribute) {
  switch (attribute.kind) {
  case frontend::Attribute::Unit:
    return builder_.getUnitAttr();
  case frontend::Attribute::I32:
    return builder_.getI32IntegerAttr(static_cast<int32_t>(attribute.numbers[0]));
  case frontend::Attribute::I64:
    return builder_.getI64IntegerAttr(attribute.numbers[0]);
  case frontend::Attribute::String:
    return builder_.getStringAttr(attribute.text);
  case frontend::Attribute::Symbol:
    return FlatSymbolRefAttr::get(builder_.getContext(), attribute.text);
  case frontend::Attribute::I64Array:
    return builder_.getDenseI64ArrayAttr(attribute.numbers);
  case frontend::Attribute::BoolArray:
    return builder_.getDenseBoolArrayAttr(
        SmallVector<bool>(attribute.numbers.begin(), attribute.numbers.end()));
  case frontend::Attribute::I32Array:
    break;
  }
  return builder_.getDenseI32ArrayAttr(
      SmallVector<int32_t>(attribute.numbers.begin(), attribute.numbers.end()));
}

// --- Nodes ---------------------------------------------------------------------------------------

SmallVector<Value> Emitter::valuesOf(ArrayRef<NodeId> ids) const {
  SmallVector<Value> values;
  for (NodeId id : ids) {
    const Node &node = graph_.nodes[graph_.resolve(id)];
    bool isResult = node.kind == Node::Result;
    values.push_back(isResult ? results_[graph_.resolve(node.operands[0])][node.index]
                              : valueOf(id));
  }
  return values;
}

Operation *Emitter::create(StringRef name, Location loc, ArrayRef<Value> operands,
                           ArrayRef<Type> results, ArrayRef<NamedAttribute> attributes,
                           unsigned regions) {
  OperationState state(loc, name, operands, results, attributes);
  for (unsigned i = 0; i < regions; ++i)
    state.addRegion();
  return builder_.create(state);
}

void Emitter::emitScope(ScopeId scope) {
  for (NodeId id : order_[scope])
    emitNode(id);
}

void Emitter::emitNode(NodeId id) {
  const Node &node = graph_.nodes[id];
  if (node.kind == Node::Constant)
    return emitConstant(id, node);
  SmallVector<Type> types;
  for (const TileType &type : node.results)
    types.push_back(typeOf(type));
  bool hasOneResult = node.regions.empty() && node.results.empty() && node.effect != Effect::Write;
  if (hasOneResult)
    types.push_back(typeOf(node.type));
  SmallVector<NamedAttribute> attributes;
  for (const frontend::Attribute &attribute : node.attributes)
    attributes.push_back(builder_.getNamedAttr(attribute.name, attributeOf(attribute)));
  Operation *op = create(node.name, locationOf(node.loc), valuesOf(node.operands), types,
                         attributes, static_cast<unsigned>(node.regions.size()));
  if (hasOneResult)
    values_[id] = op->getResult(0);
  else
    results_[id].assign(op->result_begin(), op->result_end());
  emitRegions(op, node);
}

// What a cast of an infinity gives.
static double saturated(DType dtype, double number) {
  double largest = dtype == e4m3 ? 448 : 57344;
  return std::isinf(number) ? std::copysign(largest, number) : number;
}

void Emitter::emitConstant(NodeId id, const Node &node) {
  Type element = elementType(node.type.dtype), type = typeOf(node.type);
  TypedAttr scalar;
  if (auto floating = dyn_cast<FloatType>(element)) {
    bool losesInfo = false;
    APFloat value(ir::isFloat8(floating) ? saturated(node.type.dtype, node.number) : node.number);
    value.convert(floating.getFloatSemantics(), APFloat::rmNearestTiesToEven, &losesInfo);
    scalar = FloatAttr::get(floating, value);
  } else {
    unsigned width = element.getIntOrFloatBitWidth();
    scalar = IntegerAttr::get(element, APInt(64, static_cast<uint64_t>(node.integer)).trunc(width));
  }
  TypedAttr attribute = scalar;
  if (auto tile = dyn_cast<RankedTensorType>(type))
    attribute = SplatElementsAttr::get(tile, scalar);
  values_[id] = arith::ConstantOp::create(builder_, locationOf(node.loc), type, attribute);
}

void Emitter::emitRegions(Operation *op, const Node &node) {
  OpBuilder::InsertionGuard guard(builder_);
  for (auto [scope, region] : llvm::zip_equal(node.regions, op->getRegions())) {
    const Scope &body = graph_.scopes[scope];
    // An if without results may lack its else branch.
    if (body.kind == Scope::Else && order_[scope].empty() && node.results.empty())
      continue;
    Block &block = region.emplaceBlock();
    for (NodeId argument : body.arguments)
      values_[argument] = block.addArgument(typeOf(graph_.nodes[argument].type),
                                            locationOf(graph_.nodes[argument].loc));
    builder_.setInsertionPointToStart(&block);
    emitScope(scope);
    emitTerminator(scope, node, op->getLoc());
  }
}

void Emitter::emitTerminator(ScopeId scope, const Node &owner, Location loc) {
  const Scope &body = graph_.scopes[scope];
  const char *name = body.kind == Scope::WhileCondition ? "scf.condition"
                     : body.kind == Scope::Combine      ? "tile.yield"
                                                        : "scf.yield";
  create(name, loc, valuesOf(body.yields), {});
}

// --- The function --------------------------------------------------------------------------------

// The extents whose values the kernel asked for, -1 for others; empty if there are none.
SmallVector<int64_t> Emitter::specializedExtents(int argument) {
  const std::vector<int64_t> &known = trace_.binding().args[argument].extents;
  SmallVector<int64_t> extents;
  for (ValueUse use : trace_.uses.values) {
    if (use.arg != argument || use.dim < 0)
      continue;
    extents.resize(known.size(), -1);
    extents[use.dim] = known[use.dim];
  }
  return extents;
}

DictionaryAttr Emitter::argumentAttributes(int argument, const detail::ParamSpec &spec,
                                           const std::string &name) {
  NamedAttrList list;
  if (!name.empty())
    list.set(ir::kNameAttr, builder_.getStringAttr(name));
  if (spec.kind == detail::ParamSpec::Scalar)
    return list.getDictionary(builder_.getContext());
  const char *access = spec.kind == detail::ParamSpec::In    ? "in"
                       : spec.kind == detail::ParamSpec::Out ? "out"
                                                             : "inout";
  list.set(ir::kAccessAttr, builder_.getStringAttr(access));
  if (SmallVector<int64_t> extents = specializedExtents(argument); !extents.empty())
    list.set(ir::kExtentsAttr, builder_.getDenseI64ArrayAttr(extents));
  SmallVector<int32_t> aliases;
  for (auto [first, second] : graph_.aliases)
    if (first == argument)
      aliases.push_back(second);
  if (!aliases.empty())
    list.set(ir::kMayAliasAttr, builder_.getDenseI32ArrayAttr(aliases));
  return list.getDictionary(builder_.getContext());
}

AffineExpr Emitter::launchExpression(NodeId id, SmallVectorImpl<mlir::Attribute> &symbols) {
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

AffineExpr Emitter::gridExpression(const std::vector<GridAxis> &axes,
                                   SmallVectorImpl<mlir::Attribute> &symbols) {
  AffineExpr product;
  for (const GridAxis &axis : axes) {
    AffineExpr count = launchExpression(axis.extent, symbols).ceilDiv(axis.divisor);
    product = product ? product * count : count;
  }
  return product;
}

void Emitter::addGrid(Operation *function) {
  if (trace_.grid.persistent)
    function->setAttr(ir::kPersistentAttr, builder_.getUnitAttr());
  if (trace_.grid.results.empty())
    return;
  SmallVector<mlir::Attribute> symbols;
  SmallVector<AffineExpr> results;
  for (const std::vector<GridAxis> &axes : trace_.grid.results)
    results.push_back(gridExpression(axes, symbols));
  AffineMap map =
      AffineMap::get(0, static_cast<unsigned>(symbols.size()), results, builder_.getContext());
  function->setAttr(ir::kGridAttr, AffineMapAttr::get(map));
  function->setAttr(ir::kGridSymbolsAttr, builder_.getArrayAttr(symbols));
}

// What differs from the defaults: the IR of most kernels says nothing.
void Emitter::addSettings(Operation *function) {
  const detail::CompileSettings &settings = trace_.settings;
  function->setAttr(ir::kWarpsAttr, builder_.getI32IntegerAttr(settings.warps));
  if (settings.maxRegisters)
    function->setAttr(ir::kMaxRegistersAttr, builder_.getI32IntegerAttr(settings.maxRegisters));
  if (settings.occupancy != 1)
    function->setAttr(ir::kOccupancyAttr, builder_.getI32IntegerAttr(settings.occupancy));
  if (!settings.fpFusion)
    function->setAttr(ir::kNoFusionAttr, builder_.getUnitAttr());
  if (settings.flushDenormals)
    function->setAttr(ir::kFlushDenormalsAttr, builder_.getUnitAttr());
}

func::FuncOp Emitter::emitFunction(ModuleOp module) {
  SmallVector<Type> inputs;
  SmallVector<mlir::Attribute> attributes;
  const detail::KernelRecord &record = trace_.record();
  for (size_t i = 0; i < record.params.size(); ++i) {
    if (record.params[i].kind == detail::ParamSpec::Const)
      continue;
    const Node &argument = graph_.nodes[trace_.param(static_cast<int>(i))];
    inputs.push_back(typeOf(argument.type));
    attributes.push_back(
        argumentAttributes(argument.index, record.params[i],
                           i < record.paramNames.size() ? record.paramNames[i] : ""));
  }
  builder_.setInsertionPointToEnd(module.getBody());
  auto function = func::FuncOp::create(builder_, locationOf(record.where), record.name,
                                       builder_.getFunctionType(inputs, {}));
  function->setAttr(ir::kKernelAttr, builder_.getUnitAttr());
  addSettings(function);
  addGrid(function);
  function.setAllArgAttrs(attributes);
  setFacts(function, trace_.binding().args);
  return function;
}

// A scalar whose value the kernel asked for is a constant. 8-bit floats stay arguments: as constants they would
// saturate.
void Emitter::emitArguments(Block &entry) {
  for (size_t i = 0; i < trace_.record().params.size(); ++i) {
    NodeId id = trace_.param(static_cast<int>(i));
    if (id == kNoNode)
      continue;
    Node node = graph_.nodes[id];
    bool isSpecialized = llvm::is_contained(trace_.uses.values, ValueUse{node.index, -1});
    if (!isSpecialized || isFloat8(node.type.dtype)) {
      values_[id] = entry.getArgument(node.index);
      continue;
    }
    uint64_t bits = *trace_.binding().args[node.index].bits;
    if (isFloat(node.type.dtype))
      node.number = floatOf(node.type.dtype, bits);
    else
      node.integer = integerOf(node.type.dtype, bits);
    emitConstant(id, node);
  }
}

void Emitter::emitCallable(ModuleOp module, const Function &function) {
  OpBuilder::InsertionGuard guard(builder_);
  SmallVector<Type> arguments, results;
  for (const TileType &type : function.arguments)
    arguments.push_back(typeOf(type));
  for (const TileType &type : function.results)
    results.push_back(typeOf(type));
  Location loc = locationOf(function.where);
  builder_.setInsertionPointToEnd(module.getBody());
  auto op = func::FuncOp::create(builder_, loc, function.symbol,
                                 builder_.getFunctionType(arguments, results));
  op.setPrivate();
  op.setNoInline(true);
  op->setAttr(ir::kCallableAttr, builder_.getUnitAttr());
  addSettings(op);
  Block *entry = op.addEntryBlock();
  const Scope &body = graph_.scopes[function.scope];
  for (auto [id, argument] : llvm::zip_equal(body.arguments, entry->getArguments()))
    values_[id] = argument;
  builder_.setInsertionPointToStart(entry);
  emitScope(function.scope);
  func::ReturnOp::create(builder_, loc, valuesOf(body.yields));
}

// Those that are called by what is left of the kernel, callees first: passes go through functions in their order.
void Emitter::emitCallables(ModuleOp module) {
  llvm::StringSet<> called;
  for (const std::vector<NodeId> &scope : order_)
    for (NodeId id : scope)
      if (StringRef(graph_.nodes[id].name) == "func.call")
        called.insert(graph_.nodes[id].attributes[0].text);
  std::vector<const Function *> functions;
  for (const Function &function : graph_.functions)
    if (called.contains(function.symbol))
      functions.push_back(&function);
  llvm::sort(functions, [](auto *a, auto *b) { return a->finished < b->finished; });
  for (const Function *function : functions)
    emitCallable(module, *function);
}

OwningOpRef<ModuleOp> Emitter::run() {
  results_.resize(graph_.nodes.size());
  OwningOpRef<ModuleOp> module = ModuleOp::create(locationOf(trace_.record().where));
  emitCallables(*module);
  func::FuncOp function = emitFunction(*module);
  Block *entry = function.addEntryBlock();
  builder_.setInsertionPointToStart(entry);
  emitArguments(*entry);
  emitScope(0);
  func::ReturnOp::create(builder_, function.getLoc());
  return module;
}

} // namespace

OwningOpRef<ModuleOp> emitModule(const Trace &trace, MLIRContext &context) {
  return Emitter(trace, context).run();
}

} // namespace tile::frontend
