// Order and scope reach the PTX; a thread that only repeats an element does nothing; mulhi is one instruction.
// RUN: %to_ptx %t
// RUN: FileCheck %s < %t
// RUN: %if ptxas %{ %ptxas %t 2>&1 | FileCheck %s --check-prefix=ASM %}

// ASM: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads

// CHECK-LABEL: .entry atomics(
// CHECK: atom.acq_rel.gpu.global.add.u32
// CHECK: atom.relaxed.cta.global.max.u32
// CHECK: atom.acquire.sys.global.cas.b32
// CHECK: atom.release.gpu.global.exch.b32
func.func @atomics(%p: !tile.ptr<i32>, %x: i32) attributes {tile.kernel, tile.warps = 1 : i32} {
  %i = tile.arange 0, 32 : tensor<32xi32>
  %s = tile.splat %p : !tile.ptr<i32> -> tensor<32x!tile.ptr<i32>>
  %q = tile.addptr %s, %i : tensor<32x!tile.ptr<i32>>, tensor<32xi32>
  %a = tile.atomic_rmw add acq_rel gpu %q, %i : tensor<32x!tile.ptr<i32>>, tensor<32xi32>
  %b = tile.atomic_rmw umax relaxed cta %q, %a : tensor<32x!tile.ptr<i32>>, tensor<32xi32>
  %c = tile.atomic_cas acquire sys %q, %b, %i : tensor<32x!tile.ptr<i32>>, tensor<32xi32>
  %d = tile.atomic_rmw xchg release gpu %q, %c : tensor<32x!tile.ptr<i32>>, tensor<32xi32>
  return
}

// Atomics take eviction priorities as a policy of the second-level cache.
// CHECK-LABEL: .entry evictions(
// CHECK: createpolicy.fractional.L2::evict_last.b64 [[LAST:%rd[0-9]+]], 1.0;
// CHECK: atom.relaxed.gpu.global.add.L2::cache_hint.u32 %r{{[0-9]+}}, [%rd{{[0-9]+}}], %r{{[0-9]+}}, [[LAST]];
// CHECK: createpolicy.fractional.L2::evict_first.b64 [[FIRST:%rd[0-9]+]], 1.0;
// CHECK: @%p{{[0-9]+}} atom.relaxed.gpu.global.max.L2::cache_hint.s32 %r{{[0-9]+}}, [%rd{{[0-9]+}}], %r{{[0-9]+}}, [[FIRST]];
func.func @evictions(%p: !tile.ptr<i32>) attributes {tile.kernel, tile.warps = 1 : i32} {
  %i = tile.arange 0, 32 : tensor<32xi32>
  %c = arith.constant dense<7> : tensor<32xi32>
  %m = arith.cmpi slt, %i, %c : tensor<32xi32>
  %s = tile.splat %p : !tile.ptr<i32> -> tensor<32x!tile.ptr<i32>>
  %q = tile.addptr %s, %i : tensor<32x!tile.ptr<i32>>, tensor<32xi32>
  %a = tile.atomic_rmw add relaxed gpu %q, %i evict last : tensor<32x!tile.ptr<i32>>, tensor<32xi32>
  %b = tile.atomic_rmw max relaxed gpu %q, %i mask %m evict first : tensor<32x!tile.ptr<i32>>, tensor<32xi32>, tensor<32xi1>
  return
}

// CHECK-LABEL: .entry one_step(
// CHECK: setp.{{eq|ne}}.b32 %[[OTHERS:p[0-9]+]]
// CHECK: @%p{{[0-9]+}} atom.acq_rel.gpu.global.add.f32
// CHECK-NOT: atom.
func.func @one_step(%p: !tile.ptr<f32>, %x: f32) attributes {tile.kernel, tile.warps = 4 : i32} {
  %s = tile.splat %p : !tile.ptr<f32> -> tensor<1x!tile.ptr<f32>>
  %v = tile.splat %x : f32 -> tensor<1xf32>
  %a = tile.atomic_rmw add acq_rel gpu %s, %v : tensor<1x!tile.ptr<f32>>, tensor<1xf32>
  return
}

// CHECK-LABEL: .entry upper(
// CHECK: mul.hi.u32
// CHECK: mul.hi.s64
func.func @upper(%p: !tile.ptr<i32>, %q: !tile.ptr<i64>, %x: i32, %y: i64)
    attributes {tile.kernel, tile.warps = 1 : i32} {
  %a = tile.mulhi %x, %x unsigned : i32
  %b = tile.mulhi %y, %y : i64
  tile.store %a, %p : i32, !tile.ptr<i32>
  tile.store %b, %q : i64, !tile.ptr<i64>
  return
}
