// The matrix product: every rule that the operation has is checked here, at the user's line.
#include "frontend/Promotion.h"
#include "frontend/Trace.h"

using namespace tile;
using namespace tile::frontend;

namespace {

void checkOperand(Trace &trace, const char *side, const Arg &operand, Loc loc) {
  if (!operand.isStaged())
    trace.fail(loc,
               std::string("dot: the ") + side + " operand is a host number; dot multiplies tiles");
  TileType type = trace.type(operand.value(), loc);
  if (type.category != TileType::Data || type.shape.rank() != 2)
    trace.fail(
        loc, std::string("dot: the ") + side + " operand must have 2 dimensions, got " + type.str(),
        {madeNote(trace, "operand", operand.value())}, ErrorCode::InvalidShape);
}

/// The fewest K that a matrix instruction takes; 0 for dtypes without one.
int64_t smallestK(DType type) {
  switch (type) {
  case DType::F16:
  case DType::BF16:
    return 16;
  case DType::F32:
    return 8;
  case DType::F64:
    return 4;
  default:
    return 0;
  }
}

void checkProduct(Trace &trace, const Arg &a, const Arg &b, Loc loc) {
  checkOperand(trace, "left", a, loc), checkOperand(trace, "right", b, loc);
  TileType lhs = trace.type(a.value(), loc), rhs = trace.type(b.value(), loc);
  std::vector<std::string> made = {madeNote(trace, a, b)};
  if (lhs.shape[1] != rhs.shape[0])
    trace.fail(loc,
               "dot: inner sizes differ: lhs is " + lhs.shape.str() + ", rhs is " +
                   rhs.shape.str() + " (" + std::to_string(lhs.shape[1]) +
                   " != " + std::to_string(rhs.shape[0]) + ")",
               made, ErrorCode::InvalidShape);
  if (lhs.dtype != rhs.dtype)
    trace.fail(loc,
               std::string("dot: operands must have one dtype, got ") + nameOf(lhs.dtype) +
                   " and " + nameOf(rhs.dtype) + ": cast one of them",
               made);
  int64_t least = smallestK(lhs.dtype);
  if (least == 0)
    trace.fail(loc,
               std::string("dot: no matrix product of ") + nameOf(lhs.dtype) +
                   "; supported: f16, bf16, f32, f64",
               made, ErrorCode::Unsupported);
  if (lhs.shape[1] < least)
    trace.fail(loc,
               "dot: the inner size must be at least " + std::to_string(least) + " for " +
                   nameOf(lhs.dtype) + ", got " + std::to_string(lhs.shape[1]),
               made, ErrorCode::InvalidShape);
}

void checkAccumulator(Trace &trace, const TileType &acc, const Value &value, DType operands,
                      const Shape &product, Loc loc) {
  std::string made = madeNote(trace, "acc", value);
  if (acc.category != TileType::Data || acc.shape != product)
    trace.fail(loc, "dot: acc is " + acc.shape.str() + ", but the product is " + product.str(),
               {made}, ErrorCode::InvalidShape);
  bool allowed =
      acc.dtype == (operands == f64 ? f64 : f32) || (operands == f16 && acc.dtype == f16);
  if (!allowed)
    trace.fail(loc,
               std::string("dot: a product of ") + nameOf(operands) + " accumulates in " +
                   (operands == f64   ? "f64"
                    : operands == f16 ? "f32 or f16"
                                      : "f32") +
                   ", but acc is " + nameOf(acc.dtype),
               {made});
}

} // namespace

Value tile::dot(Arg a, Arg b, Arg acc, DotOptions options, Loc loc) {
  Trace &trace = Trace::current(loc);
  checkProduct(trace, a, b, loc);
  TileType lhs = trace.type(a.value(), loc), rhs = trace.type(b.value(), loc);
  Shape product = {lhs.shape[0], rhs.shape[1]};
  checkShape(trace, "dot", product, loc);
  Value sum = acc.isStaged()
                  ? acc.value()
                  : convertTo(trace, lhs.dtype == f64 ? f64 : f32, acc, "dot", loc, product);
  TileType type = trace.type(sum, loc);
  checkAccumulator(trace, type, sum, lhs.dtype, product, loc);
  std::vector<Attribute> attributes;
  if (lhs.dtype == f32)
    attributes.push_back({Attribute::I32, "precision", {static_cast<int64_t>(options.precision)}});
  return trace.op("tile.dot", type, {a.value(), b.value(), sum}, loc, std::move(attributes));
}

Value tile::dot(Arg a, Arg b, DotOptions options, Loc loc) {
  return dot(a, b, Arg(0, loc), options, loc);
}
