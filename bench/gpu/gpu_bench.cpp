// Times ops on a GPU beside those of libraries, shape by shape: bench/gpu/__main__.py says how, docs/performance.md how
// to use it.
//
//   gpu_bench [OPTION...]             runs the driver, in python3; --help lists its options
//   gpu_bench scripts DIR             writes the driver's sources into DIR, to be changed: python3 DIR --program gpu_bench
//   gpu_bench serve [--device NAME]   the driver's other half (Server.h)
//
// In the bundle it is `tilec-bundle gpu-bench ...`.
#include "bench/gpu/Driver.h"
#include "bench/gpu/Server.h"

#include <tile/Error.h>

#include <CLI/CLI.hpp>

#include <csignal>
#include <iostream>
#include <string>
#include <vector>

namespace tile::bench {
namespace {

int serveWith(int argc, char **argv) {
  CLI::App app("Makes tensors, runs and times ops for the driver: a request in JSON a line of "
               "standard input, an "
               "answer a line of standard output. bench/gpu/Server.h lists the requests.",
               "gpu-bench serve");
  std::string device;
  app.add_option(
      "--device", device,
      "cuda, cuda:N, virtual, virtual:sm_90a; default: TILE_DEVICE, else a GPU if there is one");
  CLI11_PARSE(app, argc, argv);
  std::signal(SIGINT,
              SIG_IGN); // of a terminal's group the driver ends, and then so do the requests
  serve(device, std::cin, std::cout);
  return 0;
}

int run(int argc, char **argv) {
  std::string command = argc > 1 ? argv[1] : "";
  if (command == "serve")
    return serveWith(argc - 1, argv + 1);
  if (command == "scripts" && argc == 3) {
    writeScripts(argv[2]);
    return 0;
  }
  return runDriver(std::vector<std::string>(argv + 1, argv + argc));
}

} // namespace
} // namespace tile::bench

int main(int argc, char **argv) try {
  return tile::bench::run(argc, argv);
} catch (const tile::Error &error) {
  std::cerr << error.what() << "\n";
  return 2;
}
