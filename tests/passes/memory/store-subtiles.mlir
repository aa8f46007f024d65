// A tile of a product is stored part after part: what it is computed from is computed for each part, and two buffers take turns.
// RUN: tile-opt --tile-store-subtiles --split-input-file %s | FileCheck %s

#acc = #tilegpu.layout<register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32], [0, 64], [0, 128]],
                       lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>

// The sums are converted a part at a time. In a loop the first part waits until the stores of the iteration before are complete,
// for they may be to the same place; the third until the first buffer has been read.
// CHECK-LABEL: func.func @by_engine
// CHECK: %[[FIRST:.+]] = tilegpu.smem_alloc {alignment = 1024 : i32} : <64x64xf16,
// CHECK: %[[SECOND:.+]] = tilegpu.smem_alloc {alignment = 1024 : i32} : <64x64xf16,
// CHECK: scf.for %[[I:.+]] =
// CHECK-DAG: %[[ROW:.+]] = arith.cmpi ult, %[[I]], %{{.+}} : i32
// CHECK-DAG: %[[COLUMN:.+]] = arith.cmpi ult, %c0_i32, %{{.+}} : i32
// CHECK: %[[INSIDE:.+]] = arith.andi %[[ROW]], %[[COLUMN]]
// CHECK: %[[PART:.+]] = tilegpu.subtile %{{.+}} from [0, 0] : tensor<64x256xf32, #{{.+}}> -> tensor<64x64xf32, #[[SMALL:.+]]>
// CHECK: %[[SCALED:.+]] = arith.mulf %[[PART]], %{{.+}} : tensor<64x64xf32, #[[SMALL]]>
// CHECK: %[[NARROW:.+]] = tile.convert %[[SCALED]] : tensor<64x64xf32, #[[SMALL]]> -> tensor<64x64xf16, #[[SMALL]]>
// CHECK: tilegpu.elect {
// CHECK-NEXT: tilegpu.tensor_store_wait %[[FIRST]], %[[SECOND]] pending 0 :
// CHECK: tilegpu.smem_store %[[NARROW]], %[[FIRST]] by_matrices
// CHECK-NEXT: tilegpu.proxy_fence
// CHECK-NEXT: tilegpu.elect if %[[INSIDE]] {
// CHECK-NEXT: tilegpu.tensor_store %[[FIRST]], %{{.+}}[%[[I]], %c0_i32] shape [64, 64]
// CHECK: tilegpu.subtile %{{.+}} from [0, 64]
// CHECK-NOT: tensor_store_wait
// CHECK: tilegpu.smem_store %{{.+}}, %[[SECOND]]
// CHECK: tilegpu.tensor_store %[[SECOND]]
// CHECK: tilegpu.subtile %{{.+}} from [0, 128]
// CHECK: tilegpu.tensor_store_wait %[[FIRST]], %[[SECOND]] pending 1 reads :
// CHECK: tilegpu.smem_store %{{.+}}, %[[FIRST]]
// CHECK: tilegpu.subtile %{{.+}} from [0, 192]
// CHECK: tilegpu.tensor_store_wait %[[FIRST]], %[[SECOND]] pending 1 reads :
// CHECK: tilegpu.smem_store %{{.+}}, %[[SECOND]]
// CHECK-NOT: tilegpu.part
// CHECK-NOT: tile.view_store
// CHECK: }
// CHECK: tilegpu.elect {
// CHECK-NEXT: tilegpu.tensor_store_wait %[[FIRST]], %[[SECOND]] pending 0 reads :
// CHECK-NEXT: }
// CHECK-NEXT: return
func.func @by_engine(%p: !tile.ptr<f16>, %rows: i32, %columns: i32, %x: tensor<64x256xf32, #acc>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %half = arith.constant dense<0.5> : tensor<64x256xf32, #acc>
  %v = tile.make_view %p, extents [%rows, %columns], strides [%columns, %c1]
    {tilegpu.view_of = #tilegpu.view_of<arg = 0, dims = [0, 1]>} : i32 -> !tile.view<2xf16>
  scf.for %i = %c0 to %rows step %c64 : i32 {
    %y = arith.mulf %x, %half : tensor<64x256xf32, #acc>
    %z = tile.convert %y : tensor<64x256xf32, #acc> -> tensor<64x256xf16, #acc>
    tile.view_store %z, %v[%i, %c0] {tilegpu.access = #tilegpu.access<order = [1, 0], vector = 8, bounds = [element, element]>,
      tilegpu.variant = #tilegpu.store<tma>} : tensor<64x256xf16, #acc>, !tile.view<2xf16>
  }
  return
}

// -----

#acc = #tilegpu.layout<register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32], [0, 64]],
                       lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>

// A reshape that adds an extent of 1 goes along. Outside loops nothing is waited for but the end. What others use too is taken
// as it is.
// CHECK-LABEL: func.func @reshaped
// CHECK: %[[WHOLE:.+]] = tile.convert
// CHECK: tilegpu.subtile %[[WHOLE]] from [0, 0] : tensor<64x128xf16, #{{.+}}> -> tensor<64x64xf16, #{{.+}}>
// CHECK: tile.reshape %{{.+}} : tensor<64x64xf16, #{{.+}}> -> tensor<1x64x64xf16, #{{.+}}>
// CHECK-NOT: tensor_store_wait
// CHECK: tilegpu.tensor_store {{.*}} shape [1, 64, 64]
// CHECK: tilegpu.subtile %[[WHOLE]] from [0, 64]
// CHECK-NOT: tensor_store_wait
// CHECK: tilegpu.tensor_store {{.*}} shape [1, 64, 64]
// CHECK: tilegpu.tensor_store_wait {{.*}} pending 0 reads
// CHECK: return %[[WHOLE]]
func.func @reshaped(%p: !tile.ptr<f16>, %n: i32, %x: tensor<64x128xf32, #acc>) -> tensor<64x128xf16, #acc> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %v = tile.make_view %p, extents [%n, %n, %n], strides [%n, %n, %c1]
    {tilegpu.view_of = #tilegpu.view_of<arg = 0, dims = [0, 1, 2]>} : i32 -> !tile.view<3xf16>
  %z = tile.convert %x : tensor<64x128xf32, #acc> -> tensor<64x128xf16, #acc>
  %r = tile.reshape %z : tensor<64x128xf16, #acc> -> tensor<1x64x128xf16,
    #tilegpu.layout<register = [[0, 0, 1], [0, 8, 0], [0, 0, 8], [0, 0, 16], [0, 0, 32], [0, 0, 64]],
                    lane = [[0, 0, 2], [0, 0, 4], [0, 1, 0], [0, 2, 0], [0, 4, 0]], warp = [[0, 16, 0], [0, 32, 0]]>>
  tile.view_store %r, %v[%c0, %c0, %c0] {tilegpu.access = #tilegpu.access<order = [2, 1, 0], vector = 8, bounds = [element, element, element]>,
      tilegpu.variant = #tilegpu.store<tma>} : tensor<1x64x128xf16, #tilegpu.layout<register = [[0, 0, 1], [0, 8, 0], [0, 0, 8], [0, 0, 16], [0, 0, 32], [0, 0, 64]],
                    lane = [[0, 0, 2], [0, 0, 4], [0, 1, 0], [0, 2, 0], [0, 4, 0]], warp = [[0, 16, 0], [0, 32, 0]]>>, !tile.view<3xf16>
  return %z : tensor<64x128xf16, #acc>
}

// -----

#acc = #tilegpu.layout<register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32], [0, 64]],
                       lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
#quads = #tilegpu.layout<register = [[0, 1], [0, 2], [0, 4], [8, 0], [0, 32], [0, 64]],
                         lane = [[0, 8], [0, 16], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>

// In quads each part is exchanged and stored by itself.
// CHECK-LABEL: func.func @in_quads
// CHECK: tilegpu.subtile %{{.+}} from [0, 0]
// CHECK: tile.convert %{{.+}} -> tensor<64x64xf16,
// CHECK: tilegpu.convert_layout %{{.+}} by_shuffles
// CHECK: tile.view_store %{{.+}}, %{{.+}}[%c0_i32, %c0_i32]
// CHECK: tilegpu.subtile %{{.+}} from [0, 64]
// CHECK: tilegpu.convert_layout %{{.+}} by_shuffles
// CHECK: %[[NEXT:.+]] = arith.addi %c0_i32, %c64_i32
// CHECK: tile.view_store %{{.+}}, %{{.+}}[%c0_i32, %[[NEXT]]]
// CHECK-NOT: tile.view_store
func.func @in_quads(%p: !tile.ptr<f16>, %n: i32, %x: tensor<64x128xf32, #acc>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %v = tile.make_view %p, extents [%n, %n], strides [%n, %c1] : i32 -> !tile.view<2xf16>
  %z = tile.convert %x : tensor<64x128xf32, #acc> -> tensor<64x128xf16, #acc>
  %q = tilegpu.convert_layout %z by_shuffles : tensor<64x128xf16, #acc> -> tensor<64x128xf16, #quads>
  tile.view_store %q, %v[%c0, %c0] {tilegpu.access = #tilegpu.access<order = [1, 0], vector = 8, bounds = [element, element]>,
    tilegpu.variant = #tilegpu.store<quad>} : tensor<64x128xf16, #quads>, !tile.view<2xf16>
  return
}

// -----

#rows = #tilegpu.layout<register = [[0, 32], [1, 0], [2, 0], [4, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], warp = []>

// What threads do not hold as products leave it they store themselves.
// CHECK-LABEL: func.func @by_threads
// CHECK-NOT: tensor_store
// CHECK: tile.view_store {{.*}}<vector, refused = ["tma refused: threads do not hold it in matrices, as products leave it"]>
func.func @by_threads(%p: !tile.ptr<f16>, %n: i32, %x: tensor<8x64xf16, #rows>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %v = tile.make_view %p, extents [%n, %n], strides [%n, %c1]
    {tilegpu.view_of = #tilegpu.view_of<arg = 0, dims = [0, 1]>} : i32 -> !tile.view<2xf16>
  tile.view_store %x, %v[%c0, %c0] {tilegpu.access = #tilegpu.access<order = [1, 0], vector = 8, bounds = [element, element]>,
    tilegpu.variant = #tilegpu.store<tma>} : tensor<8x64xf16, #rows>, !tile.view<2xf16>
  return
}
