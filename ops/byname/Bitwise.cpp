// Operations on the bits of integers, and on masks, by name.
#include "ops/PairMap.h"
#include "ops/byname/Entry.h"

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

constexpr std::initializer_list<DType> kBits = {i1, i8, i16, i32, i64, u8, u16, u32, u64};

template <class F> bool bitwise(const char *name, const char *summary) {
  return registerOp(
      {.name = name,
       .summary = summary,
       .inputs = 2,
       .example = [](const OpSettings &settings) { return matrices(settings, 2, i32); },
       .outputs =
           [name](Tensors in, const OpSettings &settings) {
             return broadcastInOneDtype(name, in, settings);
           },
       .run =
           [name](const Stream &stream, Tensors in, Tensors out, const OpSettings &) {
             mapPair<F>(name, {stream, Loc()}, in[0], in[1], out[0], kBits);
           }});
}

const bool pairs = bitwise<And>("bitwise_and", "c = the bits that a and b have") &&
                   bitwise<Or>("bitwise_or", "c = the bits that a or b has") &&
                   bitwise<Xor>("bitwise_xor", "c = the bits that one of a and b has");

const bool inverse = registerOp(
    {.name = "bitwise_not",
     .summary = "y = the bits that x has not",
     .inputs = 1,
     .example = [](const OpSettings &settings) { return matrices(settings, 1, i32); },
     .outputs = likeFirst,
     .run =
         [](const Stream &stream, Tensors in, Tensors out, const OpSettings &) {
           Operand x = in[0], y = out[0];
           Arguments arguments("bitwise_not", {stream, Loc()});
           arguments.dtypeIn({"x", x}, kBits);
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
