// Loads, stores and atomics.
#include "tests/options/OptionTable.h"

namespace tile::test {
namespace {

constexpr int kCount = 256;

/// y = x, with options for the load and the store of a tile each, by views or by pointers.
bool isCopied(const Device &device, AccessOptions load, AccessOptions store, bool byPointers) {
  auto copy = kernel_capturing("", "copy", [load, store, byPointers](In<f32, 1> x, Out<f32, 1> y) {
    if (byPointers) {
      Value at = arange(0, kCount);
      tile::store(y.ptr() + at, tile::load(x.ptr() + at, load), store);
    } else {
      y.tile({kCount}).hints(store)(0) = x.tile({kCount}).hints(load)(0);
    }
  });
  Stream stream = device.stream();
  std::vector<float> values = numbers(kCount);
  auto x = device.tensor<float>({kCount}, values), y = device.tensor<float>({kCount});
  copy.grid(1)(stream, x, y);
  stream.synchronize();
  return y.download() == values;
}

OptionRow loadRow(std::string name, AccessOptions options, On accepted = On::Every,
                  std::string refusal = {}, bool byPointers = false) {
  return {"load " + name,
          [=](const Device &device) { return isCopied(device, options, {}, byPointers); }, accepted,
          std::move(refusal)};
}
OptionRow storeRow(std::string name, AccessOptions options, On accepted = On::Every,
                   std::string refusal = {}, bool byPointers = false) {
  return {"store " + name,
          [=](const Device &device) { return isCopied(device, {}, options, byPointers); }, accepted,
          std::move(refusal)};
}

TEST(Options, LoadsAndStores) {
  for (bool byPointers : {false, true})
    expectRows({
        loadRow("Cache::any", {.cache = Cache::any}, On::Every, "", byPointers),
        loadRow("Cache::ca", {.cache = Cache::ca}, On::Every, "", byPointers),
        loadRow("Cache::cg", {.cache = Cache::cg}, On::Every, "", byPointers),
        loadRow("Cache::cs", {.cache = Cache::cs}, On::Every, "", byPointers),
        loadRow("Cache::cv", {.cache = Cache::cv}, On::Every, "", byPointers),
        loadRow("Cache::wb", {.cache = Cache::wb}, On::None, "wb", byPointers),
        loadRow("Cache::wt", {.cache = Cache::wt}, On::None, "wt", byPointers),
        loadRow("Evict::normal", {.evict = Evict::normal}, On::Every, "", byPointers),
        loadRow("Evict::first", {.evict = Evict::first}, On::Every, "", byPointers),
        loadRow("Evict::last", {.evict = Evict::last}, On::Every, "", byPointers),
        loadRow("CopyBy::any", {.copy = CopyBy::any}, On::Every, "", byPointers),
        loadRow("CopyBy::vector", {.copy = CopyBy::vector}, On::Every, "", byPointers),
        loadRow("CopyBy::scalar", {.copy = CopyBy::scalar}, On::Every, "", byPointers),
        loadRow("CopyBy::cp_async", {.copy = CopyBy::cp_async}, On::None, "cp_async refused",
                byPointers),
        loadRow("CopyBy::tma", {.copy = CopyBy::tma}, On::None, "tma refused", byPointers),
        loadRow("CopyBy::quad", {.copy = CopyBy::quad}, On::None, "quad", byPointers),
        loadRow(".is_volatile", {.is_volatile = true}, On::Every, "", byPointers),
        loadRow(".is_volatile and .cache", {.cache = Cache::cg, .is_volatile = true}, On::None,
                "volatile", byPointers),
        loadRow(".evict and .cache", {.cache = Cache::cg, .evict = Evict::last}, On::None, "evict",
                byPointers),
        storeRow("Cache::wb", {.cache = Cache::wb}, On::Every, "", byPointers),
        storeRow("Cache::cg", {.cache = Cache::cg}, On::Every, "", byPointers),
        storeRow("Cache::cs", {.cache = Cache::cs}, On::Every, "", byPointers),
        storeRow("Cache::wt", {.cache = Cache::wt}, On::Every, "", byPointers),
        storeRow("Cache::ca", {.cache = Cache::ca}, On::None, "ca", byPointers),
        storeRow("Cache::cv", {.cache = Cache::cv}, On::None, "cv", byPointers),
        storeRow("Evict::first", {.evict = Evict::first}, On::Every, "", byPointers),
        storeRow("Evict::last", {.evict = Evict::last}, On::Every, "", byPointers),
        storeRow("CopyBy::vector", {.copy = CopyBy::vector}, On::Every, "", byPointers),
        storeRow("CopyBy::scalar", {.copy = CopyBy::scalar}, On::Every, "", byPointers),
        storeRow("CopyBy::cp_async", {.copy = CopyBy::cp_async}, On::None, "cp_async", byPointers),
        storeRow("CopyBy::tma", {.copy = CopyBy::tma}, On::None, "tma", byPointers),
        storeRow("CopyBy::quad", {.copy = CopyBy::quad}, On::None, "quad", byPointers),
        storeRow(".is_volatile", {.is_volatile = true}, On::Every, "", byPointers),
    });
}

/// All of a tile's elements are added to one number.
OptionRow atomicRow(std::string name, AtomicOptions options) {
  auto isRight = [options](const Device &device) {
    auto add = kernel_capturing("", "add", [options](InOut<i32, 1> sum) {
      atomic_add(sum.ptr() + full(i32, {kCount}, 0), full(i32, {kCount}, 3), options);
    });
    Stream stream = device.stream();
    auto sum = device.tensor<int>({1}, std::vector<int>{5});
    add.grid(2)(stream, sum);
    stream.synchronize();
    return sum.download()[0] == 5 + 2 * 3 * kCount;
  };
  return {std::move(name), isRight};
}

TEST(Options, Atomics) {
  std::vector<OptionRow> rows;
  using Named = std::pair<const char *, MemorySem>;
  for (auto [sem, order] : {Named{"MemorySem::relaxed", MemorySem::relaxed},
                            {"MemorySem::acquire", MemorySem::acquire},
                            {"MemorySem::release", MemorySem::release},
                            {"MemorySem::acq_rel", MemorySem::acq_rel}})
    rows.push_back(atomicRow(std::string(".sem = ") + sem, {.sem = order}));
  // Programs of a launch are more than a scope of one program: their sum is right by luck alone.
  rows.push_back(atomicRow(".scope = MemoryScope::gpu", {.scope = MemoryScope::gpu}));
  rows.push_back(atomicRow(".scope = MemoryScope::sys", {.scope = MemoryScope::sys}));
  for (Evict evict : {Evict::normal, Evict::first, Evict::last})
    rows.push_back(atomicRow(".evict", {.evict = evict}));
  expectRows(rows);
}

/// A program's own counter, in a place of its own.
TEST(Options, AtomicsOfOneProgram) {
  auto isRight = [](const Device &device) {
    auto add = kernel_capturing("", "add_own", [](InOut<i32, 1> sums) {
      atomic_add(sums.ptr() + program_id(0) + full(i32, {kCount}, 0), full(i32, {kCount}, 3),
                 {.scope = MemoryScope::cta});
    });
    Stream stream = device.stream();
    auto sums = device.tensor<int>({2}, std::vector<int>{5, 6});
    add.grid(2)(stream, sums);
    stream.synchronize();
    return sums.download() == std::vector<int>{5 + 3 * kCount, 6 + 3 * kCount};
  };
  expectRows({{".scope = MemoryScope::cta", isRight}});
}

} // namespace
} // namespace tile::test
