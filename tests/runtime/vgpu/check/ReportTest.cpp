// The switches of the checks, and what a report says: where in the source, and that it is the same on any number of threads.
#include "tests/runtime/vgpu/Twins.h"

namespace tile::vgpu {
namespace {

TEST(Switches, ChecksCanBeTurnedOff) {
  std::string racy = without(kernel(kExchange), "  bar.sync 0;\n");
  run(racy, 64, 1024, "memory,sync")->expectClean();
  run(racy, 64, 1024, "none")->expectClean();
  EXPECT_FALSE(run(racy, 64, 1024, "race")->findings.empty());
}

TEST(Switches, WithoutASinkALaunchThrowsAllFindings) {
  auto device = device::openVirtual({});
  std::string ptx = kernel("  ld.global.u32 %r1, [%a];\n");
  auto function = device->getFunction(device->loadModule(ptx, {}, "test.ptx"), "k");
  uint64_t pointer = 0;
  device::Arg args[] = {{&pointer, 8}};
  try {
    device->launch(function, {{1}, {32}, {}, 0}, args);
    FAIL();
  } catch (const Error &error) {
    EXPECT_EQ(error.code(), ErrorCode::DeviceFinding);
    EXPECT_EQ(error.fault(), Fault::Device);
    EXPECT_NE(error.message().find("test.ptx:" + std::to_string(lineOf(ptx, "ld.global")) +
                                   ": [out of bounds]"),
              std::string::npos)
        << error.message();
  }
}

// Once a line, whatever the number of lanes, blocks and launches.
TEST(Report, DivisionsByZeroAreNoted) {
  for (std::string type : {"u16", "s16", "u32", "s32", "u64", "s64"})
    for (std::string op : {"div.", "rem."}) {
      std::string bits = type.substr(1);
      std::string ptx = kernel("  .reg .b" + bits + " %x<3>;\n  cvt." + type +
                               ".u32 %x1, %t;\n  and.b" + bits + " %x2, %x1, 7;\n  " + op + type +
                               " %x0, 5, %x2;\n  " + op + type + " %x0, %x1, 3;\n  setp.ne." +
                               type + " %q1, %x2, 0;\n  @%q1 " + op + type + " %x0, 5, %x2;\n");
      Gpu gpu(ptx, "sm_80", "none");
      for (int i = 0; i < 2; ++i)
        gpu.run("k", {3}, {32}, 0, gpu.upload(std::vector<uint32_t>(32)));
      gpu.expectClean();
      std::vector<Note> notes = gpu.device->notes();
      ASSERT_EQ(notes.size(), 1u) << ptx;
      EXPECT_EQ(notes[0].text(), "test.ptx:" + std::to_string(lineOf(ptx, "%x0, 5")) +
                                     ": a division by zero, whose result PTX leaves open; `" + op +
                                     type + " %x0, 5, %x2;`");
    }
}

TEST(Report, UserLineComesFromLoc) {
  std::string text = kernelText("vector_add.ptx");
  Gpu gpu(text);
  gpu.run("vector_add", {1}, {32}, 0, uint64_t{0}, uint64_t{0}, uint64_t{0}, 5);
  ASSERT_EQ(gpu.findings.size(), 1u);
  EXPECT_EQ(gpu.findings[0].sourceFile, "vector_add.cu");
  EXPECT_EQ(gpu.findings[0].sourceLine, 5);
  EXPECT_EQ(gpu.findings[0].kernel, "vector_add");
}

// `load` at line 3 of inner.h is inlined at line 7 of it, and that function in two lines of outer.cu.
TEST(Report, CallersOfInlinedFunctionsAreNamed) {
  const std::string ptx = kernel(R"(  .loc 1 20 5
  mov.u64 %rd1, 0;
  .loc 1 21 9
  mov.u32 %r1, 0;
  .loc 2 7 3, function_name $L__info_string0, inlined_at 1 20 5
  .loc 2 3 10, function_name $L__info_string1, inlined_at 2 7 3
  ld.global.u32 %r2, [%rd1];
  .loc 2 7 3, function_name $L__info_string0, inlined_at 1 21 9
  .loc 2 3 10, function_name $L__info_string1+4, inlined_at 2 7 3
  ld.global.u32 %r3, [%rd1+4];
  .loc 1 30 1
  ld.global.u32 %r4, [%rd1+8];
)") + ".file 1 \"outer.cu\"\n.file 2 \"inner.h\", 1, 2\n";
  for (auto [part, source, callers] :
       {std::tuple("u32 %r2, [%rd1]", SourceLocation{"inner.h", 3},
                   std::vector<SourceLocation>{{"inner.h", 7}, {"outer.cu", 20}}),
        std::tuple("u32 %r3, [%rd1", SourceLocation{"inner.h", 3},
                   std::vector<SourceLocation>{{"inner.h", 7}, {"outer.cu", 21}}),
        std::tuple("u32 %r4, [%rd1", SourceLocation{"outer.cu", 30},
                   std::vector<SourceLocation>{})}) {
    // Accesses to no memory end the launch: the others are taken out.
    std::string one;
    std::istringstream lines(ptx);
    for (std::string line; std::getline(lines, line);)
      one +=
          line.find("ld.global") == line.npos || line.find(part) != line.npos ? line + "\n" : "\n";
    auto gpu = run(one, 1);
    ASSERT_EQ(gpu->findings.size(), 1u) << part;
    const Finding &finding = gpu->findings[0];
    EXPECT_EQ((SourceLocation{finding.sourceFile, finding.sourceLine}), source);
    EXPECT_EQ(finding.inlinedAt, callers) << finding.text();
  }
}

TEST(Determinism, FindingsDoNotDependOnThreads) {
  std::string racy = without(kernel(kExchange), "  bar.sync 0;\n");
  std::string texts[2];
  for (int threads : {1, 2}) {
    Gpu gpu(racy, "sm_80", "all", threads);
    gpu.run("k", {64}, {64}, 0, gpu.upload(std::vector<uint32_t>(64)));
    for (const Finding &finding : gpu.findings)
      texts[threads - 1] += finding.text() + "\n";
    EXPECT_EQ(gpu.findings.at(0).ctaIndex, 0u);
  }
  EXPECT_EQ(texts[0], texts[1]);
}

} // namespace
} // namespace tile::vgpu
