// Factors of products that lanes load straight into their fragments. Shared memory pays where
// several threads take the same element; of a product whose warps have matrices of their own each
// element is one thread's. With a K width of 16 bytes a lane's neighbours along K are one access,
// so that nothing is exchanged.
#pragma once

#include "ir/gpu/TileGpuAttrs.h"
#include "ir/tile/TileDialect.h"

namespace tile::passes {

/// A load, and where in registers it puts its tile.
struct FragmentLoad {
  ir::ViewLoadOp load;
  gpu::LayoutAttr layout;
};

/// The loads, by threads, that the factors of a product come from, through changes of shape and
/// variables of loops; empty if not all of both do with accesses of 16 bytes along K into the
/// fragments of such a K width, or if threads share elements.
llvm::SmallVector<FragmentLoad> fragmentLoads(ir::DotOp dot);

/// The K width of such a product.
int64_t kWidthOfFragmentLoads(ir::DotOp dot);

/// Does a tile go to products that have a K width, and to nothing else?
bool goesToFragments(ir::ViewLoadOp load);

} // namespace tile::passes
