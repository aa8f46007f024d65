// Ops by name through the C API: outputs that no tensor can be, settings that are taken as they are written, and what a
// refusal says.
#include "capi/Dtype.h"
#include "tests/capi/Handles.h"

#include <tile/Types.h>

#include <cmath>
#include <cstring>
#include <limits>

namespace tile::test {
namespace {

using Settings = std::vector<tile_setting>;
using Shape = std::vector<int64_t>;

class OpCalls : public CApi {
protected:
  tile_tensor *of(DType dtype, Shape shape) { return tensor(capi::numberOf(dtype), shape); }
  template <class T> tile_tensor *of(Shape shape, const std::vector<T> &values) {
    tile_tensor *made = of(dtypeOf<T>, shape);
    ok(tile_tensor_upload(made, stream, values.data(), values.size() * sizeof(T)));
    return made;
  }
  template <class T> std::vector<T> elements(tile_tensor *from, size_t count) {
    std::vector<T> values(count);
    ok(tile_tensor_download(from, stream, values.data(), count * sizeof(T)));
    return values;
  }

  /// As callers do who have no output: they ask what it must be, make it, and launch. Fails with the first status.
  tile_status run(const char *op, std::vector<tile_tensor *> inputs, const Settings &settings,
                  std::vector<tile_tensor *> *outputs = nullptr) {
    std::vector<tile_tensor *> made;
    size_t count = 0;
    tile_status status = tile_op_output_count(op, inputs.data(), inputs.size(), settings.data(),
                                              settings.size(), &count);
    for (size_t i = 0; status == TILE_OK && i < count; ++i) {
      tile_dtype dtype;
      int32_t rank;
      Shape shape(TILE_MAX_RANK);
      status = tile_op_output_at(op, inputs.data(), inputs.size(), settings.data(), settings.size(),
                                 i, &dtype, &rank, shape.data());
      if (status == TILE_OK)
        made.push_back(tensor(dtype, Shape(shape.begin(), shape.begin() + rank)));
    }
    if (status == TILE_OK)
      status = tile_op_launch(op, stream, inputs.data(), inputs.size(), made.data(), made.size(),
                              settings.data(), settings.size());
    if (outputs)
      *outputs = made;
    return status;
  }
  /// The elements of the only output.
  template <class T>
  std::vector<T> result(const char *op, std::vector<tile_tensor *> inputs, const Settings &settings,
                        size_t count) {
    std::vector<tile_tensor *> outputs;
    ok(run(op, std::move(inputs), settings, &outputs));
    return outputs.size() == 1 ? elements<T>(outputs[0], count) : std::vector<T>();
  }
  /// The user's fault, told in these words.
  void refuses(const char *op, std::vector<tile_tensor *> inputs, const Settings &settings,
               const std::string &words) {
    SCOPED_TRACE(op);
    tile_status status = run(op, std::move(inputs), settings);
    EXPECT_NE(status, TILE_OK) << "not refused; expected: " << words;
    EXPECT_EQ(tile_last_error_fault(), 1);
    std::string message = tile_last_error_message();
    EXPECT_NE(message.find(words), std::string::npos) << message << "\n expected: " << words;
    EXPECT_TRUE(message.starts_with(std::string(op) + ": ")) << message;
  }
};

TEST_F(OpCalls, OutputsOfTooManyDimensionsAreRefused) {
  tile_tensor *x = of(f32, {2, 3}), *scalar = of(f32, {}), *deep = of(i32, Shape(8, 1));
  refuses("sum_to", {x}, {{"shape", "1,1,1,1,1,1,1,1,1,1"}},
          "sum_to: shape has 10 extents; a tensor has 0 to 8");
  std::string thousand = "1";
  for (int i = 1; i < 1000; ++i)
    thousand += ",1";
  refuses("sum_to", {x}, {{"shape", thousand.c_str()}}, "sum_to: shape has 1000 extents");
  refuses("embedding", {x, deep}, {}, "indices is i32 1x1x1x1x1x1x1x1, of rank 8; rank 7 or less");
  refuses("rotary_tables", {deep}, {}, "positions is i32 1x1x1x1x1x1x1x1, of rank 8; rank 7 or");
  for (const char *norm : {"layernorm", "rmsnorm"})
    refuses(norm, {scalar}, {{"statistics", "1"}}, "x is f32 scalar; it needs at least one");
  refuses("add_layernorm", {scalar, scalar}, {{"statistics", "1"}}, "x is f32 scalar");
  refuses("attention", {scalar, scalar, scalar}, {{"statistics", "1"}},
          "q is f32 scalar, of rank 0");
  refuses("attention_gradient", {x, x, x, x}, {}, "q is f32 2x3, of rank 2; rank 4 is needed");
  refuses("matmul", {x, scalar}, {}, "b is f32 scalar, of rank 0; rank 2 or more is needed");
}

TEST_F(OpCalls, ScaleOf0Is0) {
  // All keys weigh the same then: the mean of the values that a query sees.
  tile_tensor *two = of<float>({1, 1, 2, 1}, {1, 2}), *one = of<float>({1, 1, 1}, {1});
  EXPECT_EQ(result<float>("attention", {two, two, two}, {{"scale", "0"}}, 2),
            (std::vector<float>{1.5f, 1.5f}));
  tile_tensor *lengths = of<int32_t>({1}, {2});
  EXPECT_EQ(result<float>("decode_attention", {one, two, two, lengths}, {{"scale", "0"}}, 1),
            std::vector<float>{1.5f});
  // Without a scale it is 1 / sqrt(D), here 1: weights of e^1 and e^2 for the first query.
  float expected =
      static_cast<float>((std::exp(1.0) + 2 * std::exp(2.0)) / (std::exp(1.0) + std::exp(2.0)));
  EXPECT_NEAR(result<float>("attention", {two, two, two}, {}, 2)[0], expected, 1e-5);
  refuses("attention", {two, two, two}, {{"scale", "1e300"}},
          "scale=1e300: a number that f32 holds");
}

TEST_F(OpCalls, NumbersOf64BitsAreFilledExactly) {
  auto filled = [&]<class T>(const char *value, T) {
    tile_tensor *x = of(dtypeOf<T>, {3});
    ok(run("fill", {x}, {{"value", value}}));
    return elements<T>(x, 3)[2];
  };
  EXPECT_EQ(filled("9007199254740993", int64_t()), 9007199254740993);
  EXPECT_EQ(filled("9223372036854775807", int64_t()), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(filled("-9223372036854775808", int64_t()), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(filled("18446744073709551615", uint64_t()), std::numeric_limits<uint64_t>::max());
  EXPECT_EQ(filled("9223372036854775809", uint64_t()), 9223372036854775809u);
  EXPECT_EQ(filled("-128", int8_t()), -128);
  EXPECT_TRUE(std::signbit(filled("-0", float())));
  EXPECT_EQ(filled("1e3", int64_t()), 1000);
  // Just above the middle of 1 and the next f16: rounded to f32 first it would be the middle, which goes to 1.
  EXPECT_EQ(static_cast<float>(filled("1.00048828130", half())), 1.0009765625f);
  EXPECT_EQ(static_cast<float>(filled("1e300", half())), std::numeric_limits<float>::infinity());
  tile_tensor *x = of(i64, {3});
  refuses("fill", {x}, {{"value", "9223372036854775808"}},
          "value is 9223372036854775808, but y is i64 3, which cannot hold it");
  refuses("fill", {x}, {{"value", "0.5"}}, "value is 0.5, but y is i64 3, which cannot hold it");
  refuses("fill", {of(u8, {3})}, {{"value", "256"}}, "value is 256, but y is u8 3");
}

TEST_F(OpCalls, NumbersBeyondTheirTypeAreRefused) {
  tile_tensor *x = of(f32, {2, 3}), *positions = of(i32, {4}), *y = of(f32, {4, 3});
  refuses("softmax", {x}, {{"dim", "4294967297"}},
          "softmax: dim=4294967297: an integer from -8 to 7 is expected");
  refuses("log_softmax", {x}, {{"dim", "4294967297"}}, "dim=4294967297");
  refuses("softmax_backward", {x, x}, {{"dim", "4294967295"}}, "dim=4294967295");
  refuses("sum", {x}, {{"axes", "1099511627776"}},
          "sum: axes=1099511627776: integers from -8 to 7 are expected");
  refuses("sum", {x}, {{"axes", "0,4294967297"}}, "axes=0,4294967297");
  refuses("sum", {x}, {{"axes", "0,1,0,1,0,1,0,1,0,1"}}, "axis 0 is named twice");
  refuses("sum", {x}, {{"axes", "true"}}, "axes=true: integers, as 4x1024 or 0,2, are expected");
  refuses("sum", {x}, {{"keep_dims", "2"}}, "keep_dims=2: 0 or 1 is expected");
  refuses("top_k", {x}, {{"k", "-1"}}, "top_k: k=-1: an integer from 1 on is expected");
  refuses("top_k", {x}, {{"k", "4611686018427387904"}}, "1 to 3 can be chosen a row");
  refuses("sample_top_k", {x}, {{"k", "0"}, {"seed", "1"}}, "k=0: an integer from 1 on");
  refuses("embedding_backward", {positions, y}, {{"rows", "-1"}},
          "embedding_backward: rows=-1: an integer from 0 on is expected");
  refuses("rotary_tables", {positions}, {{"dims", "-2"}}, "dims=-2: an integer from 0 on");
  refuses("rotary_tables", {positions}, {{"dims", "7"}}, "rotary_tables: dims=7: an even number");
  refuses("sum_to", {x}, {{"shape", "-1,3"}}, "shape=-1,3: integers from 0 on are expected");
  refuses("cross_entropy", {x, of(i32, {2})}, {{"classes", "-1"}}, "classes=-1: an integer from 0");
  refuses("cross_entropy", {x, of(i32, {2})}, {{"reduction", "max"}},
          "reduction=max: mean, none or sum is expected");
  refuses("relu", {x}, {{"dtype", "i32"}}, "relu: dtype=i32: f16, bf16, f32 or f64 is expected");
  refuses("adamw", {x, x, x, x}, {{"step", "0"}}, "step=0: an integer from 1 on");
}

TEST_F(OpCalls, SettingsThatMeanOneThingMustBeGiven) {
  tile_tensor *x = of(f32, {2, 3}), *indices = of(i32, {2});
  refuses("sum_to", {x}, {}, "sum_to: shape= is needed");
  refuses("einsum", {x, x}, {}, "einsum: formula= is needed");
  refuses("embedding_backward", {indices, x}, {}, "embedding_backward: rows= is needed");
  for (const char *op :
       {"rand", "randn", "bernoulli", "dropout", "dropout_backward", "sample_top_k"})
    refuses(op, {x}, {{"offset", "5"}}, "seed= is needed: ");
  refuses("randint", {indices}, {}, "seed= is needed");
  refuses("dropout_add", {x, x}, {}, "seed= is needed");
}

TEST_F(OpCalls, SeedsHave64Bits) {
  auto drawn = [&](const char *seed, const char *offset) {
    tile_tensor *x = of(f32, {64});
    ok(run("rand", {x}, {{"seed", seed}, {"offset", offset}}));
    return elements<float>(x, 64);
  };
  auto last = drawn("18446744073709551615", "0");
  EXPECT_EQ(last, drawn("18446744073709551615", "0"));
  EXPECT_NE(last, drawn("9223372036854775807", "0"));
  EXPECT_NE(last, drawn("18446744073709551615", "64"));
  auto more = drawn("18446744073709551615", "1");
  EXPECT_TRUE(std::equal(last.begin() + 1, last.end(), more.begin()));
  refuses("rand", {of(f32, {2})}, {{"seed", "18446744073709551616"}},
          "seed=18446744073709551616: an integer from 0 to 18446744073709551615 is expected");
  refuses("rand", {of(f32, {2})}, {{"seed", "-1"}}, "seed=-1: an integer from 0 to");
}

TEST_F(OpCalls, NoAxesAreNone) {
  std::vector<float> values = {1, 2, 3, 4, 5, 6};
  tile_tensor *x = of<float>({2, 3}, values);
  EXPECT_EQ(result<float>("sum", {x}, {{"axes", ""}}, 6), values);
  EXPECT_EQ(result<float>("mean", {x}, {{"axes", ""}}, 6), values);
  EXPECT_EQ(result<float>("sum", {x}, {}, 1), std::vector<float>{21});
  EXPECT_EQ(result<float>("sum_to", {x}, {{"shape", ""}}, 1), std::vector<float>{21});
}

TEST_F(OpCalls, RefusalsSpeakOfWhatWasGiven) {
  tile_tensor *a = of(f32, {2, 3}), *b = of(f32, {3, 2}), *vector = of(f32, {5});
  std::string both = "a is f32 2x3, but b is f32 3x2: counted from the last, extents must be equal";
  for (const char *op : {"add", "subtract", "multiply", "divide", "maximum", "minimum", "swiglu"})
    refuses(op, {a, b}, {}, both);
  for (const char *op : {"relu_backward", "gelu_backward", "tanh_backward"})
    refuses(op, {a, b}, {}, "x is f32 2x3, but dy is f32 3x2");
  refuses("dropout_add", {a, b}, {{"seed", "1"}}, "x is f32 2x3, but residual is f32 3x2");
  refuses("swiglu_backward", {a, a, vector}, {}, "a is f32 2x3, but dy is f32 5");
  refuses("swiglu_halves_backward", {of(f32, {2, 8}), vector}, {},
          "dy is f32 5, but a half of ab is f32 2x4");
  refuses("matmul", {of(f32, {2, 3, 4}), of(f32, {3, 4, 5})}, {},
          "a is f32 2x3x4, but b is f32 3x4x5: batch dimensions");
  refuses("add", {a, a}, {{"dtype", "f16"}}, "dtype=f16, but a is f32 2x3");
  refuses("sum", {of(i32, {2})}, {{"dtype", "f32"}}, "dtype=f32, but x is i32 2");
  refuses("sum_to", {a}, {{"shape", "4"}}, "shape is 4, but x is f32 2x3");
  refuses("embedding_backward", {of(i32, {3}), of(i32, {3, 2})}, {{"rows", "4"}}, "dy is i32 3x2");
  refuses("rotate", {of(f32, {2, 4, 8}), of(f32, {5, 4}), of(f32, {5, 4})}, {},
          "cosines is f32 5x4, but a half of x is f32 2x4x4");
}

} // namespace
} // namespace tile::test
