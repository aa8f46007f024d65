// RUN: tile-opt %s -tile-place-barriers | FileCheck %s

#l = #tilegpu.layout<register = [], lane = [[1], [2], [4], [8], [16]], warp = []>
#twice = #tilegpu.layout<register = [], lane = [[1], [2], [4], [8], [16]], warp = [[0]]>
#s = #tilegpu.shared<panel = [5], linear = [1, 2, 4, 8, 16], digits = [32]>

// CHECK-LABEL: func.func @read_after_write
// CHECK: smem_store
// CHECK-NEXT: tilegpu.barrier
// CHECK-NEXT: smem_load
// CHECK-NEXT: return
func.func @read_after_write(%x: tensor<32xf32, #l>) {
  %a = tilegpu.smem_alloc {offset = 0 : i32} : !tilegpu.smem<32xf32, #s>
  tilegpu.smem_store %x, %a : tensor<32xf32, #l>, !tilegpu.smem<32xf32, #s>
  %0 = tilegpu.smem_load %a : !tilegpu.smem<32xf32, #s> -> tensor<32xf32, #l>
  return
}

// Two allocations share bytes: the second one's store waits for the first one's readers.
// CHECK-LABEL: func.func @write_after_read
// CHECK: smem_load
// CHECK-NEXT: tilegpu.barrier
// CHECK-NEXT: smem_store
func.func @write_after_read(%x: tensor<32xf32, #l>) {
  %a = tilegpu.smem_alloc {offset = 0 : i32} : !tilegpu.smem<32xf32, #s>
  %b = tilegpu.smem_alloc {offset = 64 : i32} : !tilegpu.smem<32xf32, #s>
  %0 = tilegpu.smem_load %a : !tilegpu.smem<32xf32, #s> -> tensor<32xf32, #l>
  tilegpu.smem_store %x, %b : tensor<32xf32, #l>, !tilegpu.smem<32xf32, #s>
  return
}

// CHECK-LABEL: func.func @write_after_write
// CHECK: smem_store
// CHECK-NEXT: tilegpu.barrier
// CHECK-NEXT: smem_store
func.func @write_after_write(%x: tensor<32xf32, #l>) {
  %a = tilegpu.smem_alloc {offset = 0 : i32} : !tilegpu.smem<32xf32, #s>
  tilegpu.smem_store %x, %a : tensor<32xf32, #l>, !tilegpu.smem<32xf32, #s>
  tilegpu.smem_store %x, %a : tensor<32xf32, #l>, !tilegpu.smem<32xf32, #s>
  return
}

// Bytes that do not overlap, and reads among themselves.
// CHECK-LABEL: func.func @no_hazard
// CHECK-NOT: barrier
// CHECK: return
func.func @no_hazard(%x: tensor<32xf32, #l>) {
  %a = tilegpu.smem_alloc {offset = 0 : i32} : !tilegpu.smem<32xf32, #s>
  %b = tilegpu.smem_alloc {offset = 128 : i32} : !tilegpu.smem<32xf32, #s>
  %c = tilegpu.smem_alloc {offset = 256 : i32} : !tilegpu.smem<32xf32, #s>
  tilegpu.smem_store %x, %a : tensor<32xf32, #l>, !tilegpu.smem<32xf32, #s>
  tilegpu.smem_store %x, %b : tensor<32xf32, #l>, !tilegpu.smem<32xf32, #s>
  %0 = tilegpu.smem_load %c : !tilegpu.smem<32xf32, #s> -> tensor<32xf32, #l>
  %1 = tilegpu.smem_load %c : !tilegpu.smem<32xf32, #s> -> tensor<32xf32, #l>
  return
}

