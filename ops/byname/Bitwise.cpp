// Operations on the bits of integers, and on masks, by name.
#include "ops/byname/Entry.h"

#include <tile/ops/Map.h>

namespace tile::ops {
namespace {

struct And {
  Value operator()(Value a, Value b) const { return a & b; }
};
struct Or {
  Value operator()(Value a, Value b) const { return a | b; }
};
struct Xor {
  Value operator()(Value a, Value b) const { return a ^ b; }
};
struct Not {
  Value operator()(Value x) const { return ~x; }
};
struct NotOfMask {
  Value operator()(Value x) const { return x ^ 1; }
};

void checkBits(const Arguments &arguments, Named arg) {
  arguments.dtypeIn(arg, {i1, i8, i16, i32, i64, u8, u16, u32, u64});
}

template <class F> bool bitwise(const char *name, const char *summary) {
  return registerOp({.name = name,
                     .summary = summary,
                     .inputs = 2,
                     .example =
                         [](const OpSettings &settings) {
                           Specs specs = matrices(settings, 2);
                           for (TensorSpec &spec : specs)
                             spec.dtype = settings.dtype("dtype", i32);
                           return specs;
                         },
                     .outputs =
                         [name](Tensors in, const OpSettings &settings) {
                           return broadcastInOneDtype(name, in, settings);
                         },
                     .run =
                         [name](const Stream &stream, Tensors in, Tensors out, const OpSettings &) {
                           Operand a = in[0], b = in[1], c = out[0];
                           Arguments arguments(name, {stream, Loc()});
                           checkBits(arguments, {"a", a});
                           arguments.sameDtype({"a", a}, {"b", b});
                           arguments.sameDtype({"a", a}, {"c", c});
                           detail::mapNamed({name, {"c", "a", "b"}}, CallSite(stream, Loc()), F(),
                                            std::array{maskAsBytes(c)}, maskAsBytes(a),
                                            maskAsBytes(b));
                         }});
}

const bool pairs = bitwise<And>("bitwise_and", "c = the bits that a and b have") &&
                   bitwise<Or>("bitwise_or", "c = the bits that a or b has") &&
                   bitwise<Xor>("bitwise_xor", "c = the bits that one of a and b has");

const bool inverse = registerOp(
    {.name = "bitwise_not",
     .summary = "y = the bits that x has not",
     .inputs = 1,
     .example =
         [](const OpSettings &settings) {
           Specs specs = matrices(settings, 1);
           specs[0].dtype = settings.dtype("dtype", i32);
           return specs;
         },
     .outputs = likeFirst,
     .run =
         [](const Stream &stream, Tensors in, Tensors out, const OpSettings &) {
           Operand x = in[0], y = out[0];
           Arguments arguments("bitwise_not", {stream, Loc()});
           checkBits(arguments, {"x", x});
           arguments.sameDtype({"x", x}, {"y", y});
           detail::MapNames names{"bitwise_not", {"y", "x"}};
           CallSite site(stream, Loc());
           if (x.dtype() == i1)
             detail::mapNamed(names, site, NotOfMask(), std::array{maskAsBytes(y)}, maskAsBytes(x));
           else
             detail::mapNamed(names, site, Not(), std::array{y}, x);
         }});

} // namespace
} // namespace tile::ops
