// Emits nodes one to one: a node's name is its MLIR operation. Only constants, control flow and functions need more than a
// name.
#include "frontend/trace/Emit.h"

#include "frontend/trace/DialectForms.h"
#include "frontend/trace/FactAttributes.h"
#include "frontend/trace/FunctionAttributes.h"
#include "frontend/trace/Ordering.h"
#include "ir/tile/TileDialect.h"

#include <mlir/Dialect/Arith/IR/Arith.h>
#include <mlir/Dialect/Func/IR/FuncOps.h>
#include <mlir/IR/Builders.h>

#include <llvm/ADT/StringSet.h>

#include <cmath>

using namespace mlir;

namespace tile::frontend {

namespace {

using mlir::Value;

class Emitter {
public:
  Emitter(const Trace &trace, MLIRContext &context)
      : trace_(trace), graph_(trace.graph()), builder_(&context), forms_(context),
        order_(orderTrace(graph_)), values_(graph_.nodes.size()) {}

  OwningOpRef<ModuleOp> run();

private:
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
  void emitArguments(Block &entry);
  void emitCallables(ModuleOp module);
  void emitCallable(ModuleOp module, const Function &function);

  const Trace &trace_;
  const Graph &graph_;
  OpBuilder builder_;
  DialectForms forms_;
  std::vector<std::vector<NodeId>> order_;
  std::vector<Value> values_;
  std::vector<std::vector<Value>> results_; ///< of nodes with several, by node; sized on first use
};

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
    types.push_back(forms_.typeOf(type));
  bool hasOneResult = node.regions.empty() && node.results.empty() && node.effect != Effect::Write;
  if (hasOneResult)
    types.push_back(forms_.typeOf(node.type));
  SmallVector<NamedAttribute> attributes;
  for (const frontend::Attribute &attribute : node.attributes)
    attributes.push_back(builder_.getNamedAttr(attribute.name, forms_.attributeOf(attribute)));
  Operation *op = create(node.name, forms_.locationOf(node.loc), valuesOf(node.operands), types,
                         attributes, static_cast<unsigned>(node.regions.size()));
  if (hasOneResult)
    values_[id] = op->getResult(0);
  else
    results_[id].assign(op->result_begin(), op->result_end());
  emitRegions(op, node);
}

// Casts to these formats saturate, infinities too.
static double saturated(DType dtype, double number) {
  double largest = dtype == e4m3 ? 448 : 57344;
  return std::isinf(number) ? std::copysign(largest, number) : number;
}

void Emitter::emitConstant(NodeId id, const Node &node) {
  Type element = forms_.elementType(node.type.dtype), type = forms_.typeOf(node.type);
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
  values_[id] = arith::ConstantOp::create(builder_, forms_.locationOf(node.loc), type, attribute);
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
      values_[argument] = block.addArgument(forms_.typeOf(graph_.nodes[argument].type),
                                            forms_.locationOf(graph_.nodes[argument].loc));
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

func::FuncOp Emitter::emitFunction(ModuleOp module) {
  SmallVector<Type> inputs;
  SmallVector<mlir::Attribute> attributes;
  const detail::KernelRecord &record = trace_.record();
  for (size_t i = 0; i < record.params.size(); ++i) {
    if (record.params[i].kind == detail::ParamSpec::Const)
      continue;
    const Node &argument = graph_.nodes[trace_.param(static_cast<int>(i))];
    inputs.push_back(forms_.typeOf(argument.type));
    attributes.push_back(
        argumentAttributes(builder_, trace_, argument.index, record.params[i],
                           i < record.paramNames.size() ? record.paramNames[i] : ""));
  }
  builder_.setInsertionPointToEnd(module.getBody());
  auto function = func::FuncOp::create(builder_, forms_.locationOf(record.where), record.name,
                                       builder_.getFunctionType(inputs, {}));
  function->setAttr(ir::kKernelAttr, builder_.getUnitAttr());
  setSettings(function, trace_.settings);
  setGrid(function, trace_);
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
    arguments.push_back(forms_.typeOf(type));
  for (const TileType &type : function.results)
    results.push_back(forms_.typeOf(type));
  Location loc = forms_.locationOf(function.where);
  builder_.setInsertionPointToEnd(module.getBody());
  auto op = func::FuncOp::create(builder_, loc, function.symbol,
                                 builder_.getFunctionType(arguments, results));
  op.setPrivate();
  op.setNoInline(true);
  op->setAttr(ir::kCallableAttr, builder_.getUnitAttr());
  setSettings(op, trace_.settings);
  Block *entry = op.addEntryBlock();
  const Scope &body = graph_.scopes[function.scope];
  for (auto [id, argument] : llvm::zip_equal(body.arguments, entry->getArguments()))
    values_[id] = argument;
  builder_.setInsertionPointToStart(entry);
  emitScope(function.scope);
  func::ReturnOp::create(builder_, loc, valuesOf(body.yields));
}

// Emits the functions that are called by what is left of the kernel, callees first: passes go through functions in their order.
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
  OwningOpRef<ModuleOp> module = ModuleOp::create(forms_.locationOf(trace_.record().where));
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
