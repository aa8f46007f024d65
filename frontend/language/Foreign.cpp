// PTX and CUDA C++ inside a kernel. The dialect's verifier knows the rules of text and constraints; Kernel.cpp
// hands on what it says.
#include <tile/Foreign.h>

#include "frontend/language/Promotion.h"

using namespace tile;
using namespace tile::frontend;

/// An operation on operands that broadcast to `shape`; what it calls is up to the caller.
static Node foreignNode(Trace &trace, const char *function, const char *op,
                        std::initializer_list<Arg> operands, bool isPure, Shape &shape, Loc loc) {
  if (trace.graph().scopes[trace.scope()].kind == Scope::Combine)
    trace.fail(loc, std::string(function) + ": not in a combine function");
  std::vector<const Arg *> list;
  for (const Arg &operand : operands) {
    checkData(trace, function, operand, loc);
    list.push_back(&operand);
  }
  shape = list.empty() ? Shape{} : commonShape(trace, function, list, loc);
  Node node;
  node.name = op;
  node.effect = isPure ? Effect::None : Effect::Write;
  node.loc = loc;
  for (const Arg &operand : operands)
    node.operands.push_back(
        broadcastTo(trace, materialize(trace, operand, loc), shape, loc).node());
  if (isPure)
    node.attributes.push_back({Attribute::Unit, "pure", {}});
  return node;
}

std::vector<Value> tile::inline_ptx(std::string_view text, std::string_view constraints,
                                    std::initializer_list<Arg> operands,
                                    std::initializer_list<DType> results, PtxOptions options,
                                    Loc loc) {
  Trace &trace = Trace::current(loc);
  Shape shape;
  Node node =
      foreignNode(trace, "inline_ptx", "tile.inline_ptx", operands, options.pure, shape, loc);
  for (DType dtype : results)
    node.results.push_back({TileType::Data, dtype, shape});
  node.attributes.push_back({Attribute::String, "text", {}, std::string(text)});
  node.attributes.push_back({Attribute::String, "constraints", {}, std::string(constraints)});
  node.attributes.push_back({Attribute::I32, "pack", {options.pack}});
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
  Node node =
      foreignNode(trace, "inline_cuda", "tile.inline_cuda", operands, options.pure, shape, loc);
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
  node.attributes.push_back({Attribute::String, "source", {}, std::string(source)});
  node.attributes.push_back({Attribute::String, "entry", {}, std::string(entry)});
  node.attributes.push_back({Attribute::String, "signature", {}, signature});
  return trace.handle(trace.resultOf(trace.add(std::move(node))));
}
