// A launch of a kernel that is in memory allocates nothing, from the call down to the driver.
#include "tests/runtime/device/fakecuda/FakeCuda.h"

#include <tile/tile.h>

#include <cstdlib>
#include <gtest/gtest.h>
#include <new>

namespace {

thread_local int64_t allocations = 0;

void *allocate(size_t bytes) {
  ++allocations;
  if (void *memory = std::malloc(bytes ? bytes : 1))
    return memory;
  throw std::bad_alloc();
}

} // namespace

// Of the whole program, libtile.so as well.
void *operator new(size_t bytes) { return allocate(bytes); }
void *operator new[](size_t bytes) { return allocate(bytes); }
// std::stable_sort asks for memory that may fail, and gives it back as it gives back any.
void *operator new(size_t bytes, const std::nothrow_t &) noexcept {
  ++allocations;
  return std::malloc(bytes ? bytes : 1);
}
void operator delete(void *memory) noexcept { std::free(memory); }
void operator delete[](void *memory) noexcept { std::free(memory); }
void operator delete(void *memory, size_t) noexcept { std::free(memory); }
void operator delete[](void *memory, size_t) noexcept { std::free(memory); }

namespace tile {
namespace {

const auto add = kernel("add_in_memory",
                        [](In<f32, 2> a, In<f32, 2> b, Scalar<f32> s, Out<f32, 2> c, Const B) {
                          auto [i, j] = grid2d(c, {B, B});
                          c.tile({B, B})(i, j) = a.tile({B, B})(i, j) + b.tile({B, B})(i, j) * s;
                        })
                     .named("a", "b", "s", "c", "B")
                     .tunable("B", {16, 32}, 32);

class LaunchAllocations : public testing::Test {
protected:
  void SetUp() override { fakeCudaSkipLaunches(true); }
  void TearDown() override { fakeCudaSkipLaunches(false); }

  template <class Call> static int64_t of(const Call &call) {
    int64_t before = allocations;
    call();
    return allocations - before;
  }
  /// The first call compiles, the others are like it.
  template <class Call> static void expectNoneIn(const Call &call) {
    EXPECT_GT(of(call), 0) << "the first compiles; or allocations are not counted";
    EXPECT_EQ(of(call), 0);
    EXPECT_EQ(of(call), 0);
  }

  Device device = Device::open("cuda:0");
  Stream stream = device.stream();
  TensorOf<float> x = device.tensor<float>({64, 64}), y = device.tensor<float>({64, 64}),
                  z = device.tensor<float>({64, 64});
};

TEST_F(LaunchAllocations, AreNotMadeWithSettingsThatAreGiven) {
  auto given = add.consts(32);
  expectNoneIn([&] { given(stream, x, y, 2.f, z); });
  EXPECT_EQ(of([&] { given(stream, y, x, 3.f, z); }), 0) << "other addresses, another number";
}

TEST_F(LaunchAllocations, AreNotMadeWithSettingsThatAreTuned) {
  auto tuned = add.tuned();
  expectNoneIn([&] { tuned(stream, x, y, 4.f, z); });
}

TEST_F(LaunchAllocations, AreNotMadeInPlace) {
  auto given = add.consts(32);
  expectNoneIn([&] { given(stream, x, z, 2.f, z); });
}

TEST_F(LaunchAllocations, AreNotMadeForNeighboursInOneMatrix) {
  auto given = add.consts(16);
  auto left = z.slice(1, 0, 32), right = z.slice(1, 32, 32), other = x.slice(1, 0, 32);
  expectNoneIn([&] { given(stream, left, other, 2.f, right); });
}

} // namespace
} // namespace tile
