// Comparisons by name: what operators of other languages compute with.
#include "ops/Arguments.h"
#include "ops/byname/Entry.h"

#include <tile/ops/Map.h>

namespace tile::ops {
namespace {

struct Equal {
  Value operator()(Value a, Value b) const { return a == b; }
};
struct NotEqual {
  Value operator()(Value a, Value b) const { return a != b; }
};
struct Less {
  Value operator()(Value a, Value b) const { return a < b; }
};
struct LessEqual {
  Value operator()(Value a, Value b) const { return a <= b; }
};
struct Greater {
  Value operator()(Value a, Value b) const { return a > b; }
};
struct GreaterEqual {
  Value operator()(Value a, Value b) const { return a >= b; }
};

/// c is 1 where the comparison holds, else 0. A NaN is equal to nothing, and neither less nor greater.
template <class F> bool comparison(const char *name, const char *summary) {
  return registerOp({.name = name,
                     .summary = summary,
                     .inputs = 2,
                     .example = [](const OpSettings &settings) { return matrices(settings, 2); },
                     .outputs =
                         [name](Tensors in, const OpSettings &) {
                           Specs specs = broadcast(name, "a", "b", in, {});
                           specs[0].dtype = i1;
                           return specs;
                         },
                     .run =
                         [name](const Stream &stream, Tensors in, Tensors out, const OpSettings &) {
                           Operand a = in[0], b = in[1], c = out[0];
                           Arguments arguments(name, {stream, Loc()});
                           arguments.dtypeIn({"a", a}, {f16, bf16, f32, f64, i8, i16, i32, i64, u8,
                                                        u16, u32, u64});
                           arguments.sameDtype({"a", a}, {"b", b});
                           arguments.dtypeIn({"c", c}, {i1});
                           detail::mapNamed({name, {"c", "a", "b"}}, CallSite(stream, Loc()), F(),
                                            std::array{c}, a, b);
                         }});
}

const bool comparisons = comparison<Equal>("equal", "c = 1 where a = b, else 0") &&
                         comparison<NotEqual>("not_equal", "c = 0 where a = b, else 1") &&
                         comparison<Less>("less", "c = 1 where a < b, else 0") &&
                         comparison<LessEqual>("less_equal", "c = 1 where a <= b, else 0") &&
                         comparison<Greater>("greater", "c = 1 where a > b, else 0") &&
                         comparison<GreaterEqual>("greater_equal", "c = 1 where a >= b, else 0");

} // namespace
} // namespace tile::ops
