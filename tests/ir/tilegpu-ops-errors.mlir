// What the verifiers of `tilegpu` reject, one case a message.
// RUN: tile-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{a layout's rank must be 1 to 8, got 0}}
#l = #tilegpu.layout<register = [], lane = [], warp = []>

// -----

// expected-error @+1 {{basis vectors must have one length, at least 1}}
#l = #tilegpu.layout<register = [[1, 2]], lane = [[1], [2], [4], [8], [16]], warp = []>

// -----

// expected-error @+1 {{basis vectors must have one length, at least 1}}
#l = #tilegpu.layout<register = [[]], lane = [[1], [2], [4], [8], [16]], warp = []>

// -----

// expected-error @+1 {{basis vectors must not be negative, got -1}}
#l = #tilegpu.layout<register = [[-1]], lane = [[1], [2], [4], [8], [16]], warp = []>

// -----

// expected-error @+1 {{a layout needs 5 lane vectors, got 4}}
#l = #tilegpu.layout<register = [], lane = [[1], [2], [4], [8]], warp = []>

// -----

// expected-error @+1 {{a layout has at most 5 warp vectors, got 6}}
#l = #tilegpu.layout<register = [], lane = [[0], [0], [0], [0], [0]], warp = [[1], [2], [4], [8], [16], [32]]>

// -----

// expected-error @+1 {{a layout has at most 20 register vectors, got 21}}
#l = #tilegpu.layout<register = [[0], [0], [0], [0], [0], [0], [0], [0], [0], [0], [0], [0], [0], [0], [0], [0], [0], [0], [0], [0], [0]], lane = [[0], [0], [0], [0], [0]], warp = []>

// -----

