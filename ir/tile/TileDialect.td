// The dialect `tile`: what a kernel means, before anything is decided about threads. Types only;
// operations by topic are in Tile*Ops.td.
#ifndef TILE_IR_TILEDIALECT_TD
#define TILE_IR_TILEDIALECT_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/DialectBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def TileDialect : Dialect {
  let name = "tile";
  let cppNamespace = "::tile::ir";
  let summary = "Programs over tiles of tensors";
  let description = [{
    A kernel is a `func.func` with the unit attribute `tile.kernel`. One *program* runs its body on
    whole tiles, which are builtin ranked tensors of static shape; elementwise work is upstream
    `arith` and `math` on them, control flow is `scf`. Tensors in memory are reached through views
    (`!tile.view`), or through tiles of pointers.

    The IR is signless: operations for which signedness matters say so in an attribute or in their
    name. Every tile dimension is a power of two times an odd factor; a tile has at most 2^20
    elements.
  }];
  let dependentDialects = ["arith::ArithDialect"];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasConstantMaterializer = 1;
}

class Tile_Type<string name, string typeMnemonic> : TypeDef<TileDialect, name> {
  let mnemonic = typeMnemonic;
}

def Tile_PtrType : Tile_Type<"Ptr", "ptr"> {
  let summary = "Pointer to one element in global memory";
  let description = [{ `!tile.ptr<f16>` points at an f16. Tiles of pointers are `tensor<128x!tile.ptr<f16>>`. }];
  let parameters = (ins "Type":$pointeeType);
  let assemblyFormat = "`<` $pointeeType `>`";
  let genVerifyDecl = 1;
}

def Tile_ViewType : Tile_Type<"View", "view"> {
  let summary = "A tensor in global memory: pointer, extents and strides";
  let description = [{
    `!tile.view<2xf16>` is a rank-2 tensor of f16. The type holds rank and element type alone; facts
    such as alignment or a unit stride are attributes of the kernel's argument and results of
    analyses.
  }];
  let parameters = (ins "int64_t":$rank, "Type":$elementType);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Tile_ParamKind : I32Enum<"ParamKind", "what a launch passes for an argument", [
    I32EnumCase<"Pointer", 0, "pointer">, I32EnumCase<"Extent", 1, "extent">, I32EnumCase<"Stride", 2, "stride">,
    I32EnumCase<"Scalar", 3, "scalar">, I32EnumCase<"Workspace", 4, "workspace">,
    I32EnumCase<"Counters", 5, "counters">]> {
  let cppNamespace = "::tile::ir";
}

def Tile_ParamAttr : AttrDef<TileDialect, "Param"> {
  let mnemonic = "param";
  let summary = "Which part of which argument of the kernel, as it was written, an argument is now";
  let description = [{
    A view becomes a pointer and, by dimension, extents and strides: `#tile.param<pointer, 0>`,
    `#tile.param<extent, 0, 1>`. What was no view is a `pointer` or a `scalar`. Of no argument are
    `#tile.param<workspace>` and `#tile.param<counters>`: memory that a launch gives its programs to
    hand each other what they have, as `tilegpu.workspace` of the kernel says.
  }];
  let parameters = (ins EnumParameter<Tile_ParamKind>:$kind, DefaultValuedParameter<"int32_t", "-1">:$arg,
                        DefaultValuedParameter<"int32_t", "-1">:$dim);
  let assemblyFormat = "`<` $kind (`,` $arg^)? (`,` $dim^)? `>`";
  let genVerifyDecl = 1;
}

def Tile_Padding : I32EnumAttr<"Padding", "value of elements outside a view", [
    I32EnumAttrCase<"Zero", 0, "zero">, I32EnumAttrCase<"Nan", 1, "nan">]> {
  let cppNamespace = "::tile::ir";
}
def Tile_Precision : I32EnumAttr<"Precision", "how an f32 matrix product is computed", [
    I32EnumAttrCase<"Ieee", 0, "ieee">, I32EnumAttrCase<"Tf32", 1, "tf32">, I32EnumAttrCase<"Tf32x3", 2, "tf32x3">,
    I32EnumAttrCase<"Bf16x3", 3, "bf16x3">, I32EnumAttrCase<"Bf16x6", 4, "bf16x6">]> {
  let cppNamespace = "::tile::ir";
}
def Tile_Rounding : I32EnumAttr<"Rounding", "how a float becomes a narrower one", [
    I32EnumAttrCase<"NearestEven", 0, "rtne">, I32EnumAttrCase<"TowardZero", 1, "rtz">]> {
  let cppNamespace = "::tile::ir";
}
def Tile_CacheMode : I32EnumAttr<"CacheMode", "which caches an access goes through", [
    I32EnumAttrCase<"Default", 0, "any">, I32EnumAttrCase<"Ca", 1, "ca">, I32EnumAttrCase<"Cg", 2, "cg">,
    I32EnumAttrCase<"Cs", 3, "cs">, I32EnumAttrCase<"Cv", 4, "cv">, I32EnumAttrCase<"Wb", 5, "wb">,
    I32EnumAttrCase<"Wt", 6, "wt">]> {
  let cppNamespace = "::tile::ir";
}
def Tile_Eviction : I32EnumAttr<"Eviction", "how long a cache keeps what was accessed", [
    I32EnumAttrCase<"Normal", 0, "normal">, I32EnumAttrCase<"First", 1, "first">, I32EnumAttrCase<"Last", 2, "last">]> {
  let cppNamespace = "::tile::ir";
}

#endif // TILE_IR_TILEDIALECT_TD
