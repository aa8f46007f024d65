// Asserts and prints call what the driver offers device code, __assertfail and vprintf; facts and assumptions are their
// operands by now.
#include "codegen/lower/GlobalAccess.h"

#include "ir/UserError.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace tile::codegen {

namespace {

constexpr int64_t kMaxRank = 8; // of a tile

LLVM::LLVMPointerType genericPointer(Lowering &l) {
  return LLVM::LLVMPointerType::get(l.b.getContext());
}

// Runs `body` in the threads where the condition holds.
template <class Body> void inThreadsWhere(Lowering &l, Location loc, Value condition, Body body) {
  if (!condition)
    return body();
  auto branch = scf::IfOp::create(l.b, loc, condition, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(l.b);
  l.b.setInsertionPointToStart(branch.thenBlock());
  body();
}

LogicalResult refuseName(Operation *op, StringRef name) {
  return ir::userError(op->emitOpError(), ErrorCode::InvalidArgument)
         << "cannot call " << name << ": the kernel has another function of that name; rename it";
}

LogicalResult lowerAssert(Lowering &l, Operation *op) {
  auto assertion = cast<ir::AssertOp>(op);
  Location loc = op->getLoc();
  Value holds;
  for (Value part : l[assertion.getCondition()])
    holds = bothTrue(l, loc, holds, part);
  Type pointer = genericPointer(l), i32 = l.b.getI32Type(), i64 = l.b.getI64Type();
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(l.b.getContext()),
                                          {pointer, pointer, i32, pointer, i64});
  LLVM::LLVMFuncOp fail = l.module.externalFunction("__assertfail", type);
  if (!fail)
    return refuseName(op, "__assertfail");
  std::string file = "unknown";
  int64_t line = 0;
  if (auto place = loc->findInstanceOf<FileLineColLoc>())
    file = place.getFilename().str(), line = place.getLine();
  Value fails = arith::XOrIOp::create(l.b, loc, holds, l.integer(1, 1));
  inThreadsWhere(l, loc, fails, [&] {
    Value operands[] = {l.module.textAddress(assertion.getMessage()), l.module.textAddress(file),
                        l.i32(line), l.module.textAddress("kernel"), l.integer(64, 1)};
    LLVM::CallOp::create(l.b, loc, fail, operands);
  });
  return success();
}

// The conversion that vprintf knows for an element, and the element as C passes it.
struct Printed {
  std::string conversion;
  Value value;
};

Printed printedForm(Lowering &l, Location loc, Value value, bool isUnsigned, bool hex) {
  Type type = value.getType();
  if (isa<FloatType>(type)) {
    if (!type.isF64())
      value = arith::ExtFOp::create(l.b, loc, l.b.getF64Type(), value);
    return {"%g", value};
  }
  unsigned bits = type.getIntOrFloatBitWidth();
  if (bits == 64)
    return {hex ? "0x%016llx" : isUnsigned ? "%llu" : "%lld", value};
  if (bits < 32 && (isUnsigned || hex || bits == 1))
    value = arith::ExtUIOp::create(l.b, loc, l.b.getI32Type(), value);
  else if (bits < 32)
    value = arith::ExtSIOp::create(l.b, loc, l.b.getI32Type(), value);
  std::string digits = std::to_string(std::max(1u, bits / 4));
  return {hex ? "0x%0" + digits + "x" : isUnsigned ? "%u" : "%d", value};
}

/// One line of output: its format and the values it prints.
class Line {
public:
  void text(StringRef part) {
    for (char c : part)
      format_ += c == '%' ? std::string("%%") : std::string(1, c);
  }
  void value(Printed part) {
    format_ += part.conversion;
    values_.push_back(part.value);
  }

