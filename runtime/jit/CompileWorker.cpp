#include "runtime/jit/CompileWorker.h"

#include "base/AddressSpace.h"
#include "base/LineWorker.h"
#include "runtime/jit/Compile.h"
#include "runtime/jit/WorkerMessages.h"
#include "runtime/toolchain/Assemble.h"

#include <tile/Compiling.h>

#include "llvm/Support/ErrorHandling.h"

#include <iostream>
#include <new>
#include <string>

#include <unistd.h>

namespace tile::jit {
namespace {

// LLVM is built without exceptions: nothing is to be thrown through it.
void endWithoutMemory() { _exit(kWorkerNoMemory); }

void limitMemory(int64_t megabytes) {
  base::boundAddressSpace(static_cast<rlim_t>(megabytes) << 20);
  std::set_new_handler(endWithoutMemory);
  llvm::install_bad_alloc_error_handler([](void *, const char *, bool) { endWithoutMemory(); });
}

WorkerAnswer carriedOut(const CompileOrder &order) {
  return compileText(order.module, order.name, order.options, {order.file.c_str(), order.line});
}

WorkerAnswer carriedOut(const AssembleOrder &order) {
  return assembleForDevice(order.ptx, order.target, order.arch);
}

WorkerAnswer answerTo(const std::string &line) {
  std::optional<WorkerOrder> order = orderOf(line);
  if (!order)
    return Error(Fault::Compiler, ErrorCode::InternalCompilerError,
                 "a compile worker was given a line that is no order");
  try {
    return std::visit([](const auto &one) { return carriedOut(one); }, *order);
  } catch (const Error &error) {
    return error;
  }
}

} // namespace

int runCompileWorker(int64_t megabytes) {
  base::LineWorker parent;
  setCompileMode(CompileMode::InProcess);
  limitMemory(megabytes);
  parent.answer(workerGreeting());
  for (std::string line; std::getline(std::cin, line);)
    parent.answer(lineOf(answerTo(line)));
  return 0;
}

} // namespace tile::jit
