#include "runtime/jit/Isolated.h"

#include "base/AtomicFile.h"
#include "base/Environment.h"
#include "codegen/Reproducer.h"
#include "runtime/jit/WorkerMessages.h"
#include "runtime/jit/WorkerPool.h"
#include "runtime/trace/Span.h"
#include "mlir/IR/BuiltinOps.h"

#include <tile/Compiling.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstring>
#include <filesystem>

#include <unistd.h>

namespace tile {
namespace {

CompileMode modeOfEnvironment() {
  std::string text = base::environmentText("TILE_COMPILE");
  if (text == "isolated")
    return CompileMode::Isolated;
  if (!text.empty() && text != "inproc")
    base::warnOfEnvironment("TILE_COMPILE", text, "is none of inproc and isolated");
  return CompileMode::InProcess;
}

std::atomic<CompileMode> &modeOfProcess() {
  static std::atomic<CompileMode> mode = modeOfEnvironment();
  return mode;
}

} // namespace

void setCompileMode(CompileMode mode) { modeOfProcess() = mode; }

CompileMode compileMode() { return modeOfProcess(); }

namespace jit {
namespace {

using Answer = base::LineProcess::Answer;
using std::chrono::milliseconds;
using std::chrono::seconds;

/// What a message says of an order.
struct Subject {
  const WorkerOrder &order;
  const char *verb; ///< "compiling"
  const std::string &kernel;
  Loc where = {};