// One barrier serves both stores.
// CHECK-LABEL: func.func @shared_barrier
// CHECK: smem_store
// CHECK-NEXT: smem_store
// CHECK-NEXT: tilegpu.barrier
// CHECK-NEXT: smem_load
// CHECK-NEXT: smem_load
// CHECK-NEXT: return
func.func @shared_barrier(%x: tensor<32xf32, #l>) {
  %a = tilegpu.smem_alloc {offset = 0 : i32} : !tilegpu.smem<32xf32, #s>
  %b = tilegpu.smem_alloc {offset = 128 : i32} : !tilegpu.smem<32xf32, #s>
  tilegpu.smem_store %x, %a : tensor<32xf32, #l>, !tilegpu.smem<32xf32, #s>
  tilegpu.smem_store %x, %b : tensor<32xf32, #l>, !tilegpu.smem<32xf32, #s>
  %0 = tilegpu.smem_load %a : !tilegpu.smem<32xf32, #s> -> tensor<32xf32, #l>
  %1 = tilegpu.smem_load %b : !tilegpu.smem<32xf32, #s> -> tensor<32xf32, #l>
  return
}

// The next iteration's store must not overtake this one's load.
// CHECK-LABEL: func.func @round_the_loop
// CHECK: scf.for
// CHECK-NEXT: tilegpu.barrier {reason = "write after read of shared memory bytes 0 to 127 in the iteration before"}
// CHECK-NEXT: smem_store
// CHECK-NEXT: tilegpu.barrier {reason = "read after write of shared memory bytes 0 to 127"}
// CHECK-NEXT: smem_load
// CHECK-NEXT: }
// CHECK-NEXT: return
func.func @round_the_loop(%x: tensor<32xf32, #l>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %a = tilegpu.smem_alloc {offset = 0 : i32} : !tilegpu.smem<32xf32, #s>
  scf.for %i = %c0 to %n step %c1 : i32 {
    tilegpu.smem_store %x, %a : tensor<32xf32, #l>, !tilegpu.smem<32xf32, #s>
    %0 = tilegpu.smem_load %a : !tilegpu.smem<32xf32, #s> -> tensor<32xf32, #l>
  }
  return
}

// CHECK-LABEL: func.func @round_a_while_loop
// CHECK: scf.while
// CHECK: smem_load
// CHECK: do
// CHECK: tilegpu.barrier
// CHECK-NEXT: smem_store
// CHECK: tilegpu.barrier
// CHECK-NEXT: smem_load
func.func @round_a_while_loop(%x: tensor<32xf32, #l>, %c: i1) {
  %a = tilegpu.smem_alloc {offset = 0 : i32} : !tilegpu.smem<32xf32, #s>
  scf.while : () -> () {
    %0 = tilegpu.smem_load %a : !tilegpu.smem<32xf32, #s> -> tensor<32xf32, #l>
    scf.condition(%c)
  } do {
    tilegpu.smem_store %x, %a : tensor<32xf32, #l>, !tilegpu.smem<32xf32, #s>
    scf.yield
  }
  %1 = tilegpu.smem_load %a : !tilegpu.smem<32xf32, #s> -> tensor<32xf32, #l>
  return
}

// The loop may not run at all: what was pending before it is pending after it.
// CHECK-LABEL: func.func @after_an_empty_loop
// CHECK: smem_store
// CHECK: scf.for
// CHECK: {{^ *}$}}
// CHECK-NEXT: tilegpu.barrier
// CHECK-NEXT: smem_load
func.func @after_an_empty_loop(%x: tensor<32xf32, #l>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %a = tilegpu.smem_alloc {offset = 0 : i32} : !tilegpu.smem<32xf32, #s>
  tilegpu.smem_store %x, %a : tensor<32xf32, #l>, !tilegpu.smem<32xf32, #s>
  scf.for %i = %c0 to %n step %c1 : i32 {
    %0 = tilegpu.smem_load %a : !tilegpu.smem<32xf32, #s> -> tensor<32xf32, #l>
  }
  %1 = tilegpu.smem_load %a : !tilegpu.smem<32xf32, #s> -> tensor<32xf32, #l>
  return
}

