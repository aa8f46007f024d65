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