  LogicalResult print(Lowering &l, Operation *op, Value &buffer, int64_t bufferBytes) {
    Type pointer = genericPointer(l);
    LLVM::LLVMFuncOp vprintf = l.module.externalFunction(
        "vprintf", LLVM::LLVMFunctionType::get(l.b.getI32Type(), {pointer, pointer}));
    if (!vprintf)
      return refuseName(op, "vprintf");
    if (!buffer)
      buffer = l.module.localBuffer(bufferBytes);
    int64_t offset = 0;
    for (Value value : values_) {
      int64_t bytes = value.getType().getIntOrFloatBitWidth() / 8;
      offset = llvm::alignTo(offset, bytes);
      Value place = LLVM::GEPOp::create(l.b, op->getLoc(), pointer, l.b.getI8Type(), buffer,
                                        ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(offset)});
      LLVM::StoreOp::create(l.b, op->getLoc(), value, place);
      offset += bytes;
    }
    LLVM::CallOp::create(l.b, op->getLoc(), vprintf,
                         ValueRange{l.module.textAddress(format_ + "\n"), buffer});
    return success();
  }

private:
  std::string format_;
  SmallVector<Value> values_;
};

void addProgram(Lowering &l, Location loc, Line &line) {
  Type i32 = l.b.getI32Type();
  line.text("program (");
  line.value({"%d", NVVM::BlockIdXOp::create(l.b, loc, i32)});
  line.text(", ");
  line.value({"%d", NVVM::BlockIdYOp::create(l.b, loc, i32)});
  line.text(", ");
  line.value({"%d", NVVM::BlockIdZOp::create(l.b, loc, i32)});
  line.text(")");
}

LogicalResult printElement(Lowering &l, ir::PrintOp op, const layout::Layout *layout, size_t reg,
                           Value &buffer) {
  Location loc = op->getLoc();
  Line line;
  addProgram(l, loc, line);
  if (layout) {
    line.text(" [");
    for (int dim = 0; dim < layout->rank(); ++dim) {
      line.text(dim ? ", " : "");
      line.value({"%d", l.coordinates.of(*layout, dim, static_cast<int32_t>(reg))});
    }
    line.text("]");
  }
  line.text((" " + op.getPrefix() + (op.getValues().empty() ? "" : ": ")).str());
  for (auto [i, value] : llvm::enumerate(op.getValues())) {
    line.text(i ? ", " : "");
    line.value(printedForm(l, loc, l[value][reg], op.getUnsignedValues()[i], op.getHex()));
  }
  int64_t most = 8 * static_cast<int64_t>(3 + kMaxRank + op.getValues().size());
  return line.print(l, op, buffer, most);
}

// Each element once: by the first of the threads and registers that hold it; a scalar by thread 0.
LogicalResult lowerPrint(Lowering &l, Operation *op) {
  auto print = cast<ir::PrintOp>(op);
  Location loc = op->getLoc();
  Value buffer;
  LogicalResult printed = success();
  bool isTile = !print.getValues().empty() && isa<RankedTensorType>(print.getValues()[0].getType());
  if (!isTile) {
    Value isFirst =
        arith::CmpIOp::create(l.b, loc, arith::CmpIPredicate::eq, l.threads.id(), l.i32(0));
    inThreadsWhere(l, loc, isFirst, [&] { printed = printElement(l, print, nullptr, 0, buffer); });
    return printed;
  }
  layout::Layout layout = gpu::layoutOf(print.getValues()[0].getType());
  uint32_t duplicates = layout.freeMask(layout::In::Register);
  inThreadsWhere(l, loc, l.coordinates.isFirstHolder(layout), [&] {
    for (size_t reg = 0; reg < l[print.getValues()[0]].size(); ++reg)
      if (!(reg & duplicates) && succeeded(printed))
        printed = printElement(l, print, &layout, reg, buffer);
  });
  return printed;
}

LogicalResult lowerFacts(Lowering &l, Operation *op) {
  Registers registers = l[op->getOperand(0)];
  l.set(op->getResult(0), std::move(registers));
  return success();
}

LogicalResult lowerAssume(Lowering &l, Operation *op) {
  LLVM::AssumeOp::create(l.b, op->getLoc(), l.scalar(op->getOperand(0)));
  return success();
}

LogicalResult lowerDebugBarrier(Lowering &l, Operation *op) {
  NVVM::Barrier0Op::create(l.b, op->getLoc());
  return success();
}

constexpr LoweringRow kLowerings[] = {
    on<ir::AssertOp, lowerAssert>,
    on<ir::AssumeOp, lowerAssume>,
    on<ir::DebugBarrierOp, lowerDebugBarrier>,
    on<ir::FactsOp, lowerFacts>,
    on<ir::PrintOp, lowerPrint>,
};

} // namespace

LoweringTable debugLowerings() { return kLowerings; }

} // namespace tile::codegen
