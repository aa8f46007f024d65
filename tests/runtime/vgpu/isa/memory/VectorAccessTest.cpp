// Loads and stores of vectors: every size, all lanes or some, with checks and without, which go different ways.
#include "tests/runtime/vgpu/Kernels.h"

namespace tile::vgpu {
namespace {

struct VectorCase {
  int elements, bits;
  std::string space;
  int lanes; // that take part
};

std::string registers(const VectorCase &test) {
  if (test.elements == 1)
    return "%v0";
  std::string list = "{";
  for (int i = 0; i < test.elements; ++i)
    list += (i ? ", %v" : "%v") + std::to_string(i);
  return list + "}";
}

// Lane l copies vector l of the input, by way of shared memory if so asked, to vector 31 - l of the output.
std::string copyKernel(const VectorCase &test) {
  std::string type = (test.elements > 1 ? ".v" + std::to_string(test.elements) : "") + ".b" +
                     std::to_string(test.bits),
              bytes = std::to_string(test.elements * test.bits / 8), list = registers(test);
  std::string ptx = ".version 8.0\n.target sm_80\n.address_size 64\n"
                    ".visible .entry k(.param .u64 in, .param .u64 out)\n{\n"
                    "  .reg .b32 %l, %m, %s;\n  .reg .b64 %p, %q;\n  .reg .pred %c;\n"
                    "  .reg .b" +
                    std::to_string(test.bits) +
                    " %v<4>;\n  .shared .align 32 .b8 tile[1024];\n"
                    "  ld.param.u64 %p, [in];\n  ld.param.u64 %q, [out];\n"
                    "  mov.u32 %l, %laneid;\n  setp.ge.u32 %c, %l, " +
                    std::to_string(test.lanes) + ";\n  @%c bra END;\n  sub.u32 %m, 31, %l;\n" +
                    "  mad.wide.u32 %p, %l, " + bytes + ", %p;\n  mad.wide.u32 %q, %m, " + bytes +
                    ", %q;\n  mov.u32 %s, tile;\n  mad.lo.u32 %s, %l, " + bytes + ", %s;\n" +
                    "  ld.global" + type + " " + list + ", [%p];\n";
  if (test.space == "shared")
    ptx += "  st.shared" + type + " [%s], " + list + ";\n  ld.shared" + type + " " + list +
           ", [%s];\n";
  return ptx + "  st.global" + type + " [%q], " + list + ";\nEND:\n  ret;\n}\n";
}

TEST(VectorAccess, ElementsKeepTheirPlaces) {
  for (int elements : {1, 2, 4})
    for (int bits : {16, 32, 64})
      for (std::string space : {"global", "shared"})
        for (int lanes : {32, 19})
          for (std::string checks : {"none", "all"}) {
            VectorCase test{elements, bits, space, lanes};
            Gpu gpu(copyKernel(test), "sm_80", checks);
            size_t vectorBytes = static_cast<size_t>(elements * bits / 8);
            std::vector<uint8_t> data(32 * vectorBytes);
            for (size_t i = 0; i < data.size(); ++i)
              data[i] = static_cast<uint8_t>(i * 7 + i / 256);
            auto in = gpu.upload(data), out = gpu.upload(std::vector<uint8_t>(data.size()));
            gpu.run("k", {1}, {32}, 0, in, out);
            gpu.expectClean();
            std::vector<uint8_t> expected(data.size());
            for (int lane = 0; lane < lanes; ++lane)
              std::copy_n(data.begin() + lane * static_cast<ptrdiff_t>(vectorBytes), vectorBytes,
                          expected.begin() + (31 - lane) * static_cast<ptrdiff_t>(vectorBytes));
            EXPECT_EQ(gpu.download<uint8_t>(out, data.size()), expected)
                << "v" << elements << ".b" << bits << " " << space << ", " << lanes << " lanes, "
                << checks;
          }
}

} // namespace
} // namespace tile::vgpu
