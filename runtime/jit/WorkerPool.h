// The compile workers of this process: one is kept for the next compile, as many as there are cores work at once.
#pragma once

#include "base/LineProcess.h"

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>

namespace tile::jit {

/// A process of `tilec compile-worker` that has said that it is of our build.
class CompileWorker {
public:
  /// Errors: ToolMissing, naming where the program was looked for; ToolFailed if it is another program or of another build;
  /// OutOfMemory if it cannot even start with its memory; IoError.
  CompileWorker();

  base::LineProcess &process() { return process_; }
  /// Of addresses that it may have: TILE_COMPILE_MB.
  int64_t megabytes() const { return megabytes_; }
  /// False if it has ended, by itself or by others' doing, or the environment is another one by now.
  bool isUsable();

private:
  std::string environment_; ///< that it was given
  int64_t megabytes_;
  base::LineProcess process_;
};

class WorkerPool {
public:
  /// Of a process that was forked it is another one.
  static WorkerPool &ofProcess();

  /// A worker for one compile. Waits where all are at work.
  class Loan {
  public:
    explicit Loan(WorkerPool &pool);
    ~Loan();
    Loan(const Loan &) = delete;
    Loan &operator=(const Loan &) = delete;

    CompileWorker &worker() { return *worker_; }
    /// The worker is of no use any more: it is ended, and nobody gets it.
    void drop() { worker_ = nullptr; }

  private:
    WorkerPool &pool_;
    std::unique_ptr<CompileWorker> worker_;
  };

  /// How many were started so far.
  uint64_t startCount() const;

private:
  std::unique_ptr<CompileWorker> take();
  void giveBack(std::unique_ptr<CompileWorker> worker);

  mutable std::mutex mutex_; ///< guards what follows
  std::condition_variable free_;
  std::unique_ptr<CompileWorker> idle_;
  unsigned busy_ = 0;
  uint64_t starts_ = 0;
};

} // namespace tile::jit
