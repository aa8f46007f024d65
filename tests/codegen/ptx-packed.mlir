// Aligned copies of small elements move 16 bytes an access, through views and through masked pointers, and nothing unpacks
// them in between. Only an i1 is more than its byte: any but zero is true, so that each is tested.
// RUN: %to_ptx %t
// RUN: FileCheck %s < %t
// RUN: %if ptxas %{ %ptxas %t 2>&1 | FileCheck %s --check-prefix=ASM %}

// ASM-COUNT-11: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads

// CHECK-LABEL: .entry copy_i1(
// CHECK-NOT: {{(ld|st)\.global}}
// CHECK: ld.global.v4.b32
// CHECK-NOT: {{(ld|st)\.global}}
// CHECK: st.global.v4.b32
// CHECK-NOT: {{(ld|st)\.global}}
// CHECK: ret
func.func @copy_i1(%x: !tile.view<1xi1> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 0>, tile.extent_divisible = array<i64: 16>},
    %y: !tile.view<1xi1> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 0>, tile.extent_divisible = array<i64: 16>})
    attributes {tile.kernel, tile.warps = 1 : i32} {
  %pid = tile.program_id 0 : i32
  %c = arith.constant 512 : i32
  %at = arith.muli %pid, %c : i32
  %a = tile.view_load %x[%at] : !tile.view<1xi1> -> tensor<512xi1>
  tile.view_store %a, %y[%at] : tensor<512xi1>, !tile.view<1xi1>
  return
}

// CHECK-LABEL: .entry copy_i8(
// CHECK-NOT: {{(ld|st)\.global}}
// CHECK: ld.global.v4.b32
// CHECK-NOT: {{prmt|bfe|shr}}
// CHECK-NOT: {{(ld|st)\.global}}
// CHECK: st.global.v4.b32
// CHECK-NOT: {{(ld|st)\.global}}
// CHECK: ret
func.func @copy_i8(%x: !tile.view<1xi8> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 0>, tile.extent_divisible = array<i64: 16>},
    %y: !tile.view<1xi8> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 0>, tile.extent_divisible = array<i64: 16>})
    attributes {tile.kernel, tile.warps = 1 : i32} {
  %pid = tile.program_id 0 : i32
  %c = arith.constant 512 : i32
  %at = arith.muli %pid, %c : i32
  %a = tile.view_load %x[%at] : !tile.view<1xi8> -> tensor<512xi8>
  tile.view_store %a, %y[%at] : tensor<512xi8>, !tile.view<1xi8>
  return
}

// CHECK-LABEL: .entry copy_i16(
// CHECK-NOT: {{(ld|st)\.global}}
// CHECK: ld.global.v4.b32
// CHECK-NOT: {{prmt|bfe|shr}}
// CHECK-NOT: {{(ld|st)\.global}}
// CHECK: st.global.v4.b32
// CHECK-NOT: {{(ld|st)\.global}}
// CHECK: ret
func.func @copy_i16(%x: !tile.view<1xi16> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 0>, tile.extent_divisible = array<i64: 16>},
    %y: !tile.view<1xi16> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 0>, tile.extent_divisible = array<i64: 16>})
    attributes {tile.kernel, tile.warps = 1 : i32} {
  %pid = tile.program_id 0 : i32
  %c = arith.constant 256 : i32
  %at = arith.muli %pid, %c : i32
  %a = tile.view_load %x[%at] : !tile.view<1xi16> -> tensor<256xi16>
  tile.view_store %a, %y[%at] : tensor<256xi16>, !tile.view<1xi16>
  return
}

// CHECK-LABEL: .entry copy_f16(
// CHECK-NOT: {{(ld|st)\.global}}
// CHECK: ld.global.v4.b32
// CHECK-NOT: {{prmt|bfe|shr}}
// CHECK-NOT: {{(ld|st)\.global}}
// CHECK: st.global.v4.b32
// CHECK-NOT: {{(ld|st)\.global}}
// CHECK: ret
func.func @copy_f16(%x: !tile.view<1xf16> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 0>, tile.extent_divisible = array<i64: 16>},
    %y: !tile.view<1xf16> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 0>, tile.extent_divisible = array<i64: 16>})
    attributes {tile.kernel, tile.warps = 1 : i32} {
  %pid = tile.program_id 0 : i32
  %c = arith.constant 256 : i32
  %at = arith.muli %pid, %c : i32
  %a = tile.view_load %x[%at] : !tile.view<1xf16> -> tensor<256xf16>
  tile.view_store %a, %y[%at] : tensor<256xf16>, !tile.view<1xf16>
  return
}

