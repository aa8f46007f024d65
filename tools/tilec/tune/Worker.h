// Settings tried in a process of their own, which may die, hang or lose its device: then another takes its place, and what it was
// trying is not tried again. Further processes compile what is due next, so that the one that measures finds it in the kernel cache.
#pragma once

#include "base/LineProcess.h"
#include "runtime/tune/Trier.h"
#include "tools/tilec/tune/Problems.h"

#include <atomic>
#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace tile::tilec {

using base::LineProcess;

/// How a worker is told what to work on.
struct WorkerInput {
  std::vector<std::string> words; ///< the input and settings
  std::string kernel, device;
  double mostSeconds = 0; ///< that an attempt may take; 0: by what others took
};

class WorkerTrier : public tune::Trier {
public:
  /// `compilers`: how many processes compile beside the one that measures.
  WorkerTrier(WorkerInput input, const TuneProblem &problem, int compilers,
              std::atomic<bool> &giveUp);

  std::string versionOf(const tune::TunedCall &call) override;
  tune::Trial attempt(const Config &config) override;
  void expect(const std::vector<Config> &configs) override;
  void compare(std::vector<tune::Trial *> finalists) override;

private:
  struct Compiler {
    std::unique_ptr<LineProcess> process;
    std::string compiling; ///< empty: it waits for work
  };
  std::unique_ptr<LineProcess> start(bool onlyCompiles) const;
  LineProcess &worker();
  LineProcess::Answer exchange(const std::string &request, std::string &answer);
  bool ask(const std::string &request, std::string &answer, tune::Trial &trial);
  std::chrono::milliseconds limit() const;

  WorkerInput input_;
  std::string line_;
  std::atomic<bool> &giveUp_;
  std::unique_ptr<LineProcess> worker_;
  std::vector<Compiler> compilers_;
  std::vector<std::string> compiled_; ///< or being compiled
  int deaths_ = 0;
  bool withoutOwn_ = false; ///< the kernel's own settings, the reference, end a process
  bool hasAnswered_ = false;
  double slowest_ = 0; ///< seconds of an attempt so far
};

/// The command that such a process runs; it is not for users, and not in the help.
void addTuneWorker(CLI::App &app, std::function<int()> &chosen);

} // namespace tile::tilec
