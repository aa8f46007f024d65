// The dialect `tilegpu`: how the warps of a block execute a kernel. Layout attributes and
// shared-memory types.
#ifndef TILE_IR_TILEGPUDIALECT_TD
#define TILE_IR_TILEGPUDIALECT_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/DialectBase.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/TensorEncoding.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def TileGpuDialect : Dialect {
  let name = "tilegpu";
  let cppNamespace = "::tile::gpu";
  let summary = "Tiles laid out over the threads of a block";
  let description = [{
    Operations of `tile`, `arith` and `math` stay when layouts arrive: a tile becomes
    `tensor<128x64xf16, #tilegpu.layout<...>>`. This dialect adds what has no meaning without a
    layout: changes of layout, tiles in shared memory, rings and barriers.

    Passes record for later ones what they found or decided in attributes, which ir/annotations
    attaches, reads and verifies:

    - on accesses of memory `tilegpu.access`; on these and on dots `tilegpu.variant`;
    - on dots `tilegpu.warp_grid`, `tilegpu.a_from_registers`, `tilegpu.k_major` and `tilegpu.k_width`;
    - on loops `tilegpu.loop_plan`; on branches of a flattened loop `tilegpu.tile_step`;
    - on views `tilegpu.view_of`; on parameters `tilegpu.tensor_map`;
    - on functions `tilegpu.shared_bytes`, `tilegpu.team_bytes` and `tilegpu.workspace`.

    The dialect knows no others.
  }];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let hasOperationAttrVerify = 1;
}

class TileGpu_Attr<string name, string attrMnemonic, list<Trait> traits = []> : AttrDef<TileGpuDialect, name, traits> {
  let mnemonic = attrMnemonic;
}

def TileGpu_LayoutAttr : TileGpu_Attr<"Layout", "layout",
    [DeclareAttrInterfaceMethods<VerifiableTensorEncoding>]> {
  let summary = "Which thread holds which element of a tile in which register";
  let description = [{
    A linear map over GF(2) distributes the power-of-two part of a tile: each bit of the register
    number, the lane and the warp has a basis vector of coordinates, and an element's coordinates
    are the XOR of the vectors of the bits that are set. Odd factors of the extents are outermost,
    always in registers, and not listed.

    `#tilegpu.layout<register = [[0, 1]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp =
    [[8, 0], [16, 0]]>`
  }];
  // Basis vectors, `rank` numbers each.
  let parameters = (ins "int32_t":$rank, ArrayRefParameter<"int32_t">:$registers, ArrayRefParameter<"int32_t">:$lanes,
                        ArrayRefParameter<"int32_t">:$warps);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def TileGpu_SharedAttr : TileGpu_Attr<"Shared", "shared"> {
  let summary = "The offset in shared memory of each element of a tile";
  let description = [{
    Each coordinate splits into its low `panel` bits and a digit above them. The low bits of all
    dimensions, the last dimension's lowest, go through a linear map over GF(2) whose columns are
    element offsets (a swizzle is such a map); each digit adds its stride, in elements.

    A 4x8 tile in row-major order: `#tilegpu.shared<panel = [2, 3], linear = [1, 2, 4, 8, 16],
    digits = [32, 32]>`; with column 4 moved by row bit 0: `linear = [1, 2, 4, 12, 16]`.
  }];
  let parameters = (ins ArrayRefParameter<"int32_t">:$panel, ArrayRefParameter<"int64_t">:$linear,
                        ArrayRefParameter<"int64_t">:$digits);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

class TileGpu_Type<string name, string typeMnemonic> : TypeDef<TileGpuDialect, name> {
  let mnemonic = typeMnemonic;
}

def TileGpu_SmemType : TileGpu_Type<"Smem", "smem"> {
  let summary = "A tile in shared memory";
  let description = [{ `!tilegpu.smem<4x8xf16, #tilegpu.shared<panel = [2, 3], linear = [1, 2, 4, 8, 16], digits = [32, 32]>>` }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape, "Type":$elementType, "SharedAttr":$shared);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{ int64_t getBytes() const; }];
}

def TileGpu_RingType : TileGpu_Type<"Ring", "ring"> {
  let summary = "A circular buffer of stages in shared memory";
  let description = [{
    `!tilegpu.ring<3 x !tilegpu.smem<...>, !tilegpu.smem<...>>` has three stages of two tiles each.
  }];
  let parameters = (ins "int32_t":$stages, ArrayRefParameter<"SmemType">:$tiles);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

#endif // TILE_IR_TILEGPUDIALECT_TD
