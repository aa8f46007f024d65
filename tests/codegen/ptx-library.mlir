// A function of the library is inlined where a thread has few elements, and called where it has many: code and the time to
// compile it do not grow with each. Calls keep what lives in registers: no spills.
// RUN: sed 's/8192/1024/g' %s > %t.few.mlir
// RUN: tilec build %t.few.mlir --emit ptx -o %t.few
// RUN: FileCheck %s --check-prefix=FEW < %t.few
// RUN: tilec build %s --emit ptx -o %t
// RUN: FileCheck %s < %t
// RUN: %if ptxas %{ %ptxas %t 2>&1 | FileCheck %s --check-prefix=ASM %}
// ASM-COUNT-2: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads

// FEW-NOT: call.uni
// FEW-NOT: .func

// CHECK: .func (.param .b64 func_retval0) _Z3sind
// CHECK: .entry sines(
// CHECK-COUNT-64: call.uni (retval0), _Z3sind
// CHECK-NOT: call.uni
func.func @sines(%v: !tile.view<1xf64> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 0>},
                 %y: !tile.view<1xf64> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 0>})
    attributes {tile.kernel, tile.warps = 4 : i32} {
  %p = tile.program_id 0 : i32
  %c = arith.constant 8192 : i32
  %at = arith.muli %p, %c : i32
  %x = tile.view_load %v[%at] : !tile.view<1xf64> -> tensor<8192xf64>
  %r = math.sin %x : tensor<8192xf64>
  tile.view_store %r, %y[%at] : tensor<8192xf64>, !tile.view<1xf64>
  return
}
