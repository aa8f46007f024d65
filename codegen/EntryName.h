// Names of entry points in PTX.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <string>

namespace tile::codegen {

/// A PTX identifier for a kernel of any name: ordinary identifiers stay, other bytes become `$` and two hex digits, long
/// names keep their beginning and get a hash, names PTX or we reserve get a `$` at the end. Different names give different
/// identifiers.
std::string entryNameOf(llvm::StringRef kernelName);

} // namespace tile::codegen
