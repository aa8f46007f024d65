#include "passes/analysis/AxisInfo.h"

#include "ir/Annotations.h"
#include "ir/LayoutAttr.h"
#include "ir/TileDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"
#include <numeric>

using namespace mlir;

namespace tile::passes {

static constexpr int64_t kMostDivisible = int64_t(1) << 30;

int64_t powerOfTwoDivisor(int64_t value) {
  return value == 0 ? kMostDivisible : std::min(value & -value, kMostDivisible);
}

static ArrayRef<int64_t> shapeOrOne(Type type) {
  static const int64_t one[] = {1};
  auto shape = ir::shapeOf(type);
  return isa<RankedTensorType>(type) ? shape : ArrayRef<int64_t>(one);
}

static AxisInfo unknown(Type type) {
  AxisInfo info;
  info.dims.resize(shapeOrOne(type).size());
  return info;
}

// All elements equal: constant along every dimension.
static AxisInfo uniform(Type type, int64_t divisibility) {
  AxisInfo info;
  for (int64_t extent : shapeOrOne(type))
    info.dims.push_back({1, powerOfTwoDivisor(extent), divisibility});
  return info;
}

// The same values seen in runs of at most this length. Runs that start inside longer ones are divisible by less.
static AxisFacts cutRuns(AxisFacts facts, int64_t length) {
  if (facts.contiguity > length)
    facts = {length, facts.constancy, std::min(facts.divisibility, length)};
  return facts;
}

// What holds of both: for values that may be either.
static AxisInfo meet(const AxisInfo &a, const AxisInfo &b) {
  AxisInfo info = a;
  for (auto [x, y] : llvm::zip_equal(info.dims, b.dims)) {
    AxisFacts other = cutRuns(y, x.contiguity);
    x = cutRuns(x, other.contiguity);
    x.constancy = std::min(x.constancy, other.constancy);
    x.divisibility = std::min(x.divisibility, other.divisibility);
  }
  return info;
}

// Each element comes from one of two tiles: runs end where the condition may change.
static AxisInfo ofSelect(const AxisInfo &a, const AxisInfo &b, const AxisInfo *condition) {
  AxisInfo info = meet(a, b);
  for (size_t dim = 0; condition && dim < info.dims.size(); ++dim) {
    int64_t run = (*condition)[dim].constancy;
    info[dim] = cutRuns(info[dim], run);
    info[dim].constancy = std::min(info[dim].constancy, run);
  }
  return info;
}

// Another width of integer. A value can wrap around where runs of a length that divides their start begin, nowhere else.
static AxisInfo ofResized(AxisInfo info, Type from, Type to, bool isSigned) {
  unsigned narrow = std::min(from.getIntOrFloatBitWidth(), to.getIntOrFloatBitWidth());
  bool keepsValues = isSigned && to.getIntOrFloatBitWidth() >= from.getIntOrFloatBitWidth();
  for (AxisFacts &facts : info.dims) {
    if (to.isInteger(1)) // x != 0
      facts = {1, facts.constancy, 1};
    else if (!keepsValues)
      facts = cutRuns(facts, std::min(facts.divisibility, int64_t(1) << std::min(narrow - 1, 30u)));
  }
  return info;
}

static AxisInfo ofArange(int32_t start, int32_t end, AxisInfo info) {
  int64_t length = int64_t(end) - start, run = powerOfTwoDivisor(length);
  int64_t divisor = powerOfTwoDivisor(start);
  info[0] = {run, 1, run == length ? divisor : std::min(divisor, run)};
  return info;
}

// `x % c == 0`, assumed at the top of the kernel: every program gets there, so it holds everywhere.
static int64_t assumedDivisor(Value value) {
  int64_t divisor = 1;
  for (Operation *user : value.getUsers()) {
    APInt number;
    bool isRemainder = isa<arith::RemSIOp, arith::RemUIOp>(user) && user->getOperand(0) == value &&
                       matchPattern(user->getOperand(1), m_ConstantInt(&number));
    if (!isRemainder || !number.isStrictlyPositive())
      continue;
    for (Operation *next : user->getUsers()) {
      auto compare = dyn_cast<arith::CmpIOp>(next);
      bool isZeroTest =
          compare && compare.getPredicate() == arith::CmpIPredicate::eq &&
          (matchPattern(compare.getRhs(), m_Zero()) || matchPattern(compare.getLhs(), m_Zero()));
      if (isZeroTest && llvm::any_of(compare->getUsers(), [](Operation *op) {
            return isa<ir::AssumeOp>(op) && isa<func::FuncOp>(op->getParentOp());
          }))
        divisor = std::max(divisor, powerOfTwoDivisor(number.getSExtValue()));
    }
  }
  return divisor;
}

AxisInfo AxisInfoAnalysis::of(Value value) {
  if (auto it = assumed.find(value); it != assumed.end())
    return it->second;
  auto it = known.find(value);
  if (it != known.end())
    return it->second;
  known[value] = unknown(value.getType()); // cuts cycles through loops
  AxisInfo info = compute(value);
  if (value.getType().isInteger())
    info[0].divisibility = std::max(info[0].divisibility, assumedDivisor(value));
  known[value] = info;
  return info;
}

// A sum's runs of consecutive values: one side consecutive where the other is constant. What divides a run's first value
// divides both summands there; a summand that starts inside a run of its own is divisible by less.
AxisInfo AxisInfoAnalysis::ofAdd(Value lhs, Value rhs, int64_t rhsScale, bool isSubtraction) {
  AxisInfo a = of(lhs), b = of(rhs), info = unknown(lhs.getType());
  for (size_t dim = 0; dim < info.dims.size(); ++dim) {
    AxisFacts &facts = info[dim];
    int64_t leftRun = std::min(a[dim].contiguity, b[dim].constancy);
    int64_t rightRun = isSubtraction ? 1 : std::min(a[dim].constancy, b[dim].contiguity);
    facts.contiguity = std::max({int64_t(1), leftRun, rightRun});
    facts.constancy = std::min(a[dim].constancy, b[dim].constancy);
    // Cutting a run of n consecutive values into runs of m leaves starts divisible by m steps.
    int64_t unit = rhsScale;
    auto startDivisor = [&](const AxisFacts &side, int64_t scale) {
      int64_t whole = side.divisibility * scale;
      return side.contiguity > facts.contiguity ? std::min(whole, facts.contiguity * unit) : whole;
    };
    facts.divisibility =
        std::min({startDivisor(a[dim], 1), startDivisor(b[dim], rhsScale), kMostDivisible});
  }
  return info;
}

AxisInfo AxisInfoAnalysis::ofMultiply(Value lhs, Value rhs) {
  AxisInfo a = of(lhs), b = of(rhs), info = unknown(lhs.getType());
  APInt constant;
  bool byOne = matchPattern(rhs, m_ConstantInt(&constant)) && constant.isOne();
  for (size_t dim = 0; dim < info.dims.size(); ++dim) {
    // Inside a run of consecutive values only the first is known to be divisible.
    auto divisor = [&](const AxisFacts &facts) {
      return facts.contiguity > 1 && !byOne ? 1 : facts.divisibility;
    };
    info[dim].contiguity = byOne ? a[dim].contiguity : 1;
    info[dim].constancy = std::min(a[dim].constancy, b[dim].constancy);
    info[dim].divisibility = std::min(divisor(a[dim]) * divisor(b[dim]), kMostDivisible);
  }
  return info;
}

// A loop-carried value: what holds of the first value and, if it holds of one iteration's value, of the next one's.
AxisInfo AxisInfoAnalysis::ofCarried(Value argument, Value init, Value yielded) {
  constexpr size_t kMostAssumptions = 4; // each nests a trial in a trial
  if (assumed.size() == kMostAssumptions)
    return unknown(argument.getType());
  AxisInfo guess = of(init);
  for (int attempt = 0; attempt < 4; ++attempt) {
    AxisInfoAnalysis trial; // what is known by now may be a cut cycle
    trial.assumed = assumed;
    trial.assumed[argument] = guess;
    AxisInfo next = meet(guess, trial.of(yielded));
    if (next == guess)
      return guess;
    guess = next;
  }
  return unknown(argument.getType());
}

AxisInfo AxisInfoAnalysis::ofBlockArgument(BlockArgument argument) {
  Operation *parent = argument.getOwner()->getParentOp();
  if (auto function = dyn_cast<func::FuncOp>(parent))
    return uniform(argument.getType(),
                   powerOfTwoDivisor(ir::divisorOf(function, argument.getArgNumber())));
  auto loop = dyn_cast<scf::ForOp>(parent);
  if (!loop)
    return unknown(argument.getType());
  if (argument == loop.getInductionVar())
    return uniform(argument.getType(), std::min(of(loop.getLowerBound())[0].divisibility,
                                                of(loop.getStep())[0].divisibility));
  unsigned index = argument.getArgNumber() - 1;
  return ofCarried(argument, loop.getInitArgs()[index], loop.getYieldedValues()[index]);
}

// `offsets < bound`: within a run of consecutive offsets the answer can change only at a multiple of what divides both
// the run's start and the bound.
static AxisInfo ofComparison(const AxisInfo &lhs, const AxisInfo &rhs,
                             arith::CmpIPredicate predicate, Type type) {
  using P = arith::CmpIPredicate;
  AxisInfo info = unknown(type);
  bool changesAtBound =
      predicate == P::slt || predicate == P::ult || predicate == P::sge || predicate == P::uge;
  for (size_t dim = 0; dim < info.dims.size(); ++dim) {
    const AxisFacts &a = lhs[dim], &b = rhs[dim];
    info[dim].constancy = std::min(a.constancy, b.constancy);
    if (changesAtBound && a.contiguity > 1)
      info[dim].constancy = std::min(
          {std::max(a.contiguity, int64_t(1)), a.divisibility, b.constancy, b.divisibility});
  }
  return info;
}

// What divides every element, as far as one dimension tells.
static int64_t divisorOfAll(const AxisInfo &info, ArrayRef<int64_t> shape) {
  int64_t divisor = 1;
  for (auto [facts, extent] : llvm::zip_equal(info.dims, shape))
    if (facts.contiguity == 1 || extent == 1)
      divisor = std::max(divisor, facts.divisibility);
  return divisor;
}

// Dimensions in row-major order as one: the runs of the innermost, and constant runs through as many dimensions as are
// constant throughout.
static AxisFacts flattened(const AxisInfo &info, ArrayRef<int64_t> shape, ArrayRef<size_t> dims) {
  if (dims.size() == 1)
    return info[dims[0]];
  AxisFacts flat = cutRuns(info[dims.back()], powerOfTwoDivisor(shape[dims.back()]));
  flat.constancy = 1;
  for (size_t dim : llvm::reverse(dims)) {
    int64_t run = std::min(info[dim].constancy, powerOfTwoDivisor(shape[dim]));
    flat.constancy *= run;
    if (run != shape[dim])
      break;
  }
  return flat;
}

// One dimension as several in row-major order: runs stay in the innermost; a step of another one passes over all
// elements of those behind it.
static void unflatten(AxisFacts flat, AxisInfo &info, ArrayRef<int64_t> shape,
                      ArrayRef<size_t> dims) {
  if (dims.size() == 1) {
    info[dims[0]] = flat;
    return;
  }
  info[dims.back()] = cutRuns(flat, powerOfTwoDivisor(shape[dims.back()]));
  for (size_t dim : llvm::reverse(dims)) {
    info[dim].constancy = std::min(flat.constancy, powerOfTwoDivisor(shape[dim]));
    flat.constancy = flat.constancy % shape[dim] == 0 ? flat.constancy / shape[dim] : 1;
  }
}

static SmallVector<size_t> dimsOfSeveral(ArrayRef<int64_t> shape) {
  SmallVector<size_t> dims;
  for (auto [dim, extent] : llvm::enumerate(shape))
    if (extent != 1)
      dims.push_back(dim);
  return dims;
}

// The same elements in row-major order under other extents. Dimensions are matched in the smallest groups that have the
// same number of elements on both sides; extents of one belong to none.
static AxisInfo ofReshape(const AxisInfo &from, ArrayRef<int64_t> fromShape,
                          ArrayRef<int64_t> toShape) {
  AxisInfo info;
  info.dims.resize(toShape.size());
  SmallVector<size_t> sources = dimsOfSeveral(fromShape), targets = dimsOfSeveral(toShape);
  for (size_t s = 0, t = 0; s < sources.size();) {
    size_t sEnd = s, tEnd = t;
    int64_t sElements = fromShape[sources[sEnd++]], tElements = toShape[targets[tEnd++]];
    while (sElements != tElements)
      if (sElements < tElements)
        sElements *= fromShape[sources[sEnd++]];
      else
        tElements *= toShape[targets[tEnd++]];
    unflatten(flattened(from, fromShape, ArrayRef(sources).slice(s, sEnd - s)), info, toShape,
              ArrayRef(targets).slice(t, tEnd - t));
    s = sEnd, t = tEnd;
  }
  int64_t divisor = divisorOfAll(from, fromShape);
  for (AxisFacts &facts : info.dims)
    facts.divisibility = std::max(facts.divisibility, divisor);
  return info;
}

// What the program promises counts where it says more than is known.
static AxisInfo ofFacts(AxisInfo info, ir::FactsOp op) {
  auto set = [&](std::optional<ArrayRef<int64_t>> list, int64_t AxisFacts::*fact) {
    for (size_t dim = 0; list && dim < info.dims.size(); ++dim)
      info[dim].*fact = std::max(info[dim].*fact, powerOfTwoDivisor((*list)[dim]));
  };
  set(op.getMultiple(), &AxisFacts::divisibility);
  set(op.getContiguous(), &AxisFacts::contiguity);
  set(op.getConstancy(), &AxisFacts::constancy);
  return info;
}

static AxisInfo ofConstant(arith::ConstantOp op) {
  Attribute value = op.getValue();
  if (auto splat = dyn_cast<SplatElementsAttr>(value))
    value = splat.getSplatValue<Attribute>();
  auto integer = dyn_cast<IntegerAttr>(value);
  return uniform(op.getType(), integer ? powerOfTwoDivisor(integer.getValue().getSExtValue()) : 1);
}

AxisInfo AxisInfoAnalysis::compute(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return ofBlockArgument(argument);
  Type type = value.getType();
  return TypeSwitch<Operation *, AxisInfo>(value.getDefiningOp())
      .Case([&](arith::ConstantOp op) { return ofConstant(op); })
      .Case([&](ir::FactsOp op) { return ofFacts(of(op.getInput()), op); })
      .Case([&](ir::SplatOp op) { return uniform(type, of(op.getValue())[0].divisibility); })
      .Case([&](ir::ArangeOp op) {
        return ofArange(static_cast<int32_t>(op.getStart()), static_cast<int32_t>(op.getEnd()),
                        unknown(type));
      })
      .Case([&](arith::AddIOp op) { return ofAdd(op.getLhs(), op.getRhs(), 1, false); })
      .Case([&](arith::SubIOp op) { return ofAdd(op.getLhs(), op.getRhs(), 1, true); })
      .Case([&](arith::MulIOp op) { return ofMultiply(op.getLhs(), op.getRhs()); })
      .Case<arith::ExtSIOp, arith::ExtUIOp>([&](auto op) {
        Type from = ir::elementTypeOf(op.getIn().getType()), to = ir::elementTypeOf(type);
        return ofResized(of(op.getIn()), from, to, isa<arith::ExtSIOp>(op.getOperation()));
      })
      .Case([&](ir::ConvertOp op) {
        Type from = ir::elementTypeOf(op.getInput().getType()), to = ir::elementTypeOf(type);
        bool isSigned = !op.getSourceUnsigned() && !from.isInteger(1);
        bool bothInteger = isa<IntegerType>(from) && isa<IntegerType>(to);
        return bothInteger ? ofResized(of(op.getInput()), from, to, isSigned) : unknown(type);
      })
      .Case([&](ir::AddPtrOp op) {
        Type pointee = cast<ir::PtrType>(ir::elementTypeOf(type)).getPointeeType();
        return ofAdd(op.getPtr(), op.getOffset(), gpu::bytesOf(pointee), false);
      })
      .Case<ir::ExpandDimsOp, ir::ReshapeOp>([&](auto op) {
        return ofReshape(of(op.getInput()), ir::shapeOf(op.getInput().getType()),
                         ir::shapeOf(type));
      })
      .Case([&](ir::BroadcastOp op) {
        AxisInfo info = of(op.getInput());
        auto from = cast<RankedTensorType>(op.getInput().getType()),
             to = cast<RankedTensorType>(type);
        for (int64_t dim = 0; dim < to.getRank(); ++dim)
          if (from.getDimSize(dim) != to.getDimSize(dim))
            info[dim] = {1, powerOfTwoDivisor(to.getDimSize(dim)), info[dim].divisibility};
        return info;
      })
      .Case([&](ir::PermuteOp op) {
        AxisInfo from = of(op.getInput()), info = from;
        for (auto [i, dim] : llvm::enumerate(op.getOrder()))
          info[i] = from[dim];
        return info;
      })
      .Case([&](arith::CmpIOp op) {
        return ofComparison(of(op.getLhs()), of(op.getRhs()), op.getPredicate(), type);
      })
      .Case([&](arith::AndIOp op) {
        AxisInfo info = unknown(type), a = of(op.getLhs()), b = of(op.getRhs());
        for (size_t dim = 0; dim < info.dims.size(); ++dim)
          info[dim].constancy = std::min(a[dim].constancy, b[dim].constancy);
        return info;
      })
      .Case([&](arith::SelectOp op) {
        AxisInfo condition = of(op.getCondition());
        bool isTile = isa<RankedTensorType>(op.getCondition().getType());
        return ofSelect(of(op.getTrueValue()), of(op.getFalseValue()),
                        isTile ? &condition : nullptr);
      })
      .Case<arith::MinSIOp, arith::MaxSIOp, arith::MinUIOp>([&](auto op) {
        AxisInfo info = meet(of(op.getLhs()), of(op.getRhs()));
        for (AxisFacts &facts : info.dims)
          facts.contiguity = 1, facts.divisibility = std::min(facts.divisibility, kMostDivisible);
        bool bothUniform =
            llvm::all_of(op->getOperandTypes(), [](Type t) { return !isa<RankedTensorType>(t); });
        return bothUniform ? info : unknown(type);
      })
      .Case([&](scf::ForOp op) {
        unsigned index = cast<OpResult>(value).getResultNumber();
        return of(op.getRegionIterArg(index));
      })
      .Default([&](Operation *) {
        return isa<RankedTensorType>(type) ? unknown(type) : uniform(type, 1);
      });
}

} // namespace tile::passes
