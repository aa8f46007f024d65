// Compile time from tile IR to PTX in a warm process: `compile_bench FILE.mlir...` prints the median of 15 compiles, and
// where the time goes.
#include "codegen/Compile.h"
#include "ir/Context.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>

using Clock = std::chrono::steady_clock;

namespace {

struct Measurement {
  double total = 0;
  std::vector<std::pair<std::string, double>> steps;
};

// One compile in a context of its own, parsing not counted.
std::optional<Measurement> compileOnce(const char *file) {
  auto context = tile::ir::makeContext();
  mlir::OwningOpRef<mlir::ModuleOp> module =
      mlir::parseSourceFile<mlir::ModuleOp>(file, context.get());
  if (!module)
    return std::nullopt;
  tile::codegen::CompileOptions options;
  options.timePasses = true;
  std::vector<tile::codegen::Diagnostic> diagnostics;
  Clock::time_point start = Clock::now();
  auto kernel = tile::codegen::compile(*module, options, diagnostics);
  double total = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
  if (mlir::failed(kernel)) {
    for (const auto &diagnostic : diagnostics)
      std::fprintf(stderr, "%s:%d: %s\n", diagnostic.file.c_str(), diagnostic.line,
                   diagnostic.message.c_str());
    return std::nullopt;
  }
  return Measurement{total, kernel->timings};
}

void report(const char *file) {
  constexpr int kRepeats = 15;
  std::vector<Measurement> runs;
  for (int i = 0; i <= kRepeats; ++i) {
    std::optional<Measurement> run = compileOnce(file);
    if (!run)
      return;
    if (i > 0) // the first warms up
      runs.push_back(std::move(*run));
  }
  std::sort(runs.begin(), runs.end(), [](auto &a, auto &b) { return a.total < b.total; });
  const Measurement &median = runs[runs.size() / 2];
  std::printf("%s: median %.1f ms (min %.1f, max %.1f)\n", file, median.total, runs.front().total,
              runs.back().total);
  std::map<std::string, double> byStep;
  for (const auto &[name, ms] : median.steps)
    byStep[name] += ms;
  std::vector<std::pair<double, std::string>> sorted;
  for (const auto &[name, ms] : byStep)
    sorted.emplace_back(ms, name);
  std::sort(sorted.rbegin(), sorted.rend());
  for (const auto &[ms, name] : sorted)
    std::printf("  %7.2f ms  %s\n", ms, name.c_str());
}

} // namespace

int main(int argc, char **argv) {
  for (int i = 1; i < argc; ++i)
    report(argv[i]);
}
