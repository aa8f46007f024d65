// Settings of a call like an earlier one are looked up without an allocation.
#include "tests/runtime/tune/Kernels.h"

#include <cstdlib>
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

namespace tile::tune {
namespace {

class Allocations : public test::TunedCalls {
protected:
  int64_t ofLookup() {
    int64_t values[] = {0, 3};
    detail::CompileSettings settings;
    int64_t before = allocations;
    detail::chooseTuned(kernel.record(), device, args, {values, 2}, settings, {});
    int64_t made = allocations - before;
    EXPECT_EQ(values[0], 256);
    return made;
  }
};

TEST_F(Allocations, AreNotMadeForACallLikeAnEarlierOne) {
  EXPECT_GT(ofLookup(), 0) << "the first is looked up in tables; or allocations are not counted";
  EXPECT_EQ(ofLookup(), 0);
  EXPECT_EQ(ofLookup(), 0);
}

TEST_F(Allocations, AreNotMadeForConstantsByName) {
  auto tuned = kernel.tuned();
  int64_t before = allocations;
  auto given = tuned.with("factor", 3);
  EXPECT_EQ(allocations, before);
}

} // namespace
} // namespace tile::tune
