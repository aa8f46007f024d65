// Pipelines written by hand: copies of all kinds, products, clusters.
#include "tests/runtime/vgpu/HopperKernels.h"
#include "tests/runtime/vgpu/check/Mutants.h"

namespace tile::vgpu {
namespace {

using device::TensorMapParams;
using device::TensorMapType;

Subject pipeline(const std::string &name, const std::string &body, const Shape &shape = {}) {
  return {name, hopper(body), "sm_90a", [shape](Gpu &gpu) {
            std::vector<uint32_t> data(kBufferWords);
            std::iota(data.begin(), data.end(), 0u);
            gpu.data = gpu.upload(data);
            device::TensorMap map;
            if (shape.map) {
              TensorMapParams params = *shape.map;
              params.base += gpu.data;
              map = gpu.device->encodeTensorMap(params);
            }
            device::Arg args[] = {{&gpu.data, sizeof gpu.data}, {&map, sizeof map}};
            gpu.device->launch(gpu.device->getFunction(gpu.module, "k"),
                               {shape.grid, shape.block, shape.cluster, 0}, args);
            return gpu.download<uint8_t>(gpu.data, kBufferWords * 4);
          }};
}

// The first 4096 words of the buffer as `rank` dimensions, the inner ones of 64, 16 and 4 words.
TensorMapParams words(unsigned rank, std::array<uint32_t, 3> box) {
  TensorMapParams map;
  map.type = TensorMapType::U32;
  map.rank = rank;
  const std::array<uint64_t, 3> sizes[] = {{4096}, {64, 64}, {64, 16, 4}};
  uint64_t stride = 4;
  for (unsigned d = 0; d < rank; ++d) {
    map.dims[d] = sizes[rank - 1][d];
    map.box[d] = box[d];
    if (d)
      map.strides[d - 1] = stride;
    stride *= map.dims[d];
  }
  return map;
}

Subject withRegisters(Subject subject, unsigned registers) {
  subject.ptx = replaced(subject.ptx, "map[128])\n{",
                         "map[128])\n.maxnreg " + std::to_string(registers) + "\n{");
  return subject;
}

} // namespace

std::vector<Subject> pipelineSubjects() {
  const device::Dim3 pairs{2, 1, 1};
  const Shape plain, products{{1}, {256}, {}, {}}, cluster{{2}, {64}, pairs, {}};
  return {
      pipeline("bulk load", kBulkLoad),
      pipeline("ring", kRing),
      pipeline("bulk store", kBulkStore),
      pipeline("cluster", kCluster, {{4}, {64}, pairs, {}}),
      pipeline("stages", kStages),
      pipeline("multicast", kMulticast, cluster),
      pipeline("tensor ring 1d", tensorRing(1, "%r11"), {{1}, {64}, {}, words(1, {32})}),
      pipeline("tensor ring 2d", tensorRing(2, "%r11, 3"), {{1}, {64}, {}, words(2, {8, 4})}),
      pipeline("tensor ring 3d", tensorRing(3, "%r11, 3, 1"), {{1}, {64}, {}, words(3, {4, 4, 2})}),
      pipeline("tensor store",
               tensorStores("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group"),
               {{1}, {64}, {}, words(2, {8, 8})}),
      pipeline(
          "tensor reduction",
          tensorStores("cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group"),
          {{1}, {64}, {}, words(2, {8, 8})}),
      pipeline("multicast ring", kMulticastRing, {{2}, {64}, pairs, words(2, {8, 4})}),
      withRegisters(pipeline("products of descriptors", kDescriptorProducts, products), 128),
      withRegisters(pipeline("products of registers", kRegisterProducts, products), 128),
      pipeline("remote ring", kRemoteRing, cluster),
      pipeline("remote sums", kRemoteSums, cluster),
      pipeline("cluster rounds", kClusterRounds, cluster),
      pipeline("remote copy", kRemoteCopy, cluster),
      pipeline("arriving copies", kArrivingCopies, plain),
  };
}

} // namespace tile::vgpu
