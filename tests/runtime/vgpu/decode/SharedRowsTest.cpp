// Registers that share rows of the register file: random programs give the same as with a row for each, which is what programs
// get whose initialised registers are tracked.
#include "runtime/vgpu/decode/Decode.h"
#include "runtime/vgpu/isa/Opcodes.h"
#include "tests/runtime/vgpu/Kernels.h"

#include <random>

namespace tile::vgpu {
namespace {

constexpr unsigned kThreads = 64;

// A kernel of nested loops and branches that lanes take in their own ways, in which every register is written before it is
// read, most of them once.
class RandomKernel {
public:
  explicit RandomKernel(unsigned seed) : random_(seed) {}

  std::string text() {
    words_ = {"%tid"};
    body_ += "  mov.u32 %tid, %tid.x;\n";
    statements(3);
    body_ += "  mov.u32 %sum, 0;\n";
    for (const std::string &word : words_)
      body_ += "  mad.lo.u32 %sum, %sum, 31, " + word + ";\n";
    for (const std::string &wide : wides_)
      body_ += "  cvt.u32.u64 %low, " + wide + ";\n  mad.lo.u32 %sum, %sum, 31, %low;\n";
    return ".version 8.0\n.target sm_80\n.address_size 64\n"
           ".visible .entry k(.param .u64 out)\n{\n  .reg .b32 %tid, %sum, %low, %w<" +
           std::to_string(numbers_ + 1) + ">;\n  .reg .b64 %out, %place, %d<" +
           std::to_string(numbers_ + 1) + ">;\n  .reg .pred %p<" + std::to_string(numbers_ + 1) +
           ">;\n" + body_ +
           "  ld.param.u64 %out, [out];\n  mad.wide.u32 %place, %tid, 4, %out;\n"
           "  st.global.u32 [%place], %sum;\n  ret;\n}\n";
  }

private:
  unsigned below(unsigned limit) { return static_cast<unsigned>(random_() % limit); }
  std::string number() { return std::to_string(numbers_++); }
  const std::string &anyOf(const std::vector<std::string> &names) {
    return names[below(static_cast<unsigned>(names.size()))];
  }
  std::string word() { return anyOf(words_); }
  void line(const std::string &text) { body_ += "  " + text + ";\n"; }

  // Mostly new registers, now and then one again.
  std::string target(std::vector<std::string> &names, const std::string &prefix) {
    if (!names.empty() && below(4) == 0 && anyOf(names) != "%tid")
      return anyOf(names);
    return prefix + number();
  }
  static void define(std::vector<std::string> &names, const std::string &name) {
    if (!std::ranges::count(names, name))
      names.push_back(name);
  }

  std::string predicate() {
    std::string name = "%p" + number();
    line("and.b32 %low, " + word() + ", " + std::to_string(1 + below(15)));
    line("setp.gt.u32 " + name + ", %low, " + std::to_string(below(8)));
    return name;
  }

  void assignment() {
    std::string guard;
    if (below(3) == 0) // of a register that has a value in any case
      guard = "@" + std::string(below(2) ? "!" : "") + predicate() + " ";
    if (below(3) == 0) {
      std::string name = guard.empty() || wides_.empty() ? "%d" + number() : anyOf(wides_);
      if (std::ranges::count(wides_, name) == 0)
        guard.clear();
      line(guard + "mul.wide.u32 " + name + ", " + word() + ", " + word());
      define(wides_, name);
      return;
    }
    std::string name = guard.empty() ? target(words_, "%w") : word();
    if (name == "%tid")
      name = "%w" + number(), guard.clear();
    if (!wides_.empty() && below(4) == 0)
      line(guard + "cvt.u32.u64 " + name + ", " + anyOf(wides_));
    else
      line(guard + "mad.lo.u32 " + name + ", " + word() + ", " + word() + ", " + word());
    define(words_, name);
  }

  // What only one side writes has no value behind.
  void branch(unsigned depth) {
    std::string label = "B" + number();
    line("@" + predicate() + " bra " + label);
    auto words = words_, wides = wides_;
    statements(depth);
    words_ = words, wides_ = wides;
    if (below(2)) {
      line("bra " + label + "E");
      body_ += label + ":\n";
      statements(depth);
      body_ += label + "E:\n";
      words_ = words, wides_ = wides;
    } else {
      body_ += label + ":\n";
    }
  }

  void loop(unsigned depth) {
    std::string counter = "%w" + number(), label = "L" + number(), more = "%p" + number();
    line("and.b32 " + counter + ", " + word() + ", 3");
    // Carried from one turn to the next, and written in some turns alone.
    std::string carried = "%w" + number();
    line("mov.u32 " + carried + ", " + word());
    define(words_, carried);
    body_ += label + ":\n";
    statements(depth);
    line("add.u32 " + carried + ", " + carried + ", " + word());
    line("setp.gt.s32 " + more + ", " + counter + ", 0");
    line("sub.u32 " + counter + ", " + counter + ", 1");
    line("@" + more + " bra " + label);
  }

  void statements(unsigned depth) {
    for (unsigned i = 0, count = 3 + below(8); i < count; ++i) {
      unsigned kind = depth ? below(5) : 2;
      if (kind == 0)
        branch(depth - 1);
      else if (kind == 1)
        loop(depth - 1);
      else
        assignment();
    }
  }

