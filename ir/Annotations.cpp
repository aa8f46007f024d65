#include "ir/Annotations.h"

#include "ir/gpu/WarpRoles.h"

#include "ir/gpu/DotLayouts.h"
#include "ir/target/Target.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace tile::ir {

ParamAttr paramOf(func::FuncOp function, unsigned argument) {
  return function.getArgAttrOfType<ParamAttr>(argument, kParamAttr);
}

int64_t divisorOf(func::FuncOp function, unsigned argument) {
  for (StringRef name : {kDivisibilityAttr, kAlignmentAttr})
    if (auto divisor = function.getArgAttrOfType<IntegerAttr>(argument, name))
      return divisor.getInt();
  return 1;
}

static int64_t numberOf(Operation *op, StringRef name, int64_t fallback) {
  auto function = dyn_cast<func::FuncOp>(op);
  if (!function)
    function = op->getParentOfType<func::FuncOp>();
  auto number = function ? function->getAttrOfType<IntegerAttr>(name) : IntegerAttr();
  return number ? number.getInt() : fallback;
}

int64_t warpsOf(Operation *op) { return numberOf(op, kWarpsAttr, kDefaultWarps); }
int64_t teamsOf(Operation *op) { return numberOf(op, kTeamsAttr, 1); }

int64_t clusterOf(Operation *op) { return numberOf(op, kClusterAttr, 1); }

} // namespace tile::ir

