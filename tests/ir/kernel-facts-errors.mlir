// RUN: tile-opt %s -split-input-file -verify-diagnostics
// A fact of the wrong form on a kernel's argument is refused, not ignored.

// expected-error @+1 {{tile.alignment must be a positive i32}}
func.func @alignment(%a: !tile.view<1xf32> {tile.alignment = 0 : i32}) attributes {tile.kernel} { return }

// -----

// expected-error @+1 {{tile.unit_stride must be array<i32: ...> on a view}}
func.func @unitStrideOfAScalar(%n: i32 {tile.unit_stride = array<i32: 0>}) attributes {tile.kernel} { return }

// -----

// expected-error @+1 {{tile.unit_stride names dimension 1 of a view of rank 1}}
func.func @unitStride(%a: !tile.view<1xf32> {tile.unit_stride = array<i32: 1>}) attributes {tile.kernel} { return }

// -----

// expected-error @+1 {{tile.extent_divisible must be array<i64: ...>}}
func.func @extentType(%a: !tile.view<1xf32> {tile.extent_divisible = 8 : i64}) attributes {tile.kernel} { return }

// -----

// expected-error @+1 {{tile.extent_divisible must have one number a dimension of a view}}
func.func @extentRank(%a: !tile.view<2xf32> {tile.extent_divisible = array<i64: 8>}) attributes {tile.kernel} { return }

// -----

// expected-error @+1 {{tile.stride_bytes_divisible must hold positive numbers, got 0}}
func.func @stride(%a: !tile.view<1xf32> {tile.stride_bytes_divisible = array<i64: 0>}) attributes {tile.kernel} { return }

// -----

// expected-error @+1 {{tile.maxnreg must be 16 to 255, got 8}}
func.func @maxnreg() attributes {tile.kernel, tile.maxnreg = 8 : i32} { return }

// -----

// expected-error @+1 {{tile.occupancy must be an i32}}
func.func @occupancyType() attributes {tile.kernel, tile.occupancy = 8 : i64} { return }

// -----

// expected-error @+1 {{tile.occupancy must be 1 to 32, got 33}}
func.func @occupancy() attributes {tile.kernel, tile.occupancy = 33 : i32} { return }

// -----

// expected-error @+1 {{tile.extents must hold extents, or -1 for unknown ones, got -2}}
func.func @extents(%a: !tile.view<1xf32> {tile.extents = array<i64: -2>}) attributes {tile.kernel} { return }

// -----

// expected-error @+1 {{tile.extents must have one number a dimension of a view}}
func.func @extentsRank(%a: !tile.view<2xf32> {tile.extents = array<i64: 4>}) attributes {tile.kernel} { return }

// -----

// expected-error @+1 {{tile.may_alias must be array<i32: ...> on a view or pointer}}
func.func @aliasOfAScalar(%n: i32 {tile.may_alias = array<i32: 0>}) attributes {tile.kernel} { return }

// -----

// expected-error @+1 {{tile.may_alias names argument -1}}
func.func @alias(%a: !tile.view<1xf32> {tile.may_alias = array<i32: -1>}) attributes {tile.kernel} { return }
