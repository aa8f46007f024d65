// How matrix products are computed.
#include "ir/annotations/FunctionAnnotations.h"
#include "ir/annotations/VariantAnnotations.h"
#include "ir/instructions/Mma.h"
#include "ir/instructions/TensorCopy.h"
#include "passes/analysis/RunAhead.h"
#include "passes/staging/PromotedSums.h"
#include "passes/staging/WgmmaMemory.h"
#include "passes/variants/Variants.h"

using namespace mlir;

namespace tile::passes {

// --- wgmma ----------------------------------------------------------------------------------------

/// Registers of a thread that accumulators may take: the others hold what is left of the kernel.
constexpr int64_t kMostAccumulators = 192;

// Calls of what the driver offers, even behind the last wait, make the assembler wait after every
// instruction.
static bool callsDriver(func::FuncOp kernel) {
  return kernel
      .walk([](Operation *op) {
        return isa<ir::AssertOp, ir::PrintOp>(op) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

static Refusal refuseSizes(ir::DotOp dot, const ir::WgmmaInstruction &wgmma) {
  auto [batch, m, n, k] = dot.getSizes();
  if (m % ir::kWgmmaRows)
    return "M is " + std::to_string(m) + ", not a multiple of 64";
  if (k % wgmma.k)
    return "K is " + std::to_string(k) + ", not a multiple of " + std::to_string(wgmma.k);
  if (!wgmmaColumnsOf(dot, wgmma))
    return "N is " + std::to_string(n) + ", which " + std::to_string(ir::warpsOf(dot)) +
           " warps cannot share in whole instructions";
  int64_t tiles = accumulatorTiles(dot),
          registers = tiles * m * n / (ir::warpsOf(dot) * ir::kWarpSize);
  if (registers > kMostAccumulators)
    return "accumulators take " + std::to_string(registers) + " registers of a thread" +
           (tiles > 1 ? ", with the sums of 8-bit floats that are promoted" : "") + "; at most " +
           std::to_string(kMostAccumulators) + " leave room for the rest; use more warps" +
           (tiles > 1 ? ", or fast_accumulation" : "");
  return {};
}

static Refusal whyNotWgmma(ir::DotOp dot);

// Another product takes the result from registers as A, or through shared memory as B. One of
// another kind would want it as fragments of its own.
static Refusal whyNotForUsers(ir::DotOp dot) {
  for (OpOperand *use : dotsFedBy(dot.getResult()))
    if (Refusal why = whyNotWgmma(cast<ir::DotOp>(use->getOwner())))
      return std::string("the product that takes its result as ") +
             (use->getOperandNumber() ? "B" : "A") + " is none by wgmma: " + *why;
  return {};
}

// The instruction cuts off the low bits of f32. The copy engine rounds what it copies, for all who
// read the copy.
static Refusal whyNotRounded(OpOperand &operand) {
  std::string name = operand.getOperandNumber() ? "B" : "A";
  ir::ViewLoadOp load = loadBehind(operand.get());
  if (!load || gpu::loadVariantOf(load) != gpu::LoadVariant::Tma ||
      load->getBlock() != operand.getOwner()->getBlock())
    return name + " is not loaded by TMA in the dot's loop, which would round it to tf32";
  Value tile = load.getResult();
  while (tile.hasOneUse() && tile != operand.get())
    tile = tile.getUsers().begin()->getResult(0);
  if (tile != operand.get() || !tile.hasOneUse())
    return name + " is used elsewhere, too, where it may not be rounded to tf32";
  Refusal why;
  gpu::SmemType memory = wgmmaStagingType(operand);
  ArrayRef<int64_t> shape = ir::shapeOf(load.getResult().getType());
  if (memory && gpu::planTensorCopy(load, load.getView(), shape, memory, &why))
    return {};
  return name + " cannot be rounded by TMA: " + *why;
}

static Refusal whyNotOperand(OpOperand &operand, const ir::WgmmaInstruction &wgmma) {
  bool isRounded = wgmma.bits == 32;
  if (operand.getOperandNumber() == 0 && !isRounded && staysInRegisters(operand))
    return {}; // it stays in registers
  Refusal why;
  if (!wgmmaMemory(operand, &why))
    return why;
  return isRounded ? whyNotRounded(operand) : Refusal();
}

static Refusal whyNotWgmma(ir::DotOp dot) {
  std::optional<ir::WgmmaInstruction> wgmma = wgmmaFor(dot);
  if (!wgmma)
    return "no instruction for these types";
  if (dot.isBatched())
    return "the product has a batch dimension";
  if (ir::warpsOf(dot) % ir::kWarpsPerWarpgroup)
    return "the kernel has " + std::to_string(ir::warpsOf(dot)) +
           " warps, not a multiple of the four of a group";
  if (callsDriver(dot->getParentOfType<func::FuncOp>()))
    return "the kernel prints or asserts, which would make it wait after every instruction";
  if (Refusal sizes = refuseSizes(dot, *wgmma))
    return sizes;
  for (unsigned number : {0u, 1u})
    if (Refusal why = whyNotOperand(dot->getOpOperand(number), *wgmma))
      return why;
  return whyNotForUsers(dot);
}

static Refusal refuseWgmma(Operation *op, const ir::Target &) {
  auto dot = cast<ir::DotOp>(op);
  if (Refusal why = whyNotWgmma(dot))
    return "wgmma refused: " + *why;
  return {};
}

// --- mma.sync --------------------------------------------------------------------------------------

// The tensor core's instructions have a fixed shape, which the sizes must be multiples of. The
// shallowest K decides.
static Refusal refuseShape(ir::DotOp dot, const layout::MmaShape &mma) {
  auto [batch, m, n, k] = dot.getSizes();
  struct Need {
    const char *name;
    int64_t extent;
    int needed;
  };
  for (Need need : {Need{"M", m, mma.m}, Need{"N", n, mma.n}, Need{"K", k, mma.k}})
    if (need.extent % need.needed)
      return "mma_sync refused: " + std::string(need.name) + " is " + std::to_string(need.extent) +
             ", not a multiple of " + std::to_string(need.needed);
  return {};
}

static Refusal refuseMmaSync(Operation *op, const ir::Target &target) {
  auto dot = cast<ir::DotOp>(op);
  if (ir::needsMultiplyAdd(dot))
    return "mma_sync refused: f32 with precision ieee needs fused multiply-add";
  ArrayRef<ir::MmaInstruction> instructions = ir::mmaInstructionsFor(dot);
  if (instructions.empty() || !instructions.front().isOn(target))
    return "mma_sync refused: no instruction for these types on " + std::string(target.name);
  return refuseShape(dot, instructions.back().shape);
}

static const Variant<gpu::DotVariant> kDotVariants[] = {
    {gpu::DotVariant::Wgmma, refuseWgmma, &ir::Target::hasWgmma},
    {gpu::DotVariant::MmaSync, refuseMmaSync},
    {gpu::DotVariant::Fma, refuseNothing}};

ArrayRef<Variant<gpu::DotVariant>> dotVariants() { return kDotVariants; }

} // namespace tile::passes
