// `check`: runs every part of the bundle on every device there is, and writes down what came of it.
#include "tools/bundle/Programs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tile::bundle {
namespace {

namespace fs = std::filesystem;

/// Becomes this program with these words, its output in a file.
[[noreturn]] void become(const std::string &log, std::vector<std::string> words) {
  int file = open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
  if (file < 0 || dup2(file, STDOUT_FILENO) < 0 || dup2(file, STDERR_FILENO) < 0)
    _exit(126);
  words.insert(words.begin(), "tilec-bundle");
  std::vector<char *> argv;
  for (std::string &word : words)
    argv.push_back(word.data());
  argv.push_back(nullptr);
  execv("/proc/self/exe", argv.data());
  _exit(127);
}

std::string outcomeOf(int status) {
  if (WIFSIGNALED(status))
    return "signal " + std::to_string(WTERMSIG(status));
  return WEXITSTATUS(status) == 0 ? "ok" : "exit " + std::to_string(WEXITSTATUS(status));
}

/// Steps with their outcomes, of which results.txt keeps a line each.
class Report {
public:
  explicit Report(fs::path folder) : folder_(std::move(folder)) {
    summary_ = std::fopen((folder_ / "results.txt").c_str(), "w");
  }
  ~Report() {
    if (summary_)
      std::fclose(summary_);
  }
  Report(const Report &) = delete;

  bool canWrite() const { return summary_; }
  int failures() const { return failures_; }

  void run(std::string name, std::vector<std::string> words) {
    std::replace(name.begin(), name.end(), '/', '-');
    auto start = std::chrono::steady_clock::now();
    std::fflush(nullptr);
    pid_t child = fork();
    if (child == 0)
      become(folder_ / (name + ".txt"), std::move(words));
    int status = 0;
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    std::string outcome = child > 0 ? outcomeOf(status) : "no process";
    failures_ += outcome != "ok";
    std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    for (FILE *to : {stdout, summary_}) {
      std::fprintf(to, "%-10s %7.1f s  %s\n", outcome.c_str(), seconds.count(), name.c_str());
      std::fflush(to);
    }
  }

private:
  fs::path folder_;
  FILE *summary_ = nullptr;
  int failures_ = 0;
};

} // namespace

int check(const char *folder) {
  std::error_code fault;
  fs::create_directories(folder, fault);
  Report report(folder);
  if (!report.canWrite()) {
    std::fprintf(stderr, "cannot write results into '%s'\n", folder);
    return 2;
  }
  report.run("doctor", {"tilec", "doctor"});
  report.run("build-matmul", {"tilec", "build", "op:matmul"});
  for (const Example &example : examples())
    report.run(std::string("example-") + example.name, {"example", example.name});
  const testing::UnitTest &tests = *testing::UnitTest::GetInstance();
  for (int i = 0; i < tests.total_test_suite_count(); ++i) {
    std::string name = tests.GetTestSuite(i)->name();
    report.run("test-" + name, {"test", "--gtest_filter=" + name + ".*"});
  }
  return report.failures() ? 1 : 0;
}

} // namespace tile::bundle
