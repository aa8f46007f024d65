// fuzz_programs: compares random programs with the host, and shrinks those that differ.
//
//   fuzz_programs --first 1000 --count 500 --warps 1,4
//   fuzz_programs --first 1000 --count 500 --switch-passes
#include "tests/fuzz/Run.h"

#include <CLI/CLI.hpp>

#include <cstdio>

using namespace tile;
using namespace tile::fuzz;

int main(int argc, char **argv) {
  CLI::App app("compares random programs with the host");
  uint64_t first = 0, count = 100;
  std::vector<int> warps = {4};
  std::string deviceName = "virtual";
  bool shows = false, shrinks = true, switches = false;
  app.add_option("--first", first, "the first seed");
  app.add_option("--count", count, "how many seeds");
  app.add_option("--warps", warps, "warps a program")->delimiter(',');
  app.add_option("--device", deviceName, "as TILE_DEVICE");
  app.add_flag("--show", shows, "print each program");
  app.add_flag(
      "--switch-passes", switches,
      "leave out other optional passes for each seed, instead of those of TILE_DISABLE_PASSES");
  app.add_flag("!--no-shrink", shrinks, "print failing programs as they are");
  CLI11_PARSE(app, argc, argv);

  Device device = Device::open(deviceName);
  uint64_t tally[3] = {};
  std::map<std::string, std::vector<uint64_t>> refusals; // seeds by words
  for (uint64_t seed = first; seed < first + count; ++seed) {
    Program program = generate(seed);
    if (shows)
      std::fputs(program.str().c_str(), stdout);
    passes::PassSelection selection = somePassesLeftOut(seed);
    auto run = [&](const Program &candidate, int w) {
      return switches ? runOn(device, candidate, w, selection) : runOn(device, candidate, w);
    };
    for (int w : warps) {
      Outcome outcome = run(program, w);
      ++tally[int(outcome.verdict)];
      if (outcome.verdict == Verdict::Refused)
        refusals[outcome.words.substr(0, outcome.words.find('\n'))].push_back(seed);
      if (outcome.verdict != Verdict::Wrong)
        continue;
      Program smallest = program;
      if (shrinks)
        smallest = shrink(program, [&](const Program &candidate) {
          return run(candidate, w).verdict == Verdict::Wrong;
        });
      std::printf("WRONG with %d warps: %s\nshrunk: %s\n%s\n", w, outcome.words.c_str(),
                  run(smallest, w).words.c_str(), smallest.str().c_str());
      for (const std::string &pass : switches ? selection.disabled : std::vector<std::string>())
        std::printf("without %s\n", pass.c_str());
      std::fflush(stdout);
    }
  }
  for (auto &[words, seeds] : refusals)
    std::printf("refused %zu times, first seed %llu: %s\n", seeds.size(),
                (unsigned long long)seeds.front(), words.c_str());
  std::printf("seeds %llu to %llu: %llu equal, %llu refused, %llu wrong\n",
              (unsigned long long)first, (unsigned long long)(first + count - 1),
              (unsigned long long)tally[0], (unsigned long long)tally[1],
              (unsigned long long)tally[2]);
  return tally[2] ? 1 : 0;
}
