// What LLVM's optimisations must not do to assembly in a kernel.
#include "codegen/EmitPtx.h"
#include "ir/Context.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace tile;

namespace {

std::string ptxOf(const char *text) {
  std::unique_ptr<MLIRContext> context = ir::makeContext();
  auto module = parseSourceString<ModuleOp>(text, context.get());
  if (!module)
    return "the text does not parse";
  codegen::CompileOptions options;
  codegen::Timings timings;
  codegen::PassRunner runner(*module, options, timings);
  auto emitted = codegen::emitPtx(*module, *ir::findTarget("sm_80"), options, /*allowFusion=*/false,
                                  runner.switches(), timings);
  return succeeded(emitted) ? emitted->ptx : "nothing was emitted";
}

int countOf(const std::string &text, const std::string &part) {
  int count = 0;
  for (size_t at = text.find(part); at != text.npos; at = text.find(part, at + part.size()))
    ++count;
  return count;
}

/// A piece of assembly before a branch that follows from an earlier one: simplifycfg threads it, which copies what stands
/// between the two.
std::string betweenBranches(const std::string &assembly) {
  return ptxOf((R"(
    llvm.func @kernel(%out: !llvm.ptr<1>, %n: i32) attributes {nvvm.kernel} {
      %five = llvm.mlir.constant(5 : i32) : i32
      %true = llvm.mlir.constant(true) : i1
      %false = llvm.mlir.constant(false) : i1
      %thread = nvvm.read.ptx.sreg.tid.x : i32
      %isFirst = llvm.icmp "ult" %thread, %n : i32
      llvm.cond_br %isFirst, ^first, ^joined(%false : i1)
    ^first:
      llvm.store volatile %five, %out : i32, !llvm.ptr<1>
      llvm.br ^joined(%true : i1)
    ^joined(%wasFirst: i1):
      %result = llvm.inline_asm )" +
                assembly + R"( : (i32) -> i32
      llvm.store volatile %result, %out : i32, !llvm.ptr<1>
      llvm.cond_br %wasFirst, ^again, ^end
    ^again:
      llvm.store volatile %five, %out : i32, !llvm.ptr<1>
      llvm.br ^end
    ^end:
      llvm.return
    })")
                   .c_str());
}

TEST(EmitPtx, WhatThreadsDoTogetherIsNotCopiedIntoTheArmsOfABranch) {
  for (const char *assembly :
       {R"(has_side_effects "bar.sync 1, 128; mov.u32 $0, $1;", "=r,r,~{memory}" %n)",
        R"("redux.sync.add.s32 $0, $1, 0xffffffff;", "=r,r" %n)",
        R"("activemask.b32 $0;", "=r,r" %n)"}) {
    std::string ptx = betweenBranches(assembly);
    EXPECT_EQ(countOf(ptx, "// begin inline asm"), 1) << ptx;
  }
}

// What only computes is computed once.
TEST(EmitPtx, ConversionsAreMadeOnceForAllBranches) {
  std::string ptx = ptxOf(R"(
    llvm.func @kernel(%out: !llvm.ptr<1>, %n: i32, %x: f32) attributes {nvvm.kernel} {
      %thread = nvvm.read.ptx.sreg.tid.x : i32
      %one = llvm.inline_asm "cvt.rna.tf32.f32 $0, $1;", "=r,f" %x : (f32) -> i32
      llvm.store volatile %one, %out : i32, !llvm.ptr<1>
      %isFirst = llvm.icmp "ult" %thread, %n : i32
      llvm.cond_br %isFirst, ^first, ^end
    ^first:
      %other = llvm.inline_asm "cvt.rna.tf32.f32 $0, $1;", "=r,f" %x : (f32) -> i32
      llvm.store volatile %other, %out : i32, !llvm.ptr<1>
      llvm.br ^end
    ^end:
      llvm.return
    })");
  EXPECT_EQ(countOf(ptx, "cvt.rna"), 1) << ptx;
}

} // namespace
