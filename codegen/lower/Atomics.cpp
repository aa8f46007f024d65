// Atomics: inline PTX, since LLVM drops the order and the scope of its own atomic instructions. Of
// the threads that hold an element the first does its step; what the others hold is undefined until
// the result is exchanged, which ExpandScratch makes explicit.
#include "codegen/InlinePtx.h"
#include "codegen/lower/GlobalAccess.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace tile::codegen {

namespace {

/// Emits the steps of one operation on global memory.
class AtomicEmitter {
public:
  AtomicEmitter(Lowering &l, Location loc, ir::MemoryOrder order, ir::MemoryScope scope,
                ir::Eviction evict, Type element)
      : l_(l), loc_(loc), element_(element), bits_(element.getIntOrFloatBitWidth()),
        prefix_(
            ("atom." + stringifyMemoryOrder(order) + "." + stringifyMemoryScope(scope) + ".global.")
                .str()),
        policy_(evict == ir::Eviction::Normal ? Value() : makePolicy(evict)) {}

  Value update(ir::AtomicKind kind, Value pointer, Value value, Value predicate) {
    if (element_.isBF16())
      return fromBits(addBfloat(pointer, toBits(value), predicate));
    bool isMinMax = kind == ir::AtomicKind::Min || kind == ir::AtomicKind::Max;
    if (isMinMax && isa<FloatType>(element_))
      return fromBits(floatMinMax(kind == ir::AtomicKind::Max, pointer, toBits(value), predicate));
    return fromBits(emit(instruction(kind), pointer, {toBits(value)}, predicate, undefined()));
  }

  Value compareAndSwap(Value pointer, Value expected, Value desired, Value predicate) {
    return fromBits(emit("cas.b" + std::to_string(bits_), pointer,
                         {toBits(expected), toBits(desired)}, predicate, undefined()));
  }

private:
  // What atomics take instead of an eviction priority: a policy for all of the accesses.
  Value makePolicy(ir::Eviction evict) {
    std::string text =
        "createpolicy.fractional.L2::evict_" + stringifyEviction(evict).str() + ".b64 $0, 1.0;";
    return inlinePtx(l_.b, loc_, text, "=l", l_.b.getI64Type(), {});
  }

  // "add.u32" with the mark that a policy follows the operands: "add.L2::cache_hint.u32".
  std::string hinted(std::string operation) {
    if (policy_)
      operation.insert(operation.rfind('.'), ".L2::cache_hint");
    return operation;
  }

  std::string instruction(ir::AtomicKind kind) {
    std::string width = std::to_string(bits_);
    switch (kind) {
    case ir::AtomicKind::Add:
      if (element_.isF16())
        return "add.noftz.f16";
      return (isa<FloatType>(element_) ? "add.f" : "add.u") + width;
    case ir::AtomicKind::Min:
      return "min.s" + width;
    case ir::AtomicKind::Max:
      return "max.s" + width;
    case ir::AtomicKind::UMin:
      return "min.u" + width;
    case ir::AtomicKind::UMax:
      return "max.u" + width;
    case ir::AtomicKind::And:
      return "and.b" + width;
    case ir::AtomicKind::Or:
      return "or.b" + width;
    case ir::AtomicKind::Xor:
      return "xor.b" + width;
    case ir::AtomicKind::Xchg:
      break;
    }
    return "exch.b" + width;
  }

  // Bits of floats are ordered as signed integers among positive ones and reversed, as unsigned
  // integers, among negative ones, which as unsigned integers are above all positive ones. So the
  // sign of the value decides which of the two instructions is right, whatever memory holds.
  Value floatMinMax(bool isMax, Value pointer, Value value, Value predicate) {
    Value zero = l_.integer(bits_, 0);
    Value isNegative = arith::CmpIOp::create(l_.b, loc_, arith::CmpIPredicate::slt, value, zero);
    Value isPositive = arith::CmpIOp::create(l_.b, loc_, arith::CmpIPredicate::sge, value, zero);
    std::string width = std::to_string(bits_);
    Value old = emit((isMax ? "max.s" : "min.s") + width, pointer, {value},
                     bothTrue(l_, loc_, predicate, isPositive), undefined());
    return emit((isMax ? "min.u" : "max.u") + width, pointer, {value},
                bothTrue(l_, loc_, predicate, isNegative), old);
  }

  // Only sm_90 adds bf16 in one instruction; here the sum is offered until no other thread came in
  // between. A product with one is how sm_80 adds: the same single rounding.
  Value addBfloat(Value pointer, Value value, Value predicate) {
    std::string text = "{\n.reg .pred again;\n.reg .b16 one, seen, sum;\n";
    if (predicate)
      text += "@!$4 bra $$L_bf16_end_${:uid};\n";
    text += "mov.b16 one, 0x3F80;\n"
            "$$L_bf16_${:uid}:\n"
            "mov.b16 seen, $0;\n"
            "fma.rn.bf16 sum, seen, one, $3;\n" +
            prefix_ + "cas.b16 $0, [$2], seen, sum;\n" +
            "setp.ne.b16 again, $0, seen;\n"
            "@again bra $$L_bf16_${:uid};\n"
            "$$L_bf16_end_${:uid}:\n}";
    return emitText(text, pointer, {value}, predicate, undefined());
  }

