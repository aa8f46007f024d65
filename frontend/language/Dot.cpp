// The matrix product: every rule that the operation has is checked here, at the user's line.
#include "frontend/language/Promotion.h"
#include "frontend/trace/Trace.h"

using namespace tile;
using namespace tile::frontend;

namespace {

void checkOperand(Trace &trace, const char *side, const Arg &operand, Loc loc) {
  if (!operand.isStaged())
    trace.fail(loc,
               std::string("dot: the ") + side + " operand is a host number; dot multiplies tiles");
  TileType type = trace.type(operand.value(), loc);
  if (type.category != TileType::Data || type.shape.rank() < 2 || type.shape.rank() > 3)
    trace.fail(loc,
               std::string("dot: the ") + side +
                   " operand must have 2 dimensions, or 3 with the batch first, got " + type.str(),
               {madeNote(trace, "operand", operand.value())}, ErrorCode::InvalidShape);
}

/// The fewest K that a matrix instruction takes; 0 for dtypes without one.
int64_t smallestK(DType type) {
  switch (type) {
  case DType::I8:
  case DType::U8:
  case DType::E4M3:
  case DType::E5M2:
    return 32;
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

void checkBatches(Trace &trace, const Shape &lhs, const Shape &rhs,
                  const std::vector<std::string> &made, Loc loc) {
  if (lhs.rank() == rhs.rank() && (lhs.rank() == 2 || lhs[0] == rhs[0]))
    return;
  trace.fail(loc, "dot: batches differ: lhs is " + lhs.str() + ", rhs is " + rhs.str(), made,
             ErrorCode::InvalidShape);
}

void checkProduct(Trace &trace, const Arg &a, const Arg &b, Loc loc) {
  checkOperand(trace, "left", a, loc), checkOperand(trace, "right", b, loc);
  TileType lhs = trace.type(a.value(), loc), rhs = trace.type(b.value(), loc);
  std::vector<std::string> made = {madeNote(trace, a, b)};
  checkBatches(trace, lhs.shape, rhs.shape, made, loc);
  int rank = lhs.shape.rank();
  int64_t inner = lhs.shape[rank - 1], other = rhs.shape[rank - 2];
  if (inner != other)
    trace.fail(loc,
               "dot: inner sizes differ: lhs is " + lhs.shape.str() + ", rhs is " +
                   rhs.shape.str() + " (" + std::to_string(inner) + " != " + std::to_string(other) +
                   ")",
               made, ErrorCode::InvalidShape);
  if (lhs.dtype != rhs.dtype && !(isFloat8(lhs.dtype) && isFloat8(rhs.dtype)))
    trace.fail(loc,
               std::string("dot: operands must have one dtype, got ") + nameOf(lhs.dtype) +
                   " and " + nameOf(rhs.dtype) + ": cast one of them",
               made);
  int64_t least = smallestK(lhs.dtype);
  if (least == 0)
    trace.fail(loc,
               std::string("dot: no matrix product of ") + nameOf(lhs.dtype) +
                   "; supported: i8, u8, e4m3, e5m2, f16, bf16, f32, f64",
               made, ErrorCode::Unsupported);
  if (inner < least)
    trace.fail(loc,
               "dot: the inner size must be at least " + std::to_string(least) + " for " +
                   nameOf(lhs.dtype) + ", got " + std::to_string(inner),
               made, ErrorCode::InvalidShape);
}

DType naturalAccumulator(DType operands) {
  return operands == f64 ? f64 : operands == i8 || operands == u8 ? i32 : f32;
}

bool mayAccumulateInF16(DType operands) { return operands == f16 || isFloat8(operands); }

/// The dtype of a product's sums where no tile says it.
DType accumulatorOf(Trace &trace, DType operands, DotOptions options, Loc loc) {
  DType natural = naturalAccumulator(operands), asked = options.accumulator;
  if (asked == any || asked == natural)
    return natural;
  if (asked != f16 || !mayAccumulateInF16(operands))
    trace.fail(loc,
               std::string("dot: a product of ") + nameOf(operands) + " accumulates in " +
                   nameOf(natural) + (mayAccumulateInF16(operands) ? " or f16" : "") +
                   ", but the options' accumulator is " + nameOf(asked) +
                   (asked == f16 ? ": cast the operands to f16, or leave it out" : ""),
               {}, ErrorCode::Unsupported);
  return f16;
}

void checkAccumulator(Trace &trace, const TileType &acc, const Value &value, DType operands,
                      DType asked, const Shape &product, Loc loc) {
  std::string made = madeNote(trace, "acc", value);
  if (acc.category != TileType::Data || acc.shape != product)
    trace.fail(loc, "dot: acc is " + acc.shape.str() + ", but the product is " + product.str(),
               {made}, ErrorCode::InvalidShape);
  DType natural = naturalAccumulator(operands);
  bool mayBeHalf = mayAccumulateInF16(operands);
  if (acc.dtype != natural && !(mayBeHalf && acc.dtype == f16))
    trace.fail(loc,
               std::string("dot: a product of ") + nameOf(operands) + " accumulates in " +
                   nameOf(natural) + (mayBeHalf ? " or f16" : "") + ", but acc is " +
                   nameOf(acc.dtype),
               {made});
  if (asked != any && asked != acc.dtype)
    trace.fail(loc,
               std::string("dot: the options' accumulator is ") + nameOf(asked) + ", but acc is " +
                   nameOf(acc.dtype) + ": begin with zeros of " + nameOf(asked) +
                   ", or leave the option out",
               {made});
}

} // namespace

Value tile::dot(Arg a, Arg b, Arg acc, DotOptions options, Loc loc) {
  Trace &trace = Trace::current(loc);
  checkProduct(trace, a, b, loc);
  TileType lhs = trace.type(a.value(), loc), rhs = trace.type(b.value(), loc);
  Shape product = lhs.shape;
  product[lhs.shape.rank() - 1] = rhs.shape[rhs.shape.rank() - 1];
  checkShape(trace, "dot", product, loc);
  DType sums = accumulatorOf(trace, lhs.dtype, options, loc);
  Value sum = acc.isStaged() ? acc.value() : convertTo(trace, sums, acc, "dot", loc, product);
  TileType type = trace.type(sum, loc);
  checkAccumulator(trace, type, sum, lhs.dtype, options.accumulator, product, loc);
  std::vector<Attribute> attributes;
  if (lhs.dtype == f32)
    attributes.push_back({Attribute::I32, "precision", {static_cast<int64_t>(options.precision)}});
  if (lhs.dtype == u8)
    attributes.push_back({Attribute::Unit, "operands_unsigned", {}});
  if (isFloat8(lhs.dtype) && options.fast_accumulation)
    attributes.push_back({Attribute::Unit, "fast_accumulation", {}});
  if (options.variant != Mma::any)
    attributes.push_back({Attribute::I32, "tile.variant", {static_cast<int64_t>(options.variant)}});
  return trace.op("tile.dot", type, {a.value(), b.value(), sum}, loc, std::move(attributes));
}

Value tile::dot(Arg a, Arg b, DotOptions options, Loc loc) {
  return dot(a, b, Arg(0, loc), options, loc);
}
