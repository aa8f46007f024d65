// How long the virtual GPU takes to parse PTX and to decode its first kernel: the best of several, for each file named.
//
//   vgpu_load_bench FILE.ptx ...
#include "runtime/vgpu/VgpuDevice.h"

#include <tile/Error.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <sstream>

using namespace tile;

namespace {

template <class Run> double bestMilliseconds(Run run) {
  double best = 1e9;
  for (int i = 0; i < 10; ++i) {
    auto start = std::chrono::steady_clock::now();
    run();
    std::chrono::duration<double, std::milli> taken = std::chrono::steady_clock::now() - start;
    best = std::min(best, taken.count());
  }
  return best;
}

// The word after the first `.entry`; empty if there is none.
std::string entryIn(const std::string &ptx) {
  size_t found = ptx.find(".entry");
  if (found == ptx.npos)
    return "";
  size_t begin = ptx.find_first_not_of(" \t\n", found + 6);
  return begin == ptx.npos ? "" : ptx.substr(begin, ptx.find_first_of(" \t\n({", begin) - begin);
}

void timeFile(const char *path) {
  std::ifstream file(path);
  std::stringstream stream;
  stream << file.rdbuf();
  std::string text = stream.str(), entry = entryIn(text);
  device::VirtualOptions options;
  options.target = "sm_90a";
  auto device = device::openVirtual(options);
  double parse =
      bestMilliseconds([&] { device->unloadModule(device->loadModule(text, {}, path)); });
  double both = bestMilliseconds([&] {
    auto module = device->loadModule(text, {}, path);
    device->functionInfo(device->getFunction(module, entry));
    device->unloadModule(module);
  });
  std::printf("%s: %td lines, parse %.2f ms, decode %.2f ms\n", path,
              std::count(text.begin(), text.end(), '\n'), parse, both - parse);
}

} // namespace

int main(int count, char **arguments) {
  int faults = 0;
  for (int i = 1; i < count; ++i)
    try {
      timeFile(arguments[i]);
    } catch (const Error &error) {
      std::fprintf(stderr, "%s\n", error.what());
      ++faults;
    }
  return faults != 0;
}
