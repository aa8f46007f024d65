// The pass runner leaves out the passes that it is told to, and keeps a reproducer of a compile that fails by our own fault.
#include "codegen/PassRunner.h"

#include "codegen/Compile.h"
#include "codegen/Reproducer.h"
#include "ir/Context.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace tile;
using codegen::CompileOptions;

namespace {

constexpr const char *kText = R"(
  func.func @f(%a: i32) -> i32 {
    %0 = arith.addi %a, %a : i32
    %1 = arith.addi %a, %a : i32
    %2 = arith.addi %0, %1 : i32
    return %2 : i32
  })";

/// Fails and says nothing: what no pass may do.
struct SilentPass : PassWrapper<SilentPass, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(SilentPass)
  StringRef getArgument() const final { return "test-silent"; }
  void runOnOperation() final { signalPassFailure(); }
};

/// Leaves a block without terminator.
struct InvalidPass : PassWrapper<InvalidPass, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(InvalidPass)
  StringRef getArgument() const final { return "test-invalid"; }
  void runOnOperation() final { getOperation().getBody().back().getTerminator()->erase(); }
};

class PassRunner : public testing::Test {
protected:
  void SetUp() override {
    context = ir::makeContext();
    module = parseSourceString<ModuleOp>(kText, context.get());
    ASSERT_TRUE(module);
    options.reproducer = codegen::newReproducerPath();
  }
  void TearDown() override { llvm::sys::fs::remove(options.reproducer); }

  LogicalResult run(llvm::function_ref<void(PassManager &)> build) {
    ScopedDiagnosticHandler quiet(context.get(), [](mlir::Diagnostic &) { return success(); });
    return codegen::PassRunner(*module, options, timings).run(build);
  }
  LogicalResult runCse() {
    return run([](PassManager &manager) { manager.addPass(createCSEPass()); });
  }
  int additions() {
    int count = 0;
    module->walk([&](arith::AddIOp) { ++count; });
    return count;
  }
  std::string kept() {
    auto buffer = llvm::MemoryBuffer::getFile(options.reproducer);
    return buffer ? (*buffer)->getBuffer().str() : "";
  }

  std::unique_ptr<MLIRContext> context;
  OwningOpRef<ModuleOp> module;
  CompileOptions options;
  codegen::Timings timings;
};

TEST_F(PassRunner, RunsAndTimesPasses) {
  options.timePasses = true;
  ASSERT_TRUE(succeeded(runCse()));
  EXPECT_EQ(additions(), 2);
  ASSERT_EQ(timings.size(), 1u);
  EXPECT_EQ(timings[0].first, "cse");
  EXPECT_GT(timings[0].second, 0);
}

TEST_F(PassRunner, LeavesOutDisabledPasses) {
  options.passes.disabled = {"cse"};
  ASSERT_TRUE(succeeded(runCse()));
  EXPECT_EQ(additions(), 3);
  options.passes.disabled = {};
  ASSERT_TRUE(succeeded(runCse()));
  EXPECT_EQ(additions(), 2) << "the context is as before";
}

TEST_F(PassRunner, StopsAfterTheFirstExecutions) {
  options.passes.limit = 1;
  testing::internal::CaptureStderr();
  ASSERT_TRUE(succeeded(run([](PassManager &manager) {
    manager.addPass(createCanonicalizerPass());
    manager.addPass(createCSEPass());
  })));
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "bisect:   1 run   canonicalize\nbisect:   2 skip  cse\n");
  EXPECT_EQ(additions(), 3);
}

TEST_F(PassRunner, NeverLeavesOutWhatIsNeeded) {
  EXPECT_TRUE(passes::isOptionalPass("tile-combine-tile-ops"));
  EXPECT_TRUE(passes::isOptionalPass("combine-tile-ops"));
  EXPECT_FALSE(passes::isOptionalPass("tile-place-barriers"));
  passes::PassSelection selection{{"place-barriers"}, 0};
  EXPECT_TRUE(passes::PassSwitches(selection).shouldRun("tile-place-barriers"));
}

TEST_F(PassRunner, KeepsTheIrThatAFailingPassWasGiven) {
  EXPECT_TRUE(failed(run([](PassManager &manager) {
    manager.addPass(createCSEPass());
    manager.addNestedPass<func::FuncOp>(std::make_unique<SilentPass>());
  })));
  EXPECT_NE(kept().find("pipeline: \"builtin.module(func.func(test-silent))\""), std::string::npos)
      << kept();
  OwningOpRef<ModuleOp> again = parseSourceString<ModuleOp>(kept(), context.get());
  ASSERT_TRUE(again);
  module = std::move(again);
  EXPECT_EQ(additions(), 2) << "cse had run";
  EXPECT_EQ(codegen::howToReproduce(options.reproducer),
            "tile-opt --run-reproducer " + options.reproducer);
}

TEST_F(PassRunner, FindsThePassThatLeavesInvalidIr) {
  options.verifyEach = true;
  EXPECT_TRUE(failed(run([](PassManager &manager) {
    manager.addNestedPass<func::FuncOp>(std::make_unique<InvalidPass>());
    manager.addPass(createCSEPass());
  })));
  EXPECT_NE(kept().find("test-invalid"), std::string::npos) << kept();
}

TEST_F(PassRunner, FindsInvalidIrAfterAGroupOfPassesToo) {
  auto leaveInvalid = [](PassManager &manager) {
    manager.addNestedPass<func::FuncOp>(std::make_unique<InvalidPass>());
  };
  options.verifyEach = options.verifyGroups = false;
  EXPECT_TRUE(succeeded(run(leaveInvalid))) << "nobody looked";
  module = parseSourceString<ModuleOp>(kText, context.get());
  options.verifyGroups = true;
  EXPECT_TRUE(failed(run(leaveInvalid)));
}

TEST_F(PassRunner, NoFileNoAdvice) {
  EXPECT_EQ(codegen::howToReproduce(""), "");
  EXPECT_EQ(codegen::howToReproduce(options.reproducer), "") << "nothing was written yet";
  options.reproducer = "/no/such/folder/file.mlir";
  EXPECT_TRUE(succeeded(runCse())) << "a file that cannot be written stops no compile";
}

} // namespace
