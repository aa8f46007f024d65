// What promises, prints, prefetches, hints and PTX reject, one message a rule.
// RUN: tile-opt %s -split-input-file -verify-diagnostics

func.func @promises_count(%x: tensor<8xi32>) {
  // expected-error @+1 {{multiple needs 1 numbers, got 2}}
  %r = tile.facts %x multiple [1, 2] : tensor<8xi32>
  return
}

// -----

func.func @promise_of_0(%x: tensor<8xi32>) {
  // expected-error @+1 {{constancy must be positive, got 0}}
  %r = tile.facts %x constancy [0] : tensor<8xi32>
  return
}

// -----

func.func @runs_of_a_scalar(%x: i32) {
  // expected-error @+1 {{runs are of tiles, this is a scalar}}
  %r = tile.facts %x contiguous [4] : i32
  return
}

// -----

func.func @print_signs(%x: i32) {
  // expected-error @+1 {{says of 0 values whether they have a sign, but has 1}}
  tile.print "x", %x unsigned [] : i32
  return
}

// -----

func.func @print_shapes(%x: tensor<8xi32>, %y: tensor<4xi32>) {
  // expected-error @+1 {{the values must have one shape}}
  tile.print "x", %x, %y unsigned [false, false] : tensor<8xi32>, tensor<4xi32>
  return
}

// -----

func.func @prefetch_level(%p: !tile.ptr<f32>) {
  // expected-error @+1 {{level must be 1 or 2, got 3}}
  tile.prefetch %p level 3 : !tile.ptr<f32>
  return
}

// -----

func.func @prefetch_mask(%p: tensor<8x!tile.ptr<f32>>, %m: tensor<4xi1>) {
  // expected-error @+1 {{mask and pointers must have one shape}}
  tile.prefetch %p mask %m level 1 : tensor<8x!tile.ptr<f32>>, tensor<4xi1>
  return
}

// -----

func.func @load_mode(%p: !tile.ptr<f32>) {
  // expected-error @+1 {{cache mode wt is for stores}}
  %r = tile.load %p cache wt : !tile.ptr<f32> -> f32
  return
}

// -----

func.func @store_mode(%p: !tile.ptr<f32>, %v: f32) {
  // expected-error @+1 {{cache mode cv is for loads}}
  tile.store %v, %p cache cv : f32, !tile.ptr<f32>
  return
}

// -----

func.func @both_hints(%v: !tile.view<1xf32>, %i: i32) {
  // expected-error @+1 {{takes a cache mode or an eviction priority, not both}}
  %r = tile.view_load %v[%i] cache cg evict last : !tile.view<1xf32> -> tensor<8xf32>
  return
}

// -----

func.func @volatile_hints(%v: !tile.view<1xf32>, %i: i32, %x: tensor<8xf32>) {
  // expected-error @+1 {{is volatile, so it takes no cache mode and no eviction priority}}
  tile.view_store %x, %v[%i] cache cg volatile : tensor<8xf32>, !tile.view<1xf32>
  return
}

// -----

func.func @pack(%x: i32) {
  // expected-error @+1 {{pack must be 1, 2, 4 or 8, got 3}}
  %r = tile.inline_ptx "add.s32 $0, $1, 1;" "=r,r" pack 3 %x : (i32) -> i32
  return
}

// -----

func.func @no_effect(%x: i32) {
  // expected-error @+1 {{is pure and has no result, so it does nothing}}
  tile.inline_ptx "membar.cta;" "" pure : () -> ()
  return
}

// -----

func.func @ptx_shapes(%x: tensor<8xi32>, %y: i32) {
  // expected-error @+1 {{operands and results must have one shape and layout}}
  %r = tile.inline_ptx "add.s32 $0, $1, $2;" "=r,r,r" %x, %y : (tensor<8xi32>, i32) -> tensor<8xi32>
  return
}

// -----

func.func @bits(%x: i1) {
  // expected-error @+1 {{i1 has no register class: convert it to i32}}
  %r = tile.inline_ptx "mov.pred $0, $1;" "=r,r" %x : (i1) -> i1
  return
}

// -----

func.func @eight_bit_floats(%x: f8E5M2) {
  // expected-error @+1 {{has no register class: bitcast it to i8}}
  %r = tile.inline_ptx "mov.b16 $0, $1;" "=h,h" %x : (f8E5M2) -> f8E5M2
  return
}

// -----

