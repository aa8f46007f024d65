// RUN: tile-opt %s -tile-lower-views -allow-unregistered-dialect | FileCheck %s

// One argument a fact: pointer, extents, then the strides that are not constant; scalars keep their place in the order.
// CHECK-LABEL: func.func @arguments(
// CHECK-SAME: %[[P:[a-z0-9]*]]: !tile.ptr<f16> {tile.divisibility = 16 : i32, tile.param = #tile.param<pointer, 0>}
// CHECK-SAME: %[[M:[a-z0-9]*]]: i32 {tile.param = #tile.param<extent, 0, 0>}
// CHECK-SAME: %[[N:[a-z0-9]*]]: i32 {tile.divisibility = 64 : i32, tile.param = #tile.param<extent, 0, 1>}
// CHECK-SAME: %[[S:[a-z0-9]*]]: i32 {tile.divisibility = 8 : i32, tile.param = #tile.param<stride, 0, 0>}
// CHECK-SAME: %[[X:[a-z0-9]*]]: f32 {tile.param = #tile.param<scalar, 1>}
// CHECK-SAME: %[[Q:[a-z0-9]*]]: !tile.ptr<i32> {tile.divisibility = 8 : i32, tile.param = #tile.param<pointer, 2>}
// CHECK: %[[ONE:.*]] = arith.constant 1 : i32
// CHECK: tile.make_view %[[P]], extents [%[[M]], %[[N]]], strides [%[[S]], %[[ONE]]] {tilegpu.view_of = #tilegpu.view_of<arg = 0, dims = [0, 1]>} : i32 -> !tile.view<2xf16>
func.func @arguments(%v: !tile.view<2xf16> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 1>,
                                            tile.extent_divisible = array<i64: 1, 64>,
                                            tile.stride_bytes_divisible = array<i64: 16, 2>},
                     %x: f32, %q: !tile.ptr<i32> {tile.alignment = 8 : i32})
    attributes {tile.kernel} {
  return
}

// Without a promise about alignment a pointer is aligned for its element.
// CHECK-LABEL: func.func @own_alignment(
// CHECK-SAME: !tile.ptr<f64> {tile.divisibility = 8 : i32
func.func @own_alignment(%v: !tile.view<1xf64>) attributes {tile.kernel} { return }

// 64-bit addresses: extents still arrive in 32 bits, strides in 64.
// CHECK-LABEL: func.func @wide(
// CHECK-SAME: %[[M:[a-z0-9]*]]: i32 {{{.*}}#tile.param<extent, 0, 0>}
// CHECK-SAME: %[[S:[a-z0-9]*]]: i64 {{{.*}}#tile.param<stride, 0, 0>}
// CHECK: %[[E:.*]] = arith.extsi %[[M]] : i32 to i64
// CHECK: tile.make_view %{{.*}}, extents [%[[E]]], strides [%[[S]]] {{.*}} : i64 -> !tile.view<1xf32>
func.func @wide(%v: !tile.view<1xf32> {tile.wide}) attributes {tile.kernel} { return }

// The grid's symbols follow their arguments.
// CHECK-LABEL: func.func @grid(
// CHECK-SAME: tile.grid_symbols = [array<i32: 3, -1>, array<i32: 0, -1>]
func.func @grid(%n: i32, %v: !tile.view<2xf32>)
    attributes {tile.kernel, tile.grid = affine_map<()[s0, s1] -> (s0, s1)>,
                tile.grid_symbols = [array<i32: 1, 1>, array<i32: 0, -1>]} {
  return
}

// CHECK-LABEL: func.func @questions(
// CHECK-SAME: %[[P:[a-z0-9]*]]: !tile.ptr<f32> {{{.*}}}, %[[M:[a-z0-9]*]]: i32 {{{.*}}}, %[[N:[a-z0-9]*]]: i32 {{{.*}}}, %[[S:[a-z0-9]*]]: i32 {{{.*}}}, %[[T:[a-z0-9]*]]: i32
// CHECK: %[[W:.*]] = arith.extsi %[[N]] : i32 to i64
// CHECK-DAG: "use"(%[[M]], %[[W]], %[[S]], %[[P]], %[[N]], %[[T]])
func.func @questions(%v: !tile.view<2xf32>) attributes {tile.kernel} {
  %m = tile.dim %v, 0 : !tile.view<2xf32> -> i32
  %n = tile.dim %v, 1 : !tile.view<2xf32> -> i64
  %s = tile.stride %v, 0 : !tile.view<2xf32> -> i32
  %p = tile.base %v : !tile.view<2xf32> -> !tile.ptr<f32>
  %t = tile.permute_view %v, [1, 0] : !tile.view<2xf32>
  %tm = tile.dim %t, 0 : !tile.view<2xf32> -> i32
  %ts = tile.stride %t, 0 : !tile.view<2xf32> -> i32
  "use"(%m, %n, %s, %p, %tm, %ts) : (i32, i64, i32, !tile.ptr<f32>, i32, i32) -> ()
  return
}

