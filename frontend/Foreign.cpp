// PTX and CUDA C++ inside a kernel. The dialect's verifier knows the rules of text and constraints; Kernel.cpp
// hands on what it says.
#include <tile/Foreign.h>

#include "frontend/Promotion.h"

using namespace tile;
using namespace tile::frontend;

/// The operands of foreign code, all of `shape`, the one they broadcast to.
static std::vector<NodeId> foreignOperands(Trace &trace, const char *name,
                                           std::initializer_list<Arg> operands, Shape &shape,
                                           Loc loc) {
  if (trace.graph().scopes[trace.scope()].kind == Scope::Combine)
    trace.fail(loc, std::string(name) + ": not in a combine function");
  std::vector<const Arg *> list;
  for (const Arg &operand : operands) {
    checkData(trace, name, operand, loc);
    list.push_back(&operand);
  }
  shape = list.empty() ? Shape{} : commonShape(trace, name, list, loc);
  std::vector<NodeId> nodes;
  for (const Arg &operand : operands)
    nodes.push_back(broadcastTo(trace, materialize(trace, operand, loc), shape, loc).node());
  return nodes;
}

std::vector<Value> tile::inline_ptx(std::string_view text, std::string_view constraints,
                                    std::initializer_list<Arg> operands,
                                    std::initializer_list<DType> results, PtxOptions options,
                                    Loc loc) {
  Trace &trace = Trace::current(loc);
  Shape shape;
  Node node;
  node.name = "tile.inline_ptx";
  node.effect = options.pure ? Effect::None : Effect::Write;
  node.loc = loc;
  node.operands = foreignOperands(trace, "inline_ptx", operands, shape, loc);
  for (DType dtype : results)
    node.results.push_back({TileType::Data, dtype, shape});
  node.attributes = {{Attribute::String, "text", {}, std::string(text)},
                     {Attribute::String, "constraints", {}, std::string(constraints)},
                     {Attribute::I32, "pack", {options.pack}}};
  if (options.pure)
    node.attributes.push_back({Attribute::Unit, "pure", {}});
  NodeId id = trace.add(std::move(node));
  std::vector<Value> values;
  for (size_t i = 0; i < results.size(); ++i)
    values.push_back(trace.handle(trace.resultOf(id, static_cast<int>(i))));
  return values;
}

Value tile::inline_cuda(std::string_view source, std::string_view entry,
                        std::initializer_list<Arg> operands, DType result, CudaOptions options,
                        Loc loc) {
  Trace &trace = Trace::current(loc);
  Shape shape;
  Node node;
  node.name = "tile.inline_cuda";
  node.effect = options.pure ? Effect::None : Effect::Write;
  node.loc = loc;
  node.operands = foreignOperands(trace, "inline_cuda", operands, shape, loc);
  node.results = {{TileType::Data, result, shape}};
  std::vector<DType> dtypes = {result};
  for (NodeId operand : node.operands)
    dtypes.push_back(trace.at(operand).type.dtype);
  for (DType dtype : dtypes)
    if (dtype == e4m3 || dtype == e5m2)
      trace.fail(
          loc,
          std::string(
              "inline_cuda: functions take and return i1, i8 to i64, u8 to u64, f16, bf16, f32 and "
              "f64, not ") +
              nameOf(dtype) + "; bitcast it to u8");
  std::string signature = nameOf(result);
  for (size_t i = 1; i < dtypes.size(); ++i)
    signature += (i > 1 ? "," : "(") + std::string(nameOf(dtypes[i]));
  signature += dtypes.size() == 1 ? "()" : ")";
  node.attributes = {{Attribute::String, "source", {}, std::string(source)},
                     {Attribute::String, "entry", {}, std::string(entry)},
                     {Attribute::String, "signature", {}, signature}};
  if (options.pure)
    node.attributes.push_back({Attribute::Unit, "pure", {}});
  return trace.handle(trace.resultOf(trace.add(std::move(node))));
}
