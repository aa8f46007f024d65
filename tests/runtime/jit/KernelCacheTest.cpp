// Kernels that outlive the process: a hit is what a compile would make, and whatever changes the code changes the key.
#include "runtime/jit/KernelCache.h"
#include "codegen/compiled/KernelFacts.h"
#include "frontend/trace/Kernel.h"
#include "runtime/cache/Entry.h"
#include "runtime/jit/Compile.h"
#include "runtime/jit/Jit.h"
#include "tests/runtime/cache/TemporaryFolder.h"

#include <tile/Ops.h>
#include <tile/tile.h>

#include <gtest/gtest.h>

#include <fstream>
#include <set>

namespace tile::jit {
namespace {

auto scaled = kernel("scaled_rows", [](In<f32, 1> x, Out<f32, 1> y, Const block, Const factor) {
  Value i = grid1d(y, {block});
  y.tile({block})(i) = x.tile({block})(i) * static_cast<float>(factor);
});

auto moved = kernel("scaled_rows", [](In<f32, 1> x, Out<f32, 1> y, Const block, Const factor) {
  Value i = grid1d(y, {block}); // the same on other lines
  y.tile({block})(i) = x.tile({block})(i) * static_cast<float>(factor);
});

template <class Kernel> KernelRequest requestOf(const Kernel &kernel, int block, int factor) {
  return {kernel.consts(block, factor), {exampleView(f32, {1024}), exampleView(f32, {1024})}};
}

class KernelCaches : public testing::Test {
protected:
  KernelCaches() : cache(options()) {}

  cache::FolderOptions options() const {
    cache::FolderOptions options;
    options.path = temporary.file("kernels");
    return options;
  }

  static KernelOrigin origin() {
    KernelOrigin origin = {"scaled_rows", {}, 80, "assembler 1"};
    origin.options.target = "sm_80";
    return origin;
  }

  std::string keyOf(const KernelRequest &request, const KernelOrigin &origin) const {
    Call call(request);
    return cache.keyOf(*traceCall(call, knownTarget(origin.options.target))->module, origin);
  }

  size_t files() { return cache.folder()->files().size(); }

