#include "passes/analysis/AxisInfo.h"

#include "ir/LayoutAttr.h"
#include "ir/annotations/FunctionAnnotations.h"
#include "ir/tile/TileDialect.h"
#include "passes/analysis/AxisRules.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tile::passes {

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
  if (auto it = assumed_.find(value); it != assumed_.end())
    return it->second;
  auto it = known_.find(value);
  if (it != known_.end())
    return it->second;
  known_[value] = axis::unknown(value.getType()); // cuts cycles through loops
  AxisInfo info = compute(value);
  if (value.getType().isInteger())
    info[0].divisibility = std::max(info[0].divisibility, assumedDivisor(value));
  known_[value] = info;
  return info;
}

// A sum's runs of consecutive values: one side consecutive where the other is constant. What
// divides a run's first value divides both summands there; a summand that starts inside a run of
// its own is divisible by less.
AxisInfo AxisInfoAnalysis::ofAdd(Value lhs, Value rhs, int64_t rhsScale, bool isSubtraction) {
  AxisInfo a = of(lhs), b = of(rhs), info = axis::unknown(lhs.getType());
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
        std::min({startDivisor(a[dim], 1), startDivisor(b[dim], rhsScale), axis::kMostDivisible});
  }
  return info;
}

AxisInfo AxisInfoAnalysis::ofMultiply(Value lhs, Value rhs) {
  AxisInfo a = of(lhs), b = of(rhs), info = axis::unknown(lhs.getType());
  APInt constant;
  bool byOne = matchPattern(rhs, m_ConstantInt(&constant)) && constant.isOne();
  for (size_t dim = 0; dim < info.dims.size(); ++dim) {
    // Inside a run of consecutive values only the first is known to be divisible.
    auto divisor = [&](const AxisFacts &facts) {
      return facts.contiguity > 1 && !byOne ? 1 : facts.divisibility;
    };
    info[dim].contiguity = byOne ? a[dim].contiguity : 1;
    info[dim].constancy = std::min(a[dim].constancy, b[dim].constancy);
    info[dim].divisibility = std::min(divisor(a[dim]) * divisor(b[dim]), axis::kMostDivisible);
  }
  return info;
}

// A loop-carried value: what holds of the first value and, if it holds of one iteration's value, of
// the next one's.
AxisInfo AxisInfoAnalysis::ofCarried(Value argument, Value init, Value yielded) {
  constexpr size_t kMostAssumptions = 4; // each nests a trial in a trial
  if (assumed_.size() == kMostAssumptions)
    return axis::unknown(argument.getType());
  AxisInfo guess = of(init);
  for (int attempt = 0; attempt < 4; ++attempt) {
    AxisInfoAnalysis trial; // what is known by now may be a cut cycle
    trial.assumed_ = assumed_;
    trial.assumed_[argument] = guess;
    AxisInfo next = axis::meet(guess, trial.of(yielded));
    if (next == guess)
      return guess;
    guess = next;
  }
  return axis::unknown(argument.getType());
}

AxisInfo AxisInfoAnalysis::ofBlockArgument(BlockArgument argument) {
  Operation *parent = argument.getOwner()->getParentOp();
  if (auto function = dyn_cast<func::FuncOp>(parent))
    return axis::uniform(argument.getType(),
                         powerOfTwoDivisor(ir::divisorOf(function, argument.getArgNumber())));
  auto loop = dyn_cast<scf::ForOp>(parent);
  if (!loop)
    return axis::unknown(argument.getType());
  if (argument == loop.getInductionVar())
    return axis::uniform(argument.getType(), std::min(of(loop.getLowerBound())[0].divisibility,
                                                      of(loop.getStep())[0].divisibility));
  unsigned index = argument.getArgNumber() - 1;
  return ofCarried(argument, loop.getInitArgs()[index], loop.getYieldedValues()[index]);
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
  return axis::uniform(op.getType(),
                       integer ? powerOfTwoDivisor(integer.getValue().getSExtValue()) : 1);
}

std::optional<AxisInfo> AxisInfoAnalysis::ofSource(Operation *op, Type type) {
  return TypeSwitch<Operation *, std::optional<AxisInfo>>(op)
      .Case([&](arith::ConstantOp op) { return ofConstant(op); })
      .Case([&](ir::FactsOp op) { return ofFacts(of(op.getInput()), op); })
      .Case([&](ir::ArangeOp op) {
        return axis::arange(static_cast<int32_t>(op.getStart()), static_cast<int32_t>(op.getEnd()),
                            axis::unknown(type));
      })
      .Default(std::nullopt);
}

