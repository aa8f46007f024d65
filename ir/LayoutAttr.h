// Between layout attributes of the IR and the layout algebra.
#pragma once

#include "base/Refusal.h"
#include "ir/gpu/TileGpuDialect.h"
#include "ir/layout/Layout.h"
#include "ir/layout/Shared.h"

namespace tile::gpu {

/// The layout an attribute stands for on a tile of this shape.
layout::Layout layoutOf(llvm::ArrayRef<int64_t> shape, LayoutAttr attribute);

/// The layout of a tile; the tile must have one.
layout::Layout layoutOf(mlir::Type tile);

/// The attribute of a layout.
LayoutAttr attributeOf(mlir::MLIRContext *context, const layout::Layout &layout);

/// The type with another layout.
mlir::RankedTensorType withLayout(mlir::Type tile, LayoutAttr attribute);

/// The layout attribute of a tile's type, null if it has none.
LayoutAttr encodingOf(mlir::Type type);

/// The type of a part of a tile, as threads hold it; null if registers alone do not tell such parts
/// apart.
mlir::RankedTensorType partOf(mlir::RankedTensorType tile, llvm::ArrayRef<int64_t> shape);

/// The first element of each part of a shape, the last dimension's varying fastest.
llvm::SmallVector<llvm::SmallVector<int64_t>> startsOfParts(llvm::ArrayRef<int64_t> whole,
                                                            llvm::ArrayRef<int64_t> part);

/// The shared layout an attribute stands for on a tile of this shape; nothing, with a sentence in
/// *why, if it is none.
std::optional<layout::SharedLayout> createShared(llvm::ArrayRef<int64_t> shape,
                                                 SharedAttr attribute, Refusal *why = nullptr);

/// The shared layout of a tile in shared memory.
layout::SharedLayout sharedOf(SmemType type);

/// The attribute of a shared layout.
SharedAttr attributeOf(mlir::MLIRContext *context, const layout::SharedLayout &shared);

/// The type of a tile in shared memory, where it lies so.
SmemType inShared(mlir::RankedTensorType tile, const layout::SharedLayout &shared);

/// Bytes an element takes in registers' view of memory (i1 takes one).
int64_t bytesOf(mlir::Type elementType);

/// How many groups of warps hold different coordinates along an axis.
int64_t warpsAlong(LayoutAttr attribute, int64_t axis);

} // namespace tile::gpu
