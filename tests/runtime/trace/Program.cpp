// What trace_test.py watches: launches of threads, and ends of all kinds.
#include <tile/tile.h>

#include <csignal>
#include <cstdio>
#include <string>
#include <thread>

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace tile;

namespace {

const auto scale = kernel("scale", [](In<f32, 1> x, Out<f32, 1> y, Scalar<f32> s, Const B) {
  Value i = grid1d(y, {B});
  y.tile({B})(i) = x.tile({B})(i) * s;
});

void work(const Device &device, int launches) {
  Stream stream = device.stream();
  auto x = device.tensor<float>({100}, std::vector<float>(100, 1)), y = device.tensor<float>({100});
  for (int i = 0; i < launches; ++i)
    scale.consts(64)(stream, x, y, 2);
  stream.synchronize();
  if (y.download(stream)[99] != 2)
    std::exit(3);
}

void inThreads(const Device &device, int launches) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&, i] {
      if (i < 2) // others have no name
        pthread_setname_np(pthread_self(), i == 0 ? "worker" : "odd \"\\\n\xff");
      work(device, launches);
    });
  for (std::thread &thread : threads)
    thread.join();
}

void failing(const Device &device) {
  auto x = device.tensor<float>({100}), y = device.tensor<float>({100});
  try { // no target has the shared memory for this
    kernel("too_large", [](In<f32, 1> x, Out<f32, 1> y) {
      Value i = grid1d(y, {1 << 20});
      y.tile({1 << 20})(i) = sort(x.tile({1 << 20})(i));
    })(device.stream(), x, y);
  } catch (const Error &) {
    return;
  }
  std::exit(4);
}

} // namespace

int main(int, char **words) {
  std::string how = words[1];
  Device device = Device::open("virtual");
  work(device, 1);
  if (how == "threads")
    inThreads(device, 50);
  if (how == "killed")
    raise(SIGKILL);
  if (how == "quick")
    _exit(0);
  if (how == "failing")
    failing(device);
  if (how == "fork") {
    if (pid_t child = fork()) {
      int status = 1;
      waitpid(child, &status, 0);
      work(device, 1);
      return status;
    }
    Device::open("virtual:sm_90a"); // is not in the trace
    _exit(0);
  }
}
