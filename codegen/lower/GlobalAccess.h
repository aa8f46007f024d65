// One vector access of global memory by one thread: plain LLVM loads and stores where nothing guards them, PTX with a
// predicate where something does (LLVM would branch round a masked access).
#pragma once

#include "codegen/lower/Lowering.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace tile::codegen {

/// How: what the instruction says besides its space and type.
struct AccessHints {
  std::string modifiers;   ///< behind the space: ".cg", ".L1::evict_first"
  bool isVolatile = false; ///< before it

  template <class Op> static AccessHints of(Op op) {
    return make(op.getCache(), op.getEvict(), op.getIsVolatile());
  }
  bool isPlain() const { return modifiers.empty() && !isVolatile; }
  /// "ld.global.cg." of "ld".
  std::string instruction(const char *name) const;

private:
  static AccessHints make(ir::CacheMode cache, ir::Eviction evict, bool isVolatile);
};

/// Where and whether: `byteOffset` is a constant added to the pointer; a null predicate means always.
struct GlobalPlace {
  mlir::Value pointer;
  int64_t byteOffset = 0;
  mlir::Value predicate;
  AccessHints hints = {};
};

/// Loads `fill.size()` neighbouring elements. Where the predicate is false they are `fill`; without a predicate `fill`
/// gives their number and type alone.
Registers loadGlobal(Lowering &l, mlir::Location loc, const GlobalPlace &place,
                     mlir::ValueRange fill);

/// Stores neighbouring elements.
void storeGlobal(Lowering &l, mlir::Location loc, const GlobalPlace &place,
                 mlir::ValueRange elements);

/// Adds to neighbouring elements, each in one indivisible step, relaxed, for the whole device: in one access where the target
/// can, else one after the other.
void addGlobal(Lowering &l, mlir::Location loc, const GlobalPlace &place,
               mlir::ValueRange elements);

/// An instruction that writes to a place, `text` up to the address: "st.global.v2.b32"; each word in a register by `letter`.
void writeAt(Lowering &l, mlir::Location loc, const GlobalPlace &place, llvm::StringRef text,
             mlir::ValueRange words, const char *letter);

/// A place some bytes on.
mlir::Value offsetPointer(Lowering &l, mlir::Location loc, const GlobalPlace &place);

/// The constraint letter of a word in inline assembly: 8-bit values travel in 16-bit registers.
const char *asmConstraint(unsigned bits);

/// Registers 0, n, 2n, ... begin a vector of n elements along `dim`; n is at most `most`.
int64_t vectorLength(const layout::Layout &layout, int dim, int64_t most);

/// AND of two predicates, either of which may be null (always true).
mlir::Value bothTrue(Lowering &l, mlir::Location loc, mlir::Value a, mlir::Value b);

} // namespace tile::codegen
