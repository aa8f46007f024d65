#include "codegen/MathToPtx.h"

#include "codegen/InlinePtx.h"
#include "codegen/math/Library.h"
#include "ir/tile/TileDialect.h"

#include "mlir/Conversion/LLVMCommon/Pattern.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace tile::codegen {

namespace {

constexpr double kLog2E = 1.4426950408889634, kLn2 = 0.6931471805599453,
                 kLog10Of2 = 0.30102999566398120;

Value constant(OpBuilder &b, Location loc, Type type, double value) {
  return LLVM::ConstantOp::create(b, loc, type, b.getFloatAttr(type, value));
}

Value intrinsic(OpBuilder &b, Location loc, StringRef name, Type type, ValueRange operands) {
  return LLVM::CallIntrinsicOp::create(b, loc, type, b.getStringAttr(name), operands).getResult(0);
}

// One instruction. Without .ftz results below 2^-126 would take scaling before and after it, in every exp of a softmax.
Value exp2(OpBuilder &b, Location loc, Value x) {
  return intrinsic(b, loc, "llvm.nvvm.ex2.approx.ftz.f32", x.getType(), x);
}

Value approx(OpBuilder &b, Location loc, StringRef name, Value x) {
  return intrinsic(b, loc, ("llvm.nvvm." + name + ".approx.f").str(), x.getType(), x);
}

// 1 - 2^p(|x|), where p, of degree 8 and without a constant, is nearest to log2(erfc) in the result's error: 1.6e-8. Rounding
// adds 9e-8, and ex2.approx at most the 2^-22 that PTX allows it, for its results are not above 1: 3e-7 in all. Beyond
// the range of the fit, |x| > 4, p keeps falling and the result is 1.
Value erf(OpBuilder &b, Location loc, Value x) {
  Type type = x.getType();
  auto c = [&](double value) { return constant(b, loc, type, value); };
  Value magnitude = LLVM::FAbsOp::create(b, loc, x);
  Value exponent = c(-4.53586035e-05);
  for (double coefficient : {0.0004455077, -0.00148944184, -0.000774629123, 0.0282536801,
                             -0.148481607, -0.918416381, -1.62790859})
    exponent = LLVM::FMAOp::create(b, loc, exponent, magnitude, c(coefficient));
  exponent = LLVM::FMulOp::create(b, loc, exponent, magnitude);
  Value result = LLVM::FSubOp::create(b, loc, c(1.0), exp2(b, loc, exponent));
  return LLVM::CopySignOp::create(b, loc, result, x);
}

template <class Op> Value lowerF32(OpBuilder &b, Location loc, Value x) {
  auto scaled = [&](Value value, double factor) -> Value {
    return LLVM::FMulOp::create(b, loc, value, constant(b, loc, value.getType(), factor));
  };
  if constexpr (std::is_same_v<Op, math::ExpOp>)
    return exp2(b, loc, scaled(x, kLog2E));
  else if constexpr (std::is_same_v<Op, math::Exp2Op>)
    return exp2(b, loc, x);
  else if constexpr (std::is_same_v<Op, math::LogOp>)
    return scaled(approx(b, loc, "lg2", x), kLn2);
  else if constexpr (std::is_same_v<Op, math::Log2Op>)
    return approx(b, loc, "lg2", x);
  else if constexpr (std::is_same_v<Op, math::SqrtOp>)
    return approx(b, loc, "sqrt", x);
  else if constexpr (std::is_same_v<Op, math::RsqrtOp>)
    return approx(b, loc, "rsqrt", x);
  else if constexpr (std::is_same_v<Op, math::SinOp>)
    return approx(b, loc, "sin", x);
  else if constexpr (std::is_same_v<Op, math::CosOp>)
    return approx(b, loc, "cos", x);
  else if constexpr (std::is_same_v<Op, math::Log10Op>)
    return scaled(approx(b, loc, "lg2", x), kLog10Of2);
  else if constexpr (std::is_same_v<Op, math::TanOp>)
    return inlinePtx(b, loc, "div.full.f32 $0, $1, $2;", "=f,f,f", x.getType(),
                     {approx(b, loc, "sin", x), approx(b, loc, "cos", x)});
  else if constexpr (std::is_same_v<Op, math::TanhOp>)
    return inlinePtx(b, loc, "tanh.approx.f32 $0, $1;", "=f,f", x.getType(), x);
  else
    return erf(b, loc, x);
}

bool isPrecise(Operation *op) { return op->hasAttr(ir::kPreciseAttr); }

bool isComputed(Type type) { return type.isF32() || type.isF64(); }

// The library's e^x and 2^x of f32 are 0 where they are below 2^-126. There e^x is the square of e^(x/2), and 2^x is a part of
// 2^(x + 64); x/2 and x + 64 are exact.
template <class Op> Value exponentialOfLibrary(OpBuilder &b, Location loc, Value x) {
  bool isBaseE = std::is_same_v<Op, math::ExpOp>;
  StringRef name = isBaseE ? "exp" : "exp2";
  Type type = x.getType();
  if (type.isF64())
    return callLibrary(b, loc, name, x);
  auto c = [&](double value) { return constant(b, loc, type, value); };
  Value isSmall =
      LLVM::FCmpOp::create(b, loc, LLVM::FCmpPredicate::olt, x, c(isBaseE ? -87 : -126));
  auto ifSmall = [&](Value small, double other) -> Value {
    return LLVM::SelectOp::create(b, loc, isSmall, small, c(other));
  };
  if (isBaseE) {
    Value root =
        callLibrary(b, loc, name, LLVM::FMulOp::create(b, loc, x, ifSmall(c(0.5), 1)).getResult());
    return LLVM::FMulOp::create(b, loc, root, ifSmall(root, 1));
  }
  Value larger =
      callLibrary(b, loc, name, LLVM::FAddOp::create(b, loc, x, ifSmall(c(64), 0)).getResult());
  return LLVM::FMulOp::create(b, loc, larger, ifSmall(c(0x1p-64), 1));
}

// Functions with a fast form on f32; narrower floats are widened by whoever traced the kernel.
template <class Op> struct FastOrLibrary : ConvertOpToLLVMPattern<Op> {
  using ConvertOpToLLVMPattern<Op>::ConvertOpToLLVMPattern;
  LogicalResult matchAndRewrite(Op op, typename Op::Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const final {
    if (!isComputed(op.getType()))
      return rewriter.notifyMatchFailure(op, "not on f32 or f64");
    Location loc = op.getLoc();
    Value x = adaptor.getOperand(), result;
    if (op.getType().isF32() && !isPrecise(op))
      result = lowerF32<Op>(rewriter, loc, x);
    else if (isa<math::SqrtOp>(op)) // sqrt.rn
      result = LLVM::SqrtOp::create(rewriter, loc, x);
    else if constexpr (std::is_same_v<Op, math::ExpOp> || std::is_same_v<Op, math::Exp2Op>)
      result = exponentialOfLibrary<Op>(rewriter, loc, x);
    else
      result = callLibrary(rewriter, loc, op->getName().stripDialect(), x);
    rewriter.replaceOp(op, result);
    return success();
  }
};

// Functions of the library alone, under its name for them.
template <class Op> struct Library : ConvertOpToLLVMPattern<Op> {
  Library(const LLVMTypeConverter &converter, StringRef name)
      : ConvertOpToLLVMPattern<Op>(converter, /*benefit=*/2), name_(name) {}
  LogicalResult matchAndRewrite(Op op, typename Op::Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const final {
    if (!isComputed(op.getType()))
      return rewriter.notifyMatchFailure(op, "not on f32 or f64");
    rewriter.replaceOp(op, callLibrary(rewriter, op.getLoc(), name_, adaptor.getOperands()));
    return success();
  }

private:
  StringRef name_;
};

// The library's pow loses the sign and size of results that exponents of about 1e300 and more lead to. An exponent of
// +-2^63, which is even, overflows or underflows every base but 0, +-1, infinities and NaN, as all beyond it do, so larger
// ones are cut to that; NaN passes, since comparisons with it are false.
struct Power : ConvertOpToLLVMPattern<math::PowFOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;
  LogicalResult matchAndRewrite(math::PowFOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const final {
    if (!isComputed(op.getType()))
      return rewriter.notifyMatchFailure(op, "not on f32 or f64");
    Value exponent = adaptor.getRhs();
    exponent = cut(rewriter, op.getLoc(), exponent, 0x1p63, LLVM::FCmpPredicate::ogt);
    exponent = cut(rewriter, op.getLoc(), exponent, -0x1p63, LLVM::FCmpPredicate::olt);
    rewriter.replaceOp(op, callLibrary(rewriter, op.getLoc(), "pow", {adaptor.getLhs(), exponent}));
    return success();
  }

private:
  static Value cut(OpBuilder &b, Location loc, Value value, double limit,
                   LLVM::FCmpPredicate beyond) {
    Type type = value.getType();
    Value bound = LLVM::ConstantOp::create(b, loc, type, b.getFloatAttr(type, limit));
    Value isBeyond = LLVM::FCmpOp::create(b, loc, beyond, value, bound);
    return LLVM::SelectOp::create(b, loc, isBeyond, bound, value);
  }
};

template <class From, class To> struct Renamed : ConvertOpToLLVMPattern<From> {
  using ConvertOpToLLVMPattern<From>::ConvertOpToLLVMPattern;
  LogicalResult matchAndRewrite(From op, typename From::Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const final {
    rewriter.replaceOpWithNewOp<To>(op, op.getType(), adaptor.getOperands());
    return success();
  }
};

// Functions of integers for which LLVM must be told that no operand is left out: |x| of the smallest integer is itself, and 0
// has as many zeros as bits.
template <class From, class To> struct WithoutPoison : ConvertOpToLLVMPattern<From> {
  using ConvertOpToLLVMPattern<From>::ConvertOpToLLVMPattern;
  LogicalResult matchAndRewrite(From op, typename From::Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const final {
    rewriter.replaceOpWithNewOp<To>(op, op.getType(), adaptor.getOperand(), /*poison=*/false);
    return success();
  }
};

// div.full.f32: at most 2 ulp over the whole range. f64 stays IEEE; 16-bit types divide in f32 and are
// rounded back.
struct Divide : ConvertOpToLLVMPattern<arith::DivFOp> {
  Divide(const LLVMTypeConverter &converter) : ConvertOpToLLVMPattern(converter, /*benefit=*/2) {}
  LogicalResult matchAndRewrite(arith::DivFOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const final {
    Type type = op.getType();
    if (type.isF64() || !isa<FloatType>(type))
      return rewriter.notifyMatchFailure(op, "not a narrow scalar division");
    Location loc = op.getLoc();
    Type f32 = rewriter.getF32Type();
    if (type == f32 && isPrecise(op)) {
      Value quotient = intrinsic(rewriter, loc, "llvm.nvvm.div.rn.f", f32, adaptor.getOperands());
      rewriter.replaceOp(op, quotient);
      return success();
    }
    auto widen = [&](Value x) {
      return type == f32 ? x : LLVM::FPExtOp::create(rewriter, loc, f32, x).getResult();
    };
    Value quotient = inlinePtx(rewriter, loc, "div.full.f32 $0, $1, $2;", "=f,f,f", f32,
                               {widen(adaptor.getLhs()), widen(adaptor.getRhs())});
    if (type != f32)
      quotient = LLVM::FPTruncOp::create(rewriter, loc, type, quotient);
    rewriter.replaceOp(op, quotient);
    return success();
  }
};

} // namespace

void populateMathToPtxPatterns(const LLVMTypeConverter &converter, RewritePatternSet &patterns) {
  patterns
      .add<FastOrLibrary<math::ExpOp>, FastOrLibrary<math::Exp2Op>, FastOrLibrary<math::LogOp>,
           FastOrLibrary<math::Log2Op>, FastOrLibrary<math::Log10Op>, FastOrLibrary<math::SqrtOp>,
           FastOrLibrary<math::RsqrtOp>, FastOrLibrary<math::SinOp>, FastOrLibrary<math::CosOp>,
           FastOrLibrary<math::TanOp>, FastOrLibrary<math::TanhOp>, FastOrLibrary<math::ErfOp>,
           Renamed<math::AbsFOp, LLVM::FAbsOp>, Renamed<math::FmaOp, LLVM::FMAOp>,
           Renamed<math::FloorOp, LLVM::FFloorOp>, Renamed<math::CeilOp, LLVM::FCeilOp>,
           Renamed<math::TruncOp, LLVM::FTruncOp>, Renamed<math::RoundOp, LLVM::RoundOp>,
           Renamed<math::CtPopOp, LLVM::CtPopOp>, WithoutPoison<math::AbsIOp, LLVM::AbsOp>,
           WithoutPoison<math::CountLeadingZerosOp, LLVM::CountLeadingZerosOp>,
           WithoutPoison<math::CountTrailingZerosOp, LLVM::CountTrailingZerosOp>, Divide>(
          converter);
  patterns.add<Library<math::Log1pOp>>(converter, "log1p");
  patterns.add<Library<math::ExpM1Op>>(converter, "expm1");
  patterns.add<Power>(converter, /*benefit=*/2);
  patterns.add<Library<arith::RemFOp>>(converter, "fmod"); // exact, the sign of the dividend
}

} // namespace tile::codegen