// CHECK-LABEL: .entry copy_bf16(
// CHECK-NOT: {{(ld|st)\.global}}
// CHECK: ld.global.v4.b32
// CHECK-NOT: {{prmt|bfe|shr}}
// CHECK-NOT: {{(ld|st)\.global}}
// CHECK: st.global.v4.b32
// CHECK-NOT: {{(ld|st)\.global}}
// CHECK: ret
func.func @copy_bf16(%x: !tile.view<1xbf16> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 0>, tile.extent_divisible = array<i64: 16>},
    %y: !tile.view<1xbf16> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 0>, tile.extent_divisible = array<i64: 16>})
    attributes {tile.kernel, tile.warps = 1 : i32} {
  %pid = tile.program_id 0 : i32
  %c = arith.constant 256 : i32
  %at = arith.muli %pid, %c : i32
  %a = tile.view_load %x[%at] : !tile.view<1xbf16> -> tensor<256xbf16>
  tile.view_store %a, %y[%at] : tensor<256xbf16>, !tile.view<1xbf16>
  return
}

// CHECK-LABEL: .entry copy_e4m3(
// CHECK-NOT: {{(ld|st)\.global}}
// CHECK: ld.global.v4.b32
// CHECK-NOT: {{prmt|bfe|shr}}
// CHECK-NOT: {{(ld|st)\.global}}
// CHECK: st.global.v4.b32
// CHECK-NOT: {{(ld|st)\.global}}
// CHECK: ret
func.func @copy_e4m3(%x: !tile.view<1xf8E4M3FN> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 0>, tile.extent_divisible = array<i64: 16>},
    %y: !tile.view<1xf8E4M3FN> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 0>, tile.extent_divisible = array<i64: 16>})
    attributes {tile.kernel, tile.warps = 1 : i32} {
  %pid = tile.program_id 0 : i32
  %c = arith.constant 512 : i32
  %at = arith.muli %pid, %c : i32
  %a = tile.view_load %x[%at] : !tile.view<1xf8E4M3FN> -> tensor<512xf8E4M3FN>
  tile.view_store %a, %y[%at] : tensor<512xf8E4M3FN>, !tile.view<1xf8E4M3FN>
  return
}

// CHECK-LABEL: .entry copy_e5m2(
// CHECK-NOT: {{(ld|st)\.global}}
// CHECK: ld.global.v4.b32
// CHECK-NOT: {{prmt|bfe|shr}}
// CHECK-NOT: {{(ld|st)\.global}}
// CHECK: st.global.v4.b32
// CHECK-NOT: {{(ld|st)\.global}}
// CHECK: ret
func.func @copy_e5m2(%x: !tile.view<1xf8E5M2> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 0>, tile.extent_divisible = array<i64: 16>},
    %y: !tile.view<1xf8E5M2> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 0>, tile.extent_divisible = array<i64: 16>})
    attributes {tile.kernel, tile.warps = 1 : i32} {
  %pid = tile.program_id 0 : i32
  %c = arith.constant 512 : i32
  %at = arith.muli %pid, %c : i32
  %a = tile.view_load %x[%at] : !tile.view<1xf8E5M2> -> tensor<512xf8E5M2>
  tile.view_store %a, %y[%at] : tensor<512xf8E5M2>, !tile.view<1xf8E5M2>
  return
}

// CHECK-LABEL: .entry through_i1(
// CHECK-NOT: {{(ld|st)\.global}}
// CHECK: ld.global.v4.b32
// CHECK-NOT: {{(ld|st)\.global}}
// CHECK: st.global.v4.b32
// CHECK-NOT: {{(ld|st)\.global}}
// CHECK: ret
func.func @through_i1(%p: !tile.ptr<i1> {tile.alignment = 16 : i32}, %q: !tile.ptr<i1> {tile.alignment = 16 : i32})
    attributes {tile.kernel, tile.warps = 1 : i32} {
  %r = tile.arange 0, 512 : tensor<512xi32>
  %n = arith.constant dense<496> : tensor<512xi32>
  %m = arith.cmpi slt, %r, %n : tensor<512xi32>
  %ps = tile.splat %p : !tile.ptr<i1> -> tensor<512x!tile.ptr<i1>>
  %pp = tile.addptr %ps, %r : tensor<512x!tile.ptr<i1>>, tensor<512xi32>
  %qs = tile.splat %q : !tile.ptr<i1> -> tensor<512x!tile.ptr<i1>>
  %qq = tile.addptr %qs, %r : tensor<512x!tile.ptr<i1>>, tensor<512xi32>
  %x = tile.load %pp mask %m : tensor<512x!tile.ptr<i1>>, tensor<512xi1> -> tensor<512xi1>
  tile.store %x, %qq mask %m : tensor<512xi1>, tensor<512x!tile.ptr<i1>>, tensor<512xi1>
  return
}