// Only one branch writes; whoever reads afterwards waits all the same. Branches do not disturb each other.
// CHECK-LABEL: func.func @branches
// CHECK: scf.if
// CHECK-NEXT: smem_store
// CHECK-NEXT: } else {
// CHECK-NEXT: smem_load
// CHECK-NEXT: }
// CHECK-NEXT: tilegpu.barrier
// CHECK-NEXT: smem_load
func.func @branches(%x: tensor<32xf32, #l>, %c: i1) {
  %a = tilegpu.smem_alloc {offset = 0 : i32} : !tilegpu.smem<32xf32, #s>
  scf.if %c {
    tilegpu.smem_store %x, %a : tensor<32xf32, #l>, !tilegpu.smem<32xf32, #s>
  } else {
    %0 = tilegpu.smem_load %a : !tilegpu.smem<32xf32, #s> -> tensor<32xf32, #l>
  }
  %1 = tilegpu.smem_load %a : !tilegpu.smem<32xf32, #s> -> tensor<32xf32, #l>
  return
}

// Nothing is known of memory that comes from elsewhere: it may be any bytes.
// CHECK-LABEL: func.func @unknown_memory
// CHECK: smem_store
// CHECK-NEXT: tilegpu.barrier
// CHECK-NEXT: smem_load
func.func @unknown_memory(%x: tensor<32xf32, #l>, %m: !tilegpu.smem<32xf32, #s>) {
  %a = tilegpu.smem_alloc {offset = 4096 : i32} : !tilegpu.smem<32xf32, #s>
  tilegpu.smem_store %x, %a : tensor<32xf32, #l>, !tilegpu.smem<32xf32, #s>
  %0 = tilegpu.smem_load %m : !tilegpu.smem<32xf32, #s> -> tensor<32xf32, #l>
  return
}

// Another place of one argument: other threads may have written what is read.
// CHECK-LABEL: func.func @global_elsewhere
// CHECK: view_store
// CHECK-NEXT: tilegpu.barrier
// CHECK-NEXT: view_load
func.func @global_elsewhere(%p: !tile.ptr<f32>, %n: i32, %i: i32, %j: i32, %x: tensor<32xf32, #l>) {
  %v = tile.make_view %p, extents [%n], strides [%n] : i32 -> !tile.view<1xf32>
  tile.view_store %x, %v[%i] : tensor<32xf32, #l>, !tile.view<1xf32>
  %0 = tile.view_load %v[%j] : !tile.view<1xf32> -> tensor<32xf32, #l>
  return
}

// Store and load of one place in one layout need no barrier: each thread meets its own elements alone. Threads that hold copies do need one.
// CHECK-LABEL: func.func @global_same_place
// CHECK: view_load
// CHECK-NEXT: view_store
// CHECK-NEXT: view_load
// CHECK-NEXT: view_load
// CHECK-NEXT: tilegpu.barrier
// CHECK-NEXT: view_store
func.func @global_same_place(%p: !tile.ptr<f32>, %q: !tile.ptr<f32>, %n: i32, %i: i32) {
  %v = tile.make_view %p, extents [%n], strides [%n] : i32 -> !tile.view<1xf32>
  %w = tile.make_view %q, extents [%n], strides [%n] : i32 -> !tile.view<1xf32>
  %0 = tile.view_load %v[%i] : !tile.view<1xf32> -> tensor<32xf32, #l>
  tile.view_store %0, %v[%i] : tensor<32xf32, #l>, !tile.view<1xf32>
  %1 = tile.view_load %v[%i] : !tile.view<1xf32> -> tensor<32xf32, #l>
  %2 = tile.view_load %w[%i] : !tile.view<1xf32> -> tensor<32xf32, #twice>
  tile.view_store %2, %w[%i] : tensor<32xf32, #twice>, !tile.view<1xf32>
  return
}

// Different arguments are different tensors.
// CHECK-LABEL: func.func @global_other_argument
// CHECK-NOT: barrier
// CHECK: return
func.func @global_other_argument(%p: !tile.ptr<f32>, %q: !tile.ptr<f32>, %n: i32, %i: i32, %j: i32, %x: tensor<32xf32, #l>) {
  %v = tile.make_view %p, extents [%n], strides [%n] : i32 -> !tile.view<1xf32>
  %w = tile.make_view %q, extents [%n], strides [%n] : i32 -> !tile.view<1xf32>
  tile.view_store %x, %v[%i] : tensor<32xf32, #l>, !tile.view<1xf32>
  %0 = tile.view_load %w[%j] : !tile.view<1xf32> -> tensor<32xf32, #l>
  return
}