namespace tile::gpu {

namespace {

constexpr llvm::StringLiteral kAccessName = "tilegpu.access";
constexpr llvm::StringLiteral kVariantName = "tilegpu.variant";
constexpr llvm::StringLiteral kWarpGridName = "tilegpu.warp_grid";
constexpr llvm::StringLiteral kAFromRegistersName = "tilegpu.a_from_registers";
constexpr llvm::StringLiteral kKMajorName = "tilegpu.k_major";
constexpr llvm::StringLiteral kKWidthName = "tilegpu.k_width";
constexpr llvm::StringLiteral kLoopPlanName = "tilegpu.loop_plan";
constexpr llvm::StringLiteral kViewOfName = "tilegpu.view_of";
constexpr llvm::StringLiteral kTensorMapName = "tilegpu.tensor_map";
constexpr llvm::StringLiteral kSharedBytesName = "tilegpu.shared_bytes";
constexpr llvm::StringLiteral kTeamBytesName = "tilegpu.team_bytes";
constexpr llvm::StringLiteral kWorkspaceName = "tilegpu.workspace";
constexpr llvm::StringLiteral kTileStepName = "tilegpu.tile_step";

bool isViewAccess(Operation *op) {
  return isa<ir::ViewLoadOp, ir::ViewStoreOp, RingCopyOp, CopyAsyncOp, TensorCopyOp, TensorStoreOp>(
      op);
}

bool isCopy(Operation *op) { return isViewAccess(op) || isa<ir::LoadOp, ir::StoreOp>(op); }

// The tile that an access moves or names; null if it is a scalar or the operation no such access.
RankedTensorType accessedTile(Operation *op) {
  if (isa<ir::ViewLoadOp, ir::LoadOp>(op))
    return dyn_cast<RankedTensorType>(op->getResult(0).getType());
  if (isa<ir::ViewStoreOp, ir::StoreOp, ir::PrefetchOp>(op))
    return dyn_cast<RankedTensorType>(op->getOperand(0).getType());
  if (auto copy = dyn_cast<RingCopyOp>(op))
    return RankedTensorType::get(copy.getShape(), copy.getView().getType().getElementType());
  if (auto copy = dyn_cast<CopyAsyncOp>(op))
    return RankedTensorType::get(copy.getShape(), copy.getView().getType().getElementType());
  if (auto copy = dyn_cast<TensorCopyOp>(op))
    return RankedTensorType::get(copy.getShape(), copy.getView().getType().getElementType());
  if (auto store = dyn_cast<TensorStoreOp>(op))
    return RankedTensorType::get(store.getShape(), store.getView().getType().getElementType());
  return {};
}

LogicalResult verifyAccess(Operation *op, Attribute value) {
  auto access = dyn_cast<AccessAttr>(value);
  if (!access)
    return op->emitOpError() << kAccessName << " must be a #tilegpu.access<...>, got " << value;
  RankedTensorType tile = accessedTile(op);
  if (!tile)
    return op->emitOpError() << kAccessName << " belongs on a load, store or prefetch of a tile";
  auto rank = static_cast<size_t>(tile.getRank());
  if (access.getOrder().size() != rank)
    return op->emitOpError() << kAccessName << " orders " << access.getOrder().size()
                             << " dimensions of a tile of rank " << rank;
  if (isViewAccess(op) == access.getBounds().empty())
    return op->emitOpError() << kAccessName
                             << (isViewAccess(op) ? " needs the bounds of an access of a view"
                                                  : " has bounds, but pointers have none");
  return success();
}

LogicalResult verifyVariant(Operation *op, Attribute value) {
  auto variant = dyn_cast<VariantAttr>(value);
  if (!variant)
    return op->emitOpError() << kVariantName << " must be a #tilegpu.variant<...>, got " << value;
  if (!isCopy(op) && !isDot(op))
    return op->emitOpError() << kVariantName << " belongs on a copy or a product";
  VariantKind kind = variant.getKind();
  bool isStore = isa<ir::ViewStoreOp, ir::StoreOp, TensorStoreOp>(op),
       isOfCopies = kind == VariantKind::CpAsync || kind == VariantKind::Tma ||
                    kind == VariantKind::Quad || kind == VariantKind::Vector ||
                    kind == VariantKind::Scalar,
       isOfDots =
           kind == VariantKind::MmaSync || kind == VariantKind::Fma || kind == VariantKind::Wgmma;
  if (kind == VariantKind::CpAsync && isStore || kind == VariantKind::Quad && !isStore)
    return op->emitOpError() << (isStore ? "stores have" : "loads have") << " no variant '"
                             << stringifyVariantKind(kind) << "'";
  if (isCopy(op) ? isOfDots : isOfCopies)
    return op->emitOpError() << "has no variant '" << stringifyVariantKind(kind)
                             << "', which is of " << (isOfDots ? "products" : "copies");
  return success();
}

LogicalResult verifyWarpGrid(Operation *op, Attribute value) {
  if (!isa<WarpGridAttr>(value))
    return op->emitOpError() << kWarpGridName << " must be a #tilegpu.warp_grid<...>, got "
                             << value;
  if (!isDot(op))
    return op->emitOpError() << kWarpGridName << " belongs on a product";
  return success();
}

LogicalResult verifyAFromRegisters(Operation *op, Attribute value) {
  if (!isa<UnitAttr>(value) || !isDot(op))
    return op->emitOpError() << kAFromRegistersName << " belongs on a product, without a value";
  return success();
}

LogicalResult verifyKMajor(Operation *op, Attribute value) {
  auto majors = dyn_cast<DenseBoolArrayAttr>(value);
  if (!isa<ir::DotOp>(op) || variantOf(op) != VariantKind::Wgmma || !majors || majors.size() != 2)
    return op->emitOpError() << kKMajorName
                             << " must be array<i1: ...>, of a and b, on a tile.dot by wgmma";
  return success();
}

LogicalResult verifyKWidth(Operation *op, Attribute value) {
  auto width = dyn_cast<IntegerAttr>(value);
  if (!isa<ir::DotOp>(op) || variantOf(op) != VariantKind::MmaSync || !width ||
      !width.getType().isInteger(32) || width.getInt() < 1 ||
      !llvm::isPowerOf2_64(static_cast<uint64_t>(width.getInt())))
    return op->emitOpError() << kKWidthName
                             << " must be a power of two (i32) on a tile.dot by mma_sync";
  return success();
}

LogicalResult verifyLoopPlan(Operation *op, Attribute value) {
  if (!isa<LoopPlanAttr>(value))
    return op->emitOpError() << kLoopPlanName << " must be a #tilegpu.loop_plan<...>, got "
                             << value;
  if (!isa<scf::ForOp>(op))
    return op->emitOpError() << kLoopPlanName << " belongs on a loop";
  return success();
}

LogicalResult verifyViewOf(Operation *op, Attribute value) {
  auto viewOf = dyn_cast<ViewOfAttr>(value);
  auto view = dyn_cast<ir::MakeViewOp>(op);
  if (!viewOf || !view ||
      viewOf.getDims().size() != static_cast<size_t>(view.getResult().getType().getRank()))
    return op->emitOpError() << kViewOfName << " must be a #tilegpu.view_of<...> of its rank on a "
                             << "tile.make_view, got " << value;
  return success();
}

LogicalResult verifySharedBytes(Operation *op, StringRef name, Attribute value) {
  auto bytes = dyn_cast<IntegerAttr>(value);
  if (!isa<FunctionOpInterface>(op) || !bytes || !bytes.getType().isInteger(32) ||
      bytes.getInt() < 0)
    return op->emitOpError() << name << " must be a number of bytes (i32) on a function";
  return success();
}

LogicalResult verifyWorkspace(Operation *op, Attribute value) {
  if (!isa<FunctionOpInterface>(op) || !isa<WorkspaceAttr>(value))
    return op->emitOpError() << kWorkspaceName
                             << " must be a #tilegpu.workspace<...> of a function, got " << value;
  return success();
}

LogicalResult verifyTileStep(Operation *op, Attribute value) {
  bool isBranch = op->getName().getStringRef() == "scf.if" && op->getNumResults() == 0;
  if (!isBranch || !isa<TileStepAttr>(value))
    return op->emitOpError() << kTileStepName
                             << " must be a #tilegpu.tile_step<...> on an scf.if without results";
  return success();
}

VariantAttr annotatedVariant(Operation *op) { return op->getAttrOfType<VariantAttr>(kVariantName); }

} // namespace

LogicalResult AccessAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 ArrayRef<int32_t> order, int32_t vector, ArrayRef<Bounds> bounds) {
  if (!ir::PermuteViewOp::isPermutation(order) || order.empty())
    return emitError() << "order must list each dimension once, got [" << order << ']';
  if (vector < 1 || !llvm::isPowerOf2_32(static_cast<uint32_t>(vector)))
    return emitError() << "vector must be a power of two, got " << vector;
  if (!bounds.empty() && bounds.size() != order.size())
    return emitError() << "bounds must name each of " << order.size() << " dimensions, got "
                       << bounds.size();
  return success();
}

