// RUN: tile-opt %s -tile-expand-scratch=most-bytes=1024 | FileCheck %s

#from = #tilegpu.layout<register = [[1, 0], [16, 0], [32, 0]], lane = [[0, 1], [0, 2], [0, 4], [2, 0], [4, 0]], warp = [[8, 0]]>
#to = #tilegpu.layout<register = [[2, 0], [16, 0], [8, 0]], lane = [[0, 1], [0, 2], [0, 4], [1, 0], [32, 0]], warp = [[4, 0]]>
#apart = #tilegpu.layout<register = [[8, 0], [2, 0], [4, 0]], lane = [[0, 1], [0, 2], [0, 4], [16, 0], [32, 0]], warp = [[1, 0]]>

// 2048 bytes. Registers of both layouts tell rows apart by the bit of 16: first the rows where it is 0, then the others, through
// one memory. Bit 32 is a lane's in the new layout.
// CHECK-LABEL: func.func @halves
// CHECK: %[[X:.+]] = tile.reshape %{{.+}} : tensor<64x8xf32, #{{.+}}> -> tensor<2x2x16x8xf32, #{{.+}}>
// CHECK: %[[M:.+]] = tilegpu.smem_alloc : <2x1x16x8xf32, #{{.+}}>
// CHECK: %[[A:.+]] = tilegpu.subtile %[[X]] from [0, 0, 0, 0]
// CHECK: tilegpu.smem_store %[[A]], %[[M]]
// CHECK: %[[C:.+]] = tilegpu.smem_load %[[M]]
// CHECK: %[[B:.+]] = tilegpu.subtile %[[X]] from [0, 1, 0, 0]
// CHECK: tilegpu.smem_store %[[B]], %[[M]]
// CHECK: %[[D:.+]] = tilegpu.smem_load %[[M]]
// CHECK: %[[W:.+]] = tilegpu.from_subtiles %[[C]], %[[D]]
// CHECK: tile.reshape %[[W]] : tensor<2x2x16x8xf32, #{{.+}}> -> tensor<64x8xf32, #{{.+}}>
func.func @halves(%x: tensor<64x8xf32, #from>) -> tensor<64x8xf32, #to> {
  %y = tilegpu.convert_layout %x : tensor<64x8xf32, #from> -> tensor<64x8xf32, #to>
  return %y : tensor<64x8xf32, #to>
}

// No register of one layout is one of the other: the tile goes through memory as a whole.
// CHECK-LABEL: func.func @whole
// CHECK: tilegpu.smem_alloc : <64x8xf64, #{{.+}}>
// CHECK-NOT: tilegpu.part
func.func @whole(%x: tensor<64x8xf64, #from>) -> tensor<64x8xf64, #apart> {
  %y = tilegpu.convert_layout %x : tensor<64x8xf64, #from> -> tensor<64x8xf64, #apart>
  return %y : tensor<64x8xf64, #apart>
}
