// Functions that are called: how often they are traced, what they are named, what they refuse.
#include "tests/frontend/Trace.h"

#include <tile/Callable.h>
#include <tile/Random.h>

#include <gtest/gtest.h>

using namespace tile;
using namespace tile::test;

namespace {

int traced = 0;

const auto twice = callable("twice", [](Value x) {
  ++traced;
  return x + x;
});

TEST(Callable, IsTracedOnceForEachListOfTypes) {
  traced = 0;
  auto k = kernel("k", [](InOut<f32, 1> y, Const B) {
    Value a = y.tile({B})(0);
    for (int i = 0; i < 10; ++i)
      a = twice(a);
    y.tile({B})(0) = a + twice(1.0f) + cast(f32, twice(program_id(0)));
  });
  std::string ir = irOf(k, {64});
  EXPECT_EQ(traced, 3);
  EXPECT_EQ(count(ir, "call @k__twice("), 10) << ir;
  EXPECT_EQ(count(ir, "call @k__twice_1("), 1) << ir;
  EXPECT_EQ(count(ir, "call @k__twice_2("), 1) << ir;
  EXPECT_EQ(count(ir, "func.func private"), 3) << ir;
  EXPECT_EQ(count(ir, "tile.callable, tile.warps = 4"), 3) << ir;
}

TEST(Callable, CalleesStandBeforeCallersAndUncalledOnesAreLeftOut) {
  static const auto outer = callable("outer", [](Value x) { return twice(x) + 1; });
  auto k = kernel("k", [](InOut<f32, 1> y) {
    Value a = y.tile({32})(0);
    y.tile({32})(0) = outer(twice(a));
    twice(program_id(0)); // nothing needs it
  });
  std::string ir = irOf(k);
  EXPECT_EQ(count(ir, "func.func private"), 2) << ir;
  EXPECT_LT(ir.find("func.func private @k__twice("), ir.find("func.func private @k__outer(")) << ir;
}

TEST(Callable, OfOneNameAreKeptApart) {
  auto make = [](int n) { return callable("same", [n](Value x) { return x * n; }); };
  auto two = make(2), three = make(3);
  auto k = kernel_capturing(
      "same", "k", [=](InOut<i32, 1> y) { y.tile({32})(0) = two(three(y.tile({32})(0))); });
  std::string ir = irOf(k);
  EXPECT_EQ(count(ir, "func.func private @k__same("), 1) << ir;
  EXPECT_EQ(count(ir, "func.func private @k__same_1("), 1) << ir;
}

template <class F> std::string errorOf(F body) {
  try {
    irOf(kernel("k", body));
  } catch (const Error &error) {
    EXPECT_EQ(error.fault(), Fault::User) << error.what();
    return error.message();
  }
  return "nothing was refused";
}

TEST(Callable, WhatItRefuses) {
  static const auto prints = callable("prints", [](Value x) {
    device_print("x", {x});
    return x;
  });
  const char *valuesAlone =
      "a callable computes with values alone: it may not access memory, print, assert "
      "or assume; write a plain C++ function, which becomes part of the kernel";
  EXPECT_EQ(errorOf([](Out<f32, 1> y) { y.tile({8})(0) = prints(zeros(f32, {8})); }), valuesAlone);
  EXPECT_EQ(errorOf([](InOut<f32, 1> y) {
              auto loads = callable("loads", [y](Value x) { return x + load(y.ptr()); });
              y.tile({8})(0) = loads(zeros(f32, {8}));
            }),
            "a callable may only use its arguments and host numbers: pass the value to it");
  EXPECT_EQ(errorOf([](Out<f32, 1> y) {
              auto sum = var(zeros(f32, {8}));
              auto adds = callable("adds", [&sum](Value x) {
                sum = sum + x;
                return x;
              });
              y.tile({8})(0) = adds(zeros(f32, {8}));
            }),
            "a callable may only use its arguments and host numbers: pass the var to it");
  EXPECT_EQ(errorOf([](InOut<f32, 1> y) { twice(y.ptr()); }),
            "callable 'twice': needs numbers, got ptr<f32>");
  static std::function<Value(Value)> again;
  static const auto recursive = callable("recursive", [](Value x) { return again(x); });
  again = [](Value x) { return recursive(x); };
  EXPECT_EQ(errorOf([](Out<f32, 1> y) { y.tile({8})(0) = recursive(zeros(f32, {8})); }),
            "callable 'recursive' calls itself with f32[8]: use while_ or a C++ loop");
  EXPECT_EQ(errorOf([](Out<f32, 1> y) {
              y.tile({1})(0) =
                  reduce(zeros(f32, {8}), 0, [](Value a, Value b) { return twice(a) + b; });
            }),
            "callable 'twice': a combine function cannot call it; use a plain C++ function");
  try {
    callable("no name", [](Value x) { return x; });
    ADD_FAILURE() << "the name was accepted";
  } catch (const Error &error) {
    EXPECT_EQ(error.message(),
              "callable: the name 'no name' must be an identifier: letters, digits and "
              "_, not beginning with a digit");
  }
}

} // namespace
