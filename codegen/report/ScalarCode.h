// What of a kernel decides how often its parts are carried out, and where its accesses of memory lie: integers, loops and
// branches, without tiles. It is read off dialect tilegpu once and then followed for each program of a launch (LaunchWork.cpp).
#pragma once

#include "ir/tile/TileDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace tile::codegen {

/// Integers, of any width sign-extended (i1: 0 or 1), are numbered; one that nobody follows has no number.
using ScalarId = int32_t;
inline constexpr ScalarId kNoScalar = -1;

/// A number, where it is known.
struct Scalar {
  int64_t value = 0;
  bool isKnown = false;
};

/// What a step computes.
enum class Compute : uint8_t {
  Unknown,
  Copy,
  Add,
  Sub,
  Mul,
  DivS,
  DivU,
  RemS,
  RemU,
  FloorDiv,
  CeilDiv,
  CeilDivU,
  MaxS,
  MinS,
  MaxU,
  MinU,
  And,
  Or,
  Xor,
  Shl,
  ShrS,
  ShrU,
  Compare,
  Select,
  ExtendUnsigned,
  Truncate,
  ProgramId,
  NumPrograms,
  TeamId,
  ClusterRank,
  ByRole,
};

/// One step. Operands are `a`, `b`, `c`, the result is `out`.
struct ScalarStep {
  enum class Kind : uint8_t {
    Compute,   ///< what `compute` says, of a result of so many `bits`
    Access,    ///< number `index` among accesses
    Branch,    ///< number `index` among branches
    Roles,     ///< number `index` among roles
    Loop,      ///< among loops
    While,     ///< among whiles
    AddToCell, ///< the counter at `a` grows by `b`; `out` is what it was
    SetCell,   ///< the counter at `a` becomes `b`
  };
  Kind kind = Kind::Compute;
  Compute compute = Compute::Unknown;
  uint8_t bits = 64;
  int32_t index = 0; ///< of a comparison its predicate, of a question the axis
  ScalarId a = kNoScalar, b = kNoScalar, c = kNoScalar, out = kNoScalar;
};

using ScalarBlock = std::vector<ScalarStep>;

/// An access of global memory by a whole tile.
struct ScalarAccess {
  mlir::Operation *op = nullptr;
  llvm::SmallVector<int64_t, 4> shape;
  llvm::SmallVector<ScalarId, 4> offsets, extents,
      strides;                         ///< in elements; none: not an access of a view
  ScalarId predicate = kNoScalar;      ///< nothing happens where it is 0
  llvm::SmallVector<ScalarId, 2> base; ///< offsets that are added to the argument's pointer
  bool hasKnownBase = false;           ///< `base` and `argument` say where it lies
  int32_t argument = -1;               ///< of the source kernel; -1 if it cannot be seen
  bool isMasked = false;               ///< a mask, a tile, leaves out elements
  bool isUnchecked = false;            ///< all elements are inside
};

struct ScalarBranch {
  mlir::Operation *op = nullptr;
  ScalarId condition = kNoScalar;
  bool matters = false; ///< what is counted depends on it
  ScalarBlock arms[2];
  mlir::Region *regions[2] = {};
  llvm::SmallVector<ScalarId> yields[2], results;
};

/// What each role executes.
struct ScalarRoles {
  ScalarBlock producer, consumers;
};

struct ScalarLoop {
  ScalarId lower = kNoScalar, upper = kNoScalar, step = kNoScalar, index = kNoScalar;
  llvm::SmallVector<ScalarId> inits, arguments, yields, results;
  bool matters = false;
  ScalarBlock body;
  mlir::Region *region = nullptr;
};

/// scf.while: `before` ends with the condition.
struct ScalarWhile {
  ScalarId condition = kNoScalar;
  llvm::SmallVector<ScalarId> inits, beforeArguments, passed, afterArguments, yields, results;
  bool matters = false;
  ScalarBlock before, after;
  mlir::Region *region = nullptr;
};

struct ScalarCode {
  ScalarBlock body;
  /// What cannot be followed, and why: "what function 'f' does".
  std::vector<std::pair<mlir::Operation *, std::string>> unfollowed;
  std::vector<ScalarAccess> accesses;
  std::vector<ScalarBranch> branches;
  std::vector<ScalarRoles> roles;
  std::vector<ScalarLoop> loops;
  std::vector<ScalarWhile> whiles;
  std::vector<Scalar> initial; ///< constants are known
  std::vector<std::pair<ScalarId, unsigned>>
      parameters; ///< that are followed, with their numbers among the kernel's
};

/// `matters` says of an operation whether the caller counts something of it; accesses of memory it counts anyway.
ScalarCode scalarCodeOf(mlir::func::FuncOp kernel,
                        llvm::function_ref<bool(mlir::Operation *)> matters);

/// Does the operation read or write global memory, as a whole tile or a number?
bool isGlobalAccess(mlir::Operation *op);

} // namespace tile::codegen
