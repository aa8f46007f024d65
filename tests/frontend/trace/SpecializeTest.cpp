// Arguments whose values a kernel asks for: constants of the IR, notes for the runtime, messages.
#include "tests/frontend/Trace.h"

#include <tile/Specialize.h>

#include <gtest/gtest.h>

using namespace tile;
using namespace tile::test;

namespace {

std::string errorOf(const std::function<void()> &action) {
  try {
    action();
  } catch (const Error &error) {
    EXPECT_EQ(error.fault(), Fault::User) << error.what();
    return error.message();
  }
  return "nothing was refused";
}

TEST(Specialize, AScalarIsAConstantWhereverItIsUsed) {
  auto k = kernel("k", [](InOut<i32, 1> y, Scalar<i32> n, Scalar<f32> s) {
    int extent = specialize(n);
    double scale = specialize(s);
    for (int i = 0; i < extent / 16; ++i)
      y.tile({extent})(i) = splat(n * 3, {extent}) + int(scale * 10);
  });
  std::string ir =
      tileIr(k, {exampleView(i32, {64}), exampleScalar(i32, 32), exampleScalar(f32, 2.5)});
  EXPECT_EQ(count(ir, "tile.view_store"), 2) << ir;
  EXPECT_NE(ir.find("arith.constant 32 : i32"), std::string::npos) << ir;
  EXPECT_NE(ir.find("tensor<32xi32>"), std::string::npos) << ir;
  EXPECT_NE(ir.find("dense<25>"), std::string::npos) << ir;
  EXPECT_NE(ir.find("%arg1: i32"), std::string::npos) << "the launch passes it still\n" << ir;
}

TEST(Specialize, AnExtentIsKnownToViewsToo) {
  auto k = kernel("k", [](In<f32, 2> x, Out<f32, 1> y) {
    int columns = specialize(x.T().dim(0));
    y.tile({columns})(0) = reshape(x.tile({1, columns})(0, 0), {columns});
  });
  std::string ir = tileIr(k, {exampleView(f32, {7, 48}), exampleView(f32, {48})});
  EXPECT_NE(ir.find("tile.extents = array<i64: -1, 48>"), std::string::npos) << ir;
  EXPECT_EQ(count(ir, "tile.extents"), 1) << ir;
  EXPECT_NE(ir.find("tensor<1x48xf32>"), std::string::npos) << ir;
}

TEST(Specialize, TheRuntimeLearnsWhatWasAskedInItsOrder) {
  auto k = kernel("k", [](In<f32, 2> x, Out<f32, 1> y, Scalar<i64> n, Scalar<i1> b) {
    int columns = specialize(x.dim(1)), size = specialize(n), again = specialize(x.dim(1));
    if (specialize(b))
      y.tile({columns})(size + again) = 0;
  });
  frontend::Binding binding = frontend::bindingFor(k.record(), {});
  binding.args[0].extents = {3, 8};
  binding.args[2].bits = 5;
  binding.args[3].bits = 1;
  std::vector<frontend::ValueUse> expected = {{0, 1}, {2, -1}, {3, -1}};
  EXPECT_EQ(trace(k.record(), binding).uses.values, expected);
}

TEST(Specialize, NumbersKeepTheirSigns) {
  auto k =
      kernel("k", [](Out<i32, 1> y, Scalar<i8> a, Scalar<u16> b, Scalar<f16> c, Scalar<bf16> d) {
        y.tile({4})(0) =
            specialize(a) + specialize(b) + int(specialize(c) * 2) + int(specialize(d) * 4);
      });
  std::string ir =
      tileIr(k, {exampleView(i32, {4}), exampleScalar(i8, -100), exampleScalar(u16, 65535),
                 exampleScalar(f16, -0.5), exampleScalar(bf16, 0.25)});
  EXPECT_NE(ir.find("dense<65435>"), std::string::npos) << ir;
}

TEST(Specialize, WhatItRefuses) {
  auto computed =
      kernel("k", [](Out<i32, 1> y, Scalar<i32> n) { y.tile({specialize(n + 1)})(0) = 0; });
  std::initializer_list<detail::HostArg> args = {exampleView(i32, {64}), exampleScalar(i32, 3)};
  EXPECT_EQ(
      errorOf([&] { tileIr(computed, args); }),
      "specialize: a launch knows the values of scalar arguments and of extents, x.dim(0), not of "
      "what is computed: specialise those, and compute with host numbers");
  auto asked = kernel("k", [](Out<i32, 1> y, Scalar<i32> n) { y.tile({specialize(n)})(0) = 0; });
  EXPECT_EQ(
      errorOf([&] { tileIr(asked); }),
      "specialize: the kernel is traced without the value of argument 2: give an example that has "
      "one, such as exampleScalar(i32, 3)");
  EXPECT_EQ(
      errorOf([&] {
        tileIr(asked, {exampleView(i32, {64}), exampleScalar(i32)});
      }),
      "specialize: the kernel is traced without the value of argument 2: give an example that has "
      "one, such as exampleScalar(i32, 3)");
  EXPECT_EQ(errorOf([&] {
              tileIr(asked, {exampleView(i32, {64}), exampleScalar(i32, 0)});
            }),
            "tile: the shape 0 has an extent below 1");
  auto large = kernel("k", [](Out<i32, 1> y, Scalar<u64> n) { y.tile({specialize(n)})(0) = 0; });
  EXPECT_EQ(errorOf([&] {
              tileIr(large, {exampleView(i32, {64}), exampleScalar(u64, ~uint64_t(0))});
            }),
            "specialize: the value 18446744073709551615 does not fit an int");
  auto whole = kernel("k", [](Out<i32, 1> y, Scalar<f32> s) {
    Value scalar = s;
    y.tile({specialize(scalar)})(0) = 0;
  });
  EXPECT_EQ(
      errorOf([&] {
        tileIr(whole, {exampleView(i32, {64}), exampleScalar(f32, 1)});
      }),
      "specialize: an integer is expected here, the argument is f32: of a Scalar<f32> parameter "
      "itself it gives a double");
  EXPECT_EQ(errorOf([&] { exampleScalar(i8, 300); }),
            "a scalar argument does not fit: 300 is no i8");
  EXPECT_EQ(errorOf([&] { exampleScalar(i8, 0.5); }), "a floating-point number is no i8");
}

} // namespace