// CHECK-LABEL: .entry through_i8(
// CHECK-NOT: {{(ld|st)\.global}}
// CHECK: ld.global.v4.b32
// CHECK-NOT: {{prmt|bfe|shr}}
// CHECK-NOT: {{(ld|st)\.global}}
// CHECK: st.global.v4.b32
// CHECK-NOT: {{(ld|st)\.global}}
// CHECK: ret
func.func @through_i8(%p: !tile.ptr<i8> {tile.alignment = 16 : i32}, %q: !tile.ptr<i8> {tile.alignment = 16 : i32})
    attributes {tile.kernel, tile.warps = 1 : i32} {
  %r = tile.arange 0, 512 : tensor<512xi32>
  %n = arith.constant dense<496> : tensor<512xi32>
  %m = arith.cmpi slt, %r, %n : tensor<512xi32>
  %ps = tile.splat %p : !tile.ptr<i8> -> tensor<512x!tile.ptr<i8>>
  %pp = tile.addptr %ps, %r : tensor<512x!tile.ptr<i8>>, tensor<512xi32>
  %qs = tile.splat %q : !tile.ptr<i8> -> tensor<512x!tile.ptr<i8>>
  %qq = tile.addptr %qs, %r : tensor<512x!tile.ptr<i8>>, tensor<512xi32>
  %x = tile.load %pp mask %m : tensor<512x!tile.ptr<i8>>, tensor<512xi1> -> tensor<512xi8>
  tile.store %x, %qq mask %m : tensor<512xi8>, tensor<512x!tile.ptr<i8>>, tensor<512xi1>
  return
}

// CHECK-LABEL: .entry through_f16(
// CHECK-NOT: {{(ld|st)\.global}}
// CHECK: ld.global.v4.b32
// CHECK-NOT: {{prmt|bfe|shr}}
// CHECK-NOT: {{(ld|st)\.global}}
// CHECK: st.global.v4.b32
// CHECK-NOT: {{(ld|st)\.global}}
// CHECK: ret
func.func @through_f16(%p: !tile.ptr<f16> {tile.alignment = 16 : i32}, %q: !tile.ptr<f16> {tile.alignment = 16 : i32})
    attributes {tile.kernel, tile.warps = 1 : i32} {
  %r = tile.arange 0, 256 : tensor<256xi32>
  %n = arith.constant dense<240> : tensor<256xi32>
  %m = arith.cmpi slt, %r, %n : tensor<256xi32>
  %ps = tile.splat %p : !tile.ptr<f16> -> tensor<256x!tile.ptr<f16>>
  %pp = tile.addptr %ps, %r : tensor<256x!tile.ptr<f16>>, tensor<256xi32>
  %qs = tile.splat %q : !tile.ptr<f16> -> tensor<256x!tile.ptr<f16>>
  %qq = tile.addptr %qs, %r : tensor<256x!tile.ptr<f16>>, tensor<256xi32>
  %x = tile.load %pp mask %m : tensor<256x!tile.ptr<f16>>, tensor<256xi1> -> tensor<256xf16>
  tile.store %x, %qq mask %m : tensor<256xf16>, tensor<256x!tile.ptr<f16>>, tensor<256xi1>
  return
}

// CHECK-LABEL: .entry through_e4m3(
// CHECK-NOT: {{(ld|st)\.global}}
// CHECK: ld.global.v4.b32
// CHECK-NOT: {{prmt|bfe|shr}}
// CHECK-NOT: {{(ld|st)\.global}}
// CHECK: st.global.v4.b32
// CHECK-NOT: {{(ld|st)\.global}}
// CHECK: ret
func.func @through_e4m3(%p: !tile.ptr<f8E4M3FN> {tile.alignment = 16 : i32}, %q: !tile.ptr<f8E4M3FN> {tile.alignment = 16 : i32})
    attributes {tile.kernel, tile.warps = 1 : i32} {
  %r = tile.arange 0, 512 : tensor<512xi32>
  %n = arith.constant dense<496> : tensor<512xi32>
  %m = arith.cmpi slt, %r, %n : tensor<512xi32>
  %ps = tile.splat %p : !tile.ptr<f8E4M3FN> -> tensor<512x!tile.ptr<f8E4M3FN>>
  %pp = tile.addptr %ps, %r : tensor<512x!tile.ptr<f8E4M3FN>>, tensor<512xi32>
  %qs = tile.splat %q : !tile.ptr<f8E4M3FN> -> tensor<512x!tile.ptr<f8E4M3FN>>
  %qq = tile.addptr %qs, %r : tensor<512x!tile.ptr<f8E4M3FN>>, tensor<512xi32>
  %x = tile.load %pp mask %m : tensor<512x!tile.ptr<f8E4M3FN>>, tensor<512xi1> -> tensor<512xf8E4M3FN>
  tile.store %x, %qq mask %m : tensor<512xf8E4M3FN>, tensor<512x!tile.ptr<f8E4M3FN>>, tensor<512xi1>
  return
}
