// wmma of every shape, type and layout against a scalar product of the matrices in memory.
#include "tests/runtime/vgpu/Kernels.h"
#include "tests/runtime/vgpu/isa/tensor/ElementCodes.h"

#include <random>

namespace tile::vgpu {
namespace {

struct WmmaCase {
  int m, n, k;
  std::string input, sumIn, sumOut; // types of A and B, C, D
  int bits, registersA, registersB, registersC, registersD;
  std::string layoutA = "row", layoutB = "col", layoutC = "row", extra = "";
};

// A matrix in memory, element by element packed to `bits`.
struct Packed {
  std::vector<uint64_t> words;
  int bits;
  void set(size_t index, uint64_t code) { words[index * bits / 64] |= code << (index * bits % 64); }
  uint64_t get(size_t index) const {
    uint64_t all = bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
    return words[index * bits / 64] >> (index * bits % 64) & all;
  }
};

int bitsOf(const std::string &type) { return type == "f16" ? 16 : type == "f64" ? 64 : 32; }

std::string registers(const std::string &name, int count) {
  std::string text = "{";
  for (int i = 0; i < count; ++i)
    text += (i ? ", %" : "%") + name + std::to_string(i);
  return text + "}";
}

std::string wmmaKernel(const WmmaCase &test, int strideA, int strideB, int strideC) {
  std::string shape =
      "m" + std::to_string(test.m) + "n" + std::to_string(test.n) + "k" + std::to_string(test.k);
  std::string reg = test.bits == 64 ? "b64" : "b32";
  auto load = [&](const std::string &which, const std::string &layout, const std::string &type,
                  int count, int stride) {
    return "  ld.param.u64 %q, [p" + which + "];\n  wmma.load." + which + ".sync.aligned." +
           layout + "." + shape + ".global." + type + " " + registers(which, count) + ", [%q], " +
           std::to_string(stride) + ";\n";
  };
  std::string types = test.input == "f16"
                          ? test.sumOut + "." + test.sumIn
                          : test.sumOut + "." + test.input + "." + test.input + "." + test.sumIn;
  std::string operation = test.input == "b1" ? ".xor.popc" : "";
  return ".version 8.4\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 pa, .param "
         ".u64 pb, .param .u64 pc, .param .u64 pd)\n{\n  .reg .b64 %q;\n  .reg ." +
         reg + " %a<8>, %b<8>, %c<8>, %d<8>;\n" +
         load("a", test.layoutA, test.input, test.registersA, strideA) +
         load("b", test.layoutB, test.input, test.registersB, strideB) +
         load("c", test.layoutC, test.sumIn, test.registersC, strideC) + "  wmma.mma" + operation +
         ".sync.aligned." + test.layoutA + "." + test.layoutB + "." + shape + "." + types +
         test.extra + " " + registers("d", test.registersD) + ", " +
         registers("a", test.registersA) + ", " + registers("b", test.registersB) + ", " +
         registers("c", test.registersC) +
         ";\n  ld.param.u64 %q, [pd];\n  wmma.store.d.sync.aligned." + test.layoutC + "." + shape +
         ".global." + test.sumOut + " [%q], " + registers("d", test.registersD) + ", " +
         std::to_string(strideC) + ";\n  ret;\n}\n";
}

// A matrix with random values whose lines in memory are a little longer than they need to be.
struct Matrix {
  Packed memory;
  std::vector<int> values; // row by row
  int columns, stride;
  bool rowMajor;
  size_t place(int row, int column) const {
    return static_cast<size_t>(rowMajor ? row * stride + column : column * stride + row);
  }
};

Matrix randomMatrix(int rows, int columns, const std::string &type, int bits,
                    const std::string &layout, std::mt19937 &random) {
  Matrix matrix;
  matrix.columns = columns;
  matrix.rowMajor = layout == "row";
  matrix.stride = (matrix.rowMajor ? columns : rows) + 128 / std::min(bits, 128);
  int lines = matrix.rowMajor ? rows : columns;
  matrix.memory = {
      std::vector<uint64_t>(static_cast<size_t>(lines * matrix.stride * bits / 64 + 1)), bits};
  for (int row = 0; row < rows; ++row)
    for (int column = 0; column < columns; ++column) {
      bool isUnsigned = type[0] == 'u' || type == "b1";
      int range = type == "b1" ? 2 : 8;
      int value = static_cast<int>(random() % static_cast<unsigned>(range)) - (isUnsigned ? 0 : 4);
      matrix.values.push_back(value);
      matrix.memory.set(matrix.place(row, column), elementCode(type, value));
    }
  return matrix;
}

void checkWmma(const WmmaCase &test) {
  std::mt19937 random(static_cast<unsigned>(test.m * 7 + test.n));
  Matrix a = randomMatrix(test.m, test.k, test.input, test.bits, test.layoutA, random),
         b = randomMatrix(test.k, test.n, test.input, test.bits, test.layoutB, random),
         c = randomMatrix(test.m, test.n, test.sumIn, bitsOf(test.sumIn), test.layoutC, random);
  // C and D have one stride; make it the wider one of what their types ask for.
  Gpu gpu(wmmaKernel(test, a.stride, b.stride, c.stride));
  Packed d{std::vector<uint64_t>(c.memory.words.size() * 2), bitsOf(test.sumOut)};
  auto dd = gpu.upload(d.words);
  gpu.run("k", {1}, {32}, 0, gpu.upload(a.memory.words), gpu.upload(b.memory.words),
          gpu.upload(c.memory.words), dd);
  gpu.expectClean();
  d.words = gpu.download<uint64_t>(dd, d.words.size());
  for (int row = 0; row < test.m; ++row)
    for (int column = 0; column < test.n; ++column) {
      int sum = c.values[row * test.n + column];
      for (int k = 0; k < test.k; ++k) {
        int x = a.values[row * test.k + k], y = b.values[k * test.n + column];
        sum += test.input == "b1" ? x ^ y : x * y;
      }
      ASSERT_EQ(d.get(c.place(row, column)), elementCode(test.sumOut, sum))
          << test.input << " " << test.m << "x" << test.n << " " << test.layoutA << test.layoutB
          << test.layoutC << " row " << row << " column " << column;
    }
}

TEST(Wmma, EveryShapeAndLayoutOfHalves) {
  for (auto [m, n] : {std::pair(16, 16), {8, 32}, {32, 8}})
    for (std::string a : {"row", "col"})
      for (std::string b : {"row", "col"})
        for (std::string c : {"row", "col"}) {
          checkWmma({m, n, 16, "f16", "f32", "f32", 16, 8, 8, 8, 8, a, b, c});
          checkWmma({m, n, 16, "f16", "f16", "f16", 16, 8, 8, 4, 4, a, b, c});
          checkWmma({m, n, 16, "f16", "f16", "f32", 16, 8, 8, 4, 8, a, b, c});
          checkWmma({m, n, 16, "bf16", "f32", "f32", 16, m / 4, n / 4, 8, 8, a, b, c});
        }
}

TEST(Wmma, WordsAndDoubles) {
  for (std::string layout : {"row", "col"}) {
    checkWmma({16, 16, 8, "tf32", "f32", "f32", 32, 4, 4, 8, 8, layout, layout, layout});
    checkWmma({8, 8, 4, "f64", "f64", "f64", 64, 1, 1, 2, 2, layout, layout, layout, ".rn"});
  }
}

TEST(Wmma, Integers) {
  for (std::string type : {"s8", "u8"})
    for (auto [m, n] : {std::pair(16, 16), {8, 32}, {32, 8}})
      for (std::string layout : {"row", "col"})
        checkWmma({m, n, 16, type, "s32", "s32", 8, m / 8, n / 8, 8, 8, layout, layout, layout,
                   layout == "row" ? ".satfinite" : ""});
  for (std::string type : {"s4", "u4"})
    checkWmma({8, 8, 32, type, "s32", "s32", 4, 1, 1, 2, 2});
  checkWmma({8, 8, 128, "b1", "s32", "s32", 1, 1, 1, 2, 2});
}

TEST(Wmma, MisalignedMatrixAndStride) {
  WmmaCase test{16, 16, 16, "f16", "f32", "f32", 16, 8, 8, 8, 8};
  std::vector<uint64_t> memory(1024);
  for (auto [strideA, offset] : {std::pair(18, 0), {16, 8}}) {
    std::string ptx = wmmaKernel(test, strideA, 16, 16);
    Gpu gpu(ptx);
    auto data = gpu.upload(memory);
    gpu.run("k", {1}, {32}, 0, data + offset, data, data, data);
    gpu.expectFinding(FindingKind::Misaligned, lineOf(ptx, "wmma.load.a"));
  }
}

struct FragmentCase {
  int m, n, k;
  std::string which, type;
  int bits, registers;
  // Row and column of element j of register w of lane 4g + t.
  std::pair<int, int> (*place)(int g, int t, int w, int j);
};

// Where Hopper has the elements: matrices hold their own indices.
const FragmentCase kFragments[] = {
    {16, 16, 16, "a", "f16", 16, 8,
     [](int g, int t, int w, int j) {
       return std::pair(g + 8 * (w & 1), 2 * t + 8 * (w % 4 >> 1) + j);
     }},
    {16, 16, 16, "b", "f16", 16, 8,
     [](int g, int t, int w, int j) {
       return std::pair(2 * t + 8 * (w & 1) + j, g + 8 * (w % 4 >> 1));
     }},
    {16, 16, 16, "a", "bf16", 16, 4,
     [](int g, int t, int w, int j) {
       return std::pair(g + 8 * (w & 1), 2 * t + 8 * (w >> 1) + j);
     }},
    {16, 16, 16, "b", "bf16", 16, 4,
     [](int g, int t, int w, int j) {
       return std::pair(2 * t + 8 * (w & 1) + j, g + 8 * (w >> 1));
     }},
    {16, 16, 16, "a", "s8", 8, 2,
     [](int g, int t, int w, int j) { return std::pair(g + 8 * w, 4 * t + j); }},
    {16, 16, 16, "b", "u8", 8, 2,
     [](int g, int t, int w, int j) { return std::pair(4 * t + j, g + 8 * w); }},
    {16, 16, 8, "a", "tf32", 32, 4,
     [](int g, int t, int w, int) { return std::pair(g + 8 * (w & 1), t + 4 * (w >> 1)); }},
    {16, 16, 8, "b", "tf32", 32, 4,
     [](int g, int t, int w, int) { return std::pair(t + 4 * (w & 1), g + 8 * (w >> 1)); }},
    {16, 16, 16, "c", "f32", 32, 8,
     [](int g, int t, int w, int) {
       return std::pair(g + 8 * (w >> 1 & 1), 2 * t + (w & 1) + 8 * (w >> 2));
     }},
    {16, 16, 16, "c", "f16", 16, 4,
     [](int g, int t, int w, int j) {
       return std::pair(g + 8 * (w & 1), 2 * t + j + 8 * (w >> 1));
     }},
    {32, 8, 16, "a", "f16", 16, 8,
     [](int g, int t, int w, int j) {
       return std::pair(g + 8 * (w & 1) + 16 * (w >> 2), 2 * t + 8 * (w >> 1 & 1) + j);
     }},
    {32, 8, 16, "b", "f16", 16, 8,
     [](int g, int t, int w, int j) { return std::pair(2 * t + 8 * (w & 1) + j, g); }},
    {32, 8, 16, "c", "f32", 32, 8,
     [](int g, int t, int w, int) { return std::pair(g + 8 * (w >> 1), 2 * t + (w & 1)); }},
    {8, 32, 16, "a", "f16", 16, 8,
     [](int g, int t, int w, int j) { return std::pair(g, 2 * t + 8 * (w & 1) + j); }},
    {8, 32, 16, "b", "f16", 16, 8,
     [](int g, int t, int w, int j) {
       return std::pair(2 * t + 8 * (w >> 1 & 1) + j, g + 8 * (w & 1) + 16 * (w >> 2));
     }},
    {8, 32, 16, "c", "f32", 32, 8,
     [](int g, int t, int w, int) { return std::pair(2 * t + (w & 1), g + 8 * (w >> 1)); }},
    {8, 8, 4, "a", "f64", 64, 1, [](int g, int t, int, int) { return std::pair(g, t); }},
    {8, 8, 4, "b", "f64", 64, 1, [](int g, int t, int, int) { return std::pair(t, g); }},
    {8, 8, 4, "c", "f64", 64, 2, [](int g, int t, int w, int) { return std::pair(g, 2 * t + w); }},
};

void checkFragment(const FragmentCase &test, const std::string &layout) {
  std::string name =
      "m" + std::to_string(test.m) + "n" + std::to_string(test.n) + "k" + std::to_string(test.k);
  SCOPED_TRACE(name + "." + test.which + "." + layout + "." + test.type);
  bool isWide = test.bits == 64;
  int rows = test.which == "b" ? test.k : test.m, columns = test.which == "a" ? test.k : test.n,
      bytes = isWide ? 8 : 4, perRegister = 8 * bytes / test.bits;
  int stride = layout == "row" ? columns : rows;
  std::string reg = isWide ? "b64" : "b32",
              ptx =
                  ".version 8.4\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p, "
                  ".param .u64 q)\n{\n  .reg .b64 %p, %q;\n  .reg .b32 %l;\n  .reg ." +
                  reg +
                  " %f<8>;\n  ld.param.u64 %p, [p];\n  ld.param.u64 %q, [q];\n  mov.u32 %l, "
                  "%laneid;\n  wmma.load." +
                  test.which + ".sync.aligned." + layout + "." + name + ".global." + test.type +
                  " " + registers("f", test.registers) + ", [%p], " + std::to_string(stride) +
                  ";\n  mad.wide.u32 %q, %l, " + std::to_string(bytes * test.registers) + ", %q;\n";
  for (int r = 0; r < test.registers; ++r)
    ptx += "  st.global." + reg + " [%q+" + std::to_string(r * bytes) + "], %f" +
           std::to_string(r) + ";\n";
  Gpu gpu(ptx + "  ret;\n}\n", "sm_90");
  Packed matrix{std::vector<uint64_t>(static_cast<size_t>(rows * columns * test.bits / 64)),
                test.bits};
  for (int i = 0; i < rows * columns; ++i)
    matrix.set(static_cast<size_t>(i), static_cast<uint64_t>(i));
  auto out = gpu.device->alloc(static_cast<size_t>(32 * test.registers * bytes));
  gpu.run("k", {1}, {32}, 0, gpu.upload(matrix.words), out);
  gpu.expectClean();
  Packed found{gpu.download<uint64_t>(out, static_cast<size_t>(32 * test.registers * bytes / 8)),
               test.bits};
  for (int lane = 0; lane < 32; ++lane)
    for (int i = 0; i < test.registers * perRegister; ++i) {
      auto [row, column] = test.place(lane / 4, lane % 4, i / perRegister, i % perRegister);
      int index = layout == "row" ? row * stride + column : column * stride + row;
      ASSERT_EQ(found.get(static_cast<size_t>(lane * test.registers * perRegister + i)),
                static_cast<uint64_t>(index))
          << "lane " << lane << " element " << i;
    }
}

TEST(Wmma, FragmentsLieAsOnHopper) {
  for (const FragmentCase &test : kFragments)
    for (std::string layout : {"row", "col"})
      checkFragment(test, layout);
}

// Programs that take wmma's fragments for those of mma.
TEST(Wmma, FragmentsAreThoseOfMma) {
  WmmaCase test{16, 16, 16, "f16", "f32", "f32", 16, 8, 8, 8, 8};
  std::string ptx = wmmaKernel(test, 16, 16, 16);
  size_t begin = ptx.find("  wmma.mma"), end = ptx.find('\n', begin);
  ptx.replace(
      begin, end - begin,
      R"(  mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3};
  mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%d4, %d5, %d6, %d7}, {%a0, %a1, %a2, %a3}, {%b2, %b3}, {%c4, %c5, %c6, %c7};)");
  std::mt19937 random(5);
  auto draw = [&](const char *type, int bits) {
    Packed matrix{std::vector<uint64_t>(static_cast<size_t>(256 * bits / 64)), bits};
    std::vector<int> values(256);
    for (size_t i = 0; i < 256; ++i)
      matrix.set(i, elementCode(type, values[i] = static_cast<int>(random() % 9) - 4));
    return std::pair(matrix, values);
  };
  auto [a, valuesA] = draw("f16", 16);
  auto [b, valuesB] = draw("f16", 16); // column by column
  auto [c, valuesC] = draw("f32", 32);
  Gpu gpu(ptx);
  auto result = gpu.device->alloc(1024);
  gpu.run("k", {1}, {32}, 0, gpu.upload(a.words), gpu.upload(b.words), gpu.upload(c.words), result);
  gpu.expectClean();
  auto sums = gpu.download<float>(result, 256);
  for (size_t row = 0; row < 16; ++row)
    for (size_t column = 0; column < 16; ++column) {
      int sum = valuesC[row * 16 + column];
      for (size_t k = 0; k < 16; ++k)
        sum += valuesA[row * 16 + k] * valuesB[column * 16 + k];
      ASSERT_EQ(sums[row * 16 + column], static_cast<float>(sum)) << row << " " << column;
    }
}

TEST(Wmma, UninitialisedRowsTaintOnlyTheirResults) {
  WmmaCase test{16, 16, 16, "f16", "f32", "f32", 16, 8, 8, 8, 8};
  std::string ptx = wmmaKernel(test, 16, 16, 16);
  Gpu gpu(ptx);
  auto zeros = gpu.upload(std::vector<uint64_t>(256)), partly = gpu.device->alloc(16 * 16 * 2),
       result = gpu.device->alloc(16 * 16 * 4);
  std::vector<uint16_t> rows(15 * 16); // all but the last
  gpu.device->copyToDevice(partly, rows.data(), rows.size() * 2);
  gpu.run("k", {1}, {32}, 0, partly, zeros, zeros, result);
  ASSERT_FALSE(gpu.findings.empty());
  for (const Finding &finding : gpu.findings) {
    EXPECT_EQ(finding.kind, FindingKind::Uninitialised);
    EXPECT_EQ(finding.ptxLine, lineOf(ptx, "wmma.store"));
    EXPECT_GE(finding.lane, 28u); // the last row is with the last four lanes
  }
}

} // namespace
} // namespace tile::vgpu
