// RUN: tile-opt %s -pass-pipeline='builtin.module(func.func(tile-lower-views,canonicalize,cse,tile-select-variants,tile-assign-layouts,cse))' | FileCheck %s

// Loads lie as memory does, elementwise operations follow, the store needs nothing else.
// CHECK-DAG: #[[VECTORS:layout.*]] = #tilegpu.layout<register = {{\[}}[1], [2]], lane = {{\[}}[4], [8], [16], [32], [64]], warp = {{\[}}[128], [256]]>
// CHECK-LABEL: func.func @elementwise
// CHECK: %[[X:.*]] = tile.view_load {{.*}} -> tensor<512xf32, #[[VECTORS]]>
// CHECK: %[[Y:.*]] = arith.addf %[[X]], %[[X]] : tensor<512xf32, #[[VECTORS]]>
// CHECK-NOT: convert_layout
// CHECK: tile.view_store %[[Y]]
func.func @elementwise(%v: !tile.view<1xf32> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 0>,
                                              tile.extent_divisible = array<i64: 512>}) attributes {tile.kernel} {
  %c0 = arith.constant 0 : i32
  %x = tile.view_load %v[%c0] : !tile.view<1xf32> -> tensor<512xf32>
  %y = arith.addf %x, %x : tensor<512xf32>
  tile.view_store %y, %v[%c0] : tensor<512xf32>, !tile.view<1xf32>
  return
}

// Two layouts meet: the second operand is brought into the first one's.
// CHECK-LABEL: func.func @two_layouts_meet
// CHECK: %[[X:.*]] = tile.view_load {{.*}}vector = 4,{{.*}} -> tensor<512xf32, #[[A:.*]]>
// CHECK: %[[Y:.*]] = tile.view_load {{.*}}vector = 1,{{.*}} -> tensor<512xf32, #[[B:.*]]>
// CHECK: %[[Z:.*]] = tilegpu.convert_layout %[[Y]] : tensor<512xf32, #[[B]]> -> tensor<512xf32, #[[A]]>
// CHECK: arith.addf %[[X]], %[[Z]] : tensor<512xf32, #[[A]]>
func.func @two_layouts_meet(%v: !tile.view<1xf32> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 0>,
                                                   tile.extent_divisible = array<i64: 512>},
                            %w: !tile.view<1xf32>) attributes {tile.kernel} {
  %c0 = arith.constant 0 : i32
  %x = tile.view_load %v[%c0] : !tile.view<1xf32> -> tensor<512xf32>
  %y = tile.view_load %w[%c0] : !tile.view<1xf32> -> tensor<512xf32>
  %z = arith.addf %x, %y : tensor<512xf32>
  tile.view_store %z, %v[%c0] : tensor<512xf32>, !tile.view<1xf32>
  return
}

// Accesses of two widths meet: the wider one's layout lets both use whole sectors.
// CHECK-LABEL: func.func @two_widths_meet
// CHECK: tile.view_load {{.*}} -> tensor<512xf16, #[[H:.*]]>
// CHECK: tile.view_load {{.*}} -> tensor<512xf32, #[[VECTORS]]>
// CHECK: arith.addf %{{.*}} : tensor<512xf32, #[[VECTORS]]>
func.func @two_widths_meet(%v: !tile.view<1xf16> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 0>,
                                                  tile.extent_divisible = array<i64: 512>},
                           %w: !tile.view<1xf32> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 0>,
                                                  tile.extent_divisible = array<i64: 512>}) attributes {tile.kernel} {
  %c0 = arith.constant 0 : i32
  %h = tile.view_load %v[%c0] : !tile.view<1xf16> -> tensor<512xf16>
  %x = arith.extf %h : tensor<512xf16> to tensor<512xf32>
  %y = tile.view_load %w[%c0] : !tile.view<1xf32> -> tensor<512xf32>
  %z = arith.addf %x, %y : tensor<512xf32>
  tile.view_store %z, %w[%c0] : tensor<512xf32>, !tile.view<1xf32>
  return
}

// Constants, aranges and what is made of them are made in the layout that wants them, never moved.
// CHECK-LABEL: func.func @remade
// CHECK-NOT: convert_layout
// CHECK: tile.view_store
func.func @remade(%v: !tile.view<2xi32>, %s: i32) attributes {tile.kernel} {
  %c0 = arith.constant 0 : i32
  %k = arith.constant dense<3> : tensor<32x64xi32>
  %r = tile.arange 0, 64 : tensor<64xi32>
  %e = tile.expand_dims %r, 0 : tensor<64xi32> -> tensor<1x64xi32>
  %b = tile.broadcast %e : tensor<1x64xi32> -> tensor<32x64xi32>
  %t = tile.splat %s : i32 -> tensor<32x64xi32>
  %0 = arith.addi %b, %k : tensor<32x64xi32>
  %1 = arith.muli %0, %t : tensor<32x64xi32>
  %x = tile.view_load %v[%c0, %c0] : !tile.view<2xi32> -> tensor<32x64xi32>
  %2 = arith.addi %x, %1 : tensor<32x64xi32>
  tile.view_store %2, %v[%c0, %c0] : tensor<32x64xi32>, !tile.view<2xi32>
  return
}

