#include "frontend/trace/Contexts.h"

#include <gtest/gtest.h>

using tile::frontend::KernelContext;
using tile::frontend::takeContext;

/// One that no kernel had before.
static KernelContext newContext() {
  KernelContext context = takeContext();
  while (context.get_deleter().kernels > 1)
    context = takeContext();
  return context;
}

TEST(Contexts, AKernelTakesWhatTheOneBeforeHasLeft) {
  KernelContext context = newContext();
  mlir::MLIRContext *first = context.get();
  context.reset();
  context = takeContext();
  EXPECT_EQ(context.get(), first);
  EXPECT_EQ(context.get_deleter().kernels, 2);
}

TEST(Contexts, KernelsAtATimeHaveContextsOfTheirOwn) {
  KernelContext one = takeContext(), other = takeContext();
  EXPECT_NE(one.get(), other.get());
}

TEST(Contexts, NoneServesForEver) {
  constexpr int kMany = 100;
  int newOnes = 0;
  for (int i = 0; i < kMany; ++i)
    newOnes += takeContext().get_deleter().kernels == 1;
  EXPECT_GE(newOnes, 2);
  EXPECT_LE(newOnes, kMany / 10);
}