  Value emit(const std::string &operation, Value pointer, ValueRange operands, Value predicate,
             Value old) {
    std::string text = prefix_ + hinted(operation) + " $0, [$2]";
    size_t next = 3;
    for (size_t i = 0; i < operands.size(); ++i)
      text += ", $" + std::to_string(next++);
    if (policy_)
      text += ", $" + std::to_string(next++);
    if (predicate)
      text = "@$" + std::to_string(next) + " " + text;
    return emitText(text + ";", pointer, operands, predicate, old);
  }

  // $0 is the result, $1 its value before (of threads that do nothing), $2 the pointer, then operands,
  // the policy and the predicate.
  Value emitText(StringRef text, Value pointer, ValueRange operands, Value predicate, Value old) {
    std::string letter = asmConstraint(bits_), constraints = "=" + letter + ",0,l";
    SmallVector<Value> inputs = {old, pointer};
    for (Value operand : operands) {
      constraints += "," + letter;
      inputs.push_back(operand);
    }
    if (policy_) {
      constraints += ",l";
      inputs.push_back(policy_);
    }
    if (predicate) {
      constraints += ",b";
      inputs.push_back(predicate);
    }
    return inlineMemoryPtx(l_.b, loc_, text, constraints, old.getType(), inputs).getRes();
  }

  Value undefined() { return l_.integer(bits_, 0); }
  Value toBits(Value value) {
    return isa<IntegerType>(element_)
               ? value
               : LLVM::BitcastOp::create(l_.b, loc_, l_.b.getIntegerType(bits_), value);
  }
  Value fromBits(Value value) {
    return isa<IntegerType>(element_) ? value
                                      : LLVM::BitcastOp::create(l_.b, loc_, element_, value);
  }

  Lowering &l_;
  Location loc_;
  Type element_;
  unsigned bits_;
  std::string prefix_; ///< "atom.acq_rel.gpu.global."
  Value policy_;       ///< of the second-level cache; null: its own
};

// Registers that repeat an element take the result of the one that did the step.
void repeatResults(const layout::Layout &layout, Registers &results) {
  std::map<layout::Coords, Value> byElement;
  for (auto [reg, value] : llvm::enumerate(results))
    if (value)
      byElement[layout.apply(static_cast<int32_t>(reg))] = value;
  for (auto [reg, value] : llvm::enumerate(results))
    value = byElement[layout.apply(static_cast<int32_t>(reg))];
}

// `step(register, pointer, predicate)` once an element of this thread.
template <class Step>
LogicalResult lowerSteps(Lowering &l, Operation *op, Value pointers, Value mask, Step step) {
  layout::Layout layout = gpu::layoutOf(op->getResult(0).getType());
  Value isFirst = l.coordinates.isFirstHolder(layout);
  uint32_t duplicates = layout.freeMask(layout::In::Register);
  Registers results(l[pointers].size());
  for (size_t reg = 0; reg < results.size(); ++reg)
    if (!(reg & duplicates))
      results[reg] = step(reg, l[pointers][reg],
                          bothTrue(l, op->getLoc(), isFirst, mask ? l[mask][reg] : Value()));
  if (duplicates)
    repeatResults(layout, results);
  l.set(op->getResult(0), std::move(results));
  return success();
}

LogicalResult lowerAtomicRmw(Lowering &l, Operation *op) {
  auto rmw = cast<ir::AtomicRmwOp>(op);
  AtomicEmitter emitter(l, op->getLoc(), rmw.getOrder(), rmw.getScope(), rmw.getEvict(),
                        ir::elementTypeOf(rmw.getValue().getType()));
  return lowerSteps(
      l, op, rmw.getPtr(), rmw.getMask(), [&](size_t reg, Value pointer, Value predicate) {
        return emitter.update(rmw.getKind(), pointer, l[rmw.getValue()][reg], predicate);
      });
}

LogicalResult lowerAtomicCas(Lowering &l, Operation *op) {
  auto cas = cast<ir::AtomicCasOp>(op);
  AtomicEmitter emitter(l, op->getLoc(), cas.getOrder(), cas.getScope(), ir::Eviction::Normal,
                        ir::elementTypeOf(cas.getResult().getType()));
  return lowerSteps(l, op, cas.getPtr(), cas.getMask(),
                    [&](size_t reg, Value pointer, Value predicate) {
                      return emitter.compareAndSwap(pointer, l[cas.getExpected()][reg],
                                                    l[cas.getDesired()][reg], predicate);
                    });
}

constexpr LoweringRow kLowerings[] = {
    on<ir::AtomicCasOp, lowerAtomicCas>,
    on<ir::AtomicRmwOp, lowerAtomicRmw>,
};

} // namespace

void addGlobal(Lowering &l, Location loc, const GlobalPlace &place, ValueRange elements) {
  constexpr size_t kMostAtOnce = 4;
  Type element = elements.front().getType();
  size_t count = element.isF32() && l.target.hasVectorAtomics ? kMostAtOnce : 1;
  AtomicEmitter one(l, loc, ir::MemoryOrder::Relaxed, ir::MemoryScope::Gpu, ir::Eviction::Normal,
                    element);
  for (GlobalPlace here = place; !elements.empty(); elements = elements.drop_front(count)) {
    count = std::min(count, elements.size());
    if (count > 1)
      writeAt(l, loc, here, "red.relaxed.gpu.global.add.v" + std::to_string(count) + ".f32",
              elements.take_front(count), "f");
    else
      one.update(ir::AtomicKind::Add, offsetPointer(l, loc, here), elements.front(),
                 here.predicate);
    here.byteOffset += static_cast<int64_t>(count) * gpu::bytesOf(element);
  }
}

LoweringTable atomicLowerings() { return kLowerings; }

} // namespace tile::codegen