LogicalResult VariantAttr::verify(function_ref<InFlightDiagnostic()> emitError, VariantKind,
                                  ArrayAttr refused) {
  if (refused && !llvm::all_of(refused, [](Attribute item) { return isa<StringAttr>(item); }))
    return emitError() << "refused must hold sentences, got " << refused;
  return success();
}

LogicalResult WarpGridAttr::verify(function_ref<InFlightDiagnostic()> emitError, int32_t rows,
                                   int32_t columns, int32_t batch) {
  for (int32_t warps : {rows, columns, batch})
    if (warps < 1 || !llvm::isPowerOf2_32(static_cast<uint32_t>(warps)))
      return emitError() << "warps along a dimension must be a power of two, got " << warps;
  return success();
}

LogicalResult LoopPlanAttr::verify(function_ref<InFlightDiagnostic()> emitError, int32_t asked,
                                   int32_t stages, StringAttr, int32_t dotsInFlight, bool skewed,
                                   StringAttr whyNotSkewed, bool producer, StringAttr whyNoProducer,
                                   Order order) {
  if (asked < 0 || stages < 1)
    return emitError() << "a loop has one stage at least, got " << stages << " where " << asked
                       << " were asked for";
  if (dotsInFlight < 0 || dotsInFlight >= stages)
    return emitError() << "fewer dots than stages are in flight, got " << dotsInFlight << " of "
                       << stages << " stages";
  if (skewed && whyNotSkewed)
    return emitError() << "a loop that is skewed has no reason why not";
  if (skewed && dotsInFlight)
    return emitError() << "a skewed loop waits for its dots in the iteration that issues them";
  if (producer && whyNoProducer)
    return emitError() << "a loop that has a producer warp has no reason why not";
  if ((order == Order::PingPong && !producer) || (order == Order::Warpgroups && !skewed))
    return emitError() << "tiles alternate (ping_pong) beside a producer warp, and warpgroups have "
                          "an order in skewed loops";
  return success();
}

static bool areDistinct(ArrayRef<int32_t> dims) {
  llvm::SmallDenseSet<int32_t> seen;
  return llvm::all_of(dims, [&](int32_t dim) { return dim >= 0 && seen.insert(dim).second; });
}

LogicalResult ViewOfAttr::verify(function_ref<InFlightDiagnostic()> emitError, int32_t arg,
                                 ArrayRef<int32_t> dims) {
  if (arg < 0 || !areDistinct(dims))
    return emitError() << "a view is of distinct dimensions of an argument, got [" << dims
                       << "] of argument " << arg;
  return success();
}

