// wmma of every shape, type and layout against a scalar product of the matrices in memory.
#include "tests/runtime/vgpu/ElementCodes.h"
#include "tests/runtime/vgpu/Kernels.h"

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
    EXPECT_GE(finding.lane, 30u); // the last row is with the last two lanes
  }
}

} // namespace
} // namespace tile::vgpu