  std::string text() const { return std::string(verb) + " kernel '" + kernel + "'"; }
};

seconds timeLimit() {
  return seconds(base::environmentInteger("TILE_COMPILE_SECONDS", 60, 1, 1'000'000));
}

Answer exchange(CompileWorker &worker, const WorkerOrder &order, seconds limit, std::string &line) {
  auto deadline = std::chrono::steady_clock::now() + limit;
  Answer sent = worker.process().send(lineOf(order), limit);
  if (sent != Answer::Line)
    return sent;
  auto left = std::chrono::ceil<milliseconds>(deadline - std::chrono::steady_clock::now());
  return worker.process().receive(line, std::max(left, milliseconds(0)));
}

/// What became of an order in a worker.
struct Outcome {
  Answer result = Answer::Gone;
  std::string line;
  base::ProcessEnd end; ///< of a worker that is gone
  int64_t megabytes = 0;
};

Outcome carriedOut(const WorkerOrder &order, seconds limit) {
  WorkerPool::Loan loan(WorkerPool::ofProcess());
  Outcome outcome;
  outcome.result = exchange(loan.worker(), order, limit, outcome.line);
  outcome.megabytes = loan.worker().megabytes();
  if (outcome.result == Answer::Gone)
    outcome.end = loan.worker().process().end();
  if (outcome.result != Answer::Line)
    loan.drop();
  return outcome;
}

// --- What is left of a compile that ended its worker ---------------------------------------------

/// A new folder for it; empty if there is none to be had, or a program that goes on has left enough of them.
std::filesystem::path newFolder() {
  constexpr int kMostFolders = 10;
  static std::atomic<int> count = 0;
  int number = ++count;
  if (number > kMostFolders)
    return {};
  std::error_code fault;
  std::filesystem::path folder =
      std::filesystem::temp_directory_path(fault) /
      ("tilec-crash-" + std::to_string(getpid()) + "-" + std::to_string(number));
  std::filesystem::create_directories(folder, fault);
  return fault ? std::filesystem::path() : folder;
}

bool write(const std::filesystem::path &file, const std::string &text) {
  try {
    base::writeFile(file.string(), text);
    return true;
  } catch (const Error &) {
    return false;
  }
}

/// The compiler once more, with the IR kept before each step: what is left then is what the step that crashes was given.
std::string howToSeeAgain(CompileOrder order, const std::filesystem::path &folder) {
  order.options.reproducer = (folder / "before-the-crash.mlir").string();
  try {
    carriedOut(order, timeLimit());
  } catch (const Error &) { // without a worker there is none to crash
  }
  return codegen::howToReproduce(order.options.reproducer);
}

/// Notes that say how to see the fault again.
std::vector<std::string> reproduced(const WorkerOrder &order, bool isCrash) {
  std::filesystem::path folder = newFolder();
  if (folder.empty())
    return {};
  if (const auto *assemble = std::get_if<AssembleOrder>(&order)) {
    std::filesystem::path file = folder / "kernel.ptx";
    return write(file, assemble->ptx) ? std::vector<std::string>{"its PTX is in " + file.string()}
                                      : std::vector<std::string>();
  }
  const auto &compile = std::get<CompileOrder>(order);
  std::filesystem::path file = folder / "kernel.mlir";
  if (!write(file, compile.module))
    return {};
  std::vector<std::string> notes = {"a reproducer is in " + folder.string() + ": tilec build " +
                                    file.string() + " --target " + compile.options.target};
  if (std::string how = isCrash ? howToSeeAgain(compile, folder) : ""; !how.empty())
    notes.push_back("the step that fails alone: " + how);
  return notes;
}

// --- Errors --------------------------------------------------------------------------------------

[[noreturn]] void fail(const Subject &subject, ErrorCode code, const std::string &message,
                       std::vector<std::string> notes = {}) {
  notes.push_back("in kernel '" + subject.kernel + "'");
  if (code == ErrorCode::InternalCompilerError)
    notes.push_back("the kernel is not at fault; please report it");
  throw Error(Fault::Compiler, code, message, subject.where, std::move(notes));
}

[[noreturn]] void failLate(const Subject &subject, seconds limit) {
  fail(subject, ErrorCode::Timeout,
       subject.text() + " did not end within " + std::to_string(limit.count()) +
           " s and was stopped: use fewer or smaller unrolled loops and tiles, or set "
           "TILE_COMPILE_SECONDS",
       reproduced(subject.order, /*isCrash=*/false));
}

// The system kills by SIGKILL where memory runs out.
[[noreturn]] void failGone(const Subject &subject, base::ProcessEnd end, int64_t megabytes) {
  if (end.code == kWorkerNoMemory || end.signal == SIGKILL)
    fail(subject, ErrorCode::OutOfMemory,
         subject.text() + " wants more memory than " +
             (end.signal ? std::string("the system has left")
                         : "the " + std::to_string(megabytes) + " MB that it may have") +
             ": use fewer or smaller unrolled loops and tiles, or set TILE_COMPILE_MB",
         reproduced(subject.order, /*isCrash=*/false));
  fail(subject, ErrorCode::InternalCompilerError,
       subject.text() + " ended the process that did it, which was " + end.text(),
       reproduced(subject.order, /*isCrash=*/end.signal != 0));
}

/// Has a worker carry out the order; what is wrong with it is thrown.
WorkerAnswer ask(const Subject &subject) {
  seconds limit = timeLimit();
  Outcome outcome = carriedOut(subject.order, limit);
  // Others may have ended it while it waited for work.
  if (outcome.result == Answer::Gone && outcome.end.signal == SIGKILL)
    outcome = carriedOut(subject.order, limit);
  if (outcome.result == Answer::TooLate)
    failLate(subject, limit);
  if (outcome.result == Answer::Gone)
    failGone(subject, outcome.end, outcome.megabytes);
  std::optional<WorkerAnswer> answer = answerOf(outcome.line);
  if (!answer)
    fail(subject, ErrorCode::InternalCompilerError,
         subject.text() + " in a worker had an answer that is none");
  if (const Error *error = std::get_if<Error>(&*answer))
    throw *error;
  return std::move(*answer);
}

std::string textOf(mlir::ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream out(text);
  module.print(out, mlir::OpPrintingFlags().enableDebugInfo(/*enable=*/true, /*prettyForm=*/false));
  return text;
}

} // namespace

bool isIsolated(const codegen::CompileOptions &options) {
  return compileMode() == CompileMode::Isolated && !options.keepStages && !options.keepReport &&
         !options.timePasses;
}

codegen::CompiledKernel compileIsolated(mlir::ModuleOp module, const std::string &name, Loc where,
                                        const codegen::CompileOptions &options) {
  trace::Span span("compile", name);
  if (span)
    span.note("in", "a worker");
  const WorkerOrder order = CompileOrder{name, where.file, where.line, textOf(module), options};
  WorkerAnswer answer = ask({order, "compiling", name, where});
  if (auto *kernel = std::get_if<codegen::CompiledKernel>(&answer))
    return std::move(*kernel);
  fail({order, "compiling", name, where}, ErrorCode::InternalCompilerError,
       "a compile worker answered something else");
}

std::vector<std::byte> assembleIsolated(std::string_view ptx, const std::string &target, int arch,
                                        const std::string &kernel) {
  const WorkerOrder order = AssembleOrder{std::string(ptx), target, arch};
  WorkerAnswer answer = ask({order, "assembling", kernel});
  if (auto *cubin = std::get_if<std::vector<std::byte>>(&answer))
    return std::move(*cubin);
  fail({order, "assembling", kernel}, ErrorCode::InternalCompilerError,
       "a compile worker answered something else");
}

} // namespace jit
} // namespace tile
