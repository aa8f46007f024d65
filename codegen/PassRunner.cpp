#include "codegen/PassRunner.h"

#include "codegen/Reproducer.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "mlir/Pass/PassManager.h"

#include <chrono>
#include <csignal>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

using namespace mlir;

namespace tile::codegen {

namespace {

using Clock = std::chrono::steady_clock;

/// Times passes. Adaptors, which run the passes of a nested operation, have no argument.
class PassTimer : public PassInstrumentation {
public:
  explicit PassTimer(Timings &timings) : timings_(timings) {}
  void runBeforePass(Pass *, Operation *) final { starts_.push_back(Clock::now()); }
  void runAfterPass(Pass *pass, Operation *) final {
    std::chrono::duration<double, std::milli> time = Clock::now() - starts_.pop_back_val();
    if (!pass->getArgument().empty())
      timings_.emplace_back(pass->getArgument().str(), time.count());
  }

private:
  Timings &timings_;
  SmallVector<Clock::time_point> starts_; // passes may run passes
};

/// Writes what each pass is given before it runs.
class PassKeeper : public PassInstrumentation {
public:
  PassKeeper(const CompileOptions &options) : options_(options) {}
  void runBeforePass(Pass *pass, Operation *op) final {
    if (!pass->getArgument().empty())
      writeReproducer(options_, op, pass);
  }

private:
  const CompileOptions &options_;
};

#ifndef NDEBUG
/// Builds with asserts break one pass on demand: TILE_FAULT=pass:crash@NAME dies in it, pass:invalid@NAME makes it leave IR that
/// does not verify, pass:hang@NAME never ends, pass:memory@NAME takes all memory there is.
struct InjectedFault {
  StringRef fault, pass;

  InjectedFault() {
    StringRef text = std::getenv("TILE_FAULT") ? std::getenv("TILE_FAULT") : "";
    if (text.consume_front("pass:"))
      std::tie(fault, pass) = text.split('@');
  }
  bool isActive() const { return !pass.empty(); }

  void afterPass(const Pass &ran, Operation *op) const {
    if (!isActive() || ran.getArgument() != pass) // adaptors have no name
      return;
    if (fault == "crash")
      std::raise(SIGSEGV);
    while (fault == "hang")
      std::this_thread::sleep_for(std::chrono::seconds(1));
    for (std::vector<std::string> taken; fault == "memory";)
      taken.emplace_back(size_t{64} << 20, ' ');
    if (fault == "invalid")
      op->walk([](func::FuncOp function) { function.getBody().back().getTerminator()->erase(); });
  }
};
#else
struct InjectedFault {
  bool isActive() const { return false; }
  void afterPass(const Pass &, Operation *) const {}
};
#endif

} // namespace

PassRunner::PassRunner(ModuleOp module, const CompileOptions &options, Timings &timings)
    : module_(module), options_(options), timings_(timings), passSwitches_(options.passes) {
  InjectedFault fault;
  if (!passSwitches_.isActive() && !fault.isActive())
    return;
  // MLIR asks the context's handler before each pass; a pass whose action is not called is left out.
  module.getContext()->registerActionHandler(
      [this, fault](function_ref<void()> run, const tracing::Action &action) {
        const auto *execution = llvm::dyn_cast<PassExecutionAction>(&action);
        if (!execution)
          return run();
        if (passSwitches_.shouldRun(execution->getPass().getArgument()))
          run();
        fault.afterPass(execution->getPass(), execution->getOp());
      });
}

PassRunner::~PassRunner() { module_.getContext()->registerActionHandler(nullptr); }

LogicalResult PassRunner::run(function_ref<void(PassManager &)> build) {
  PassManager manager(module_.getContext());
  manager.enableVerifier(options_.verifyEach);
  if (options_.timePasses)
    manager.addInstrumentation(std::make_unique<PassTimer>(timings_));
  if (!options_.reproducer.empty())
    manager.addInstrumentation(std::make_unique<PassKeeper>(options_));
  build(manager);
  if (failed(manager.run(module_)))
    return failure();
  bool isVerified = options_.verifyEach || !options_.verifyGroups;
  return success(isVerified || succeeded(verify(module_)));
}

void PassRunner::keepBeforePtx() {
  if (!options_.reproducer.empty())
    writeReproducer(options_, module_, nullptr);
}

} // namespace tile::codegen