#l = #tilegpu.layout<register = [], lane = [[1], [2], [4], [8], [16]], warp = []>
// expected-error @+1 {{the layout has rank 1, the tile 2}}
func.func @layout_rank(%x: tensor<4x8xf32, #l>) { return }

// -----

#l = #tilegpu.layout<register = [], lane = [[1], [2], [4], [8], [16]], warp = []>
// expected-error @+1 {{coordinate 16 is outside the power-of-two part 16 of extent 16}}
func.func @layout_coordinate(%x: tensor<16xf32, #l>) { return }

// -----

#l = #tilegpu.layout<register = [], lane = [[1], [2], [4], [8], [16]], warp = []>
// expected-error @+1 {{coordinate 1 is outside the power-of-two part 1 of extent 33}}
func.func @layout_odd_extent(%x: tensor<33xf32, #l>) { return }

// -----

#l = #tilegpu.layout<register = [], lane = [[1], [2], [4], [8], [8]], warp = []>
// expected-error @+1 {{the layout does not reach every element of the tile}}
func.func @layout_surjective(%x: tensor<32xf32, #l>) { return }

// -----

#l = #tilegpu.layout<register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32]]>
func.func @layout_too_few_warps() attributes {tile.kernel, tile.warps = 4 : i32} {
  // expected-error @+1 {{has a layout for 2 warps in a kernel of 4 (tile.warps)}}
  %x = tile.arange 0, 64 : tensor<64xi32, #l>
  return
}

// -----

#l = #tilegpu.layout<register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32], [64], [128]]>
func.func @layout_too_many_warps() attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %c1 step %c1 {
    // expected-error @+1 {{has a layout for 8 warps in a kernel of 4 (tile.warps)}}
    %x = tile.arange 0, 256 : tensor<256xi32, #l>
  }
  return
}

// -----

#l = #tilegpu.layout<register = [], lane = [[1], [2], [4], [8], [16]], warp = []>
// expected-error @+1 {{a tile's extents must be at least 1, got 0}}
func.func @layout_zero(%x: tensor<0xf32, #l>) { return }

// -----

// expected-error @+1 {{panel bits must be 0 to 20, got 21}}
#s = #tilegpu.shared<panel = [21], linear = [], digits = [1]>

// -----

// expected-error @+1 {{panel bits must be 0 to 20, got -1}}
#s = #tilegpu.shared<panel = [-1], linear = [], digits = [1]>

// -----

// expected-error @+1 {{panel and digits must name the same dimensions, at least one}}
#s = #tilegpu.shared<panel = [1], linear = [1], digits = [1, 2]>

// -----

// expected-error @+1 {{panel and digits must name the same dimensions, at least one}}
#s = #tilegpu.shared<panel = [], linear = [], digits = []>

// -----

// expected-error @+1 {{linear must have one column a panel bit, 2, got 1}}
#s = #tilegpu.shared<panel = [2], linear = [1], digits = [4]>

// -----

// expected-error @+1 {{offsets must be 0 to 2^30, got -1}}
#s = #tilegpu.shared<panel = [1], linear = [-1], digits = [4]>

// -----

// expected-error @+1 {{offsets must be 0 to 2^30, got 2147483648}}
#s = #tilegpu.shared<panel = [1], linear = [1], digits = [2147483648]>

// -----

#s = #tilegpu.shared<panel = [2], linear = [1, 2], digits = [4]>
// expected-error @+1 {{the shared layout has rank 1, the tile 2}}
func.func @smem_rank(%x: !tilegpu.smem<4x4xf32, #s>) { return }

// -----

#s = #tilegpu.shared<panel = [2], linear = [1, 2], digits = [4]>
// expected-error @+1 {{shared memory holds numbers and pointers, got 'index'}}
func.func @smem_element(%x: !tilegpu.smem<4xindex, #s>) { return }

// -----

#s = #tilegpu.shared<panel = [2], linear = [1, 2], digits = [4]>
// expected-error @+1 {{a tile's extents must be at least 1, got 0}}
func.func @smem_shape(%x: !tilegpu.smem<0xf32, #s>) { return }

// -----

#s = #tilegpu.shared<panel = [2], linear = [1, 1], digits = [4]>
// expected-error @+1 {{the linear part of a shared layout puts two elements at one offset}}
func.func @smem_overlap(%x: !tilegpu.smem<4xf32, #s>) { return }

// -----

#s = #tilegpu.shared<panel = [2], linear = [1, 2], digits = [4]>
// expected-error @+1 {{a ring has 1 to 64 stages, got 0}}
func.func @ring_slots(%x: !tilegpu.ring<0 x !tilegpu.smem<4xf32, #s>>) { return }

// -----

#s = #tilegpu.shared<panel = [2], linear = [1, 2], digits = [4]>
// expected-error @+1 {{a ring has 1 to 64 stages, got 65}}
func.func @ring_slots(%x: !tilegpu.ring<65 x !tilegpu.smem<4xf32, #s>>) { return }

// -----

#a = #tilegpu.layout<register = [], lane = [[1], [2], [4], [8], [16]], warp = []>
func.func @convert_layout_type(%x: tensor<32xf32, #a>) {
  // expected-error @+1 {{changes the layout alone: shape and element type must stay}}
  %y = tilegpu.convert_layout %x : tensor<32xf32, #a> -> tensor<32xf16, #a>
  return
}

// -----

#a = #tilegpu.layout<register = [], lane = [[1], [2], [4], [8], [16]], warp = []>
func.func @convert_layout_none(%x: tensor<32xf32>) {
  // expected-error @+1 {{needs a layout on both sides}}
  %y = tilegpu.convert_layout %x : tensor<32xf32> -> tensor<32xf32, #a>
  return
}

// -----

func.func @reduce_partial_nothing() {
  // expected-error @+1 {{needs one result an operand, and at least one operand}}
  "tilegpu.reduce_partial"() <{axis = 0 : i32}> ({
  ^bb0:
    tilegpu.yield
  }) : () -> ()
  return
}

// -----

#a = #tilegpu.layout<register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32]]>
#b = #tilegpu.layout<register = [], lane = [[0], [0], [0], [0], [0]], warp = [[1]]>
func.func @reduce_partial_arguments(%x: tensor<64xf32, #a>) {
  // expected-error @+1 {{the region needs 2 arguments and 1 results}}
  %y = tilegpu.reduce_partial %x axis 0 : tensor<64xf32, #a> -> tensor<2xf32, #b> {
  ^bb0(%l: f32):
    tilegpu.yield %l : f32
  }
  return
}

// -----

#a = #tilegpu.layout<register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32]]>
#b = #tilegpu.layout<register = [], lane = [[0], [0], [0], [0], [0]], warp = [[1]]>
func.func @reduce_partial_types(%x: tensor<64xf32, #a>) {
  // expected-error @+1 {{the region's arguments and results 0 must be 'f32'}}
  %y = tilegpu.reduce_partial %x axis 0 : tensor<64xf32, #a> -> tensor<2xf32, #b> {
  ^bb0(%l: f16, %r: f16):
    tilegpu.yield %l : f16
  }
  return
}

// -----

#a = #tilegpu.layout<register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32]]>
#b = #tilegpu.layout<register = [], lane = [[0], [0], [0], [0], [0]], warp = [[1]]>
func.func @reduce_partial_axis(%x: tensor<64xf32, #a>) {
  // expected-error @+1 {{axis 1 is outside the operand's rank}}
  %y = tilegpu.reduce_partial %x axis 1 : tensor<64xf32, #a> -> tensor<2xf32, #b> {
  ^bb0(%l: f32, %r: f32):
    tilegpu.yield %l : f32
  }
  return
}

// -----

func.func @reduce_partial_layout(%x: tensor<64xf32>) {
  // expected-error @+1 {{needs a layout on both sides}}
  %y = tilegpu.reduce_partial %x axis 0 : tensor<64xf32> -> tensor<2xf32> {
  ^bb0(%l: f32, %r: f32):
    tilegpu.yield %l : f32
  }
  return
}

// -----

#a = #tilegpu.layout<register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32]]>
#b = #tilegpu.layout<register = [], lane = [[0], [0], [0], [0], [0]], warp = [[1]]>
func.func @reduce_partial_element(%x: tensor<64xf32, #a>) {
  // expected-error @+1 {{the result's element type must be the operand's, 'f32'}}
  %y = tilegpu.reduce_partial %x axis 0 : tensor<64xf32, #a> -> tensor<2xf16, #b> {
  ^bb0(%l: f32, %r: f32):
    tilegpu.yield %l : f32
  }
  return
}

// -----

#a = #tilegpu.layout<register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32]]>
#b = #tilegpu.layout<register = [], lane = [[0], [0], [0], [0], [0]], warp = [[0]]>
func.func @reduce_partial_shape(%x: tensor<64xf32, #a>) {
  // expected-error @+1 {{the result's axis must have one element a warp, 2}}
  %y = tilegpu.reduce_partial %x axis 0 : tensor<64xf32, #a> -> tensor<1xf32, #b> {
  ^bb0(%l: f32, %r: f32):
    tilegpu.yield %l : f32
  }
  return
}

// -----

func.func @yield_elsewhere(%x: f32) {
  // expected-error @+1 {{expects parent op to be one of 'tilegpu.reduce_partial, tilegpu.scan_carry, tilegpu.scan_partial'}}
  tilegpu.yield %x : f32
}

// -----

#a = #tilegpu.layout<register = [], lane = [[1], [2], [4], [8], [16]], warp = []>
#s = #tilegpu.shared<panel = [5], linear = [1, 2, 4, 8, 16], digits = [32]>
func.func @store_type(%x: tensor<32xf16, #a>, %m: !tilegpu.smem<32xf32, #s>) {
  // expected-error @+1 {{tile and shared memory must have one element type}}
  tilegpu.smem_store %x, %m : tensor<32xf16, #a>, !tilegpu.smem<32xf32, #s>
  return
}

// -----

#s = #tilegpu.shared<panel = [5], linear = [1, 2, 4, 8, 16], digits = [32]>
func.func @load_layout(%m: !tilegpu.smem<32xf32, #s>) {
  // expected-error @+1 {{needs a layout}}
  %x = tilegpu.smem_load %m : !tilegpu.smem<32xf32, #s> -> tensor<32xf32>
  return
}

// -----

#a = #tilegpu.layout<register = [], lane = [[1], [2], [4], [8], [16]], warp = []>
#s = #tilegpu.shared<panel = [5], linear = [1, 2, 4, 8, 16], digits = [32]>
func.func @put_type(%x: tensor<64xf32>, %stage: i32) {
  %r = tilegpu.ring_alloc : !tilegpu.ring<1 x !tilegpu.smem<32xf32, #s>>
  // expected-error @+1 {{the tile must have the shape and the element type of its part}}
  tilegpu.ring_put %x, %r[%stage] operand 0 : tensor<64xf32>, !tilegpu.ring<1 x !tilegpu.smem<32xf32, #s>>
  return
}

// -----

#s = #tilegpu.shared<panel = [5], linear = [1, 2, 4, 8, 16], digits = [32]>
func.func @get_type(%stage: i32) {
  %r = tilegpu.ring_alloc : !tilegpu.ring<1 x !tilegpu.smem<32xf32, #s>>
  // expected-error @+2 {{are incompatible with return type(s) of operation}}
  // expected-error @+1 {{failed to infer returned types}}
  %m = "tilegpu.consumer_wait"(%r, %stage)
      : (!tilegpu.ring<1 x !tilegpu.smem<32xf32, #s>>, i32) -> !tilegpu.smem<32xf16, #s>
  return
}

// -----

#s = #tilegpu.shared<panel = [5], linear = [1, 2, 4, 8, 16], digits = [32]>
// expected-error @+1 {{offset must not be negative, got -128}}
%m = tilegpu.smem_alloc {offset = -128 : i32} : !tilegpu.smem<32xf32, #s>

// -----

#scan = #tilegpu.layout<register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32]]>
#total = #tilegpu.layout<register = [], lane = [[0], [0], [0], [0], [0]], warp = [[1]]>

func.func @scan_partial_results(%x: tensor<64xf32, #scan>) {
  // expected-error @+1 {{needs two results an operand, the first of the operand's type}}
  %r = tilegpu.scan_partial %x axis 0 : tensor<64xf32, #scan> -> tensor<64xf32, #scan> {
  ^bb0(%a: f32, %b: f32):
    tilegpu.yield %a : f32
  }
  return
}

// -----

#scan = #tilegpu.layout<register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32]]>
#total = #tilegpu.layout<register = [], lane = [[0], [0], [0], [0], [0]], warp = [[1]]>

func.func @scan_partial_region(%x: tensor<64xf32, #scan>) {
  // expected-error @+1 {{the region needs 2 arguments and 1 results}}
  %r:2 = tilegpu.scan_partial %x axis 0 : tensor<64xf32, #scan> -> tensor<64xf32, #scan>, tensor<2xf32, #total> {
  ^bb0(%a: f32):
    tilegpu.yield %a : f32
  }
  return
}

// -----

#scan = #tilegpu.layout<register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32]]>
#total = #tilegpu.layout<register = [], lane = [[0], [0], [0], [0], [0]], warp = [[0]]>

func.func @scan_partial_totals(%x: tensor<64xf32, #scan>) {
  // expected-error @+1 {{totals must have one element a piece along the axis, 2}}
  %r:2 = tilegpu.scan_partial %x axis 0 : tensor<64xf32, #scan> -> tensor<64xf32, #scan>, tensor<1xf32, #total> {
  ^bb0(%a: f32, %b: f32):
    tilegpu.yield %a : f32
  }
  return
}

// -----

#scan = #tilegpu.layout<register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32]]>
#total = #tilegpu.layout<register = [], lane = [[0], [0], [0], [0], [0]], warp = [[1]]>

func.func @scan_carry_operands(%x: tensor<64xf32, #scan>) {
  // expected-error @+1 {{needs two operands a result, the first of the result's type}}
  %r = tilegpu.scan_carry %x axis 0 : tensor<64xf32, #scan> -> tensor<64xf32, #scan> {
  ^bb0(%a: f32, %b: f32):
    tilegpu.yield %a : f32
  }
  return
}

// -----

#a = #tilegpu.layout<register = [], lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], warp = []>
#s = #tilegpu.shared<panel = [5], linear = [1, 2, 4, 8, 16], digits = [32]>
func.func @load_rank(%m: !tilegpu.smem<32xf32, #s>) {
  // expected-error @+1 {{tile and shared memory must have one rank}}
  %x = tilegpu.smem_load %m : !tilegpu.smem<32xf32, #s> -> tensor<1x32xf32, #a>
  return
}

// -----

#l = #tilegpu.layout<register = [], lane = [[1], [2], [4], [8], [16]], warp = []>
#s = #tilegpu.shared<panel = [5], linear = [1, 2, 4, 8, 16], digits = [32]>
func.func @smem_dot_rank(%a: !tilegpu.smem<32xf32, #s>, %c: tensor<32xf32, #l>) {
  // expected-error @+1 {{operands must all have rank 2, or rank 3 with the batch first}}
  %d = tilegpu.smem_dot %a, %a, %c : !tilegpu.smem<32xf32, #s>, !tilegpu.smem<32xf32, #s>, tensor<32xf32, #l>
  return
}

// -----

#l = #tilegpu.layout<register = [], lane = [[0, 1], [0, 2], [0, 4], [1, 0], [2, 0]], warp = []>
#t = #tilegpu.shared<panel = [2, 3], linear = [1, 2, 4, 8, 16], digits = [32, 32]>
func.func @smem_dot_shapes(%a: !tilegpu.smem<4x8xf32, #t>, %c: tensor<4x8xf32, #l>) {
  // expected-error @+1 {{the shapes are not those of a product}}
  %d = tilegpu.smem_dot %a, %a, %c : !tilegpu.smem<4x8xf32, #t>, !tilegpu.smem<4x8xf32, #t>, tensor<4x8xf32, #l>
  return
}

// -----

#l = #tilegpu.layout<register = [], lane = [[0, 1], [0, 2], [1, 0], [2, 0], [0, 0]], warp = []>
#t = #tilegpu.shared<panel = [2, 2], linear = [1, 2, 4, 8], digits = [16, 16]>
func.func @smem_dot_types(%a: !tilegpu.smem<4x4xf32, #t>, %b: !tilegpu.smem<4x4xf16, #t>, %c: tensor<4x4xf32, #l>) {
  // expected-error @+1 {{operands must have one element type}}
  %d = tilegpu.smem_dot %a, %b, %c : !tilegpu.smem<4x4xf32, #t>, !tilegpu.smem<4x4xf16, #t>, tensor<4x4xf32, #l>
  return
}

// -----

#t = #tilegpu.shared<panel = [2, 2], linear = [1, 2, 4, 8], digits = [16, 16]>
func.func @smem_dot_layout(%a: !tilegpu.smem<4x4xf32, #t>, %c: tensor<4x4xf32>) {
  // expected-error @+1 {{needs a layout}}
  %d = tilegpu.smem_dot %a, %a, %c : !tilegpu.smem<4x4xf32, #t>, !tilegpu.smem<4x4xf32, #t>, tensor<4x4xf32>
  return
}

// -----

#a = #tilegpu.layout<register = [], lane = [[1], [2], [4], [8], [16]], warp = []>
#s = #tilegpu.shared<panel = [5], linear = [1, 2, 4, 8, 16], digits = [32]>
func.func @put_part(%x: tensor<32xf32, #a>, %fill: i32) {
  %r = tilegpu.ring_alloc : !tilegpu.ring<1 x !tilegpu.smem<32xf32, #s>>
  // expected-error @+1 {{part 1 is not one of the stage's 1 tiles}}
  tilegpu.ring_put %x, %r[%fill] operand 1 : tensor<32xf32, #a>, !tilegpu.ring<1 x !tilegpu.smem<32xf32, #s>>
  return
}

// -----

#s = #tilegpu.shared<panel = [5], linear = [1, 2, 4, 8, 16], digits = [32]>
func.func @copy_shape(%v: !tile.view<2xf32>, %o: i32) {
  %r = tilegpu.ring_alloc : !tilegpu.ring<1 x !tilegpu.smem<32xf32, #s>>
  // expected-error @+1 {{the tile must have the extents of the shared memory, but for those of 1}}
  tilegpu.ring_copy %v[%o, %o], %r[%o] operand 0 shape [2, 32]
    {tilegpu.access = #tilegpu.access<order = [1, 0], vector = 4, bounds = [element, element]>}
    : !tile.view<2xf32>, !tilegpu.ring<1 x !tilegpu.smem<32xf32, #s>>
  return
}

// -----

#s = #tilegpu.shared<panel = [5], linear = [1, 2, 4, 8, 16], digits = [32]>
func.func @copy_offsets(%v: !tile.view<2xf32>, %o: i32) {
  %m = tilegpu.smem_alloc : !tilegpu.smem<32xf32, #s>
  // expected-error @+1 {{needs one offset and one extent for each of the view's 2 dimensions}}
  tilegpu.copy_async %v[%o], %m shape [32] : !tile.view<2xf32>, !tilegpu.smem<32xf32, #s>
  return
}

// -----

#s = #tilegpu.shared<panel = [5], linear = [1, 2, 4, 8, 16], digits = [32]>
func.func @slot_behind_the_last() {
  %c384 = arith.constant 384 : i32
  %m = tilegpu.smem_alloc stages 3 : !tilegpu.smem<32xf32, #s>
  // expected-error @+1 {{no stage begins 384 bytes after the first: there are 3, 128 bytes apart}}
  %n = tilegpu.smem_stage %m at %c384 : !tilegpu.smem<32xf32, #s>
  return
}

// -----

#s = #tilegpu.shared<panel = [5], linear = [1, 2, 4, 8, 16], digits = [32]>
func.func @slot_begins_between() {
  %c2 = arith.constant 2 : i32
  %m = tilegpu.smem_alloc stages 3 : !tilegpu.smem<32xf32, #s>
  // expected-error @+1 {{no stage begins 2 bytes after the first: there are 3, 128 bytes apart}}
  %n = tilegpu.smem_stage %m at %c2 : !tilegpu.smem<32xf32, #s>
  return
}

// -----

#s = #tilegpu.shared<panel = [5], linear = [1, 2, 4, 8, 16], digits = [32]>
func.func @alignment() {
  // expected-error @+1 {{alignment must be a power of two, at least 128, got 96}}
  %m = tilegpu.smem_alloc {alignment = 96 : i32} : !tilegpu.smem<32xf32, #s>
  return
}

// -----

func.func @pending() {
  // expected-error @+1 {{pending must not be negative, got -1}}
  tilegpu.async_wait -1
  return
}

// -----

func.func @schedule(%n: i32) {
  // expected-error @+1 {{tilegpu.loop_plan belongs on a loop}}
  %m = arith.addi %n, %n {tilegpu.loop_plan = #tilegpu.loop_plan<asked = 2, stages = 2, reason = "as asked">} : i32
  return
}

// -----

// expected-error @+1 {{only a tile with a layout can be in flight}}
func.func private @flying(!tilegpu.in_flight<tensor<64x8xf32>>)

// -----

#l = #tilegpu.layout<register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
#a = #tilegpu.shared<panel = [6, 4], linear = [1, 2, 4, 8, 16, 32, 72, 128, 256, 512], digits = [1024, 1024]>
#b = #tilegpu.shared<panel = [5, 3], linear = [16, 32, 64, 128, 1, 2, 4, 8], digits = [256, 256]>
func.func @product(%a: !tilegpu.smem<64x16xf16, #a>, %b: !tilegpu.smem<32x8xf16, #b>, %c: tensor<64x8xf32, #l>) {
  // expected-error @+1 {{the shapes are not those of a product}}
  %d = tilegpu.dot_async %a, %b, %c : !tilegpu.smem<64x16xf16, #a>, !tilegpu.smem<32x8xf16, #b>, tensor<64x8xf32, #l>
  return
}

// -----

// With its rows for columns A is 16x64.
#l = #tilegpu.layout<register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
#a = #tilegpu.shared<panel = [6, 4], linear = [1, 2, 4, 8, 16, 32, 72, 128, 256, 512], digits = [1024, 1024]>
#b = #tilegpu.shared<panel = [4, 3], linear = [16, 32, 64, 1, 2, 4, 8], digits = [128, 128]>
func.func @transposed(%a: !tilegpu.smem<64x16xf16, #a>, %b: !tilegpu.smem<16x8xf16, #b>, %c: tensor<64x8xf32, #l>) {
  // expected-error @+1 {{the shapes are not those of a product}}
  %d = tilegpu.dot_async %a transposed, %b, %c : !tilegpu.smem<64x16xf16, #a>, !tilegpu.smem<16x8xf16, #b>, tensor<64x8xf32, #l>
  return
}

// -----

#l = #tilegpu.layout<register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
#r = #tilegpu.layout<register = [[0, 1], [8, 0], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
#b = #tilegpu.shared<panel = [4, 3], linear = [16, 32, 64, 1, 2, 4, 8], digits = [128, 128]>
func.func @transposed_in_registers(%a: tensor<64x16xf16, #r>, %b: !tilegpu.smem<16x8xf16, #b>, %c: tensor<64x8xf32, #l>) {
  // expected-error @+1 {{only operands in shared memory can be transposed there}}
  %d = tilegpu.dot_async %a transposed, %b, %c : tensor<64x16xf16, #r>, !tilegpu.smem<16x8xf16, #b>, tensor<64x8xf32, #l>
  return
}

// -----

#l = #tilegpu.layout<register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
#a = #tilegpu.shared<panel = [6, 4], linear = [1, 2, 4, 8, 16, 32, 72, 128, 256, 512], digits = [1024, 1024]>
#b = #tilegpu.shared<panel = [4, 3], linear = [16, 32, 64, 1, 2, 4, 8], digits = [128, 128]>
func.func @range(%a: !tilegpu.smem<64x16xf16, #a>, %b: !tilegpu.smem<16x8xf16, #b>, %c: tensor<64x8xf32, #l>) {
  // expected-error @+1 {{the range must be within K, which is 16}}
  %d = tilegpu.dot_async %a, %b, %c over [0, 32] : !tilegpu.smem<64x16xf16, #a>, !tilegpu.smem<16x8xf16, #b>, tensor<64x8xf32, #l>
  return
}

// -----

#l = #tilegpu.layout<register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
#a = #tilegpu.shared<panel = [6, 4], linear = [1, 2, 4, 8, 16, 32, 72, 128, 256, 512], digits = [1024, 1024]>
#b = #tilegpu.shared<panel = [4, 3], linear = [16, 32, 64, 1, 2, 4, 8], digits = [128, 128]>
func.func @range_of_one(%a: !tilegpu.smem<64x16xf16, #a>, %b: !tilegpu.smem<16x8xf16, #b>, %c: tensor<64x8xf32, #l>) {
  // expected-error @+1 {{the range must be a first k and the one after the last}}
  %d = tilegpu.dot_async %a, %b, %c over [0] : !tilegpu.smem<64x16xf16, #a>, !tilegpu.smem<16x8xf16, #b>, tensor<64x8xf32, #l>
  return
}

// -----

#a = #tilegpu.shared<panel = [6, 4], linear = [1, 2, 4, 8, 16, 32, 72, 128, 256, 512], digits = [1024, 1024]>
func.func @no_layout(%a: !tilegpu.smem<64x16xf16, #a>, %c: tensor<64x16xf32>) {
  // expected-error @+1 {{the accumulator must be a tile with a layout, or one in flight}}
  %d = tilegpu.dot_async %a, %a, %c : !tilegpu.smem<64x16xf16, #a>, !tilegpu.smem<64x16xf16, #a>, tensor<64x16xf32>
  return
}

// -----

#l = #tilegpu.layout<register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
func.func @early(%d: !tilegpu.in_flight<tensor<64x8xf32, #l>>) {
  // expected-error @+1 {{the tile stays in flight}}
  %e = tilegpu.dot_wait %d pending 1 : !tilegpu.in_flight<tensor<64x8xf32, #l>> -> tensor<64x8xf32, #l>
  return
}

// -----

#l = #tilegpu.layout<register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
func.func @too_many(%d: !tilegpu.in_flight<tensor<64x8xf32, #l>>) {
  // expected-error @+1 {{pending must be 0 to 7, got 8}}
  %e = tilegpu.dot_wait %d pending 8 : !tilegpu.in_flight<tensor<64x8xf32, #l>> -> !tilegpu.in_flight<tensor<64x8xf32, #l>>
  return
}

// -----

#s = #tilegpu.shared<panel = [2], linear = [1, 2], digits = [4]>
func.func @barriers_of_words() {
  %m = tilegpu.smem_alloc : !tilegpu.smem<4xi32, #s>
  tilegpu.elect {
    // expected-error @+1 {{barriers must be a row of i64, one after the other, got '!tilegpu.smem<4xi32}}
    tilegpu.mbarrier_init %m : !tilegpu.smem<4xi32, #s>
  }
  return
}

// -----

#s = #tilegpu.shared<panel = [2], linear = [1, 2], digits = [4]>
func.func @too_many_bytes(%d: i32) {
  %m = tilegpu.smem_alloc : !tilegpu.smem<4xi64, #s>
  tilegpu.elect {
    // expected-error @+1 {{a phase counts at most 1048575 bytes, got 1048576}}
    tilegpu.mbarrier_expect 1048576 at %m[%d] : !tilegpu.smem<4xi64, #s>
  }
  return
}

// -----

#whole = #tilegpu.layout<register = [[0, 1], [0, 64]], lane = [[0, 2], [0, 4], [0, 8], [0, 16], [0, 32]], warp = [[1, 0]]>
#half = #tilegpu.layout<register = [[0, 1]], lane = [[0, 2], [0, 4], [0, 8], [0, 16], [0, 32]], warp = [[1, 0]]>
func.func @one_part_of_two(%x: tensor<2x64xf32, #half>) {
  // expected-error @+1 {{1 parts do not make the result}}
  %y = tilegpu.from_subtiles %x : (tensor<2x64xf32, #half>) -> tensor<2x128xf32, #whole>
  return
}

// -----

#whole = #tilegpu.layout<register = [[0, 1], [0, 64]], lane = [[0, 2], [0, 4], [0, 8], [0, 16], [0, 32]], warp = [[1, 0]]>
#half = #tilegpu.layout<register = [[0, 1]], lane = [[0, 2], [0, 4], [0, 8], [0, 16], [0, 32]], warp = [[1, 0]]>
func.func @parts_of_two_types(%x: tensor<2x64xf32, #half>, %y: tensor<2x128xf32, #whole>) {
  // expected-error @+1 {{all parts must have one type}}
  %z = tilegpu.from_subtiles %x, %y : (tensor<2x64xf32, #half>, tensor<2x128xf32, #whole>) -> tensor<2x128xf32, #whole>
  return
}

// -----

#whole = #tilegpu.layout<register = [[0, 1], [0, 64]], lane = [[0, 2], [0, 4], [0, 8], [0, 16], [0, 32]], warp = [[1, 0]]>
#row = #tilegpu.layout<register = [[0, 1], [0, 64]], lane = [[0, 2], [0, 4], [0, 8], [0, 16], [0, 32]], warp = [[0, 0]]>
func.func @parts_of_warps(%x: tensor<1x128xf32, #row>) {
  // expected-error @+1 {{registers of the result alone do not tell apart parts of type}}
  %y = tilegpu.from_subtiles %x, %x : (tensor<1x128xf32, #row>, tensor<1x128xf32, #row>) -> tensor<2x128xf32, #whole>
  return
}

// -----

func.func @no_parts() {
  // expected-error @+1 {{needs at least one part}}
  %y = tilegpu.from_subtiles : () -> tensor<2x128xf32>
  return
}

// -----

#s = #tilegpu.shared<panel = [3, 6], linear = [1, 2, 4, 8, 16, 32, 72, 144, 288], digits = [512, 512]>
#b = #tilegpu.shared<panel = [0], linear = [], digits = [1]>
func.func @other_tile(%v: !tile.view<2xf16>, %o: i32) {
  %m = tilegpu.smem_alloc : !tilegpu.smem<8x64xf16, #s>
  %b = tilegpu.smem_alloc : !tilegpu.smem<1xi64, #b>
  // expected-error @+1 {{the tile must have the extents of the shared memory, but for those of 1}}
  tilegpu.tensor_copy %v[%o, %o], %m, %b[%o] shape [8, 32]
    : !tile.view<2xf16>, !tilegpu.smem<8x64xf16, #s>, !tilegpu.smem<1xi64, #b>
  return
}

// -----

#l = #tilegpu.layout<register = [], lane = [[1], [2], [4], [8], [16]], warp = []>
func.func @in_flight_of_nothing(%x: i32) {
  // expected-error @+1 {{operand #0 must be tile}}
  %d = "tilegpu.dot_begin"(%x) : (i32) -> !tilegpu.in_flight<tensor<32xf32, #l>>
  return
}

// -----

#s = #tilegpu.shared<panel = [2], linear = [1, 2], digits = [4]>
func.func @no_arrivals() {
  %m = tilegpu.smem_alloc : !tilegpu.smem<4xi64, #s>
  // expected-error @+1 {{arrivals must be 1 to 1048575, got 0}}
  tilegpu.mbarrier_init %m arrivals 0 : !tilegpu.smem<4xi64, #s>
  return
}

// -----

#s = #tilegpu.shared<panel = [2], linear = [1, 2], digits = [4]>
func.func @no_barriers(%d: i32) {
  %m = tilegpu.smem_alloc : !tilegpu.smem<4xi32, #s>
  // expected-error @+1 {{i64}}
  tilegpu.mbarrier_arrive %m[%d] : !tilegpu.smem<4xi32, #s>
  return
}

// -----

#l = #tilegpu.layout<register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
#a = #tilegpu.shared<panel = [6, 4], linear = [1, 2, 4, 8, 16, 32, 72, 128, 256, 512], digits = [1024, 1024]>
#b = #tilegpu.shared<panel = [4, 3], linear = [16, 32, 64, 1, 2, 4, 8], digits = [128, 128]>
func.func @done(%a: !tilegpu.smem<64x16xf16, #a>, %b: !tilegpu.smem<16x8xf16, #b>, %c: tensor<64x8xf32, #l>) {
  %d = tilegpu.dot_async %a, %b, %c : !tilegpu.smem<64x16xf16, #a>, !tilegpu.smem<16x8xf16, #b>, tensor<64x8xf32, #l>
  %e = tilegpu.dot_async %a, %b, %c : !tilegpu.smem<64x16xf16, #a>, !tilegpu.smem<16x8xf16, #b>, tensor<64x8xf32, #l>
  // expected-error @+1 {{nothing is left to wait for}}
  %f = tilegpu.dot_wait %d pending 1 : !tilegpu.in_flight<tensor<64x8xf32, #l>> -> !tilegpu.in_flight<tensor<64x8xf32, #l>>
  return
}

// -----

#whole = #tilegpu.layout<register = [[0, 1], [0, 64]], lane = [[0, 2], [0, 4], [0, 8], [0, 16], [0, 32]], warp = [[1, 0]]>
#half = #tilegpu.layout<register = [[0, 1]], lane = [[0, 2], [0, 4], [0, 8], [0, 16], [0, 32]], warp = [[1, 0]]>
func.func @part_between(%x: tensor<2x128xf32, #whole>) {
  // expected-error @+1 {{no part of 64 elements begins at position 32 of 128 along dimension 1}}
  %y = tilegpu.subtile %x from [0, 32] : tensor<2x128xf32, #whole> -> tensor<2x64xf32, #half>
  return
}

// -----

#whole = #tilegpu.layout<register = [[0, 1], [0, 64]], lane = [[0, 2], [0, 4], [0, 8], [0, 16], [0, 32]], warp = [[1, 0]]>
#row = #tilegpu.layout<register = [[0, 1], [0, 64]], lane = [[0, 2], [0, 4], [0, 8], [0, 16], [0, 32]], warp = [[0, 0]]>
func.func @part_of_a_warp(%x: tensor<2x128xf32, #whole>) {
  // expected-error @+1 {{parts of this shape are not told apart by registers alone}}
  %y = tilegpu.subtile %x from [0, 0] : tensor<2x128xf32, #whole> -> tensor<1x128xf32, #row>
  return
}

// -----

#s = #tilegpu.shared<panel = [3, 6], linear = [1, 2, 4, 8, 16, 32, 72, 144, 288], digits = [512, 512]>
func.func @stored_shape(%v: !tile.view<2xf16>, %o: i32) {
  %m = tilegpu.smem_alloc {alignment = 1024 : i32} : !tilegpu.smem<8x64xf16, #s>
  tilegpu.elect {
    // expected-error @+1 {{the tile must have the extents of the shared memory, but for those of 1}}
    tilegpu.tensor_store %m, %v[%o, %o] shape [8, 32]
      {tilegpu.access = #tilegpu.access<order = [1, 0], vector = 8, bounds = [element, element]>}
      : !tilegpu.smem<8x64xf16, #s>, !tile.view<2xf16>
  }
  return
}

// -----

// expected-error @+1 {{registers of a role come in steps of 8 from 24 to 256, got 30}}
func.func @registers_in_steps() attributes {x = #tilegpu.role<producer, warps = 4, active = 1, registers = 30>} { return }

// -----

// expected-error @+1 {{registers of a role come in steps of 8 from 24 to 256, got 16}}
func.func @fewest_registers() attributes {x = #tilegpu.role<producer, warps = 4, active = 1, registers = 16>} { return }

// -----

// expected-error @+1 {{a role has whole warpgroups, up to 32 warps, got 3}}
func.func @warps_of_a_role() attributes {x = #tilegpu.role<producer, warps = 3, active = 1>} { return }

// -----

// expected-error @+1 {{1 to 4 warps of the role can be active, got 5}}
func.func @active_warps() attributes {x = #tilegpu.role<producer, warps = 4, active = 5>} { return }

// -----

func.func @one_role() {
  // expected-error @+1 {{needs two roles or more and a region for each, got 1 roles and 1 regions}}
  tilegpu.warp_specialize [#tilegpu.role<consumers, warps = 8, active = 8>] {
    tilegpu.barrier
  }
  return
}

// -----

func.func @warps_of_roles() {
  // expected-error @+1 {{a block has at most 32 warps, the roles have 36}}
  tilegpu.warp_specialize [#tilegpu.role<consumers, warps = 32, active = 32>, #tilegpu.role<producer, warps = 4, active = 1>] {
    tilegpu.barrier
  }, {
    tilegpu.barrier
  }
  return
}

// -----

func.func @roles_in_a_branch(%p: i1) {
  scf.if %p {
    // expected-error @+1 {{stands in the body of a kernel, in no loop or branch}}
    tilegpu.warp_specialize [#tilegpu.role<consumers, warps = 4, active = 4>, #tilegpu.role<producer, warps = 4, active = 1>] {
      tilegpu.barrier
    }, {
      tilegpu.barrier
    }
  }
  return
}

// -----

func.func @roles_twice() {
  // expected-error @+1 {{a kernel gives roles to its warps once}}
  tilegpu.warp_specialize [#tilegpu.role<consumers, warps = 4, active = 4>, #tilegpu.role<producer, warps = 4, active = 1>] {
    tilegpu.barrier
  }, {
    tilegpu.barrier
  }
  tilegpu.warp_specialize [#tilegpu.role<consumers, warps = 4, active = 4>, #tilegpu.role<producer, warps = 4, active = 1>] {
    tilegpu.barrier
  }, {
    tilegpu.barrier
  }
  return
}

// -----

func.func @plan_with_too_many_dots() {
  %c0 = arith.constant 0 : i32
  // expected-error @+1 {{fewer dots than stages are in flight, got 2 of 2 stages}}
  scf.for %i = %c0 to %c0 step %c0 : i32 {} {tilegpu.loop_plan = #tilegpu.loop_plan<asked = 2, stages = 2, reason = "as asked", dots_in_flight = 2>}
  return
}

// -----

func.func @plan_with_an_order_but_no_producer() {
  %c0 = arith.constant 0 : i32
  // expected-error @+1 {{tiles alternate (ping_pong) beside a producer warp, and warpgroups have an order in skewed loops}}
  scf.for %i = %c0 to %c0 step %c0 : i32 {} {tilegpu.loop_plan = #tilegpu.loop_plan<asked = 2, stages = 2, reason = "as asked", order = ping_pong>}
  return
}
