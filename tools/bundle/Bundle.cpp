// tilec-bundle: tilec, the examples and the tests that run kernels in one program, for a machine that has a GPU and its
// driver and nothing else.
//
//   tilec-bundle tilec build op:matmul       the command (also if this program is called tilec)
//   tilec-bundle digits --epochs 8           training; `text` too. Data is found where the tree is the current folder
//   tilec-bundle example 03_matmul           one example; without a name, all of them
//   tilec-bundle test --gtest_filter=Dot*    execution, conformance and ops tests, on every device there is
//   tilec-bundle probes --record FILE        what small kernels write (docs/virtual-gpu-hardware.md), with TILE_DEVICE=cuda
//                                            on the GPU; without words it compares with tests/hardware in the current folder
//   tilec-bundle gpu-bench --out FILE        ops beside PyTorch and Triton by shape (docs/performance.md)
//   tilec-bundle check DIR                   all of it, with the results in DIR; exit code 1 if anything failed
#include "tools/bundle/Programs.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>

// The table of programs, each entry's main() under a name of its own.
#define PROGRAM(name, function) int function(int argc, char **argv);
#define EXAMPLE(name, function) int function();
#include "bundle/programs.inc"
#undef PROGRAM
#undef EXAMPLE

namespace tile::bundle {

std::span<const Example> examples() {
#define PROGRAM(name, function)
#define EXAMPLE(name, function) {name, function},
  static const Example all[] = {
#include "bundle/programs.inc"
  };
#undef PROGRAM
#undef EXAMPLE
  return all;
}

namespace {

/// The program of that name, or null.
int (*programOf(const std::string &wanted))(int, char **) {
#define PROGRAM(name, function)                                                                    \
  if (wanted == name)                                                                              \
    return function;
#define EXAMPLE(name, function)
#include "bundle/programs.inc"
#undef PROGRAM
#undef EXAMPLE
  return nullptr;
}

int runExamples(const char *name) {
  int known = 0, failures = 0;
  for (const Example &example : examples()) {
    if (name && std::strcmp(name, example.name) != 0)
      continue;
    ++known;
    failures += example.run() != 0;
  }
  if (known)
    return failures ? 1 : 0;
  std::fprintf(stderr, "there is no example '%s'; there are:", name);
  for (const Example &example : examples())
    std::fprintf(stderr, " %s", example.name);
  std::fprintf(stderr, "\n");
  return 2;
}

int runTests(int argc, char **argv) {
  setenv("TILE_VGPU_CHECK", "all", /*overwrite=*/0);
  // Tests of launches that fail start the program again, by these words.
  static char self[] = "/proc/self/exe";
  argv[0] = self;
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}

int usage() {
  std::fprintf(stderr,
               "tilec-bundle tilec ... | digits ... | text ... | example [NAME] | test "
               "[GTEST ARGUMENTS] | probes [--record FILE] | gpu-bench [OPTION...] | check DIR\n");
  return 2;
}

int run(int argc, char **argv) {
  if (auto program = programOf(std::filesystem::path(argv[0]).filename()))
    return program(argc, argv);
  std::string command = argc > 1 ? argv[1] : "";
  if (auto program = programOf(command))
    return program(argc - 1, argv + 1);
  if (command == "example")
    return runExamples(argc > 2 ? argv[2] : nullptr);
  if (command == "test")
    return runTests(argc, argv);
  if (command == "check" && argc == 3) {
    int words = 1;
    testing::InitGoogleTest(&words, argv); // enumerates the tests of each device
    return check(argv[2]);
  }
  return usage();
}

} // namespace
} // namespace tile::bundle

int main(int argc, char **argv) { return tile::bundle::run(argc, argv); }
