// Words that the forms of several opcodes share. They are macros because literals join.
#pragma once

#define TILE_SCOPES "cta cluster gpu sys"
#define TILE_SHARED "shared shared::cta shared::cluster"
#define TILE_PRIVATE "local const param param::entry param::func"
#define TILE_SPACES "global " TILE_PRIVATE " " TILE_SHARED
#define TILE_INTEGERS "u8 s8 u16 s16 u32 s32 u64 s64 u16x2 s16x2"
#define TILE_FLOATS "f16 f16x2 bf16 bf16x2 f32 f64 tf32"
#define TILE_TYPES "pred b8 b16 b32 b64 b128 " TILE_INTEGERS " " TILE_FLOATS
#define TILE_ROUNDINGS "rn rz rm rp rna rni rzi rmi rpi approx full"
#define TILE_FRAGMENTS "f16 bf16 tf32 f32 f64 s8 u8 s4 u4 b1 e4m3 e5m2 s32"

// Lists of an order, with the signs around them.
#define TILE_SCOPE_LIST " | " TILE_SCOPES " | "
#define TILE_VECTOR_LIST " | v2 v4 v8 | "
#define TILE_HINT_LIST " | L2::cache_hint | "
