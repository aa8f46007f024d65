// Verifiers and builders of barriers, roles and the ordered barrier.
#include "ir/gpu/TileGpuDialect.h"
#include "ir/gpu/WarpRoles.h"
#include "ir/instructions/Wgmma.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

void BarrierOp::build(OpBuilder &b, OperationState &state, StringRef reason, Scope scope) {
  if (!reason.empty())
    state.getOrAddProperties<Properties>().reason = b.getStringAttr(reason);
  state.getOrAddProperties<Properties>().scope = ScopeAttr::get(b.getContext(), scope);
}

// Threads that synchronize must all be there: one elected thread, or a producer at a barrier of
// consumers, would wait for ever.
static LogicalResult verifyAllArrive(Operation *op, bool isForProducer) {
  Region *region = op->getParentRegion();
  for (; region && !isa<FunctionOpInterface>(region->getParentOp());
       region = region->getParentRegion()) {
    if (isa<ElectOp>(region->getParentOp()))
      return op->emitOpError("synchronizes threads, but stands in a tilegpu.elect, whose body one "
                             "thread executes");
    auto roles = dyn_cast<WarpSpecializeOp>(region->getParentOp());
    if (roles && !isForProducer &&
        roles.getRole(region->getRegionNumber()).getKind() == RoleKind::Producer)
      return op->emitOpError("is for consumers, but stands in the region of a producer");
  }
  return success();
}

LogicalResult BarrierOp::verify() {
  return verifyAllArrive(*this, getScope() == Scope::Block || getScope() == Scope::Cluster);
}

LogicalResult OrderBeginOp::verify() { return verifyAllArrive(*this, /*isForProducer=*/false); }
LogicalResult OrderWaitOp::verify() { return verifyAllArrive(*this, /*isForProducer=*/false); }
LogicalResult OrderArriveOp::verify() { return verifyAllArrive(*this, /*isForProducer=*/false); }
LogicalResult OrderEndOp::verify() { return verifyAllArrive(*this, /*isForProducer=*/false); }

LogicalResult RoleAttr::verify(function_ref<InFlightDiagnostic()> emitError, RoleKind,
                               int32_t warps, int32_t active, int32_t registers) {
  constexpr int32_t kStep = 8, kLeast = 24, kMost = 256;
  if (warps < 1 || warps > kMostWarps || warps % ir::kWarpsPerWarpgroup)
    return emitError() << "a role has whole warpgroups, up to " << kMostWarps << " warps, got "
                       << warps;
  if (active < 1 || active > warps)
    return emitError() << "1 to " << warps << " warps of the role can be active, got " << active;
  if (registers && (registers % kStep || registers < kLeast || registers > kMost))
    return emitError() << "registers of a role come in steps of " << kStep << " from " << kLeast
                       << " to " << kMost << ", got " << registers;
  return success();
}

void WarpSpecializeOp::build(OpBuilder &b, OperationState &state, ArrayRef<RoleAttr> roles) {
  SmallVector<Attribute> all(roles.begin(), roles.end());
  state.getOrAddProperties<Properties>().roles = b.getArrayAttr(all);
  for (size_t i = 0; i < roles.size(); ++i)
    state.addRegion()->emplaceBlock();
}

void WarpSpecializeOp::setRole(unsigned number, RoleAttr role) {
  SmallVector<Attribute> all(getRoles().getValue());
  all[number] = role;
  setRolesAttr(ArrayAttr::get(getContext(), all));
}

int32_t WarpSpecializeOp::getFirstWarp(unsigned number) {
  int32_t first = 0;
  for (unsigned before = 0; before < number; ++before)
    first += getRole(before).getWarps();
  return first;
}

int32_t WarpSpecializeOp::getWarps() {
  return getFirstWarp(static_cast<unsigned>(getRoles().size()));
}

std::optional<unsigned> WarpSpecializeOp::find(RoleKind kind) {
  for (unsigned number = 0; number < getRoles().size(); ++number)
    if (getRole(number).getKind() == kind)
      return number;
  return std::nullopt;
}

LogicalResult WarpSpecializeOp::verify() {
  if (getRoles().size() < 2 || getRoles().size() != getBodies().size())
    return emitOpError("needs two roles or more and a region for each, got ")
           << getRoles().size() << " roles and " << getBodies().size() << " regions";
  if (int32_t warps = getWarps(); warps > kMostWarps)
    return emitOpError("a block has at most ") << kMostWarps << " warps, the roles have " << warps;
  if (!find(RoleKind::Consumers))
    return emitOpError("needs a role that consumes");
  for (Region &body : getBodies())
    if (body.getNumArguments())
      return emitOpError("regions of roles take no arguments");
  Operation *parent = (*this)->getParentOp();
  if (!isa_and_present<FunctionOpInterface>(parent) || !(*this)->getBlock()->isEntryBlock())
    return emitOpError("stands in the body of a kernel, in no loop or branch");
  for (Operation &other : *(*this)->getBlock())
    if (&other != getOperation() && isa<WarpSpecializeOp>(other))
      return emitOpError("a kernel gives roles to its warps once");
  return success();
}