LogicalResult TensorMapAttr::verify(function_ref<InFlightDiagnostic()> emitError, int32_t arg,
                                    Type element, ArrayRef<int32_t> dims, ArrayRef<int32_t> box,
                                    int32_t swizzle) {
  constexpr size_t kMostDims = 5;
  constexpr int32_t kMostInBox = 256;
  if (arg < 0 || !areDistinct(dims) || dims.empty() || dims.size() > kMostDims ||
      box.size() != dims.size())
    return emitError() << "a tensor map is of 1 to " << kMostDims
                       << " distinct dimensions of an argument, each with an extent of the box";
  if (!element.isIntOrFloat())
    return emitError() << "elements must be numbers, got " << element;
  for (int32_t extent : box)
    if (extent < 1 || extent > kMostInBox)
      return emitError() << "extents of a box are 1 to " << kMostInBox << ", got " << extent;
  if (!llvm::is_contained({0, 32, 64, 128}, swizzle))
    return emitError() << "a swizzle spans 0, 32, 64 or 128 bytes, got " << swizzle;
  return success();
}

LogicalResult WorkspaceAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t bytes,
                                    int32_t counters, int32_t programs) {
  if (bytes < 0 || counters < 0 || programs < 1)
    return emitError() << "a workspace is of one program at least, got " << bytes << " bytes, "
                       << counters << " counters, a multiple of " << programs << " programs";
  return success();
}

LogicalResult TileGpuDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  StringRef name = attribute.getName();
  if (name == kAccessName)
    return verifyAccess(op, attribute.getValue());
  if (name == kVariantName)
    return verifyVariant(op, attribute.getValue());
  if (name == kWarpGridName)
    return verifyWarpGrid(op, attribute.getValue());
  if (name == kAFromRegistersName)
    return verifyAFromRegisters(op, attribute.getValue());
  if (name == kKMajorName)
    return verifyKMajor(op, attribute.getValue());
  if (name == kKWidthName)
    return verifyKWidth(op, attribute.getValue());
  if (name == kLoopPlanName)
    return verifyLoopPlan(op, attribute.getValue());
  if (name == kViewOfName)
    return verifyViewOf(op, attribute.getValue());
  if (name == kSharedBytesName || name == kTeamBytesName)
    return verifySharedBytes(op, name, attribute.getValue());
  if (name == kWorkspaceName)
    return verifyWorkspace(op, attribute.getValue());
  if (name == kTileStepName)
    return verifyTileStep(op, attribute.getValue());
  return op->emitOpError() << "has the attribute '" << name << "', which `tilegpu` does not know";
}

AccessAttr accessOf(Operation *op) { return op->getAttrOfType<AccessAttr>(kAccessName); }

void setAccess(Operation *op, ArrayRef<int32_t> order, int64_t vector, ArrayRef<Bounds> bounds) {
  op->setAttr(kAccessName,
              AccessAttr::get(op->getContext(), order, static_cast<int32_t>(vector), bounds));
}

VariantKind variantOf(Operation *op) {
  VariantAttr variant = annotatedVariant(op);
  return variant ? variant.getKind() : VariantKind::Undecided;
}

VariantKind demandedVariantOf(Operation *op) {
  auto number = op->getAttrOfType<IntegerAttr>(ir::kVariantAttr);
  return number ? static_cast<VariantKind>(number.getInt()) : VariantKind::Undecided;
}

SmallVector<StringRef> refusalsOf(Operation *op) {
  SmallVector<StringRef> sentences;
  VariantAttr variant = annotatedVariant(op);
  if (variant && variant.getRefused())
    for (auto sentence : variant.getRefused().getAsRange<StringAttr>())
      sentences.push_back(sentence.getValue());
  return sentences;
}

void setVariant(Operation *op, VariantKind kind) {
  VariantAttr before = annotatedVariant(op);
  op->setAttr(kVariantName,
              VariantAttr::get(op->getContext(), kind, before ? before.getRefused() : ArrayAttr()));
}

void addRefusal(Operation *op, StringRef sentence) {
  SmallVector<StringRef> sentences = refusalsOf(op);
  sentences.push_back(sentence);
  op->setAttr(kVariantName, VariantAttr::get(op->getContext(), variantOf(op),
                                             Builder(op->getContext()).getStrArrayAttr(sentences)));
}

WarpGridAttr warpGridOf(Operation *dot) { return dot->getAttrOfType<WarpGridAttr>(kWarpGridName); }

void setWarpGrid(Operation *dot, int32_t rows, int32_t columns, int32_t batch) {
  dot->setAttr(kWarpGridName, WarpGridAttr::get(dot->getContext(), rows, columns, batch));
}