std::optional<AxisInfo> AxisInfoAnalysis::ofArithmetic(Operation *op, Type type) {
  return TypeSwitch<Operation *, std::optional<AxisInfo>>(op)
      .Case([&](arith::AddIOp op) { return ofAdd(op.getLhs(), op.getRhs(), 1, false); })
      .Case([&](arith::SubIOp op) { return ofAdd(op.getLhs(), op.getRhs(), 1, true); })
      .Case([&](arith::MulIOp op) { return ofMultiply(op.getLhs(), op.getRhs()); })
      .Case([&](ir::AddPtrOp op) {
        Type pointee = cast<ir::PtrType>(ir::elementTypeOf(type)).getPointeeType();
        return ofAdd(op.getPtr(), op.getOffset(), gpu::bytesOf(pointee), false);
      })
      .Case<arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp>([&](auto op) {
        Type from = ir::elementTypeOf(op.getIn().getType()), to = ir::elementTypeOf(type);
        return axis::resized(of(op.getIn()), from, to, isa<arith::ExtSIOp>(op.getOperation()));
      })
      .Case([&](ir::ConvertOp op) {
        Type from = ir::elementTypeOf(op.getInput().getType()), to = ir::elementTypeOf(type);
        bool isSigned = !op.getSourceUnsigned() && !from.isInteger(1);
        bool bothInteger = isa<IntegerType>(from) && isa<IntegerType>(to);
        return bothInteger ? axis::resized(of(op.getInput()), from, to, isSigned)
                           : axis::unknown(type);
      })
      .Default(std::nullopt);
}

std::optional<AxisInfo> AxisInfoAnalysis::ofChoice(Operation *op, Type type) {
  return TypeSwitch<Operation *, std::optional<AxisInfo>>(op)
      .Case([&](arith::CmpIOp op) {
        return axis::comparison(of(op.getLhs()), of(op.getRhs()), op.getPredicate(), type);
      })
      .Case([&](arith::AndIOp op) {
        AxisInfo info = axis::unknown(type), a = of(op.getLhs()), b = of(op.getRhs());
        for (size_t dim = 0; dim < info.dims.size(); ++dim)
          info[dim].constancy = std::min(a[dim].constancy, b[dim].constancy);
        return info;
      })
      .Case([&](arith::SelectOp op) {
        AxisInfo condition = of(op.getCondition());
        bool isTile = isa<RankedTensorType>(op.getCondition().getType());
        return axis::select(of(op.getTrueValue()), of(op.getFalseValue()),
                            isTile ? &condition : nullptr);
      })
      .Case<arith::MinSIOp, arith::MaxSIOp, arith::MinUIOp>([&](auto op) {
        AxisInfo info = axis::meet(of(op.getLhs()), of(op.getRhs()));
        for (AxisFacts &facts : info.dims)
          facts.contiguity = 1,
          facts.divisibility = std::min(facts.divisibility, axis::kMostDivisible);
        return isa<RankedTensorType>(type) ? axis::unknown(type) : info;
      })
      .Default(std::nullopt);
}

std::optional<AxisInfo> AxisInfoAnalysis::ofShape(Operation *op, Type type) {
  return TypeSwitch<Operation *, std::optional<AxisInfo>>(op)
      .Case([&](ir::SplatOp op) { return axis::uniform(type, of(op.getValue())[0].divisibility); })
      .Case<ir::ExpandDimsOp, ir::ReshapeOp>([&](auto op) {
        return axis::reshaped(of(op.getInput()), ir::shapeOf(op.getInput().getType()),
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
      .Default(std::nullopt);
}

AxisInfo AxisInfoAnalysis::compute(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return ofBlockArgument(argument);
  Operation *op = value.getDefiningOp();
  Type type = value.getType();
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return of(loop.getRegionIterArg(cast<OpResult>(value).getResultNumber()));
  using Group = std::optional<AxisInfo> (AxisInfoAnalysis::*)(Operation *, Type);
  for (Group group : {&AxisInfoAnalysis::ofSource, &AxisInfoAnalysis::ofArithmetic,
                      &AxisInfoAnalysis::ofChoice, &AxisInfoAnalysis::ofShape})
    if (std::optional<AxisInfo> info = (this->*group)(op, type))
      return *info;
  return isa<RankedTensorType>(type) ? axis::unknown(type) : axis::uniform(type, 1);
}

} // namespace tile::passes