func.func @registers(%x: i64) {
  // expected-error @+1 {{takes 32 registers, at most 30 are possible}}
  %r = tile.inline_ptx "add.s32 $0, $1, 1;" "=l,l,l,l,l,l,l,l,l,l,l,l,l,l,l,l,l,l,l,l,l,l,l,l,l,l,l,l,l,l,l,l" pack 8 %x, %x, %x : (i64, i64, i64) -> i64
  return
}

// -----

func.func @constraints_count(%x: i32) {
  // expected-error @+1 {{results and operands take 2 registers, but there are 1 constraints}}
  %r = tile.inline_ptx "add.s32 $0, $1, 1;" "=r" %x : (i32) -> i32
  return
}

// -----

func.func @result_mark(%x: i32) {
  // expected-error @+1 {{constraint 0, 'r', is of a result and needs '='}}
  %r = tile.inline_ptx "add.s32 $0, $1, 1;" "r,r" %x : (i32) -> i32
  return
}

// -----

func.func @operand_mark(%x: i32) {
  // expected-error @+1 {{constraint 1, '=r', is of an operand and takes no '='}}
  %r = tile.inline_ptx "add.s32 $0, $1, 1;" "=r,=r" %x : (i32) -> i32
  return
}

// -----

func.func @class(%x: f32) {
  // expected-error @+1 {{constraint 1 is 'l', but 'f32' is held by 'f'}}
  %r = tile.inline_ptx "add.f32 $0, $1, $1;" "=f,l" %x : (f32) -> f32
  return
}

// -----

func.func @braces_close(%x: i32) {
  // expected-error @+1 {{'}' without '{' in the text}}
  %r = tile.inline_ptx "} add.s32 $0, $1, 1;" "=r,r" %x : (i32) -> i32
  return
}

// -----

func.func @braces_open(%x: i32) {
  // expected-error @+1 {{'{' without '}' in the text}}
  %r = tile.inline_ptx "{ add.s32 $0, $1, 1;" "=r,r" %x : (i32) -> i32
  return
}

// -----

func.func @nul(%x: i32) {
  // expected-error @+1 {{NUL in the text}}
  %r = tile.inline_ptx "add.s32 $0, $1, 1;\00" "=r,r" %x : (i32) -> i32
  return
}

// -----

func.func @dollar(%x: i32) {
  // expected-error @+1 {{'$' must be followed by the number of a register, or by '$'}}
  %r = tile.inline_ptx "add.s32 $0, $x, 1;" "=r,r" %x : (i32) -> i32
  return
}

// -----

func.func @number(%x: i32) {
  // expected-error @+1 {{the text names $2, but there are 2 registers}}
  %r = tile.inline_ptx "add.s32 $0, $2, 1;" "=r,r" %x : (i32) -> i32
  return
}

// -----

func.func @instruction(%x: i32) {
  // expected-error @+1 {{the text has no instruction that ends in ';'}}
  %r = tile.inline_ptx "add.s32 $0, $1, 1" "=r,r" %x : (i32) -> i32
  return
}

// -----

func.func @cuda_entry(%x: f32) {
  // expected-error @+1 {{needs the name of a function}}
  %r = tile.inline_cuda "" " " "f32(f32)" %x : (f32) -> f32
  return
}

// -----

func.func @cuda_operands(%x: f32) {
  // expected-error @+1 {{the signature 'f32(f32,f32)' is not that of a function of 1 operands}}
  %r = tile.inline_cuda "" "f" "f32(f32,f32)" %x : (f32) -> f32
  return
}

// -----

func.func @cuda_no_signature(%x: f32) {
  // expected-error @+1 {{the signature 'f32' is not that of a function of 1 operands}}
  %r = tile.inline_cuda "" "f" "f32" %x : (f32) -> f32
  return
}

// -----

func.func @cuda_types(%x: i32) {
  // expected-error @+1 {{the signature says 'f32' where there is 'i32'}}
  %r = tile.inline_cuda "" "f" "i32(f32)" %x : (i32) -> i32
  return
}

// -----

func.func @cuda_float8(%x: f8E4M3FN) {
  // expected-error @+1 {{the signature says 'e4m3' where there is 'f8E4M3FN'; functions take and return i1, i8 to i64}}
  %r = tile.inline_cuda "" "f" "f32(e4m3)" %x : (f8E4M3FN) -> f32
  return
}

// -----

func.func @cuda_shapes(%x: tensor<4xf32>) {
  // expected-error @+1 {{operands and results must have one shape and layout}}
  %r = tile.inline_cuda "" "f" "f32(f32)" %x : (tensor<4xf32>) -> tensor<8xf32>
  return
}