LoopPlanAttr loopPlanOf(Operation *loop) {
  return loop->getAttrOfType<LoopPlanAttr>(kLoopPlanName);
}

void setLoopPlan(Operation *loop, LoopPlanAttr plan) { loop->setAttr(kLoopPlanName, plan); }

void removeLoopPlan(Operation *loop) { loop->removeAttr(kLoopPlanName); }

bool takesAFromRegisters(Operation *dot) { return dot->hasAttr(kAFromRegistersName); }

std::optional<bool> isKMajor(OpOperand &operand) {
  auto majors = operand.getOwner()->getAttrOfType<DenseBoolArrayAttr>(kKMajorName);
  return majors ? std::optional(majors[operand.getOperandNumber()]) : std::nullopt;
}

void setKMajor(Operation *dot, bool a, bool b) {
  dot->setAttr(kKMajorName, DenseBoolArrayAttr::get(dot->getContext(), {a, b}));
}

void removeKMajor(Operation *dot) { dot->removeAttr(kKMajorName); }

int64_t kWidthOf(Operation *dot) {
  auto width = dot->getAttrOfType<IntegerAttr>(kKWidthName);
  return width ? width.getInt() : 0;
}

void setKWidth(Operation *dot, int64_t elements) {
  dot->setAttr(kKWidthName,
               Builder(dot->getContext()).getI32IntegerAttr(static_cast<int32_t>(elements)));
}

void setTakesAFromRegisters(Operation *dot) {
  dot->setAttr(kAFromRegistersName, UnitAttr::get(dot->getContext()));
}

ViewOfAttr viewOf(ir::MakeViewOp view) { return view->getAttrOfType<ViewOfAttr>(kViewOfName); }

void setViewOf(ir::MakeViewOp view, int32_t arg, ArrayRef<int32_t> dims) {
  view->setAttr(kViewOfName, ViewOfAttr::get(view.getContext(), arg, dims));
}

TensorMapAttr tensorMapOf(FunctionOpInterface function, unsigned argument) {
  return function.getArgAttrOfType<TensorMapAttr>(argument, kTensorMapName);
}

NamedAttribute tensorMapParameter(TensorMapAttr map) { return {kTensorMapName, map}; }

std::optional<TileStep> tileStepOf(Operation *branch) {
  auto step = branch->getAttrOfType<TileStepAttr>(kTileStepName);
  return step ? std::optional(step.getValue()) : std::nullopt;
}

void setTileStep(Operation *branch, TileStep step) {
  branch->setAttr(kTileStepName, TileStepAttr::get(branch->getContext(), step));
}

static void setNumber(Operation *function, StringRef name, int64_t number) {
  function->setAttr(
      name, Builder(function->getContext()).getI32IntegerAttr(static_cast<int32_t>(number)));
}

WorkspaceAttr workspaceOf(Operation *function) {
  return function->getAttrOfType<WorkspaceAttr>(kWorkspaceName);
}
void setWorkspace(Operation *function, WorkspaceAttr workspace) {
  function->setAttr(kWorkspaceName, workspace);
}

WarpSpecializeOp rolesOf(Operation *function) {
  auto kernel = cast<FunctionOpInterface>(function);
  if (kernel.isExternal())
    return {};
  auto all = kernel.front().getOps<WarpSpecializeOp>();
  return all.empty() ? WarpSpecializeOp() : *all.begin();
}

int32_t threadsOf(Operation *function) {
  WarpSpecializeOp roles = rolesOf(function);
  int64_t warps = roles ? roles.getWarps() : ir::warpsOf(function) * ir::teamsOf(function);
  return static_cast<int32_t>(warps * ir::kWarpSize);
}

std::optional<int64_t> sharedBytesOf(Operation *function) {
  auto bytes = function->getAttrOfType<IntegerAttr>(kSharedBytesName);
  return bytes ? std::optional(bytes.getInt()) : std::nullopt;
}

int64_t teamBytesOf(Operation *function) {
  auto bytes = function->getAttrOfType<IntegerAttr>(kTeamBytesName);
  return bytes ? bytes.getInt() : 0;
}

void setTeamBytes(Operation *function, int64_t bytes) {
  setNumber(function, kTeamBytesName, bytes);
}

void setSharedBytes(Operation *function, int64_t bytes) {
  setNumber(function, kSharedBytesName, bytes);
}

} // namespace tile::gpu
