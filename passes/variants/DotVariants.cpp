// How matrix products are computed.
#include "ir/Annotations.h"
#include "ir/LayoutAttr.h"
#include "ir/Mma.h"
#include "ir/Wgmma.h"
#include "ir/layout/WgmmaOperand.h"
#include "passes/analysis/AxisInfo.h"
#include "passes/analysis/RunAhead.h"
#include "passes/variants/Variants.h"

using namespace mlir;

namespace tile::passes {

// --- wgmma ----------------------------------------------------------------------------------------

/// Registers of a thread that accumulators may take: the others hold what is left of the kernel.
constexpr int64_t kMostAccumulators = 192;

// Calls of what the driver offers, even behind the last wait, make the assembler wait after every instruction.
static bool callsDriver(func::FuncOp kernel) {
  return kernel
      .walk([](Operation *op) {
        return isa<ir::AssertOp, ir::PrintOp>(op) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

// The dimension of an operand along which the elements that its load finds as neighbours in memory lie. Changes of shape
// between the two only add and drop dimensions of extent 1.
static int32_t fastestDim(ir::ViewLoadOp load) {
  gpu::AccessAttr access = gpu::accessOf(load);
  int32_t dim = 0,
          fastest = access ? access.getOrder().front() : load.getView().getType().getRank() - 1;
  for (int32_t before = 0; before < fastest; ++before)
    dim += ir::shapeOf(load.getResult().getType())[before] != 1;
  return dim;
}

// Why an operand cannot be read where its load may put it in shared memory.
static Refusal refuseOperand(ir::DotOp dot, unsigned number, const ir::WgmmaInstruction &wgmma) {
  std::string name = number == 0 ? "A" : "B";
  ir::ViewLoadOp load = loadBehind(dot->getOperand(number));
  if (!load)
    return name + " is computed, not loaded";
  int32_t kDim = number == 0 ? 1 : 0, fastest = std::min(fastestDim(load), 1);
  if (fastest != kDim && !wgmma.takesMnMajor)
    return "neighbours of " + name + " in memory lie along " + (number == 0 ? "M" : "N") +
           "; for operands of 8 bits they must lie along K";
  ArrayRef<int64_t> shape = ir::shapeOf(dot->getOperand(number).getType());
  std::optional<layout::SharedLayout> memory =
      layout::wgmmaOperandMemory({shape[0], shape[1]}, {fastest, 1 - fastest}, wgmma.bits / 8);
  if (!memory)
    return "rows of " + name + " in memory are " +
           std::to_string(shape[static_cast<size_t>(fastest)] * wgmma.bits / 8) +
           " bytes, not a multiple of 32";
  return std::nullopt;
}

static Refusal refuseSizes(ir::DotOp dot, const ir::WgmmaInstruction &wgmma) {
  auto [batch, m, n, k] = dot.getSizes();
  if (m % ir::kWgmmaRows)
    return "M is " + std::to_string(m) + ", not a multiple of 64";
  if (k % wgmma.k)
    return "K is " + std::to_string(k) + ", not a multiple of " + std::to_string(wgmma.k);
  int64_t groups = ir::warpsOf(dot) / ir::kWarpsPerGroup,
          groupsOfRows = std::min(groups, powerOfTwoDivisor(m) / ir::kWgmmaRows);
  if (!ir::wgmmaColumns(wgmma, n, groups / groupsOfRows))
    return "N is " + std::to_string(n) + ", of which " + std::to_string(groups / groupsOfRows) +
           " groups of four warps have no whole instructions";
  int64_t registers = m * n / (groups * ir::kWarpsPerGroup * ir::kWarpSize);
  if (registers > kMostAccumulators)
    return "accumulators take " + std::to_string(registers) + " registers of a thread; at most " +
           std::to_string(kMostAccumulators) + " leave room for the rest; use more warps";
  return std::nullopt;
}

static Refusal whyNotWgmma(ir::DotOp dot) {
  auto wgmma = ir::findWgmma(ir::elementTypeOf(dot.getA().getType()),
                             ir::elementTypeOf(dot.getB().getType()),
                             ir::elementTypeOf(dot.getAcc().getType()), dot.getOperandsUnsigned());
  if (!wgmma)
    return "no instruction for these types";
  if (dot.isBatched())
    return "the product has a batch dimension";
  if (ir::warpsOf(dot) % ir::kWarpsPerGroup)
    return "the kernel has " + std::to_string(ir::warpsOf(dot)) +
           " warps, not a multiple of the four of a group";
  if (callsDriver(dot->getParentOfType<func::FuncOp>()))
    return "the kernel prints or asserts, which would make it wait after every instruction";
  if (feedsProduct(dot.getResult()))
    return "another product takes its result from registers";
  if (Refusal sizes = refuseSizes(dot, *wgmma))
    return sizes;
  for (unsigned number : {0u, 1u})
    if (Refusal operand = refuseOperand(dot, number, *wgmma))
      return operand;
  return std::nullopt;
}

static Refusal refuseWgmma(Operation *op, const ir::Target &) {
  Refusal why = whyNotWgmma(cast<ir::DotOp>(op));
  return why ? Refusal("wgmma refused: " + *why) : std::nullopt;
}

// --- mma.sync --------------------------------------------------------------------------------------

// The tensor core's instructions have a fixed shape, which the sizes must be multiples of. The shallowest K decides.
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
  return std::nullopt;
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

static const Variant kDotVariants[] = {
    {gpu::VariantKind::Wgmma, refuseWgmma, &ir::Target::hasWgmma},
    {gpu::VariantKind::MmaSync, refuseMmaSync},
    {gpu::VariantKind::Fma, refuseNothing}};

ArrayRef<Variant> dotVariants() { return kDotVariants; }

ArrayRef<Variant> variantsOf(Operation *op) {
  if (isa<ir::ViewLoadOp, ir::ViewStoreOp, ir::LoadOp, ir::StoreOp>(op))
    return copyVariants(op);
  if (isa<ir::DotOp>(op))
    return dotVariants();
  return {};
}

} // namespace tile::passes