// 0: the program vouches; 1: inside or outside as a whole; 2: each element is checked.
// CHECK-LABEL: func.func @bounds(
// CHECK: tile.view_load %{{.*}} unchecked {tilegpu.access = {{.*}}bounds = [none]>
// CHECK: tile.view_load %{{.*}} {tilegpu.access = {{.*}}bounds = [tile]>
// CHECK: tile.view_load %{{.*}} {tilegpu.access = {{.*}}bounds = [element]>
// CHECK: tile.view_store %{{.*}} {tilegpu.access = {{.*}}bounds = [element]>
func.func @bounds(%v: !tile.view<1xf32> {tile.extent_divisible = array<i64: 64>}, %i: i32) attributes {tile.kernel} {
  %c64 = arith.constant 64 : i32
  %c32 = arith.constant 32 : i32
  %at64 = arith.muli %i, %c64 : i32
  %at32 = arith.muli %i, %c32 : i32
  %0 = tile.view_load %v[%i] unchecked : !tile.view<1xf32> -> tensor<64xf32>
  %1 = tile.view_load %v[%at64] : !tile.view<1xf32> -> tensor<64xf32>
  %2 = tile.view_load %v[%at32] : !tile.view<1xf32> -> tensor<64xf32>
  tile.view_store %0, %v[%i] : tensor<64xf32>, !tile.view<1xf32>
  return
}

// Tiles of 96 elements: the divisor is no power of two.
// CHECK-LABEL: func.func @odd_tiles(
// CHECK: tile.view_load %{{.*}} {tilegpu.access = #tilegpu.access<{{.*}}vector = 4, bounds = [tile]>} : {{.*}} -> tensor<96xf32>
// CHECK: tile.view_load %{{.*}} {tilegpu.access = {{.*}}bounds = [element]>} : {{.*}} -> tensor<64xf32>
func.func @odd_tiles(%v: !tile.view<1xf32> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 0>,
                                            tile.extent_divisible = array<i64: 96>}) attributes {tile.kernel} {
  %c96 = arith.constant 96 : i32
  %pid = tile.program_id 0 : i32
  %at = arith.muli %pid, %c96 : i32
  %0 = tile.view_load %v[%at] : !tile.view<1xf32> -> tensor<96xf32>
  %1 = tile.view_load %v[%at] : !tile.view<1xf32> -> tensor<64xf32>
  return
}

// What each fact contributes to the vector, in the order of the loads: everything known; alignment missing; offset not a
// multiple; extent not a multiple (the last vector would be cut); stride not constant; row stride not a multiple.
// CHECK-LABEL: func.func @vectors(
// CHECK: #tilegpu.access<order = [0], vector = 4,
// CHECK: #tilegpu.access<order = [0], vector = 1,
// CHECK: #tilegpu.access<order = [0], vector = 2,
// CHECK: #tilegpu.access<order = [0], vector = 1,
// CHECK: #tilegpu.access<order = [0], vector = 1,
// CHECK: #tilegpu.access<order = [1, 0], vector = 2,
// CHECK: #tilegpu.access<order = [0, 1], vector = 2,
func.func @vectors(%good: !tile.view<1xf32> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 0>, tile.extent_divisible = array<i64: 16>},
                   %low: !tile.view<1xf32> {tile.unit_stride = array<i32: 0>, tile.extent_divisible = array<i64: 16>},
                   %cut: !tile.view<1xf32> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 0>},
                   %strided: !tile.view<1xf32> {tile.alignment = 16 : i32, tile.extent_divisible = array<i64: 16>},
                   %rows: !tile.view<2xf32> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 1>,
                     tile.extent_divisible = array<i64: 1, 16>, tile.stride_bytes_divisible = array<i64: 8, 4>})
    attributes {tile.kernel} {
  %pid = tile.program_id 0 : i32
  %c2 = arith.constant 2 : i32
  %c32 = arith.constant 32 : i32
  %at = arith.muli %pid, %c32 : i32
  %at2 = arith.muli %pid, %c2 : i32
  %0 = tile.view_load %good[%at] : !tile.view<1xf32> -> tensor<32xf32>
  %1 = tile.view_load %low[%at] : !tile.view<1xf32> -> tensor<32xf32>
  %2 = tile.view_load %good[%at2] : !tile.view<1xf32> -> tensor<32xf32>
  %3 = tile.view_load %cut[%at] : !tile.view<1xf32> -> tensor<32xf32>
  %4 = tile.view_load %strided[%at] : !tile.view<1xf32> -> tensor<32xf32>
  %5 = tile.view_load %rows[%at, %at] : !tile.view<2xf32> -> tensor<32x32xf32>
  %t = tile.permute_view %rows, [1, 0] : !tile.view<2xf32>
  %6 = tile.view_load %t[%at, %at] : !tile.view<2xf32> -> tensor<32x32xf32>
  return
}

// Offsets that a loop makes are multiples of its step.
// CHECK-LABEL: func.func @loop(
// CHECK: scf.for
// CHECK: #tilegpu.access<order = [0], vector = 8, bounds = [tile]>
func.func @loop(%v: !tile.view<1xf16> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 0>,
                                       tile.extent_divisible = array<i64: 64>}) attributes {tile.kernel} {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %n = tile.dim %v, 0 : !tile.view<1xf16> -> i32
  scf.for %i = %c0 to %n step %c64 : i32 {
    %0 = tile.view_load %v[%i] : !tile.view<1xf16> -> tensor<64xf16>
  }
  return
}

