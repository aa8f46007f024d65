// Arithmetic of tensors: each function is a map.
#include <tile/ops/Arithmetic.h>

#include "ops/AddKernel.h"
#include "ops/NewTensor.h"
#include "ops/PairMap.h"

#include <tile/ops/Map.h>

#include <bit>
#include <cmath>
#include <limits>

namespace tile::ops {

namespace {

struct Add {
  Value operator()(Value a, Value b) const { return a + b; }
};
struct Subtract {
  Value operator()(Value a, Value b) const { return a - b; }
};
struct Multiply {
  Value operator()(Value a, Value b) const { return a * b; }
};
struct Divide {
  Value operator()(Value a, Value b) const { return a / b; }
};
struct Maximum {
  Value operator()(Value a, Value b) const {
    return isFloat(a.dtype()) ? max_nan(a, b) : max(a, b);
  }
};
struct Minimum {
  Value operator()(Value a, Value b) const {
    return isFloat(a.dtype()) ? min_nan(a, b) : min(a, b);
  }
};

template <class F>
void apply(const char *op, const Stream &stream, const Operand &a, const Operand &b,
           const Operand &c, Loc loc) {
  mapPair<F>(op, {stream, loc}, a, b, c);
}

template <class F>
Tensor applied(const char *op, const Stream &stream, const Operand &a, const Operand &b, Loc loc) {
  Arguments arguments(op, {stream, loc});
  arguments.dtypeIn({"a", a}, kNumbers);
  arguments.sameDtype({"a", a}, {"b", b});
  Tensor c = newBroadcast(arguments, {"a", a}, {"b", b}, a.dtype());
  apply<F>(op, stream, a, b, c, loc);
  return c;
}

struct Affine {
  Value operator()(Value x, Value factor, Value offset) const { return x * factor + offset; }
};
struct Copy {
  Value operator()(Value x) const { return x; }
};
struct Fill {
  Value operator()(Value x) const { return x; }
};

/// The number for a kernel that takes it as f32 and narrows it to `dtype`: rounded to odd, which a second rounding to no more
/// than 22 bits does not see, so that it is as if there was one.
double roundedFor(DType dtype, const Number &value) {
  if (dtype == f64)
    return value.asDouble();
  long double exact = value.exact();
  auto rounded = static_cast<float>(exact);
  if (rounded == exact || std::isnan(rounded) || dtype == f32)
    return rounded;
  constexpr float kInfinite = std::numeric_limits<float>::infinity();
  if (std::bit_cast<uint32_t>(rounded) % 2 == 0)
    rounded = std::nextafter(rounded, rounded < exact ? kInfinite : -kInfinite);
  return rounded;
}

} // namespace

KernelRequest addKernel(DType dtype, int64_t elements, int64_t block) {
  HostArg view = exampleView(dtype, {elements});
  const auto &program = detail::mapKernel<Add, 1, 1, Operand, Operand>({"add", {"c", "a", "b"}});
  return KernelRequest(program.consts(1, block), {view, view, view});
}

void add(const Stream &stream, const Operand &a, const Operand &b, const Operand &c, Loc loc) {
  apply<Add>("add", stream, a, b, c, loc);
}
Tensor add(const Stream &stream, const Operand &a, const Operand &b, Loc loc) {
  return applied<Add>("add", stream, a, b, loc);
}

void subtract(const Stream &stream, const Operand &a, const Operand &b, const Operand &c, Loc loc) {
  apply<Subtract>("subtract", stream, a, b, c, loc);
}
Tensor subtract(const Stream &stream, const Operand &a, const Operand &b, Loc loc) {
  return applied<Subtract>("subtract", stream, a, b, loc);
}

void multiply(const Stream &stream, const Operand &a, const Operand &b, const Operand &c, Loc loc) {
  apply<Multiply>("multiply", stream, a, b, c, loc);
}
Tensor multiply(const Stream &stream, const Operand &a, const Operand &b, Loc loc) {
  return applied<Multiply>("multiply", stream, a, b, loc);
}

void divide(const Stream &stream, const Operand &a, const Operand &b, const Operand &c, Loc loc) {
  apply<Divide>("divide", stream, a, b, c, loc);
}
Tensor divide(const Stream &stream, const Operand &a, const Operand &b, Loc loc) {
  return applied<Divide>("divide", stream, a, b, loc);
}

void maximum(const Stream &stream, const Operand &a, const Operand &b, const Operand &c, Loc loc) {
  apply<Maximum>("maximum", stream, a, b, c, loc);
}
Tensor maximum(const Stream &stream, const Operand &a, const Operand &b, Loc loc) {
  return applied<Maximum>("maximum", stream, a, b, loc);
}

void minimum(const Stream &stream, const Operand &a, const Operand &b, const Operand &c, Loc loc) {
  apply<Minimum>("minimum", stream, a, b, c, loc);
}
Tensor minimum(const Stream &stream, const Operand &a, const Operand &b, Loc loc) {
  return applied<Minimum>("minimum", stream, a, b, loc);
}

void affine(const Stream &stream, const Operand &x, double factor, double offset, const Operand &y,
            Loc loc) {
  Arguments arguments("affine", {stream, loc});
  for (Named arg : {Named{"x", x}, Named{"y", y}})
    arguments.dtypeIn(arg, {f16, bf16, f32, f64});
  detail::mapNamed({"affine", {"y", "x", "factor", "offset"}}, CallSite(stream, loc), Affine(),
                   std::array{y}, x, factor, offset);
}
Tensor affine(const Stream &stream, const Operand &x, double factor, double offset, Loc loc) {
  Tensor y = newLike(Arguments("affine", {stream, loc}), {"x", x}, x.dtype());
  affine(stream, x, factor, offset, y, loc);
  return y;
}

void copy(const Stream &stream, const Operand &x, const Operand &y, Loc loc) {
  detail::mapNamed({"copy", {"y", "x"}}, CallSite(stream, loc), Copy(), std::array{y}, x);
}
Tensor copy(const Stream &stream, const Operand &x, DType dtype, Loc loc) {
  Tensor y = newLike(Arguments("copy", {stream, loc}), {"x", x}, dtype == any ? x.dtype() : dtype);
  copy(stream, x, y, loc);
  return y;
}

void fill(const Stream &stream, const Number &value, const Operand &y, Loc loc) {
  Arguments arguments("fill", {stream, loc});
  arguments.given({"y", y});
  detail::MapNames names{"fill", {"y", "value"}};
  CallSite site(stream, loc);
  if (isFloat(y.dtype()))
    return detail::mapNamed(names, site, Fill(), std::array{y}, roundedFor(y.dtype(), value));
  arguments.fits("value", value, {"y", y});
  // The kernel narrows it to y's dtype, so that a u64 beyond 2^63 comes back from a negative i64.
  detail::mapNamed(names, site, Fill(), std::array{y}, static_cast<int64_t>(value.asBits()));
}

} // namespace tile::ops