  std::mt19937 random_;
  unsigned numbers_ = 0;
  std::string body_;
  std::vector<std::string> words_, wides_; // that have a value here
};

std::vector<uint32_t> outputs(const std::string &ptx, const std::string &checks) {
  Gpu gpu(ptx, "sm_80", checks);
  auto out = gpu.upload(std::vector<uint32_t>(kThreads));
  gpu.run("k", {1}, {kThreads}, 0, out);
  gpu.expectClean();
  return gpu.download<uint32_t>(out, kThreads);
}

uint32_t rowsOf(const std::string &ptx, bool trackInit) {
  std::shared_ptr<const Module> module = parsePtx(ptx, "test.ptx");
  DecodeOptions options;
  options.trackInit = trackInit;
  auto entry = std::ranges::find(module->functions, true, &Function::isEntry);
  return Decoder(module, *entry, opcodes(), options).decode()->staticRowsBegin / kRowBytes;
}

TEST(SharedRows, ChangeNoResult) {
  for (unsigned seed = 0; seed < 150; ++seed) {
    std::string ptx = RandomKernel(seed).text();
    ASSERT_EQ(outputs(ptx, "none"), outputs(ptx, "all")) << "seed " << seed << "\n" << ptx;
  }
}

TEST(SharedRows, AreFewerThanRegisters) {
  std::string ptx = kernelText("matmul_mma.ptx");
  EXPECT_LT(2 * rowsOf(ptx, false), rowsOf(ptx, true));
}

// Written under a guard in the first turn, read in all: nothing before the loop gives it a value.
TEST(SharedRows, KeepWhatOneTurnLeavesToTheNext) {
  std::string ptx = R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out)
{
  .reg .b32 %tid, %i, %kept, %t<4>;
  .reg .b64 %out, %place;
  .reg .pred %first, %more;
  mov.u32 %tid, %tid.x;
  mov.u32 %i, 0;
again:
  setp.eq.u32 %first, %i, 0;
  @%first add.u32 %kept, %tid, 5;
  add.u32 %t1, %kept, %i;
  add.u32 %t2, %t1, 1;
  add.u32 %t3, %t2, 1;
  add.u32 %i, %i, 1;
  setp.lt.u32 %more, %i, 4;
  @%more bra again;
  ld.param.u64 %out, [out];
  mad.wide.u32 %place, %tid, 4, %out;
  st.global.u32 [%place], %t3;
  ret;
}
)";
  std::vector<uint32_t> result = outputs(ptx, "none");
  for (uint32_t i = 0; i < kThreads; ++i)
    EXPECT_EQ(result[i], i + 5 + 3 + 2);
}

// Products that run as one, with the loads between them: these come first, so what they load into is no fragment's row.
TEST(SharedRows, KeepFragmentsOfABatchApart) {
  constexpr unsigned kSteps = 4;
  std::string body;
  for (unsigned i = 0; i < 16; ++i) {
    std::string at = std::to_string(i);
    body += "  mad.lo.u32 %x, %tid, 7, " + at + ";\n  and.b32 %x, %x, 15;\n" +
            "  cvt.rn.f16.u32 %h, %x;\n  mad.lo.u32 %y, %tid, 64, " + std::to_string(4 * i) +
            ";\n  add.u32 %y, %y, %tile;\n  st.shared.b16 [%y], %h;\n" +
            "  st.shared.b16 [%y+2], %h;\n";
  }
  body += "  bar.warp.sync -1;\n  mad.lo.u32 %y, %tid, 16, %tile;\n";
  for (unsigned i = 0; i < 4; ++i)
    body += "  mov.f32 %c" + std::to_string(i) + ", 0f00000000;\n";
  for (unsigned step = 0; step < kSteps; ++step) {
    std::string n = std::to_string(step), at = "[%y+" + std::to_string(512 * step) + "]",
                a = "{%a" + n + "0, %a" + n + "1, %a" + n + "2, %a" + n + "3}",
                b = "{%b" + n + "0, %b" + n + "1}";
    body += "  ldmatrix.sync.aligned.m8n8.x4.shared.b16 " + a + ", " + at + ";\n" +
            "  ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 " + b + ", " + at + ";\n" +
            "  mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%c0, %c1, %c2, %c3}, " + a +
            ", " + b + ", {%c0, %c1, %c2, %c3};\n";
  }
  std::string ptx = R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out)
{
  .shared .align 128 .b8 memory[2048];
  .reg .b32 %tid, %tile, %x, %y, %a<34>, %b<34>;
  .reg .b16 %h;
  .reg .f32 %c<4>;
  .reg .b64 %out, %place;
  mov.u32 %tid, %tid.x;
  mov.u32 %tile, memory;
)" + body + R"(
  ld.param.u64 %out, [out];
  mad.wide.u32 %place, %tid, 16, %out;
  st.global.v4.f32 [%place], {%c0, %c1, %c2, %c3};
  ret;
}
)";
  auto run = [&](const char *checks) {
    Gpu gpu(ptx, "sm_80", checks);
    auto out = gpu.upload(std::vector<float>(128));
    gpu.run("k", {1}, {32}, 0, out);
    gpu.expectClean();
    return gpu.download<float>(out, 128);
  };
  std::vector<float> result = run("none");
  EXPECT_GT(std::ranges::count_if(result, [](float value) { return value > 0; }), 100);
  EXPECT_EQ(result, run("all"));
}

} // namespace
} // namespace tile::vgpu