  test::TemporaryFolder temporary;
  KernelCache cache;
};

// Every kind of kernel comes back with the same code and the same facts.
TEST_F(KernelCaches, KeepsKernelsAsTheyWereCompiled) {
  struct Row {
    const char *target, *op;
    std::map<std::string, std::string> settings;
  };
  for (const Row &row : {Row{"sm_80", "add", {}}, Row{"sm_80", "softmax", {{"N", "1000"}}},
                         Row{"sm_90a", "matmul", {{"M", "512"}, {"N", "512"}}},
                         Row{"sm_90a", "matmul", {{"producer", "1"}, {"cluster", "2"}}},
                         Row{"sm_90a", "attention", {{"causal", "1"}}}}) {
    SCOPED_TRACE(std::string(row.op) + " for " + row.target);
    OpSettings settings(row.settings);
    settings.setTarget(row.target);
    codegen::CompileOptions compile;
    compile.target = row.target;
    AssembledKernel made = {compileRequest(findOp(row.op)->kernel(settings), compile),
                            {std::byte{1}, std::byte{2}}};
    cache.keep(row.op, made);
    std::optional<AssembledKernel> kept = cache.find(row.op);
    ASSERT_TRUE(kept);
    EXPECT_EQ(kept->compiled.ptx, made.compiled.ptx);
    EXPECT_EQ(kept->cubin, made.cubin);
    EXPECT_EQ(factsOf(kept->compiled), factsOf(made.compiled));
    EXPECT_EQ(kept->compiled.tensorMaps.size(), made.compiled.tensorMaps.size());
    EXPECT_EQ(kept->compiled.cluster, made.compiled.cluster);
    std::vector<int64_t> extents(made.compiled.grid.symbols().size(), 1000);
    EXPECT_EQ(kept->compiled.grid.evaluate(extents), made.compiled.grid.evaluate(extents));
  }
}

TEST_F(KernelCaches, AnotherProcessCompilesNothing) {
  for (uint64_t expected : {1u, 0u}) {
    KernelCache own(options());
    Jit jit(device::openVirtual({.target = "sm_80"}), own);
    KernelRequest request = requestOf(scaled, 64, 3);
    Call call(request);
    const LoadedKernel &kernel = jit.get(call);
    EXPECT_EQ(jit.compileCount(), expected);
    EXPECT_EQ(kernel.threads, 128u);
    EXPECT_TRUE(kernel.grid.isDerived());
    EXPECT_EQ(files(), 1u);
  }
}

// Each of these decides of the code, or of what is said of it.
TEST_F(KernelCaches, WhateverDecidesOfTheCodeChangesTheKey) {
  std::set<std::string> keys;
  auto isNew = [&](const KernelRequest &request, const KernelOrigin &from) {
    std::string key = keyOf(request, from);
    EXPECT_FALSE(key.empty());
    return keys.insert(key).second;
  };
  KernelRequest request = requestOf(scaled, 64, 3);
  EXPECT_TRUE(isNew(request, origin()));
  EXPECT_FALSE(isNew(request, origin())) << "the same has the same key";
  EXPECT_TRUE(isNew(requestOf(scaled, 128, 3), origin()));
  EXPECT_TRUE(isNew(requestOf(scaled, 64, 4), origin()));
  EXPECT_TRUE(isNew(requestOf(moved, 64, 3), origin())) << "messages and PTX name the lines";
  auto with = [&](auto change) {
    KernelOrigin changed = origin();
    change(changed);
    return isNew(request, changed);
  };
  EXPECT_TRUE(with([](KernelOrigin &o) { o.options.target = "sm_90a"; }));
  EXPECT_TRUE(with([](KernelOrigin &o) { o.arch = 86; }));
  EXPECT_TRUE(with([](KernelOrigin &o) { o.assembler = "assembler 2"; }));
  EXPECT_TRUE(with([](KernelOrigin &o) { o.name = "another"; }));
  EXPECT_TRUE(with([](KernelOrigin &o) { o.options.passes.disabled = {"cse"}; }));
  EXPECT_TRUE(with([](KernelOrigin &o) { o.options.passes.limit = 7; }));
}

TEST_F(KernelCaches, NothingIsKeptWhereMoreThanCodeIsWanted) {
  KernelRequest request = requestOf(scaled, 64, 3);
  auto keyWith = [&](auto change) {
    KernelOrigin changed = origin();
    change(changed.options);
    return keyOf(request, changed);
  };
  EXPECT_EQ(keyWith([](codegen::CompileOptions &o) { o.keepStages = true; }), "");
  EXPECT_EQ(keyWith([](codegen::CompileOptions &o) { o.keepReport = true; }), "");
  EXPECT_EQ(keyWith([](codegen::CompileOptions &o) { o.timePasses = true; }), "");
  EXPECT_EQ(keyWith([](codegen::CompileOptions &o) { o.reproducer = "file"; }), "");
  KernelCache off(std::nullopt);
  Call call(request);
  EXPECT_EQ(off.keyOf(*traceCall(call, knownTarget("sm_80"))->module, origin()), "");
  AssembledKernel foreign;
  foreign.compiled.cudaFunctions.emplace_back();
  cache.keep("key", foreign);
  EXPECT_EQ(files(), 0u) << "headers decide of CUDA C++";
}

// Who dumps wants to see a compile; others may use what it made.
TEST_F(KernelCaches, WhatIsDumpedIsCompiledEachTimeAndKept) {
  test::TemporaryFolder dump;
  KernelRequest request = requestOf(scaled, 64, 3);
  auto compiles = [&] {
    KernelCache own(options());
    Jit jit(device::openVirtual({.target = "sm_80"}), own);
    Call call(request);
    jit.get(call);
    return jit.compileCount();
  };
  ::setenv("TILE_DUMP", dump.path().c_str(), 1);
  EXPECT_EQ(compiles(), 1u);
  EXPECT_EQ(compiles(), 1u);
  ::unsetenv("TILE_DUMP");
  EXPECT_EQ(files(), 1u);
  EXPECT_EQ(compiles(), 0u);
}

// The PTX is what the cache keeps, so nothing need be compiled for it.
TEST_F(KernelCaches, PtxIsDumpedOfKernelsThatAreFound) {
  test::TemporaryFolder compiled, found;
  KernelRequest request = requestOf(scaled, 64, 3);
  // How often it is compiled, and the one file of the folder.
  auto dumpTo = [&](const test::TemporaryFolder &folder) {
    ::setenv("TILE_DUMP", folder.path().c_str(), 1);
    KernelCache own(options());
    Jit jit(device::openVirtual({.target = "sm_80"}), own);
    Call call(request);
    jit.get(call);
    std::vector<std::filesystem::path> files;
    for (const auto &entry : std::filesystem::recursive_directory_iterator(folder.path()))
      if (entry.is_regular_file())
        files.push_back(entry.path());
    EXPECT_EQ(files.size(), 1u);
    EXPECT_EQ(files.front().filename(), "5-kernel.ptx");
    std::ifstream file(files.front());
    return std::pair(jit.compileCount(), std::string(std::istreambuf_iterator<char>(file), {}));
  };
  ::setenv("TILE_DUMP_STAGES", "ptx", 1);
  auto first = dumpTo(compiled), second = dumpTo(found);
  ::unsetenv("TILE_DUMP"), ::unsetenv("TILE_DUMP_STAGES");
  EXPECT_EQ(first.first, 1u);
  EXPECT_EQ(second.first, 0u);
  EXPECT_NE(first.second.find(".entry"), std::string::npos);
  EXPECT_EQ(first.second, second.second);
}

TEST_F(KernelCaches, WhatIsBrokenIsCompiledAnew) {
  KernelRequest request = requestOf(scaled, 64, 3);
  auto compiles = [&] {
    KernelCache own(options());
    Jit jit(device::openVirtual({.target = "sm_80"}), own);
    Call call(request);
    jit.get(call);
    return jit.compileCount();
  };
  EXPECT_EQ(compiles(), 1u);
  std::string name = cache.folder()->files().front().name;
  std::string path =
      cache.folder()->path() + "/" + name.substr(0, 2) + "/" + name.substr(2) + ".tile";
  std::fstream(path, std::ios::in | std::ios::out | std::ios::binary).seekp(200).put('x').put('y');
  testing::internal::CaptureStderr();
  EXPECT_EQ(compiles(), 1u);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("it is not what was written"),
            std::string::npos);
  EXPECT_EQ(compiles(), 0u) << "the new one has taken its place";
}

// Two keys may have one name, if hardly ever.
TEST_F(KernelCaches, AnotherKernelsFileIsNoHit) {
  AssembledKernel kernel;
  kernel.compiled.ptx = "code";
  cache.folder()->write(cache::nameOf("mine"),
                        cache::encode({"other's", factsOf(kernel.compiled), "code", {}}));
  testing::internal::CaptureStderr();
  EXPECT_FALSE(cache.find("mine"));
  testing::internal::GetCapturedStderr();
}

TEST(KernelFacts, OfAnotherFormAreRefused) {
  for (
      const char *text :
      {"", "{}", "[]", "null", "{\"name\":1}",
       R"({"name":"k","target":"sm_80","parameters":[[9,0,0,0]],"tensor_maps":[],"grid":[0],"persistent":false,)"
       R"("threads":1,"cluster":1,"shared_bytes":0,"remarks":[]})",
       R"({"name":"k","target":"sm_80","parameters":[],"tensor_maps":[],"grid":[0,1,2,0],"persistent":false,)"
       R"("threads":1,"cluster":1,"shared_bytes":0,"remarks":[]})"})
    EXPECT_FALSE(codegen::kernelOf(text)) << text;
}

} // namespace
} // namespace tile::jit
