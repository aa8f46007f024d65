// Prints, assertions and barriers, recorded as effects so that they stay in program order.
#include <tile/Debug.h>

#include "frontend/language/Checks.h"
#include "frontend/language/Promotion.h"

#include <cstdio>

using namespace tile;
using namespace tile::frontend;

void tile::device_print(std::string_view prefix, std::initializer_list<Arg> values,
                        PrintOptions options, Loc loc) {
  Trace &trace = Trace::current(loc);
  std::vector<const Arg *> operands;
  for (const Arg &value : values) {
    checkData(trace, "device_print", value, loc);
    operands.push_back(&value);
  }
  Node node;
  node.name = "tile.print";
  node.effect = Effect::Write;
  node.loc = loc;
  Attribute isUnsignedValue{Attribute::BoolArray, "unsignedValues", {}};
  Shape shape = operands.empty() ? Shape{} : commonShape(trace, "device_print", operands, loc);
  for (const Arg &value : values) {
    Value given = materialize(trace, value, loc);
    if (isFloat(trace.type(given, loc).dtype) && widthOf(trace.type(given, loc).dtype) == 8)
      given = castValue(trace, f32, given, loc);
    node.operands.push_back(broadcastTo(trace, given, shape, loc).node());
    DType dtype = trace.type(given, loc).dtype;
    isUnsignedValue.numbers.push_back(isInteger(dtype) && isUnsigned(dtype));
  }
  node.attributes = {{Attribute::String, "prefix", {}, std::string(prefix)}, isUnsignedValue};
  if (options.hex)
    node.attributes.push_back({Attribute::Unit, "hex", {}});
  if (trace.graph().scopes[trace.scope()].kind == Scope::Combine)
    trace.fail(loc, "device_print: a combine function may not print");
  trace.add(std::move(node));
}

static void assertThat(const Arg &condition, std::string_view message, const Arg *mask, Loc loc) {
  Trace &trace = Trace::current(loc);
  std::vector<const Arg *> operands = {&condition};
  if (mask)
    operands.push_back(mask);
  for (const Arg *operand : operands) {
    checkData(trace, "device_assert", *operand, loc);
    if (operand->isStaged() && trace.type(operand->value(), loc).dtype != i1)
      trace.fail(loc, std::string("device_assert: the condition and the mask must be i1, got ") +
                          trace.type(operand->value(), loc).str() + "; compare it, as in x != 0");
  }
  Shape shape = commonShape(trace, "device_assert", operands, loc);
  if (!isChecked(trace))
    return;
  Value holds = unify(trace, i1, shape, condition, "device_assert", loc);
  if (mask)
    holds =
        Arg(holds, loc) | Arg(~Arg(unify(trace, i1, shape, *mask, "device_assert", loc), loc), loc);
  recordAssert(trace, holds, std::string(message), loc);
}

void tile::device_assert(Arg condition, std::string_view message, Loc loc) {
  assertThat(condition, message, nullptr, loc);
}
void tile::device_assert(Arg condition, std::string_view message, Arg mask, Loc loc) {
  assertThat(condition, message, &mask, loc);
}

void tile::debug_barrier(Loc loc) {
  Node node;
  node.name = "tile.debug_barrier";
  node.effect = Effect::Write;
  node.loc = loc;
  Trace &trace = Trace::current(loc);
  if (trace.graph().scopes[trace.scope()].kind == Scope::Combine)
    trace.fail(loc, "debug_barrier: not in a combine function");
  trace.add(std::move(node));
}

void tile::trace_print(std::string_view name, Arg value, Loc loc) {
  Trace &trace = Trace::current(loc);
  std::string what = value.isStaged()                   ? trace.type(value.value(), loc).str()
                     : value.kind() == Arg::Kind::Float ? std::to_string(value.asDouble())
                                                        : std::to_string(value.asInt());
  std::string line = text(loc) + ": " + std::string(name) + ": " + what + "\n";
  std::fwrite(line.data(), 1, line.size(), stderr);
}
