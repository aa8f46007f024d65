// Wrong uses of atomics, gathers, histograms and random numbers: the message, at the user's line.
#include "tests/frontend/Trace.h"

#include <tile/Atomics.h>
#include <tile/Random.h>

#include <gtest/gtest.h>

using namespace tile;
using namespace tile::test;

template <class F> static void expectError(F lambda, const std::string &expected) {
  try {
    irOf(kernel("wrong", lambda), {});
    ADD_FAILURE() << "the kernel was accepted";
  } catch (const Error &error) {
    EXPECT_EQ(error.message(), expected);
    EXPECT_EQ(error.fault(), Fault::User);
    EXPECT_NE(std::string(error.file()).find("AtomicsDiagnosticsTest.cpp"), std::string::npos);
  }
}

TEST(AtomicsDiagnostics, Dtypes) {
  expectError(
      [](InOut<i8, 1> x) { atomic_add(x.ptr() + arange(32), cast(i8, 1)); },
      "atomic_add: there is none on i8; supported: i32, u32, i64, u64, f16, bf16, f32, f64");
  expectError([](InOut<i16, 1> x) { atomic_xchg(x.ptr(), 1); },
              "atomic_xchg: there is none on i16; supported: i32, u32, i64, u64, f32, f64");
  expectError([](InOut<f16, 1> x) { atomic_max(x.ptr() + arange(32), 1); },
              "atomic_max: there is none on f16; supported: i32, u32, i64, u64, f32, f64");
  expectError([](InOut<f32, 1> x) { atomic_xor(x.ptr() + arange(32), 1); },
              "atomic_xor: there is none on f32; supported: i32, u32, i64, u64");
  expectError(
      [](InOut<i8, 1> x) { atomic_cas(x.ptr(), 1, 2); },
      "atomic_cas: there is none on i8; supported: i16, u16, f16, bf16, i32, u32, i64, u64, "
      "f32, f64");
}

TEST(AtomicsDiagnostics, Operands) {
  expectError([](InOut<i32, 1> x) { atomic_add(x.ptr() + arange(32), zeros(f32, {32})); },
              "atomic_add: the value must be i32, got f32: write cast(i32, ...)");
  expectError([](InOut<i32, 1> x) { atomic_add(x.ptr() + arange(32), arange(32), arange(32)); },
              "atomic_add: the mask must be i1, got i32: write cast(i1, ...)");
  expectError(
      [](InOut<i32, 1> x) {
        atomic_min(x.ptr() + arange(32), zeros(i32, {64, 32}));
      },
      "atomic_min: the value is 64x32, the pointers are 32");
  expectError([](InOut<i32, 1> x) { atomic_or(x.tile({32})(0), 1); },
              "atomic_or: needs a pointer or a tile of pointers, got i32[32]; use view.ptr() + "
              "offsets, or view.tile(...)(...)");
}

TEST(AtomicsDiagnostics, Directions) {
  expectError([](In<i32, 1> x) { atomic_add(x.ptr(), 1); },
              "an atomic operation reads and writes, but the pointer is of an In view: declare the "
              "argument InOut");
  expectError(
      [](Out<i32, 1> x) { atomic_cas(x.ptr(), 0, 1); },
      "an atomic operation reads and writes, but the pointer is of an Out view: declare the "
      "argument InOut");
}

TEST(AtomicsDiagnostics, EvictionPriorities) {
  expectError([](InOut<bf16, 1> y) { atomic_add(y.ptr(), 1, {.evict = Evict::last}); },
              "atomic_add: bf16 is added by compare-and-swap, which takes no eviction priority");
  expectError([](InOut<i32, 1> y) { atomic_cas(y.ptr(), 1, 2, {.evict = Evict::first}); },
              "atomic_cas: compare-and-swap takes no eviction priority");
}

TEST(AtomicsDiagnostics, RandomNumbers) {
  expectError([](Scalar<f32> seed) { rand(seed, arange(32)); },
              "random numbers: the seed must be an integer, got a float");
  expectError(
      [](Scalar<i32> seed) { randn(seed, zeros(f32, {32})); },
      "random numbers: the offsets must be integers of 32 or 64 bits, got f32[32]: cast them");
  expectError(
      [](Scalar<i32> seed) { randint(seed, zeros(i16, {32})); },
      "random numbers: the offsets must be integers of 32 or 64 bits, got i16[32]: cast them");
  expectError([](Scalar<i16> x) { mulhi(x, x); },
              "mulhi: needs integers of 32 or 64 bits, got i16: cast the operands");
  expectError([](Scalar<f32> x) { popcount(x); },
              "popcount: needs an integer of 8 to 64 bits, got f32: cast or bitcast it");
  expectError([](Scalar<i32> x) { reverse_bits(x == 0); },
              "reverse_bits: needs an integer of 8 to 64 bits, got i1: cast or bitcast it");
}

TEST(AtomicsDiagnostics, GathersAndHistograms) {
  expectError(
      [](In<f32, 2> x) {
        gather(x.tile({8, 32})(0, 0), zeros(i32, {4, 8}), 1);
      },
      "gather: indices of 4x8 do not fit a source of 8x32: all extents but that of axis 1 "
      "must be equal");
  expectError([](In<f32, 1> x) { gather(x.tile({32})(0), zeros(f32, {8}), 0); },
              "gather: the indices must be integers of up to 32 bits, got f32: cast them to i32");
  expectError([](In<f32, 1> x) { gather(x.tile({32})(0), 3, 0); },
              "gather: the indices must be a tile, got a scalar, i32");
  expectError(
      [](In<i32, 2> x) {
        histogram(x.tile({8, 32})(0, 0), 4);
      },
      "histogram: needs one dimension, got 8x32: write ravel(...)");
  expectError(
      [](In<i64, 1> x) { histogram(x.tile({32})(0), 4); },
      "histogram: the elements must be integers of up to 32 bits, got i64: cast them to i32");
  expectError([](In<i32, 1> x) { histogram(x.tile({32})(0), 0); },
              "histogram: the shape 0 has an extent below 1");
  expectError([](In<i32, 1> x) { histogram(x.tile({32})(0), 4, arange(16) > 3); },
              "histogram: the mask must be i1 in the shape 32, got i1[16]");
}
