// The result of an atomic goes from the first holder of an element to the others, if there are others and it is used.
// RUN: tile-opt %s -tile-expand-scratch | FileCheck %s

#once = #tilegpu.layout<register = [], lane = [[1], [2], [4], [8], [16]], warp = []>
#twice = #tilegpu.layout<register = [], lane = [[1], [2], [4], [8], [16]], warp = [[0]]>

// CHECK-LABEL: func.func @repeated
// CHECK: %[[OLD:.*]] = tile.atomic_rmw
// CHECK-NEXT: %[[M:.*]] = tilegpu.smem_alloc
// CHECK-NEXT: tilegpu.smem_store %[[OLD]], %[[M]] first_holder
// CHECK-NEXT: %[[ALL:.*]] = tilegpu.smem_load %[[M]]
// CHECK-NEXT: return %[[ALL]]
func.func @repeated(%p: tensor<32x!tile.ptr<i32>, #twice>, %x: tensor<32xi32, #twice>) -> tensor<32xi32, #twice> {
  %a = tile.atomic_rmw add relaxed gpu %p, %x : tensor<32x!tile.ptr<i32>, #twice>, tensor<32xi32, #twice>
  return %a : tensor<32xi32, #twice>
}

// CHECK-LABEL: func.func @unused
// CHECK-NOT: smem
// CHECK: return
func.func @unused(%p: tensor<32x!tile.ptr<i32>, #twice>, %x: tensor<32xi32, #twice>) {
  %a = tile.atomic_cas relaxed gpu %p, %x, %x : tensor<32x!tile.ptr<i32>, #twice>, tensor<32xi32, #twice>
  return
}

// CHECK-LABEL: func.func @held_once
// CHECK-NOT: smem
// CHECK: return
func.func @held_once(%p: tensor<32x!tile.ptr<i32>, #once>, %x: tensor<32xi32, #once>) -> tensor<32xi32, #once> {
  %a = tile.atomic_rmw add relaxed gpu %p, %x : tensor<32x!tile.ptr<i32>, #once>, tensor<32xi32, #once>
  return %a : tensor<32xi32, #once>
}
