// PTX inside a kernel. The dialect's verifier knows the rules of text and constraints; Kernel.cpp
// hands on what it says.
#include <tile/Foreign.h>

#include "frontend/Promotion.h"

using namespace tile;
using namespace tile::frontend;

std::vector<Value> tile::inline_ptx(std::string_view text, std::string_view constraints,
                                    std::initializer_list<Arg> operands,
                                    std::initializer_list<DType> results, PtxOptions options,
                                    Loc loc) {
  Trace &trace = Trace::current(loc);
  if (trace.graph().scopes[trace.scope()].kind == Scope::Combine)
    trace.fail(loc, "inline_ptx: not in a combine function");
  std::vector<const Arg *> list;
  for (const Arg &operand : operands) {
    checkData(trace, "inline_ptx", operand, loc);
    list.push_back(&operand);
  }
  Shape shape = list.empty() ? Shape{} : commonShape(trace, "inline_ptx", list, loc);
  Node node;
  node.name = "tile.inline_ptx";
  node.effect = options.pure ? Effect::None : Effect::Write;
  node.loc = loc;
  for (const Arg &operand : operands)
    node.operands.push_back(
        broadcastTo(trace, materialize(trace, operand, loc), shape, loc).node());
  for (DType dtype : results)
    node.results.push_back({TileType::Data, dtype, shape});
  node.attributes = {{Attribute::String, "text", {}, std::string(text)},
                     {Attribute::String, "constraints", {}, std::string(constraints)},
                     {Attribute::I32, "pack", {options.pack}}};
  if (options.pure)
    node.attributes.push_back({Attribute::Unit, "pure", {}});
  NodeId id = trace.add(std::move(node));
  std::vector<Value> values;
  for (size_t i = 0; i < results.size(); ++i) {
    Node result;
    result.kind = Node::Result;
    result.type = trace.at(id).results[i];
    result.operands = {id};
    result.index = static_cast<int>(i);
    result.loc = loc;
    values.push_back(trace.handle(trace.add(std::move(result))));
  }
  return values;
}
