// The attributes of `tilegpu` in C++. They stand apart from the dialect because operations of
// `tile` have layouts, too.
#pragma once

#include "mlir/IR/BuiltinAttributeInterfaces.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/TensorEncoding.h"

#include "ir/TileGpuEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "ir/TileGpuAttrs.h.inc"
