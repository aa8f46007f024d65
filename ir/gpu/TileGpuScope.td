// Which threads an operation of `tilegpu` is for: those that wait at a barrier, share memory, or
// elect one of them.
#ifndef TILE_IR_TILEGPUSCOPE_TD
#define TILE_IR_TILEGPUSCOPE_TD

include "ir/gpu/TileGpuDialect.td"
include "mlir/IR/EnumAttr.td"

def TileGpu_Scope : I32Enum<"Scope", "which threads an operation is for", [
    I32EnumCase<"Team", 0, "team">, I32EnumCase<"Consumers", 1, "consumers">, I32EnumCase<"Block", 2, "block">,
    I32EnumCase<"ClusterConsumers", 3, "cluster_consumers">, I32EnumCase<"Cluster", 4, "cluster">]> {
  let cppNamespace = "::tile::gpu";
}

def TileGpu_ScopeAttr : EnumAttr<TileGpuDialect, TileGpu_Scope, "scope"> {
  let summary = "Which threads an operation is for";
  let description = [{
    - `team`: the warps that compute one tile together. A kernel without teams is one.
    - `consumers`: the warps of all teams, without the producer warp.
    - `block`: the consumers and, if the kernel has one, the producer warp.
    - `cluster_consumers`: the consumers of all blocks of the cluster.
    - `cluster`: both roles of all blocks of the cluster.

    `#tilegpu.scope<block>`
  }];
  let assemblyFormat = "`<` $value `>`";
}

#endif // TILE_IR_TILEGPUSCOPE_TD
