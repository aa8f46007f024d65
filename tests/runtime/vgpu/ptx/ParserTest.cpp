// The parser and decoder against bad input: always an Error that names the place, never a crash.
#include "tests/runtime/vgpu/Kernels.h"

#include <random>

namespace tile::vgpu {
namespace {

const std::string kHeader = ".version 7.0\n.target sm_80\n.address_size 64\n";

std::string kernel(const std::string &body) {
  return kHeader + ".visible .entry k()\n{\n" + body + "ret;\n}\n";
}

// Loads and launches; returns the error, or fails.
void expectError(const std::string &ptx, ErrorCode code, const std::string &part, int line) {
  try {
    auto device = device::openVirtual({});
    auto function = device->getFunction(device->loadModule(ptx, {}, "bad.ptx"), "k");
    device->launch(function, {{1}, {32}, {}, 0}, {});
    ADD_FAILURE() << "no error for:\n" << ptx;
  } catch (const Error &error) {
    EXPECT_EQ(error.code(), code) << error.what();
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    if (line) {
      EXPECT_EQ(error.file(), "bad.ptx");
      EXPECT_EQ(error.line(), line) << error.what();
    }
  }
}

TEST(Parser, NamesWhatItDoesNotUnderstand) {
  expectError("", ErrorCode::Parse, ".version", 0);
  for (const char *version : {"9.2147483647", "1136082940.0", "0", "-8.3"})
    expectError(".version " + std::string(version) + kHeader.substr(kHeader.find('\n')),
                ErrorCode::Parse, "version such as 8.3", 1);
  expectError("hello world", ErrorCode::Parse, "expected a directive", 1);
  expectError(kHeader + ".strange 5", ErrorCode::Parse, ".strange", 4);
  expectError(kernel("  mov.u32 %r1, 5;\n"), ErrorCode::Parse, "%r1", 6);
  expectError(kernel("  .reg .b32 %r<2>;\n  bra nowhere;\n"), ErrorCode::Parse, "nowhere", 7);
  expectError(kernel("  .reg .b32 %r<2>;\n  mov.u32 %r1 5;\n"), ErrorCode::Parse, "expected ';'",
              7);
  expectError(kernel("  .reg .b32 %r<2>;\n  @%r1 mov.u32 %r1, 5;\n"), ErrorCode::Parse, "predicate",
              7);
  expectError(kernel("  .reg .b32 %r<99999999999>;\n"), ErrorCode::Parse, "registers", 6);
  expectError(kHeader + ".visible .entry k()\n{\n", ErrorCode::Parse, "not closed", 0);
  expectError(kHeader + "/* open", ErrorCode::Parse, "comment", 0);
  expectError(kernel("L: bra L2;\nL:\nL2:\n"), ErrorCode::Parse, "defined twice", 8);
}

TEST(Decoder, RefusesUnknownInstructionsAndModifiersByNameAndLine) {
  std::string regs = "  .reg .b32 %r<4>;\n  .reg .b64 %rd<4>;\n  .reg .pred %p<3>;\n";
  expectError(kernel(regs + "  frobnicate.u32 %r1, %r2;\n"), ErrorCode::Unsupported,
              "frobnicate.u32", 9);
  expectError(kernel(regs + "  add.blue.u32 %r1, %r2, %r3;\n"), ErrorCode::Unsupported, ".blue", 9);
  expectError(kernel(regs + "  add.u32 %r1, %r2;\n"), ErrorCode::Parse, "operands", 9);
  expectError(kernel(regs + "  add.u64 %rd1, %rd2, %r3;\n"), ErrorCode::Parse, "32 bits", 9);
  expectError(kernel(regs + "  add.u64 %r1, %rd2, %rd3;\n"), ErrorCode::Parse, "32 bits", 9);
  expectError(kernel(regs + "  add.u32 %p1, %r2, %r3;\n"), ErrorCode::Parse, "%p1", 9);
  expectError(kernel(regs + "  ld.global.u32 %r1, %rd2;\n"), ErrorCode::Parse, "address", 9);
  expectError(kernel(regs + "  ld.global.u32 %r1, [missing];\n"), ErrorCode::Parse, "missing", 9);
  expectError(kernel(regs + "  wgmma.fence.sync.aligned;\n"), ErrorCode::Unsupported, "wgmma", 9);
  expectError(kernel(regs + "  call nothing;\n"), ErrorCode::Unsupported, "nothing", 9);
}

TEST(Decoder, CodeThatIsNotLaunchedMayBeUnsupported) {
  std::string ptx = kHeader + ".visible .entry other()\n{\n  frobnicate;\n}\n" +
                    kernel("").substr(kHeader.size());
  auto device = device::openVirtual({});
  auto module = device->loadModule(ptx);
  device->launch(device->getFunction(module, "k"), {{1}, {32}, {}, 0}, {});
  EXPECT_THROW(device->launch(device->getFunction(module, "other"), {{1}, {32}, {}, 0}, {}), Error);
}

// Every prefix of a real kernel, and random damage to it: an error or a successful load, but no crash.
TEST(Parser, SurvivesTruncationAndDamage) {
  std::string text = kernelText("block_sum.ptx");
  auto device = device::openVirtual({});
  auto tryIt = [&](const std::string &ptx) {
    try {
      auto module = device->loadModule(ptx);
      device->functionInfo(device->getFunction(module, "block_sum"));
      device->unloadModule(module);
    } catch (const Error &) {
    }
  };
  for (size_t length = 0; length < text.size(); length += 7)
    tryIt(text.substr(0, length));
  std::mt19937 random(1);
  for (int round = 0; round < 1000; ++round) {
    std::string damaged = text;
    for (int i = 0; i < 3; ++i)
      damaged[random() % damaged.size()] = static_cast<char>(random() % 128);
    tryIt(damaged);
    damaged = text;
    size_t from = random() % text.size(), to = random() % text.size();
    damaged.replace(to, std::min<size_t>(20, text.size() - to), text.substr(from, random() % 60));
    tryIt(damaged);
  }
  std::string deep = kHeader + ".visible .entry k()\n{\n" + std::string(100000, '{');
  EXPECT_THROW(device->loadModule(deep), Error);
  std::string nested = kernel(".reg .b32 %r<2>;\nmov.b32 %r1, " + std::string(100000, '{') + ";\n");
  EXPECT_THROW(device->loadModule(nested), Error);
}

TEST(Parser, ScopesHideRegistersAndLabels) {
  std::string ptx = kHeader + R"(.visible .entry k(.param .u64 out)
{
  .reg .b32 %r<4>;
  .reg .b64 %rd<2>;
  .reg .pred %p;
  mov.u32 %r1, 1;
  { .reg .b32 %r1; .reg .pred %p;
    mov.u32 %r1, 100;
    setp.eq.u32 %p, %r1, 100;
    @%p bra DONE;
    mov.u32 %r2, 7;
  DONE:
    add.u32 %r3, %r1, 1;
  }
  { .reg .pred q;
    setp.ne.u32 q, %r1, %r1;
    @q bra DONE;
    add.u32 %r3, %r3, %r1;
  DONE:
  }
  ld.param.u64 %rd1, [out];
  st.global.u32 [%rd1], %r3;
  ret;
}
)";
  Gpu gpu(ptx);
  auto out = gpu.device->alloc(4);
  gpu.run("k", {1}, {1}, 0, out);
  gpu.expectClean();
  EXPECT_EQ(gpu.download<uint32_t>(out, 1)[0], 102u);
}

// Octal numbers, fractions without a digit on one side, floats in variables of both widths.
TEST(Parser, LiteralsAreTheNumbersOfPtx) {
  std::string ptx =
      kHeader + R"(.global .align 4 .f32 singles[4] = {1.5, 0f40000000, -2.5, 0d3FE0000000000000};
.global .align 8 .f64 doubles[2] = {-1.5, 0f40000000};
.global .align 4 .b32 bits[3] = {010, 1e3, 0b101};
.visible .entry k(.param .u64 out)
{
  .reg .b32 %r<16>;
  .reg .b64 %o, %rd<3>;
  ld.param.u64 %o, [out];
  ld.global.v4.b32 {%r0, %r1, %r2, %r3}, [singles];
  ld.global.v2.b64 {%rd0, %rd1}, [doubles];
  ld.global.b32 %r4, [bits];
  ld.global.b32 %r5, [bits+4];
  ld.global.b32 %r6, [bits+010];
  mov.u32 %r7, 0777U;
  mov.f32 %r8, .5;
  mov.f32 %r9, 1.;
  st.global.v4.b32 [%o], {%r0, %r1, %r2, %r3};
  st.global.v4.b32 [%o+16], {%r4, %r5, %r6, %r7};
  st.global.v2.b32 [%o+32], {%r8, %r9};
  st.global.b64 [%o+40], %rd0;
  st.global.b64 [%o+48], %rd1;
  ret;
}
)";
  Gpu gpu(ptx);
  auto out = gpu.device->alloc(64);
  gpu.run("k", {1}, {1}, 0, out);
  gpu.expectClean();
  auto words = gpu.download<uint32_t>(out, 14);
  std::vector<uint32_t> expected = {0x3fc00000, 0x40000000, 0xc0200000, 0x3f000000, 8,
                                    0x447a0000, 5,          0777,       0x3f000000, 0x3f800000,
                                    0,          0xbff80000, 0,          0x40000000};
  EXPECT_EQ(words, expected);
}

// As the assembler does.
TEST(Parser, LiteralsOfTheWrongKindAreRefused) {
  const std::string regs = "  .reg .b32 %r<4>;\n  .reg .b64 %rd<4>;\n  .reg .b16 %h<3>;\n";
  for (const char *line :
       {"mov.f32 %r1, 1;", "add.f32 %r1, %r2, 0x3f800000;", "mov.f64 %rd1, 1;",
        "mov.u32 %r1, 0f3f800000;", "mov.b32 %r1, 1.5;", "mov.b64 %rd1, 0f3f800000;",
        "add.u32 %r1, %r2, 1.5;", "add.f16 %h1, %h2, 0x3c00;"})
    expectError(kernel(regs + line + "\n"), ErrorCode::Parse, "", 9);
  expectError(kernel(regs + "mov.u32 %r1, 08;\n"), ErrorCode::Parse, "malformed number '08", 9);
  for (const char *variable : {".f32 x = 1;", ".f64 x = 1;", ".b16 x = 1.5;", ".f32 x = 1e999;"})
    expectError(kHeader + ".global " + variable + kernel("").substr(kHeader.size()),
                ErrorCode::Parse, "", 4);
}

} // namespace
} // namespace tile::vgpu
