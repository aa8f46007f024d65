// Atomics: a release waits for what the program accessed, what follows waits for an acquire, and relaxed ones for accesses to
// the same argument alone.
// RUN: tile-opt %s -tile-place-barriers | FileCheck %s

#l = #tilegpu.layout<register = [], lane = [[1], [2], [4], [8], [16]], warp = []>

// CHECK-LABEL: func.func @release_and_acquire
// CHECK: tile.load
// CHECK-NEXT: tilegpu.barrier
// CHECK-NEXT: tile.atomic_rmw
// CHECK-NEXT: tilegpu.barrier
// CHECK-NEXT: tile.load
// CHECK-NOT: tilegpu.barrier
// CHECK: return
func.func @release_and_acquire(%p: !tile.ptr<i32>, %q: !tile.ptr<i32>, %x: tensor<32xi32, #l>) {
  %ps = tile.splat %p : !tile.ptr<i32> -> tensor<32x!tile.ptr<i32>, #l>
  %qs = tile.splat %q : !tile.ptr<i32> -> tensor<32x!tile.ptr<i32>, #l>
  %a = tile.load %qs : tensor<32x!tile.ptr<i32>, #l> -> tensor<32xi32, #l>
  %b = tile.atomic_rmw add acq_rel gpu %ps, %x : tensor<32x!tile.ptr<i32>, #l>, tensor<32xi32, #l>
  %c = tile.load %qs : tensor<32x!tile.ptr<i32>, #l> -> tensor<32xi32, #l>
  return
}

// CHECK-LABEL: func.func @release_alone
// CHECK: tile.store
// CHECK-NEXT: tilegpu.barrier
// CHECK-NEXT: tile.atomic_cas
// CHECK-NEXT: tile.load
func.func @release_alone(%p: !tile.ptr<i32>, %q: !tile.ptr<i32>, %x: tensor<32xi32, #l>) {
  %ps = tile.splat %p : !tile.ptr<i32> -> tensor<32x!tile.ptr<i32>, #l>
  %qs = tile.splat %q : !tile.ptr<i32> -> tensor<32x!tile.ptr<i32>, #l>
  tile.store %x, %qs : tensor<32xi32, #l>, tensor<32x!tile.ptr<i32>, #l>
  %b = tile.atomic_cas release gpu %ps, %x, %x : tensor<32x!tile.ptr<i32>, #l>, tensor<32xi32, #l>
  %c = tile.load %qs : tensor<32x!tile.ptr<i32>, #l> -> tensor<32xi32, #l>
  return
}

// Additions nobody looks at may be in any order; a load of the sums waits for them.
// CHECK-LABEL: func.func @relaxed
// CHECK: tile.load
// CHECK-NEXT: tile.atomic_rmw
// CHECK-NEXT: tile.atomic_rmw
// CHECK-NEXT: tilegpu.barrier
// CHECK-NEXT: tile.atomic_rmw xchg
// CHECK-NEXT: tilegpu.barrier
// CHECK-NEXT: tile.load
func.func @relaxed(%p: !tile.ptr<i32>, %q: !tile.ptr<i32>, %x: tensor<32xi32, #l>) {
  %ps = tile.splat %p : !tile.ptr<i32> -> tensor<32x!tile.ptr<i32>, #l>
  %qs = tile.splat %q : !tile.ptr<i32> -> tensor<32x!tile.ptr<i32>, #l>
  %a = tile.load %qs : tensor<32x!tile.ptr<i32>, #l> -> tensor<32xi32, #l>
  %b = tile.atomic_rmw add relaxed gpu %ps, %x : tensor<32x!tile.ptr<i32>, #l>, tensor<32xi32, #l>
  %c = tile.atomic_rmw add relaxed gpu %ps, %x : tensor<32x!tile.ptr<i32>, #l>, tensor<32xi32, #l>
  %d = tile.atomic_rmw xchg relaxed gpu %ps, %x : tensor<32x!tile.ptr<i32>, #l>, tensor<32xi32, #l>
  %e = tile.load %ps : tensor<32x!tile.ptr<i32>, #l> -> tensor<32xi32, #l>
  return
}

// So may additions to a view, which wait for stores and are waited for by loads.
// CHECK-LABEL: func.func @additions_to_a_view
// CHECK: tile.view_store {{.*}} : tensor
// CHECK-NEXT: tilegpu.barrier
// CHECK-NEXT: tile.view_store {{.*}} add
// CHECK-NEXT: tile.view_store {{.*}} add
// CHECK-NEXT: tilegpu.barrier
// CHECK-NEXT: tile.view_load
func.func @additions_to_a_view(%p: !tile.ptr<f32>, %n: i32, %x: tensor<32xf32, #l>) {
  %one = arith.constant 1 : i32
  %zero = arith.constant 0 : i32
  %v = tile.make_view %p, extents [%n], strides [%one] : i32 -> !tile.view<1xf32>
  tile.view_store %x, %v[%zero] : tensor<32xf32, #l>, !tile.view<1xf32>
  tile.view_store %x, %v[%n] add : tensor<32xf32, #l>, !tile.view<1xf32>
  tile.view_store %x, %v[%one] add : tensor<32xf32, #l>, !tile.view<1xf32>
  %y = tile.view_load %v[%zero] : !tile.view<1xf32> -> tensor<32xf32, #l>
  return
}
