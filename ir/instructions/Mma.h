// The tensor core's instructions `mma.sync` as a table: which types and shapes there are, and on
// which targets.
#pragma once

#include "ir/layout/Fragments.h"
#include "ir/target/Target.h"
#include "ir/tile/TileDialect.h"

#include <optional>

namespace tile::ir {

/// One instruction; types are spelt as in PTX. Source: PTX ISA, "Matrix multiply-accumulate
/// operation using mma instruction", tables of shapes and target notes.
struct MmaInstruction {
  llvm::StringLiteral a, b, acc;
  layout::MmaShape shape;
  Feature needed = nullptr; ///< none: every target has it

  [[nodiscard]] bool isOn(const Target &target) const { return !needed || target.*needed; }

  /// "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
  [[nodiscard]] std::string name() const;
};

/// All instructions for a product's types, the deepest K first; empty if there is none.
llvm::ArrayRef<MmaInstruction> mmaInstructionsFor(DotOp dot);

/// The deepest of them of whose sizes the product's are multiples.
std::optional<MmaInstruction> findMma(DotOp dot);

/// Does the product leave the tensor core aside: f32 in precision ieee?
bool needsMultiplyAdd(DotOp dot);

} // namespace tile::ir
