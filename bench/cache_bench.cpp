// What the kernel cache saves: `cache_bench` prints, for some ops on the virtual GPU for sm_90a, the milliseconds of a key, of a hit, of
// the first call with a compile and with a hit, and of a whole process up to its first launch, without kernels in the folder and with.
#include "frontend/trace/Kernel.h"
#include "runtime/jit/Compile.h"
#include "runtime/jit/Jit.h"
#include "runtime/jit/KernelCache.h"

#include <tile/Ops.h>
#include <tile/ops/Softmax.h>
#include <tile/tile.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>

#include <sys/wait.h>
#include <unistd.h>

using namespace tile;

namespace {

constexpr const char *kTarget = "sm_90a";

double millisecondsOf(const std::function<void()> &act) {
  auto start = std::chrono::steady_clock::now();
  act();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

double median(int repeats, const std::function<void()> &act) {
  std::vector<double> times;
  for (int i = 0; i < repeats; ++i)
    times.push_back(millisecondsOf(act));
  std::ranges::sort(times);
  return times[times.size() / 2];
}

KernelRequest requestOf(const char *op) {
  OpSettings settings(std::map<std::string, std::string>{});
  settings.setTarget(kTarget);
  return findOp(op)->kernel(settings);
}

void measure(const char *op, const std::string &folder) {
  jit::KernelCache cache(cache::FolderOptions{folder});
  KernelRequest request = requestOf(op);
  auto firstCall = [&] {
    jit::Jit jit(device::openVirtual({.target = kTarget}), cache);
    jit::Call call(request);
    jit.get(call);
  };
  double compiled = millisecondsOf(firstCall), found = median(11, firstCall);
  jit::KernelOrigin origin = {op, {}, 0, ""};
  origin.options.target = kTarget;
  jit::Call call(request);
  auto traced = jit::traceCall(call, jit::knownTarget(kTarget));
  traced = jit::traceFor(call, call.facts(traced->uses.tiles), traced, jit::knownTarget(kTarget));
  std::string key;
  double keyed = median(101, [&] { key = cache.keyOf(*traced->module, origin); });
  bool isHit = true;
  double hit = median(101, [&] { isHit &= cache.find(key).has_value(); });
  std::printf("%-20s key %6.3f, hit %6.3f, first call with a compile %7.2f, with a hit %6.2f%s\n",
              op, keyed, hit, compiled, found, isHit ? "" : " (no hit)");
}

// A process that launches one kernel, as soon as it can.
int firstLaunch() {
  Device device = Device::open(std::string("virtual:") + kTarget);
  Stream stream = device.stream();
  Tensor x = device.tensor<float>({64, 1024}, std::vector<float>(size_t(64) * 1024)),
         y = ops::softmax(stream, x);
  stream.synchronize();
  return 0;
}

double processTime(const char *program) {
  return millisecondsOf([&] {
    pid_t child = ::fork();
    if (child == 0) {
      ::execl("/proc/self/exe", program, "first", nullptr);
      ::_exit(1);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    if (status != 0)
      std::exit(1);
  });
}

} // namespace

int main(int argc, char **argv) {
  if (argc > 1)
    return firstLaunch();
  std::string pattern = (std::filesystem::temp_directory_path() / "cache-bench-XXXXXX").string();
  if (!::mkdtemp(pattern.data()))
    return 1;
  for (const char *op : {"add", "softmax", "matmul", "attention"})
    measure(op, pattern + "/kernels");
  ::setenv("TILE_CACHE_DIR", (pattern + "/process").c_str(), 1);
  double cold = processTime(argv[0]), warm = 1e9;
  for (int i = 0; i < 5; ++i)
    warm = std::min(warm, processTime(argv[0]));
  std::printf("a process with one launch of softmax: with a compile %.1f, with a hit %.1f\n", cold,
              warm);
  std::filesystem::remove_all(pattern);
  return 0;
}
