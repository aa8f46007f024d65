// fuzz_addresses: kernels that try to reach memory of the host, once each.
//
//   fuzz_addresses --first 0 --count 1000000
#include "tests/fuzz/addresses/HostileKernel.h"
#include "tests/fuzz/addresses/HostileMachine.h"

#include <CLI/CLI.hpp>

#include <cstdio>

int main(int argc, char **argv) {
  CLI::App app("runs kernels whose addresses and sizes go wrong");
  uint64_t first = 0, count = 10000;
  bool shows = false, tells = false;
  app.add_option("--first", first, "the first seed");
  app.add_option("--count", count, "how many seeds");
  app.add_flag("--show", shows, "print each kernel");
  app.add_flag("--tell", tells, "print each seed before it runs");
  CLI11_PARSE(app, argc, argv);

  tile::fuzz::HostileMachine machine;
  for (uint64_t seed = first; seed < first + count; ++seed) {
    if (shows)
      std::fputs(tile::fuzz::hostileKernel(seed, 0).ptx.c_str(), stderr);
    if (tells)
      std::fprintf(stderr, "%llu\n", static_cast<unsigned long long>(seed));
    machine.run(seed);
  }
  for (const auto &[what, times] : machine.firstFindings)
    std::fprintf(stderr, "%8llu %s\n", static_cast<unsigned long long>(times), what.c_str());
  for (const auto &[words, seed] : machine.refused)
    std::fprintf(stderr, "refused, first at seed %llu: %s\n", static_cast<unsigned long long>(seed),
                 words.c_str());
  for (const auto &[seed, words] : machine.faults)
    std::fprintf(stderr, "FAULT at seed %llu: %s\n", static_cast<unsigned long long>(seed),
                 words.c_str());
  std::fprintf(stderr, "%llu clean, %llu with findings, %llu refused, %zu faults\n",
               static_cast<unsigned long long>(machine.clean),
               static_cast<unsigned long long>(machine.withFindings),
               static_cast<unsigned long long>(machine.refusals), machine.faults.size());
  return machine.faults.empty() ? 0 : 1;
}
