// RUN: tile-opt %s -tile-propagate-layouts | FileCheck %s

#a = #tilegpu.layout<register = [[1]], lane = [[2], [4], [8], [16], [32]], warp = []>
#b = #tilegpu.layout<register = [[32]], lane = [[1], [2], [4], [8], [16]], warp = []>
#c = #tilegpu.layout<register = [[2]], lane = [[1], [4], [8], [16], [32]], warp = []>

// CHECK-DAG: #[[A:layout.*]] = #tilegpu.layout<register = {{\[}}[1]], lane
// CHECK-DAG: #[[B:layout.*]] = #tilegpu.layout<register = {{\[}}[32]], lane
// CHECK-DAG: #[[C:layout.*]] = #tilegpu.layout<register = {{\[}}[2]], lane

// CHECK-LABEL: func.func @merged
// CHECK-SAME: %[[X:.*]]: tensor<64xf32, #[[A]]>
// CHECK-NEXT: %[[Y:.*]] = tilegpu.convert_layout %[[X]] : tensor<64xf32, #[[A]]> -> tensor<64xf32, #[[C]]>
// CHECK-NEXT: return %[[Y]]
func.func @merged(%x: tensor<64xf32, #a>) -> tensor<64xf32, #c> {
  %0 = tilegpu.convert_layout %x : tensor<64xf32, #a> -> tensor<64xf32, #b>
  %1 = tilegpu.convert_layout %0 : tensor<64xf32, #b> -> tensor<64xf32, #c>
  return %1 : tensor<64xf32, #c>
}

// CHECK-LABEL: func.func @before_widening
// CHECK: tilegpu.convert_layout %{{.*}} : tensor<64xf16, #[[A]]> -> tensor<64xf16, #[[B]]>
// CHECK-NEXT: tile.convert %{{.*}} : tensor<64xf16, #[[B]]> -> tensor<64xf32, #[[B]]>
func.func @before_widening(%x: tensor<64xf16, #a>) -> tensor<64xf32, #b> {
  %0 = tile.convert %x : tensor<64xf16, #a> -> tensor<64xf32, #a>
  %1 = tilegpu.convert_layout %0 : tensor<64xf32, #a> -> tensor<64xf32, #b>
  return %1 : tensor<64xf32, #b>
}

// A conversion keeps the signedness of its operand and result when a change of layout moves past it.
// CHECK-LABEL: func.func @before_unsigned_widening
// CHECK: tile.convert %{{.*}} source_unsigned result_unsigned : tensor<64xi8, #[[B]]> -> tensor<64xi32, #[[B]]>
func.func @before_unsigned_widening(%x: tensor<64xi8, #a>) -> tensor<64xi32, #b> {
  %0 = tile.convert %x source_unsigned result_unsigned : tensor<64xi8, #a> -> tensor<64xi32, #a>
  %1 = tilegpu.convert_layout %0 : tensor<64xi32, #a> -> tensor<64xi32, #b>
  return %1 : tensor<64xi32, #b>
}

// CHECK-LABEL: func.func @after_narrowing
// CHECK: tile.convert %{{.*}} : tensor<64xf32, #[[A]]> -> tensor<64xf16, #[[A]]>
// CHECK-NEXT: tilegpu.convert_layout %{{.*}} : tensor<64xf16, #[[A]]> -> tensor<64xf16, #[[B]]>
func.func @after_narrowing(%x: tensor<64xf32, #a>) -> tensor<64xf16, #b> {
  %0 = tilegpu.convert_layout %x : tensor<64xf32, #a> -> tensor<64xf32, #b>
  %1 = tile.convert %0 : tensor<64xf32, #b> -> tensor<64xf16, #b>
  return %1 : tensor<64xf16, #b>
}

// One width: nothing to gain.
// CHECK-LABEL: func.func @same_width
// CHECK: tilegpu.convert_layout %{{.*}} : tensor<64xf16, #[[A]]> -> tensor<64xf16, #[[B]]>
// CHECK-NEXT: tile.convert
func.func @same_width(%x: tensor<64xf16, #a>) -> tensor<64xbf16, #b> {
  %0 = tilegpu.convert_layout %x : tensor<64xf16, #a> -> tensor<64xf16, #b>
  %1 = tile.convert %0 : tensor<64xf16, #b> -> tensor<64xbf16, #b>
  return %1 : tensor<64xbf16, #b>
}

// The wide value has another user: converting it twice would cost more.
// CHECK-LABEL: func.func @wide_value_used_twice
// CHECK: tile.convert
// CHECK-NEXT: tilegpu.convert_layout %{{.*}} : tensor<64xf32, #[[A]]> -> tensor<64xf32, #[[B]]>
func.func @wide_value_used_twice(%x: tensor<64xf16, #a>) -> (tensor<64xf32, #a>, tensor<64xf32, #b>) {
  %0 = tile.convert %x : tensor<64xf16, #a> -> tensor<64xf32, #a>
  %1 = tilegpu.convert_layout %0 : tensor<64xf32, #a> -> tensor<64xf32, #b>
  return %0, %1 : tensor<64xf32, #a>, tensor<64xf32, #b>
}

// CHECK-LABEL: func.func @out_of_the_loop
// CHECK: tilegpu.convert_layout
// CHECK: scf.for
// CHECK-NOT: convert_layout
// CHECK: scf.yield
func.func @out_of_the_loop(%x: tensor<64xf32, #a>, %y: tensor<64xf32, #b>, %n: i32) -> tensor<64xf32, #b> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %y) -> tensor<64xf32, #b> : i32 {
    %0 = tilegpu.convert_layout %x : tensor<64xf32, #a> -> tensor<64xf32, #b>
    %1 = arith.addf %s, %0 : tensor<64xf32, #b>
    scf.yield %1 : tensor<64xf32, #b>
  }
  return %r : tensor<64xf32, #b>
}

// Neighbours in the wanted layout's registers are neighbours in memory: it is loaded there at once.
// CHECK-LABEL: func.func @load_in_place
// CHECK: %[[X:.*]] = tile.view_load {{.*}} -> tensor<64xf32, #[[A]]>
// CHECK-NEXT: return %[[X]]
func.func @load_in_place(%v: !tile.view<1xf32>, %i: i32) -> tensor<64xf32, #a> {
  %0 = tile.view_load %v[%i] {tilegpu.access = #tilegpu.access<order = [0], vector = 1, bounds = [none]>} : !tile.view<1xf32> -> tensor<64xf32, #b>
  %1 = tilegpu.convert_layout %0 : tensor<64xf32, #b> -> tensor<64xf32, #a>
  return %1 : tensor<64xf32, #a>
}

// The wanted registers are far apart in memory.
// CHECK-LABEL: func.func @load_elsewhere
// CHECK: tile.view_load {{.*}} -> tensor<64xf32, #[[A]]>
// CHECK-NEXT: tilegpu.convert_layout
func.func @load_elsewhere(%v: !tile.view<1xf32>, %i: i32) -> tensor<64xf32, #b> {
  %0 = tile.view_load %v[%i] {tilegpu.access = #tilegpu.access<order = [0], vector = 1, bounds = [none]>} : !tile.view<1xf32> -> tensor<64xf32, #a>
  %1 = tilegpu.convert_layout %0 : tensor<64xf32, #a> -> tensor<64xf32, #b>
  return %1 : tensor<64xf32, #b>
}
