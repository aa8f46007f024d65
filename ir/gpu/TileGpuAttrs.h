// The attributes of `tilegpu` in C++, apart from the dialect, since operations of `tile` have
// layouts, too.
#pragma once

#include "mlir/IR/BuiltinAttributeInterfaces.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/TensorEncoding.h"

#include "ir/TileGpuEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "ir/TileGpuAttrs.h.inc"
