// Rotary position embeddings: each pair of elements of a vector is turned by an angle that grows
// with its position.
#pragma once

#include <tile/Tensor.h>
#include <tile/ops/Operand.h>

namespace tile::ops {

/// What is turned, and how.
struct RotaryOptions {
  /// Pairs are elements 2 i and 2 i + 1 of the last dimension; else i and i + dims / 2, the halves.
  bool interleaved = false;
  /// So many elements of the last dimension are turned, the first ones; the others are copied. 0:
  /// all. Even.
  int64_t dims = 0;
  /// Pair i at position t is turned by t * base^(-2 i / dims) radians.
  double base = 10000;
};

/// The cosines and sines of all angles: cosines[t..., i] = cos(positions[t...] * base^(-2 i /
/// dims)).
///
/// Shapes: positions any, i32; cosines and sines its extents, then dims / 2. One of them may serve
/// all layers of a model. Dtypes of both: f16, bf16, f32, f64.
/// Angles, their reduction to one turn, sine and cosine are computed in f64 and rounded once to the
/// dtype: the error is that rounding plus 1e-15 times the angle (1e-9 at position 2^20, where an
/// angle in f32 is off by 0.03).
///
/// Errors (InvalidArgument, InvalidShape, WrongDevice, Aliasing), at the caller's line.
void rotaryTables(const Stream &stream, const Operand &positions, const Operand &cosines,
                  const Operand &sines, double base = 10000, Loc loc = Loc::here());
/// The same for positions offset, offset + 1, ... along the first dimension of cosines (positions x
/// dims / 2).
void rotaryTables(const Stream &stream, int64_t offset, const Operand &cosines,
                  const Operand &sines, double base = 10000, Loc loc = Loc::here());

/// y = x with each pair (a, b) turned: (a cos - b sin, b cos + a sin).
///
/// Shapes: y has x's extents. cosines and sines, whose last extent is dims / 2, broadcast to x in
/// the dimensions before the last by NumPy's rule: positions x dims / 2 for x of batch x heads x
/// positions x width, and positions x 1 x dims / 2 for batch x positions x heads x width. Any
/// strides. options.base is not used. Empty tensors are fine.
/// Dtypes: f16, bf16, f32, f64, in any mixture; computed in f32, in f64 if an input is f64. y may
/// be x.
/// Method: one pass over x, and one over what is copied. An interleaved pair of f16, bf16 or f32 is
/// moved as one word if x and y have one dtype, neighbours in memory, and each pair at a multiple
/// of its size; else element by element, which takes twice the accesses.
///
/// Errors (InvalidArgument, InvalidShape, WrongDevice, Aliasing), at the caller's line: dims odd or
/// above the last extent, tables of another width or that do not broadcast, dtypes, devices, y
/// overlaps an input in another way or repeats elements.
void rotate(const Stream &stream, const Operand &x, const Operand &cosines, const Operand &sines,
            const Operand &y, const RotaryOptions &options = {}, Loc loc = Loc::here());
/// dx from dy: each pair is turned back.
void rotateBackward(const Stream &stream, const Operand &dy, const Operand &cosines,
                    const Operand &sines, const Operand &dx, const RotaryOptions &options = {},
                    Loc loc = Loc::here());

/// Both in one call, with tables made for it (f32, f64 if x is f64). positions, i32, broadcast to
/// x's extents without the last: give batch x 1 x positions for batch x heads x positions x width.
void rotary(const Stream &stream, const Operand &x, const Operand &positions, const Operand &y,
            const RotaryOptions &options = {}, Loc loc = Loc::here());
void rotaryBackward(const Stream &stream, const Operand &dy, const Operand &positions,
                    const Operand &dx, const RotaryOptions &options = {}, Loc loc = Loc::here());
/// The same for positions offset, offset + 1, ... along the dimension before the last.
void rotary(const Stream &stream, const Operand &x, int64_t offset, const Operand &y,
            const RotaryOptions &options = {}, Loc loc = Loc::here());
void rotaryBackward(const Stream &stream, const Operand &dy, int64_t offset, const Operand &dx,
                    const RotaryOptions &options = {}, Loc loc = Loc::here());

} // namespace tile::ops
