// Pipelines that cannot be run are refused with what is wrong about them.
// RUN: not tile-opt %s --pass-pipeline='builtin.module(func.func(tile-lower-views)' 2>&1 | FileCheck %s --check-prefix=BRACKET
// RUN: not tile-opt %s --pass-pipeline='builtin.module(tile-make-it-fast)' 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not tile-opt %s --pass-pipeline='builtin.module(tile-lower-views)' 2>&1 | FileCheck %s --check-prefix=ANCHOR
// RUN: not tile-opt %s --pass-pipeline='builtin.module(tile-lower-to-scalars)' 2>&1 | FileCheck %s --check-prefix=ORDER

// BRACKET: unbalanced parentheses
// UNKNOWN: 'tile-make-it-fast' does not refer to a registered pass or pass pipeline
// ANCHOR: Can't add pass 'LowerViews' restricted to 'func.func'
// ORDER: the pass that lowers views has not run
func.func @copy(%x: !tile.view<1xf32>, %y: !tile.view<1xf32>) attributes {tile.kernel} {
  %i = arith.constant 0 : i32
  %t = tile.view_load %x[%i] : !tile.view<1xf32> -> tensor<128xf32>
  tile.view_store %t, %y[%i] : tensor<128xf32>, !tile.view<1xf32>
  return
}
