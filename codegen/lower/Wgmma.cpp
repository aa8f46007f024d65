// Dots by wgmma: one block of inline PTX issues a dot, another waits for it. In between the
// accumulators belong to the tensor core, so nothing may stand between the fence that hands them
// over and the last instruction.
#include "ir/instructions/Wgmma.h"

#include "codegen/InlinePtx.h"
#include "codegen/lower/Lowering.h"
#include "codegen/thread/Words.h"
#include "ir/layout/Fragments.h"
#include "ir/layout/WgmmaOperand.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tile::codegen {

namespace {

// The unit of addresses and strides in a descriptor.
constexpr int kDescriptorUnit = 16;

/// One instruction of the first warpgroup: its row, column and k, the byte offsets of its operands
/// from the tile's first element, and the registers of its accumulator. If A is in registers,
/// `startA` is the index of its first word.
struct Step {
  int32_t row, column;
  int64_t k;
  int64_t startA, startB;
  SmallVector<int32_t> sums;
};

/// Words of A per instruction and thread.
constexpr int64_t kWordsOfA = 4;

/// The instructions of a dot.
struct Product {
  ir::WgmmaInstruction wgmma;
  int64_t columns;                       ///< N of an instruction
  std::optional<layout::WgmmaOperand> a; ///< nothing if A is in registers
  layout::WgmmaOperand b;
  SmallVector<int32_t> fragmentsA; ///< A's registers in that case, in the order of the steps
  std::vector<Step> steps;
  /// Bytes that each bit of the warp number adds to the starts.
  SmallVector<int64_t> groupsA, groupsB;
};

Type elementOf(Value factor) {
  auto shared = dyn_cast<gpu::SmemType>(factor.getType());
  return shared ? shared.getElementType() : ir::elementTypeOf(factor.getType());
}

// Register i of an instruction holds row 8 (i / 2 % 2) and column i % 2 + 8 (i / 4), relative to
// the thread's first element.
std::optional<Step> stepAt(const Product &product, const layout::Layout &acc, int32_t row,
                           int32_t column, int64_t k) {
  Step step{
      row, column, k, product.a ? product.a->startOf(row, k) : 0, product.b.startOf(column, k), {}};
  for (int32_t i = 0; i < product.columns / 2; ++i) {
    auto reg = acc.registerAt({row + 8 * (i / 2 % 2), column + i % 2 + 8 * (i / 4)});
    if (!reg)
      return std::nullopt;
    step.sums.push_back(*reg);
  }
  return step;
}

// Word i of an instruction holds elements of row 8 (i % 2), in columns from 8 (i / 2) on (in units
// of 16 bits), relative to the thread's first element. Instructions with the same rows and k share
// their words.
bool addFragment(Product &product, const layout::Layout &left, Step &step) {
  int32_t perWord = 32 / product.wgmma.bits;
  SmallVector<int32_t> registers;
  for (int32_t i = 0; i < kWordsOfA; ++i)
    for (int32_t e = 0; e < perWord; ++e) {
      auto reg = left.registerAt(
          {step.row + 8 * (i % 2), static_cast<int32_t>(step.k) + 4 * perWord * (i / 2) + e});
      if (!reg)
        return false;
      registers.push_back(*reg);
    }
  for (size_t at = 0; at < product.fragmentsA.size(); at += registers.size())
    if (ArrayRef(product.fragmentsA).slice(at, registers.size()) == ArrayRef(registers)) {
      step.startA = static_cast<int64_t>(at) / perWord;
      return true;
    }
  step.startA = static_cast<int64_t>(product.fragmentsA.size()) / perWord;
  product.fragmentsA.append(registers);
  return true;
}

// Each warpgroup executes the instructions of the first, at other rows or columns: its descriptors
// are the first's plus an offset. False if its instructions start elsewhere.
bool addGroups(Product &product, const layout::Layout &acc) {
  constexpr int kBitsInGroup = 2;
  for (auto [bit, vector] : llvm::enumerate(acc.bases(layout::In::Warp))) {
    bool isGroup = bit >= kBitsInGroup;
    product.groupsA.push_back(isGroup && product.a ? product.a->startOf(vector[0], 0) : 0);
    product.groupsB.push_back(isGroup ? product.b.startOf(vector[1], 0) : 0);
  }
  for (int32_t warp = 0; warp < acc.numWarps(); warp += ir::kWarpsPerWarpgroup) {
    layout::Coords first = acc.applyLinear(layout::In::Warp, warp);
    int64_t a = 0, b = 0;
    for (size_t bit = 0; bit < product.groupsA.size(); ++bit)
      if (warp >> bit & 1)
        a ^= product.groupsA[bit], b ^= product.groupsB[bit];
    for (const Step &step : product.steps)
      if ((product.a && product.a->startOf(step.row + first[0], step.k) != step.startA + a) ||
          product.b.startOf(step.column + first[1], step.k) != step.startB + b)
        return false;
  }
  return true;
}

Refusal whyNotAlongK(const ir::WgmmaInstruction &wgmma, const layout::WgmmaOperand &operand) {
  if (wgmma.takesMnMajor || operand.isKMajor)
    return {};
  return "operands of " + std::to_string(wgmma.bits) +
         " bits must have their neighbours in memory along K";
}

// Finds A; refuses if the instructions cannot take it from there.
Refusal placeA(Product &product, gpu::DotAsyncOp dot) {
  if (dot.takesAFromRegisters())
    return {};
  Refusal why;
  auto shared = cast<gpu::SmemType>(dot.getA().getType());
  product.a = layout::matchWgmmaOperand(gpu::sharedOf(shared), dot.getOuterDimOfA(), ir::kWgmmaRows,
                                        product.wgmma.k, product.wgmma.bits / 8, &why);
  return product.a ? whyNotAlongK(product.wgmma, *product.a) : why;
}

bool addSteps(Product &product, gpu::DotAsyncOp dot, const layout::Layout &acc) {
  auto [first, end] = dot.getSpan();
  for (int64_t k = first; k < end; k += product.wgmma.k)
    for (int32_t row : layout::instructionStarts(acc, 0, ir::kWgmmaRows))
      for (int32_t column : layout::instructionStarts(acc, 1, product.columns)) {
        std::optional<Step> step = stepAt(product, acc, row, column, k);
        if (!step || (dot.takesAFromRegisters() &&
                      !addFragment(product, gpu::layoutOf(dot.getA().getType()), *step)))
          return false;
        product.steps.push_back(std::move(*step));
      }
  return true;
}

std::optional<Product> planProduct(gpu::DotAsyncOp dot, Refusal *why) {
  gpu::SmemType b = dot.getB().getType();
  RankedTensorType tile = dot.getResult().getType().getTile();
  layout::Layout acc = gpu::layoutOf(tile);
  auto wgmma = ir::findWgmma(elementOf(dot.getA()), b.getElementType(), tile.getElementType(),
                             dot.getOperandsUnsigned());
  const char *noInstruction = "no instruction for these types and sizes";
  auto [first, end] = dot.getSpan();
  if (!wgmma || tile.getShape()[0] % ir::kWgmmaRows || first % wgmma->k || end % wgmma->k)
    return refuse(why, noInstruction);
  int64_t columns =
      ir::wgmmaColumns(*wgmma, dot.getColumns(), gpu::warpsAlong(gpu::encodingOf(tile), 1));
  if (!columns)
    return refuse(why, noInstruction);
  int bytes = wgmma->bits / 8;
  auto right = layout::matchWgmmaOperand(gpu::sharedOf(b), dot.getOuterDimOfB(), columns, wgmma->k,
                                         bytes, why);
  if (!right)
    return std::nullopt;
  if (Refusal across = whyNotAlongK(*wgmma, *right))
    return refuse(why, std::move(across));
  Product product{*wgmma, columns, {}, *right, {}, {}, {}, {}};
  if (Refusal noA = placeA(product, dot))
    return refuse(why, std::move(noA));
  if (!addSteps(product, dot, acc) || !addGroups(product, acc))
    return refuse(why, "accumulator and left operand are not laid out as those of an instruction "
                       "of four warps");
  return product;
}

/// Bits 32 and up of a descriptor: the stride and the swizzle.
uint32_t upperWord(const layout::WgmmaOperand &operand) {
  constexpr int kSwizzleBit = 30;
  uint32_t mode = operand.swizzleBytes == 128 ? 1 : operand.swizzleBytes == 64 ? 2 : 3;
  return static_cast<uint32_t>(operand.strideBytes / kDescriptorUnit) | mode << kSwizzleBit;
}

// The descriptor of the tile's first instruction in this warpgroup.
Value descriptor(Lowering &l, Location loc, Value memory, const layout::WgmmaOperand &operand,
                 ArrayRef<int64_t> groups) {
  constexpr int kLeadingBit = 16;
  SharedSpace::Place place = l.shared.placeOf(memory);
  Value offset =
      arith::AddIOp::create(l.b, loc, l.coordinates.warpLinear(groups), l.i32(place.offset));
  if (place.moved)
    offset = arith::AddIOp::create(l.b, loc, offset, place.moved);
  Value address = LLVM::PtrToIntOp::create(l.b, loc, l.b.getI32Type(), l.shared.pointer(offset));
  // Above its 18 bits a shared-memory address has the rank of its block in the cluster.
  constexpr int32_t kAddressBits = (1 << 18) - 1;
  if (l.threads.cluster() > 1)
    address = arith::AndIOp::create(l.b, loc, address, l.i32(kAddressBits));
  Value lower = arith::ShRUIOp::create(l.b, loc, address, l.i32(4));
  lower = arith::OrIOp::create(l.b, loc, lower,
                               l.i32(operand.leadingBytes / kDescriptorUnit << kLeadingBit));
  Type wide = l.b.getI64Type();
  Value upper = l.integer(64, static_cast<int64_t>(uint64_t(upperWord(operand)) << 32));
  return arith::OrIOp::create(l.b, loc, arith::ExtUIOp::create(l.b, loc, wide, lower), upper);
}

/// The number of words of A in registers.
size_t wordsOfA(const Product &product) {
  return product.fragmentsA.size() * static_cast<size_t>(product.wgmma.bits) / 32;
}

/// Do the first instructions add to the accumulator, or set it?
enum class Begin { Add, Set, SetIfReset };

// Until a wait the words of A belong to the tensor core, like the accumulators: the block copies
// them to registers that no other instruction names. ptxas emits moves only for words that are also
// used elsewhere.
std::string copiesOfA(const Product &product, size_t numSums) {
  std::string text;
  for (size_t word = 0; word < wordsOfA(product); ++word) {
    std::string name = "w" + std::to_string(word);
    text += ".reg .b32 " + name + ";\n\tmov.b32 " + name + ", $" +
            std::to_string(numSums + 1 + word) + ";\n\t";
  }
  return text;
}

std::string wordList(int64_t first) {
  std::string text = "{";
  for (int64_t word = first; word < first + kWordsOfA; ++word)
    text += (word > first ? ", w" : "w") + std::to_string(word);
  return text + "}";
}

/// The inline PTX. Its operands are the accumulators, then B's descriptor, A's descriptor or words,
/// and a word that is not 0 if the accumulators are reset.
std::string textOf(const Product &product, size_t numSums, Begin begin) {
  auto operand = [&](size_t number) { return "$" + std::to_string(numSums + number); };
  bool isInteger = product.wgmma.acc == "s32";
  std::string tail = isInteger ? "" : ", 1, 1";
  if (product.wgmma.takesMnMajor && product.a)
    tail += product.a->isKMajor ? ", 0" : ", 1";
  if (product.wgmma.takesMnMajor)
    tail += product.b.isKMajor ? ", 0" : ", 1";
  std::string text = "{\n\t.reg .pred add, set;\n\t.reg .b64 a, b;\n\t"
                     "setp.eq.u32 add, 0, 0;\n\tsetp." +
                     (begin == Begin::SetIfReset
                          ? "eq.u32 set, " + operand(1 + (product.a ? 1 : wordsOfA(product)))
                          : std::string("ne.u32 set, 0")) +
                     ", 0;\n\t" + copiesOfA(product, numSums) + "wgmma.fence.sync.aligned;\n\t";
  for (const Step &step : product.steps) {
    std::string a = "a";
    if (product.a)
      text += "add.s64 a, " + operand(1) + ", " + std::to_string(step.startA / kDescriptorUnit) +
              ";\n\t";
    else
      a = wordList(step.startA);
    text +=
        "add.s64 b, " + operand(0) + ", " + std::to_string(step.startB / kDescriptorUnit) + ";\n\t";
    text += product.wgmma.name(product.columns) + " {";
    for (auto [i, reg] : llvm::enumerate(step.sums))
      text += (i ? ", $" : "$") + std::to_string(reg);
    text += "}, " + a + ", b, " +
            (begin != Begin::Add && step.k == product.steps.front().k ? "set" : "add") + tail +
            ";\n\t";
  }
  return text + "wgmma.commit_group.sync.aligned;\n\t}";
}

// Inline PTX that takes `others` and updates `sums` in place.
Registers inPlace(Lowering &l, Location loc, StringRef text, const Registers &sums,
                  ValueRange others) {
  Type word = sums.front().getType();
  std::string letter = word.isF32() ? "f" : "r", constraints;
  for (size_t i = 0; i < sums.size(); ++i)
    constraints += (i ? ",=" : "=") + letter;
  for (Value other : others)
    constraints += other.getType().isInteger(64) ? ",l" : ",r";
  for (size_t i = 0; i < sums.size(); ++i)
    constraints += "," + std::to_string(i);
  SmallVector<Value> operands(others);
  llvm::append_range(operands, sums);
  auto type =
      LLVM::LLVMStructType::getLiteral(l.b.getContext(), SmallVector<Type>(sums.size(), word));
  Value all = inlineMemoryPtx(l.b, loc, text, constraints, type, operands).getRes();
  Registers results;
  for (size_t i = 0; i < sums.size(); ++i)
    results.push_back(LLVM::ExtractValueOp::create(l.b, loc, all, i));
  return results;
}

SmallVector<Value> valuesOfA(Lowering &l, gpu::DotAsyncOp dot, const Product &product) {
  const Registers &tile = l[dot.getA()];
  SmallVector<Value> elements;
  for (int32_t reg : product.fragmentsA)
    elements.push_back(tile[reg]);
  return packWords(l, dot.getLoc(), elements).values;
}

LogicalResult lowerDotAsync(Lowering &l, gpu::DotAsyncOp dot) {
  Location loc = dot.getLoc();
  Refusal why;
  if (!l.target.hasWgmma)
    return dot.emitOpError("needs wgmma, which ") << l.target.name << " does not have";
  std::optional<Product> product = planProduct(dot, &why);
  if (!product)
    return dot.emitOpError(*why);
  if ((product->a && !SharedSpace::hasPlace(dot.getA())) || !SharedSpace::hasPlace(dot.getB()))
    return dot.emitOpError("needs memory of a tilegpu.smem_alloc");
  Registers sums = l[dot.getAcc()];
  bool isFromZero =
      matchPattern(dot.getAcc(), m_AnyZeroFloat()) || matchPattern(dot.getAcc(), m_Zero());
  Begin begin = isFromZero ? Begin::Set : dot.getReset() ? Begin::SetIfReset : Begin::Add;
  if (isFromZero) // the first instructions set them: no register is cleared
    for (Value &sum : sums)
      sum = LLVM::PoisonOp::create(l.b, loc, sum.getType());
  SmallVector<Value> factors = {descriptor(l, loc, dot.getB(), product->b, product->groupsB)};
  if (product->a)
    factors.push_back(descriptor(l, loc, dot.getA(), *product->a, product->groupsA));
  else
    llvm::append_range(factors, valuesOfA(l, dot, *product));
  if (begin == Begin::SetIfReset)
    factors.push_back(arith::ExtUIOp::create(l.b, loc, l.b.getI32Type(), l.scalar(dot.getReset())));
  l.set(dot.getResult(), inPlace(l, loc, textOf(*product, sums.size(), begin), sums, factors));
  return success();
}

LogicalResult lowerDotBegin(Lowering &l, gpu::DotBeginOp begin) {
  l.set(begin.getResult(), l[begin.getTile()]);
  return success();
}

// Groups complete in order: after a wait that leaves no more of them in flight there is nothing to
// wait for.
bool isOver(gpu::DotWaitOp wait) {
  for (Operation *op = wait->getPrevNode(); op; op = op->getPrevNode()) {
    if (isa<gpu::DotAsyncOp>(op) || op->getNumRegions())
      return false;
    if (auto earlier = dyn_cast<gpu::DotWaitOp>(op))
      return earlier.getPending() <= wait.getPending();
  }
  return false;
}

// Even a block without an instruction redefines the accumulators, so that their users stay after
// the wait.
LogicalResult lowerDotWait(Lowering &l, gpu::DotWaitOp wait) {
  std::string text = "wgmma.wait_group.sync.aligned " + std::to_string(wait.getPending()) + ";";
  if (isOver(wait))
    text.clear();
  l.set(wait.getResult(), inPlace(l, wait.getLoc(), text, l[wait.getSums()], {}));
  return success();
}

LogicalResult lowerProxyFence(Lowering &l, gpu::ProxyFenceOp fence) {
  NVVM::FenceProxyOp::create(
      l.b, fence.getLoc(), NVVM::ProxyKind::async_shared,
      NVVM::SharedSpaceAttr::get(l.b.getContext(), NVVM::SharedSpace::shared_cta));
  return success();
}

constexpr LoweringRow kLowerings[] = {
    on<gpu::DotAsyncOp, lowerDotAsync>,
    on<gpu::DotBeginOp, lowerDotBegin>,
    on<gpu::DotWaitOp, lowerDotWait>,
    on<gpu::ProxyFenceOp, lowerProxyFence>,
};

} // namespace

LoweringTable wgmmaLowerings() { return kLowerings; }

} // namespace tile::codegen