// A pointer chosen at run time may be anybody's.
// CHECK-LABEL: func.func @global_unknown_pointer
// CHECK: tile.store
// CHECK-NEXT: tilegpu.barrier
// CHECK-NEXT: tile.load
func.func @global_unknown_pointer(%p: !tile.ptr<f32>, %q: !tile.ptr<f32>, %c: i1, %x: f32) {
  %r = arith.select %c, %p, %q : !tile.ptr<f32>
  tile.store %x, %p : f32, !tile.ptr<f32>
  %0 = tile.load %r : !tile.ptr<f32> -> f32
  return
}

// Tiles of different iterations may overlap; a place that the loop does not move is each thread's own.
// CHECK-LABEL: func.func @stores_in_a_loop
// CHECK: scf.for
// CHECK-NEXT: tilegpu.barrier
// CHECK-NEXT: tile.view_store
// CHECK-NEXT: }
// CHECK: scf.for
// CHECK-NEXT: tile.view_store
// CHECK-NEXT: }
func.func @stores_in_a_loop(%p: !tile.ptr<f32>, %q: !tile.ptr<f32>, %n: i32, %x: tensor<32xf32, #l>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %v = tile.make_view %p, extents [%n], strides [%n] : i32 -> !tile.view<1xf32>
  %w = tile.make_view %q, extents [%n], strides [%n] : i32 -> !tile.view<1xf32>
  scf.for %i = %c0 to %n step %c1 : i32 {
    tile.view_store %x, %v[%i] : tensor<32xf32, #l>, !tile.view<1xf32>
  }
  scf.for %i = %c0 to %n step %c1 : i32 {
    tile.view_store %x, %w[%n] : tensor<32xf32, #l>, !tile.view<1xf32>
  }
  return
}

// Global and shared memory have no bytes in common.
// CHECK-LABEL: func.func @two_spaces
// CHECK-NOT: barrier
// CHECK: return
func.func @two_spaces(%p: !tile.ptr<f32>, %x: tensor<32xf32, #l>, %y: f32) {
  %a = tilegpu.smem_alloc {offset = 0 : i32} : !tilegpu.smem<32xf32, #s>
  tilegpu.smem_store %x, %a : tensor<32xf32, #l>, !tilegpu.smem<32xf32, #s>
  %0 = tile.load %p : !tile.ptr<f32> -> f32
  return
}

// Each team synchronizes by itself, except for memory that all share.
// CHECK-LABEL: func.func @teams
// CHECK: tilegpu.smem_store
// CHECK-NEXT: tilegpu.smem_store
// CHECK-NEXT: tilegpu.barrier {reason = "read after write of shared memory bytes 128 to 255"}
// CHECK-NEXT: tilegpu.smem_load
// CHECK-NEXT: tilegpu.barrier {reason = "read after write of shared memory bytes 0 to 127", scope = #tilegpu.scope<consumers>}
// CHECK-NEXT: tilegpu.smem_load
func.func @teams(%x: tensor<32xf32, #twice>) attributes {tile.teams = 2 : i32} {
  %all = tilegpu.smem_alloc {offset = 0 : i32, scope = #tilegpu.scope<block>} : !tilegpu.smem<32xf32, #s>
  %own = tilegpu.smem_alloc {offset = 128 : i32} : !tilegpu.smem<32xf32, #s>
  tilegpu.smem_store %x, %all : tensor<32xf32, #twice>, !tilegpu.smem<32xf32, #s>
  tilegpu.smem_store %x, %own : tensor<32xf32, #twice>, !tilegpu.smem<32xf32, #s>
  %y = tilegpu.smem_load %own : !tilegpu.smem<32xf32, #s> -> tensor<32xf32, #twice>
  %z = tilegpu.smem_load %all : !tilegpu.smem<32xf32, #s> -> tensor<32xf32, #twice>
  return
}
