// What gathers and histograms reject, one message a rule.
// RUN: tile-opt %s -split-input-file -verify-diagnostics

func.func @axis(%x: tensor<8xf32>, %i: tensor<8xi32>) {
  // expected-error @+1 {{axis 1 is outside a rank of 1}}
  %a = tile.gather %x[%i] axis 1 : tensor<8xf32>, tensor<8xi32> -> tensor<8xf32>
  return
}

// -----

func.func @rank(%x: tensor<8xf32>, %i: tensor<8x1xi32>) {
  // expected-error @+1 {{the indices have rank 2, the source 1}}
  %a = tile.gather %x[%i] axis 0 : tensor<8xf32>, tensor<8x1xi32> -> tensor<8x1xf32>
  return
}

// -----

func.func @extent(%x: tensor<8x4xf32>, %i: tensor<8x2xi32>) {
  // expected-error @+1 {{dimension 1 of the indices is 2, of the source 4}}
  %a = tile.gather %x[%i] axis 0 : tensor<8x4xf32>, tensor<8x2xi32> -> tensor<8x2xf32>
  return
}

// -----

func.func @result_shape(%x: tensor<8xf32>, %i: tensor<4xi32>) {
  // expected-error @+1 {{the result must have the indices' shape and layout}}
  %a = tile.gather %x[%i] axis 0 : tensor<8xf32>, tensor<4xi32> -> tensor<8xf32>
  return
}

// -----

func.func @result_type(%x: tensor<8xf32>, %i: tensor<8xi32>) {
  // expected-error @+1 {{the result must have the source's element type, 'f32'}}
  %a = tile.gather %x[%i] axis 0 : tensor<8xf32>, tensor<8xi32> -> tensor<8xf16>
  return
}

// -----

func.func @histogram_rank(%x: tensor<8x2xi32>) {
  // expected-error @+1 {{counts the elements of one dimension in one dimension}}
  %a = tile.histogram %x : tensor<8x2xi32> -> tensor<4xi32>
  return
}

// -----

func.func @histogram_mask(%x: tensor<8xi32>, %m: tensor<4xi1>) {
  // expected-error @+1 {{mask and elements must have one shape and layout}}
  %a = tile.histogram %x mask %m : tensor<8xi32>, tensor<4xi1> -> tensor<4xi32>
  return
}

// -----

#l = #tilegpu.layout<register = [], lane = [[1], [2], [4], [8], [16]], warp = []>
#s = #tilegpu.shared<panel = [5], linear = [1, 2, 4, 8, 16], digits = [32]>
func.func @smem_axis(%a: !tilegpu.smem<32xf32, #s>, %x: tensor<32xi32, #l>) {
  // expected-error @+1 {{axis 1 is outside the rank of the shared memory}}
  %b = tilegpu.smem_gather %a[%x] axis 1 : !tilegpu.smem<32xf32, #s>, tensor<32xi32, #l> -> tensor<32xf32, #l>
  return
}

// -----

#l = #tilegpu.layout<register = [], lane = [[1], [2], [4], [8], [16]], warp = []>
#s = #tilegpu.shared<panel = [5], linear = [1, 2, 4, 8, 16], digits = [32]>
func.func @smem_indices(%a: !tilegpu.smem<32xf32, #s>, %x: tensor<32xi64, #l>) {
  // expected-error @+1 {{the indices must be i32, got 'i64'}}
  %b = tilegpu.smem_gather %a[%x] axis 0 : !tilegpu.smem<32xf32, #s>, tensor<32xi64, #l> -> tensor<32xf32, #l>
  return
}

// -----

#l = #tilegpu.layout<register = [], lane = [[1], [2], [4], [8], [16]], warp = []>
#s = #tilegpu.shared<panel = [5], linear = [1, 2, 4, 8, 16], digits = [32]>
func.func @smem_result(%a: !tilegpu.smem<32xf32, #s>, %x: tensor<32xi32, #l>) {
  // expected-error @+1 {{the result's element type must be the shared memory's}}
  %b = tilegpu.smem_gather %a[%x] axis 0 : !tilegpu.smem<32xf32, #s>, tensor<32xi32, #l> -> tensor<32xf16, #l>
  return
}

// -----

#l = #tilegpu.layout<register = [], lane = [[1], [2], [4], [8], [16]], warp = []>
#s = #tilegpu.shared<panel = [5], linear = [1, 2, 4, 8, 16], digits = [32]>
func.func @smem_counters(%a: !tilegpu.smem<32xf32, #s>, %x: tensor<32xi32, #l>) {
  // expected-error @+1 {{the counters must be i32 in one dimension}}
  tilegpu.smem_count %x, %a : tensor<32xi32, #l>, !tilegpu.smem<32xf32, #s>
  return
}

// -----

#l = #tilegpu.layout<register = [], lane = [[1], [2], [4], [8], [16]], warp = []>
#s = #tilegpu.shared<panel = [5], linear = [1, 2, 4, 8, 16], digits = [32]>
func.func @smem_counted(%a: !tilegpu.smem<32xi32, #s>, %x: tensor<32xf32, #l>) {
  // expected-error @+1 {{counts i32 elements of a tile with a layout}}
  tilegpu.smem_count %x, %a : tensor<32xf32, #l>, !tilegpu.smem<32xi32, #s>
  return
}
