// A table of ops: the least bytes that a call has to move, those that its warps ask for, and the distinct ones of each
// launch; how well it uses memory, and its cost to the host. Counts are those of the virtual GPU; times are of calls on the fake driver of the tests, which runs nothing.
//
//   ops_bench            all ops
//   ops_bench norm       those whose name contains "norm"
#include "bench/ops/HostTime.h"
#include "bench/ops/Traffic.h"

#include <tile/Error.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>

using namespace tile;
using namespace tile::bench;

static void print(const Case &each) {
  Traffic traffic = trafficOf(each);
  HostTime time = hostTimeOf(each);
  std::printf(
      "| %s | %s | %.1f | %s | %.3f | %.3f | %.1f | %.1f | %.1f | %d | %.2f | %.2f | %.2f |\n",
      each.op.c_str(), each.tensors.c_str(), 1e-3 * static_cast<double>(traffic.leastBytes),
      traffic.flops > 0 ? std::to_string(std::llround(1e-6 * traffic.flops)).c_str() : "-",
      traffic.askedOverLeast, traffic.distinctOverLeast, 100 * traffic.loadEfficiency,
      100 * traffic.storeEfficiency, 100 * traffic.bankConflicts,
      static_cast<int>(traffic.launches), time.call, time.launches, time.overhead());
  std::fflush(stdout);
}

int main(int argc, char **argv) try {
  setenv("TILE_LIBCUDA", FAKE_DRIVER, 1);
  std::string filter = argc > 1 ? argv[1] : "";
  std::printf("| op | tensor | least KB | Mflop | asked / least | distinct / least | %% used of "
              "sectors loaded | stored "
              "| %% bank conflicts | launches | us a call | bare launches | overhead |\n"
              "|---|---|---|---|---|---|---|---|---|---|---|---|---|\n");
  for (const Case &each : cases())
    if (each.op.find(filter) != std::string::npos)
      print(each);
} catch (const Error &error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
