#include "runtime/jit/WorkerPool.h"

#include "base/Environment.h"
#include "base/Fork.h"
#include "base/LibraryFolder.h"
#include "runtime/jit/WorkerMessages.h"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <sstream>
#include <thread>

#include <unistd.h>

namespace tile::jit {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

constexpr milliseconds kMostToGreet = std::chrono::seconds(60);

/// Where the program may be, the most likely place first.
std::vector<std::string> candidates() {
  if (std::string named = base::environmentText("TILE_COMPILE_WORKER"); !named.empty())
    return {named};
  std::vector<std::string> paths;
  if (fs::path own = base::libraryFolder(); !own.empty())
    for (const char *way : {"tilec", "../bin/tilec", "../../bin/tilec"})
      paths.push_back((own / way).lexically_normal().string());
  std::istringstream folders(base::environmentText("PATH"));
  for (std::string folder; std::getline(folders, folder, ':');)
    if (folder.starts_with("/"))
      paths.push_back(folder + "/tilec");
  return paths;
}

std::string workerProgram() {
  std::string looked;
  for (const std::string &path : candidates()) {
    std::error_code fault;
    if (fs::is_regular_file(path, fault) && access(path.c_str(), X_OK) == 0)
      return path;
    looked += (looked.empty() ? "" : ", ") + path;
  }
  throw Error(
      Fault::User, ErrorCode::ToolMissing,
      "kernels are to be compiled in another process (TILE_COMPILE=isolated), whose program "
      "is none of " +
          looked + ": set TILE_COMPILE_WORKER to the path of tilec");
}

base::LineProgram programFor(int64_t megabytes) {
  return {workerProgram(),
          {"compile-worker", "--megabytes", std::to_string(megabytes)},
          {"TILE_COMPILE", "TILE_TRACE", "NVTX_INJECTION64_PATH"}};
}

/// What a worker's switches are read from, as one text.
std::string environmentNow() {
  std::string text;
  for (char **variable = environ; *variable; ++variable)
    (text += *variable) += '\n';
  return text;
}

int64_t megabytesOfEnvironment() {
  constexpr int64_t kUsual = 16384, kMost = int64_t(1) << 30;
  return base::environmentInteger("TILE_COMPILE_MB", kUsual, 1, kMost);
}

} // namespace

CompileWorker::CompileWorker()
    : environment_(environmentNow()), megabytes_(megabytesOfEnvironment()),
      process_(programFor(megabytes_)) {
  std::string greeting;
  base::LineProcess::Answer answer = process_.receive(greeting, kMostToGreet);
  if (answer == base::LineProcess::Answer::Line && greeting == workerGreeting())
    return;
  bool isGone = answer == base::LineProcess::Answer::Gone;
  base::ProcessEnd end = isGone ? process_.end() : base::ProcessEnd();
  if (end.code == kWorkerNoMemory)
    throw Error(Fault::Compiler, ErrorCode::OutOfMemory,
                "a process that compiles kernels cannot start with " + std::to_string(megabytes_) +
                    " MB: set TILE_COMPILE_MB to more");
  throw Error(Fault::User, ErrorCode::ToolFailed,
              "'" + workerProgram() +
                  "' is no program that compiles kernels for this build of tilec" +
                  (isGone ? " (it was " + end.text() + ")" : "") +
                  ": set TILE_COMPILE_WORKER to the tilec that belongs to it");
}

bool CompileWorker::isUsable() {
  std::string unasked;
  return environment_ == environmentNow() &&
         process_.receive(unasked, milliseconds(0)) == base::LineProcess::Answer::TooLate;
}

// Never destroyed: threads may compile until the very end of the process. Workers end when it does.
WorkerPool &WorkerPool::ofProcess() {
  struct Owned {
    WorkerPool pool;
    base::MadeInProcess process;
  };
  static std::atomic<Owned *> current = nullptr;
  Owned *known = current;
  if (known && !known->process.isOfParent())
    return known->pool;
  auto made = std::make_unique<Owned>();
  if (current.compare_exchange_strong(known, made.get()))
    return made.release()->pool;
  return known->pool;
}

uint64_t WorkerPool::startCount() const {
  std::lock_guard lock(mutex_);
  return starts_;
}

std::unique_ptr<CompileWorker> WorkerPool::take() {
  const unsigned most = std::max(1u, std::thread::hardware_concurrency());
  std::unique_ptr<CompileWorker> worker;
  {
    std::unique_lock lock(mutex_);
    free_.wait(lock, [&] { return busy_ < most; });
    ++busy_;
    worker = std::move(idle_);
  }
  if (worker && worker->isUsable())
    return worker;
  try {
    worker = std::make_unique<CompileWorker>();
  } catch (...) {
    giveBack(nullptr);
    throw;
  }
  std::lock_guard lock(mutex_);
  ++starts_;
  return worker;
}

void WorkerPool::giveBack(std::unique_ptr<CompileWorker> worker) {
  std::lock_guard lock(mutex_);
  --busy_;
  if (worker)
    std::swap(idle_, worker);
  free_.notify_one();
}

WorkerPool::Loan::Loan(WorkerPool &pool) : pool_(pool), worker_(pool.take()) {}

WorkerPool::Loan::~Loan() { pool_.giveBack(std::move(worker_)); }

} // namespace tile::jit
