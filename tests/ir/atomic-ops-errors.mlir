// What atomics reject, one message a rule.
// RUN: tile-opt %s -split-input-file -verify-diagnostics

func.func @wrong_pointee(%p: tensor<8x!tile.ptr<i32>>, %x: tensor<8xf32>) {
  // expected-error @+1 {{the pointers point at 'i32', the values are 'f32'}}
  %a = tile.atomic_rmw add acq_rel gpu %p, %x : tensor<8x!tile.ptr<i32>>, tensor<8xf32>
  return
}

// -----

func.func @shapes(%p: tensor<8x!tile.ptr<i32>>, %x: tensor<4xi32>) {
  // expected-error @+1 {{pointers and values must have one shape and layout}}
  %a = tile.atomic_rmw add acq_rel gpu %p, %x : tensor<8x!tile.ptr<i32>>, tensor<4xi32>
  return
}

// -----

func.func @mask(%p: tensor<8x!tile.ptr<i32>>, %x: tensor<8xi32>, %m: tensor<4xi1>) {
  // expected-error @+1 {{mask and pointers must have one shape and layout}}
  %a = tile.atomic_cas acq_rel gpu %p, %x, %x mask %m : tensor<8x!tile.ptr<i32>>, tensor<8xi32>, tensor<4xi1>
  return
}

// -----

func.func @too_large(%p: tensor<2097152x!tile.ptr<i32>>, %x: tensor<2097152xi32>) {
  // expected-error @+1 {{a tile has at most 1048576 elements}}
  %a = tile.atomic_rmw add acq_rel gpu %p, %x : tensor<2097152x!tile.ptr<i32>>, tensor<2097152xi32>
  return
}

// -----

func.func @bits_of_floats(%p: tensor<8x!tile.ptr<f32>>, %x: tensor<8xf32>) {
  // expected-error @+1 {{no atomic xor of 'f32'}}
  %a = tile.atomic_rmw xor acq_rel gpu %p, %x : tensor<8x!tile.ptr<f32>>, tensor<8xf32>
  return
}

// -----

func.func @narrow_min(%p: tensor<8x!tile.ptr<f16>>, %x: tensor<8xf16>) {
  // expected-error @+1 {{no atomic min of 'f16'}}
  %a = tile.atomic_rmw min acq_rel gpu %p, %x : tensor<8x!tile.ptr<f16>>, tensor<8xf16>
  return
}

// -----

func.func @bytes(%p: tensor<8x!tile.ptr<i8>>, %x: tensor<8xi8>) {
  // expected-error @+1 {{must be tile of i32, i64, f16, bf16, f32 or f64}}
  %a = tile.atomic_rmw add acq_rel gpu %p, %x : tensor<8x!tile.ptr<i8>>, tensor<8xi8>
  return
}

// -----

func.func @narrow_cas(%p: tensor<8x!tile.ptr<i8>>, %x: tensor<8xi8>) {
  // expected-error @+1 {{must be tile of 16, 32 or 64 bits}}
  %a = tile.atomic_cas acq_rel gpu %p, %x, %x : tensor<8x!tile.ptr<i8>>, tensor<8xi8>
  return
}

// -----

func.func @mulhi_of_bytes(%x: tensor<8xi8>) {
  // expected-error @+1 {{must be i32 or i64 offset or tile of offsets}}
  %a = tile.mulhi %x, %x : tensor<8xi8>
  return
}

// -----

func.func @eviction(%p: tensor<8x!tile.ptr<bf16>>, %x: tensor<8xbf16>) {
  // expected-error @+1 {{of bf16 takes no eviction priority}}
  %a = tile.atomic_rmw add relaxed gpu %p, %x evict last : tensor<8x!tile.ptr<bf16>>, tensor<8xbf16>
  return
}
