#include "ir/annotations/FunctionAnnotations.h"

#include "ir/annotations/AnnotationTable.h"
#include "ir/target/Target.h"

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

constexpr llvm::StringLiteral kTensorMapName = "tilegpu.tensor_map";
constexpr llvm::StringLiteral kSharedBytesName = "tilegpu.shared_bytes";
constexpr llvm::StringLiteral kTeamBytesName = "tilegpu.team_bytes";
constexpr llvm::StringLiteral kWorkspaceName = "tilegpu.workspace";

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

LogicalResult verifyBytesOfBlock(Operation *op, Attribute value) {
  return verifySharedBytes(op, kSharedBytesName, value);
}

LogicalResult verifyBytesOfTeam(Operation *op, Attribute value) {
  return verifySharedBytes(op, kTeamBytesName, value);
}

constexpr Annotation kAnnotations[] = {{kSharedBytesName, verifyBytesOfBlock},
                                       {kTeamBytesName, verifyBytesOfTeam},
                                       {kWorkspaceName, verifyWorkspace}};

} // namespace

ArrayRef<Annotation> functionAnnotations() { return kAnnotations; }

static bool areDistinct(ArrayRef<int32_t> dims) {
  llvm::SmallDenseSet<int32_t> seen;
  return llvm::all_of(dims, [&](int32_t dim) { return dim >= 0 && seen.insert(dim).second; });
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

TensorMapAttr tensorMapOf(FunctionOpInterface function, unsigned argument) {
  return function.getArgAttrOfType<TensorMapAttr>(argument, kTensorMapName);
}

NamedAttribute tensorMapParameter(TensorMapAttr map) { return {kTensorMapName, map}; }

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
