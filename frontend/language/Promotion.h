// Promotion and broadcasting: how operands of different dtype and shape become equal. The rules are
// in tile/Value.h.
#pragma once

#include "frontend/trace/Trace.h"

#include <tile/Ops.h>

#include <initializer_list>
#include <string>
#include <vector>

namespace tile::frontend {

/// True if two dtypes are one type in the IR, which has no signedness.
bool sameInIr(DType a, DType b);
/// The dtype in which arithmetic on a dtype is done: f32 for the 8-bit floats, else itself.
DType computedIn(DType type);
/// Bits of an integer dtype; i1 has 1.
int widthOf(DType type);

/// A value in another dtype, of the same shape; nothing is recorded if the dtype is the same.
Value castValue(Trace &trace, DType dtype, const Value &value, Loc loc, Round round = Round::rtne);
/// An operand in a dtype: host numbers must fit it.
Value convertTo(Trace &trace, DType dtype, const Arg &operand, const char *op, Loc loc,
                const Shape &shape = {});
/// An operand as a value; a host number takes the dtype of its value (i32, u32, i64, u64, f32,
/// f64).
Value materialize(Trace &trace, const Arg &operand, Loc loc);

/// The dtype in which operands meet; pointers and views are refused.
DType commonType(Trace &trace, const char *op, std::initializer_list<const Arg *> operands,
                 Loc loc);
/// The NumPy shape in which operands meet.
Shape commonShape(Trace &trace, const char *op, const std::vector<const Arg *> &operands, Loc loc);
/// Whether broadcast_to takes one shape to the other: it is a scalar, or only extents of 1 grow.
bool broadcasts(const Shape &from, const Shape &to);
/// A value repeated to a shape that it is known to broadcast to.
Value broadcastTo(Trace &trace, const Value &value, const Shape &shape, Loc loc);
/// An operand in a dtype and shape.
Value unify(Trace &trace, DType dtype, const Shape &shape, const Arg &operand, const char *op,
            Loc loc);

/// As `unify`, and then widened to the dtype in which arithmetic on `dtype` is done.
Value unifyToCompute(Trace &trace, DType dtype, const Shape &shape, const Arg &operand,
                     const char *op, Loc loc);

/// An operation of one float, computed in the dtype that its dtype is computed in.
Value computeFloat(Trace &trace, const char *name, const Value &value, Loc loc);

/// Refuses shapes that no tile can have.
void checkShape(Trace &trace, const char *op, const Shape &shape, Loc loc);
/// Refuses pointers and views.
void checkData(Trace &trace, const char *op, const Arg &operand, Loc loc);
/// A dimension counted from either end.
int checkAxis(Trace &trace, const char *op, int axis, int rank, Loc loc);

} // namespace tile::frontend
