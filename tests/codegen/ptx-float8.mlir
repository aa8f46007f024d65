// 8-bit floats: 16 of them in one access; widened and narrowed in registers without spills, by integer instructions on
// sm_80 and by conversions from sm_89 on.
// RUN: %to_ptx %t
// RUN: FileCheck %s < %t
// RUN: %if ptxas %{ %ptxas %t 2>&1 | FileCheck %s --check-prefix=ASM %}
// ASM: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads

// CHECK-LABEL: .entry scale(
// CHECK: ld.global.v4.b32
// CHECK: prmt.b32
// CHECK-NOT: cvt.rn.satfinite
// CHECK: st.global.v4.b32
func.func @scale(%x: !tile.view<1xf8E4M3FN> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 0>},
                 %y: !tile.view<1xf8E5M2> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 0>})
    attributes {tile.kernel, tile.warps = 1 : i32} {
  %c0 = arith.constant 0 : i32
  %a = tile.view_load %x[%c0] unchecked : !tile.view<1xf8E4M3FN> -> tensor<512xf8E4M3FN>
  %b = tile.convert %a : tensor<512xf8E4M3FN> -> tensor<512xf32>
  %c = arith.addf %b, %b : tensor<512xf32>
  %d = tile.convert %c : tensor<512xf32> -> tensor<512xf8E5M2>
  tile.view_store %d, %y[%c0] unchecked : tensor<512xf8E5M2>, !tile.view<1xf8E5M2>
  return
}
