// Values of arguments that a kernel asks for. What was asked is noted, so that the runtime puts it
// into the key.
#include <tile/Specialize.h>

#include "frontend/trace/Trace.h"

#include <algorithm>
#include <bit>
#include <string_view>

using namespace tile;
using namespace tile::frontend;

namespace {

std::optional<ValueUse> useOf(const Trace &trace, const Value &argument, Loc loc) {
  const Node &node = trace.at(trace.graph().resolve(trace.use(argument, loc)));
  if (node.kind == Node::FuncArg && node.type.category == TileType::Data)
    return ValueUse{node.index, -1};
  if (node.kind == Node::Op && std::string_view(node.name) == "tile.dim")
    return ValueUse{trace.at(node.operands[0]).index,
                    static_cast<int>(node.attributes[0].numbers[0])};
  return std::nullopt;
}

/// The value that the launch has there: the bits of a scalar, or an extent.
uint64_t bitsOf(Trace &trace, const Value &argument, Loc loc) {
  std::optional<ValueUse> use = useOf(trace, argument, loc);
  if (!use)
    trace.fail(
        loc,
        "specialize: a launch knows the values of scalar arguments and of extents, x.dim(0), "
        "not of what is computed: specialise those, and compute with host numbers",
        {madeNote(trace, "it was", argument)});
  const ArgFacts &facts = trace.binding().args[use->arg];
  bool isKnown = use->dim < 0 ? facts.bits.has_value() : !facts.extents.empty();
  if (!isKnown)
    trace.fail(loc, "specialize: the kernel is traced without the value of argument " +
                        std::to_string(use->arg + 1) +
                        ": give an example that has one, such as exampleScalar(i32, 3)");
  if (std::find(trace.uses.values.begin(), trace.uses.values.end(), *use) ==
      trace.uses.values.end())
    trace.uses.values.push_back(*use);
  return use->dim < 0 ? *facts.bits : static_cast<uint64_t>(facts.extents[use->dim]);
}

} // namespace

Const tile::specialize(const Value &argument, Loc loc) {
  Trace &trace = Trace::current(loc);
  DType dtype = trace.type(argument, loc).dtype;
  if (!isInteger(dtype))
    trace.fail(loc, std::string("specialize: an integer is expected here, the argument is ") +
                        nameOf(dtype) + ": of a Scalar<" + nameOf(dtype) +
                        "> parameter itself it gives a double");
  int64_t value = integerOf(dtype, bitsOf(trace, argument, loc));
  bool fits = value == static_cast<int>(value) && (value >= 0 || !isUnsigned(dtype));
  if (!fits)
    trace.fail(loc, "specialize: the value " +
                        (isUnsigned(dtype) ? std::to_string(static_cast<uint64_t>(value))
                                           : std::to_string(value)) +
                        " does not fit an int");
  return static_cast<int>(value);
}

double detail::specializedNumber(const Value &argument, Loc loc) {
  Trace &trace = Trace::current(loc);
  DType dtype = trace.type(argument, loc).dtype;
  return floatOf(dtype, bitsOf(trace, argument, loc));
}