// A value that goes round a loop has one layout, its start is made in it.
// CHECK-LABEL: func.func @loop_carried
// CHECK: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : tensor<256xf32, #[[L:.*]]>
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %[[ZERO]]) -> (tensor<256xf32, #[[L]]>)
// CHECK: tile.view_load {{.*}} -> tensor<256xf32, #[[L]]>
// CHECK-NOT: convert_layout
// CHECK: scf.yield %{{.*}} : tensor<256xf32, #[[L]]>
func.func @loop_carried(%v: !tile.view<1xf32>, %n: i32) attributes {tile.kernel} {
  %c0 = arith.constant 0 : i32
  %c256 = arith.constant 256 : i32
  %zero = arith.constant dense<0.0> : tensor<256xf32>
  %r = scf.for %i = %c0 to %n step %c256 iter_args(%s = %zero) -> tensor<256xf32> : i32 {
    %x = tile.view_load %v[%i] : !tile.view<1xf32> -> tensor<256xf32>
    %t = arith.addf %s, %x : tensor<256xf32>
    scf.yield %t : tensor<256xf32>
  }
  tile.view_store %r, %v[%c0] : tensor<256xf32>, !tile.view<1xf32>
  return
}

// The accumulator of a product stays in the product's layout round the loop; operands are converted to fragments.
// CHECK-LABEL: func.func @product_in_a_loop
// CHECK: scf.for {{.*}} -> (tensor<64x64xf32, #[[ACC:.*]]>)
// CHECK: %[[A:.*]] = tilegpu.convert_layout {{.*}} -> tensor<64x32xf16, #[[FA:.*]]>
// CHECK: %[[B:.*]] = tilegpu.convert_layout {{.*}} -> tensor<32x64xf16, #[[FB:.*]]>
// CHECK: tile.dot %[[A]], %[[B]], %{{.*}} : tensor<64x32xf16, #[[FA]]>, tensor<32x64xf16, #[[FB]]>, tensor<64x64xf32, #[[ACC]]>
// CHECK: scf.yield %{{.*}} : tensor<64x64xf32, #[[ACC]]>
// The bias is a column: it is broadcast in the accumulator's layout.
// CHECK: tile.broadcast %{{.*}} : tensor<1x64xf32, #{{.*}}> -> tensor<64x64xf32, #[[ACC]]>
// CHECK: arith.addf %{{.*}} : tensor<64x64xf32, #[[ACC]]>
// CHECK: tilegpu.convert_layout %{{.*}} : tensor<64x64xf32, #[[ACC]]> -> tensor<64x64xf32, #{{.*}}>
// CHECK: tile.view_store
func.func @product_in_a_loop(%a: !tile.view<2xf16> {tile.unit_stride = array<i32: 1>},
                             %b: !tile.view<2xf16> {tile.unit_stride = array<i32: 1>},
                             %bias: !tile.view<1xf32> {tile.unit_stride = array<i32: 0>},
                             %c: !tile.view<2xf32> {tile.unit_stride = array<i32: 1>}, %n: i32)
    attributes {tile.kernel} {
  %c0 = arith.constant 0 : i32
  %c32 = arith.constant 32 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %r = scf.for %i = %c0 to %n step %c32 iter_args(%s = %zero) -> tensor<64x64xf32> : i32 {
    %x = tile.view_load %a[%c0, %i] : !tile.view<2xf16> -> tensor<64x32xf16>
    %y = tile.view_load %b[%i, %c0] : !tile.view<2xf16> -> tensor<32x64xf16>
    %t = tile.dot %x, %y, %s : tensor<64x32xf16>, tensor<32x64xf16>, tensor<64x64xf32>
    scf.yield %t : tensor<64x64xf32>
  }
  %v = tile.view_load %bias[%c0] : !tile.view<1xf32> -> tensor<64xf32>
  %e = tile.expand_dims %v, 0 : tensor<64xf32> -> tensor<1x64xf32>
  %w = tile.broadcast %e : tensor<1x64xf32> -> tensor<64x64xf32>
  %o = arith.addf %r, %w : tensor<64x64xf32>
  tile.view_store %o, %c[%c0, %c0] : tensor<64x64xf32>, !tile.view<2xf32>
  return
}

// A reduction leaves the operand's layout without the axis; expanded again it is back where it came from.
// CHECK-LABEL: func.func @reduction
// CHECK: %[[X:.*]] = tile.view_load {{.*}} -> tensor<32x64xf32, #[[L:.*]]>
// CHECK: %[[M:.*]] = tile.reduce %[[X]] axis 1 : tensor<32x64xf32, #[[L]]> -> tensor<32xf32, #[[R:.*]]>
// CHECK: %[[B:.*]] = tile.broadcast %{{.*}} -> tensor<32x64xf32, #[[L]]>
// CHECK: arith.subf %[[X]], %[[B]] : tensor<32x64xf32, #[[L]]>
func.func @reduction(%v: !tile.view<2xf32> {tile.unit_stride = array<i32: 1>}) attributes {tile.kernel} {
  %c0 = arith.constant 0 : i32
  %x = tile.view_load %v[%c0, %c0] : !tile.view<2xf32> -> tensor<32x64xf32>
  %m = tile.reduce %x axis 1 : tensor<32x64xf32> -> tensor<32xf32> {
  ^bb0(%p: f32, %q: f32):
    %s = arith.maximumf %p, %q : f32
    tile.yield %s : f32
  }
  %e = tile.expand_dims %m, 1 : tensor<32xf32> -> tensor<32x1xf32>
  %b = tile.broadcast %e : tensor<32x1xf32> -> tensor<32x64xf32>
  %y = arith.subf %x, %b : tensor<32x64xf32>
  tile.view_store %y, %v[%c0, %c0] : tensor<32x64xf32>, !tile.view<2xf32>
  return
}

// Both branches of an if yield one layout, whatever they made.
// CHECK-LABEL: func.func @branches
// CHECK: scf.if %{{.*}} -> (tensor<256xf32, #[[L:.*]]>)
// CHECK: scf.yield %{{.*}} : tensor<256xf32, #[[L]]>
// CHECK: else
// CHECK: scf.yield %{{.*}} : tensor<256xf32, #[[L]]>
func.func @branches(%v: !tile.view<1xf32>, %c: i1, %y: f32) attributes {tile.kernel} {
  %c0 = arith.constant 0 : i32
  %r = scf.if %c -> tensor<256xf32> {
    %x = tile.view_load %v[%c0] : !tile.view<1xf32> -> tensor<256xf32>
    scf.yield %x : tensor<256xf32>
  } else {
    %s = tile.splat %y : f32 -> tensor<256xf32>
    scf.yield %s : tensor<256xf32>
  }
  tile.view_store %r, %v[%c0] : tensor<256xf32>, !tile.view<1xf32>
  return
}

// CHECK-LABEL: func.func @while_loop
// CHECK: scf.while (%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}) : (tensor<256xf32, #[[L:.*]]>, i32) -> (tensor<256xf32, #[[L]]>, i32)
// CHECK: scf.condition(%{{.*}}) %{{.*}}, %{{.*}} : tensor<256xf32, #[[L]]>, i32
// CHECK: ^bb0(%{{.*}}: tensor<256xf32, #[[L]]>, %{{.*}}: i32):
// CHECK: scf.yield %{{.*}} : tensor<256xf32, #[[L]]>, i32
func.func @while_loop(%v: !tile.view<1xf32>, %n: i32) attributes {tile.kernel} {
  %c0 = arith.constant 0 : i32
  %x = tile.view_load %v[%c0] : !tile.view<1xf32> -> tensor<256xf32>
  %r:2 = scf.while (%a = %x, %i = %n) : (tensor<256xf32>, i32) -> (tensor<256xf32>, i32) {
    %go = arith.cmpi sgt, %i, %c0 : i32
    scf.condition(%go) %a, %i : tensor<256xf32>, i32
  } do {
  ^bb0(%a: tensor<256xf32>, %i: i32):
    %b = arith.addf %a, %a : tensor<256xf32>
    %c1 = arith.constant 1 : i32
    %j = arith.subi %i, %c1 : i32
    scf.yield %b, %j : tensor<256xf32>, i32
  }
  tile.view_store %r#0, %v[%c0] : tensor<256xf32>, !tile.view<1xf32>
  return
}

// Scalars have no layout.
// CHECK-LABEL: func.func @scalars
// CHECK: tile.load %{{.*}} : !tile.ptr<f32> -> f32
// CHECK-NOT: tensor
// CHECK: return
func.func @scalars(%p: !tile.ptr<f32>) attributes {tile.kernel} {
  %x = tile.load %p : !tile.ptr<f32> -> f32
  %y = arith.addf %x, %x : f32
  tile.store %y, %p : f32, !tile.ptr<f32>
  return
}

// A division that nothing claims is made where it is needed too, and the first one goes although
// MLIR does not call it pure.
// CHECK-LABEL: func.func @division_on_demand
// CHECK: arith.divsi %{{.*}} : tensor<32xi32, #
// CHECK-NOT: arith.divsi
// CHECK: return
func.func @division_on_demand(%v: !tile.view<1xi32>, %n: i32) attributes {tile.kernel} {
  %c0 = arith.constant 0 : i32
  %x = tile.splat %n : i32 -> tensor<32xi32>
  %y = tile.arange 1, 33 : tensor<32xi32>
  %q = arith.divsi %x, %y : tensor<32xi32>
  tile.view_store %q, %v[%c0] : tensor<32xi32>, !tile.view<1xi32>
  return
}