// Views made in the kernel are as good as arguments.
// CHECK-LABEL: func.func @made_here(
// CHECK: #tilegpu.access<order = [0], vector = 1, bounds = [element]>
func.func @made_here(%p: !tile.ptr<f32> {tile.alignment = 16 : i32}, %n: i32) attributes {tile.kernel} {
  %c1 = arith.constant 1 : i32
  %c0 = arith.constant 0 : i32
  %v = tile.make_view %p, extents [%n], strides [%c1] : i32 -> !tile.view<1xf32>
  %0 = tile.view_load %v[%c0] : !tile.view<1xf32> -> tensor<32xf32>
  return
}

// Functions that are no kernels stay as they are.
// CHECK-LABEL: func.func @no_kernel(%{{.*}}: !tile.view<1xf32>, %{{.*}}: i32)
// CHECK-NEXT: tile.view_load %{{.*}}[%{{.*}}] : <1xf32> -> tensor<32xf32>
func.func @no_kernel(%v: !tile.view<1xf32>, %i: i32) {
  %0 = tile.view_load %v[%i] : !tile.view<1xf32> -> tensor<32xf32>
  return
}

// A 64-bit offset or index is limited to what lies outside any view before 32 bits hold it: by powers of two, so that what
// divides it still does.
// CHECK-LABEL: func.func @wide_indices(
// CHECK: #tilegpu.access<order = [0], vector = 4, bounds = [element]>
// CHECK: #tilegpu.access<order = [0], vector = 4, bounds = [tile]>
// CHECK: #tilegpu.access<order = [0], vector = 4, bounds = [element]>
func.func @wide_indices(%v: !tile.view<1xf32> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 0>, tile.extent_divisible = array<i64: 32>},
                        %i: i64) attributes {tile.kernel} {
  %c16 = arith.constant 16 : i64
  %c32 = arith.constant 32 : i32
  %low = arith.constant -2147483648 : i64
  %high = arith.constant 2147483648 : i64
  %at = arith.muli %i, %c16 : i64
  %a = arith.maxsi %at, %low : i64
  %b = arith.minsi %a, %high : i64
  %offset = tile.convert %b : i64 -> i32
  %0 = tile.view_load %v[%offset] : !tile.view<1xf32> -> tensor<32xf32>
  %lowest = arith.constant -67108864 : i64
  %highest = arith.constant 67108864 : i64
  %c = arith.maxsi %i, %lowest : i64
  %d = arith.minsi %c, %highest : i64
  %index = tile.convert %d : i64 -> i32
  %first = arith.muli %index, %c32 : i32
  %1 = tile.view_load %v[%first] : !tile.view<1xf32> -> tensor<32xf32>
  %e = arith.minui %at, %high : i64
  %unsigned = tile.convert %e : i64 -> i32
  %2 = tile.view_load %v[%unsigned] : !tile.view<1xf32> -> tensor<32xf32>
  return
}

// An extent whose value the kernel asked for is a constant; the launch passes it still.
// CHECK-LABEL: func.func @known_extents(
// CHECK-SAME: %[[M:[a-z0-9]*]]: i32 {tile.param = #tile.param<extent, 0, 0>}
// CHECK-SAME: i32 {tile.param = #tile.param<extent, 0, 1>}
// CHECK: %[[N:.*]] = arith.constant 48 : i32
// CHECK: tile.make_view %{{.*}}, extents [%[[M]], %[[N]]]
// CHECK: "test.use"(%[[N]])
func.func @known_extents(%v: !tile.view<2xf32> {tile.extents = array<i64: -1, 48>}) attributes {tile.kernel} {
  %n = tile.dim %v, 1 : !tile.view<2xf32> -> i32
  "test.use"(%n) : (i32) -> ()
  return
}

// Pointers remember what they may overlap, by the arguments of the source kernel.
// CHECK-LABEL: func.func @aliases(
// CHECK-SAME: !tile.ptr<f32> {tile.divisibility = 4 : i32, tile.may_alias = array<i32: 1>, tile.param = #tile.param<pointer, 0>}
// CHECK-SAME: !tile.ptr<f32> {tile.divisibility = 4 : i32, tile.may_alias = array<i32: 0>, tile.param = #tile.param<pointer, 1>}
func.func @aliases(%a: !tile.view<1xf32> {tile.may_alias = array<i32: 1>},
                   %b: !tile.view<1xf32> {tile.may_alias = array<i32: 0>}) attributes {tile.kernel} { return }

// They keep their names, for those who speak of them.
// CHECK-LABEL: func.func @names(
// CHECK-SAME: !tile.ptr<f32> {tile.divisibility = 4 : i32, tile.name = "x", tile.param = #tile.param<pointer, 0>}
// CHECK-SAME: i32 {tile.param = #tile.param<extent, 0, 0>}
func.func @names(%x: !tile.view<1xf32> {tile.name = "x"}) attributes {tile.kernel} { return }
