// The frame of each kernel, and the values it meets.
#include "tests/fuzz/addresses/HostileKernel.h"

#include "runtime/vgpu/machine/Memory.h"
#include "tests/fuzz/addresses/Instructions.h"

namespace tile::fuzz {
namespace {

constexpr uint64_t kSharedBytes = 2048; // of the kernel below

uint64_t near(Draw &draw, uint64_t place) {
  static constexpr uint64_t kSteps[] = {0, 1, 2, 4, 8, 15, 16, 17, 32, 64, 112, 128, 256, 1024};
  uint64_t step = draw.oneOf(kSteps), address = draw.oneIn(2) ? place + step : place - step;
  // Misaligned ones are reported before anything else.
  static constexpr uint64_t kAlignments[] = {1, 16, 16, 128};
  return address & ~(draw.oneOf(kAlignments) - 1);
}

// Where memories and windows begin and end.
uint64_t drawAddress(Draw &draw, uint64_t buffer) {
  if (draw.oneIn(2)) { // inside, with offsets and distances that may lead out
    const uint64_t memories[] = {vgpu::kSharedBase, vgpu::kSharedBase, buffer};
    return draw.oneOf(memories) + 128 * draw.below(15);
  }
  uint64_t shared = draw.oneIn(2) ? vgpu::kSharedBase : vgpu::kSharedBase + kSharedBytes;
  uint64_t window = vgpu::sharedWindowOf(draw.below(4)), end = uint64_t{1} << 40;
  const uint64_t places[] = {
      shared,
      shared + window,
      shared + window,
      vgpu::kSharedWindow + shared,
      vgpu::kSharedWindow + shared + window,
      vgpu::kSharedWindow + end,
      vgpu::kLocalWindow,
      vgpu::kLocalWindow + 64,
      vgpu::kLocalWindow + end,
      vgpu::kParamWindow,
      vgpu::kParamWindow + 156,
      vgpu::kParamWindow + end,
      vgpu::kGlobalBase,
      buffer,
      buffer,
      buffer + kHostileBufferBytes,
      buffer + kHostileBufferBytes,
      0,
      64,
      156,
      uint64_t{1} << 31,
      uint64_t{1} << 32,
      uint64_t{1} << 63,
      ~uint64_t{0} - 15,
      draw.bits(),
      draw.bits() >> 24,
  };
  return near(draw, draw.oneOf(places));
}

// Mostly what kernels have: lanes that are inside follow from it.
uint64_t drawDistance(Draw &draw) {
  if (!draw.oneIn(4)) {
    static constexpr uint64_t kUsual[] = {0, 0, 4, 8, 16};
    return draw.oneOf(kUsual);
  }
  const uint64_t distances[] = {0,
                                0,
                                4,
                                8,
                                16,
                                16,
                                32,
                                128,
                                ~uint64_t{3},
                                ~uint64_t{15},
                                1u << 24,
                                uint64_t{1} << 32,
                                2,
                                1,
                                uint64_t{1} << 59,
                                draw.bits()};
  return draw.oneOf(distances);
}

uint32_t drawSize(Draw &draw) {
  const uint32_t sizes[] = {0,    1,    4,           16,          32,         64,
                            128,  1024, 2048,        2064,        0x7fffffff, 0x80000000,
                            4096, 7,    0xfffffff0u, 0xffffffffu, 0x100000u,  draw.below(4096)};
  return draw.oneOf(sizes);
}

device::TensorMapParams drawMap(Draw &draw, uint64_t buffer) {
  using namespace device;
  device::TensorMapParams map;
  const TensorMapType types[] = {TensorMapType::U8,  TensorMapType::U16, TensorMapType::F32,
                                 TensorMapType::U32, TensorMapType::U64, TensorMapType::BF16};
  map.type = draw.oneOf(types);
  map.rank = 1 + draw.below(5);
  map.base = buffer + 16 * draw.below(64);
  map.swizzle = static_cast<TensorMapSwizzle>(draw.below(4));
  map.fill = map.type == TensorMapType::F32 ? static_cast<TensorMapFill>(draw.below(2))
                                            : TensorMapFill::Zero;
  uint64_t size = sizeOf(map.type);
  uint32_t span = spanOf(map.swizzle) ? spanOf(map.swizzle) : 128;
  for (uint32_t d = 0; d < map.rank; ++d) {
    const uint64_t extents[] = {1, 3, 16, 64, 4096, uint64_t{1} << 31, uint64_t{1} << 32};
    map.dims[d] = draw.oneOf(extents);
    map.box[d] =
        d ? 1 + draw.below(8) : static_cast<uint32_t>(16 / size * (1 + draw.below(span / 16)));
    const uint64_t strides[] = {
        16, 64, 128, 256, 1024, 4096, uint64_t{1} << 32, (uint64_t{1} << 40) - 16};
    if (d)
      map.strides[d - 1] = draw.oneOf(strides);
  }
  return map;
}

} // namespace

HostileKernel hostileKernel(uint64_t seed, uint64_t buffer) {
  Draw draw(seed);
  HostileKernel kernel;
  kernel.address = drawAddress(draw, buffer);
  kernel.laneDistance = drawDistance(draw);
  kernel.size = drawSize(draw);
  kernel.cluster = 1 + draw.below(2);
  kernel.map = drawMap(draw, buffer);
  std::string body;
  for (uint32_t i = 0, count = 1 + draw.below(3); i < count; ++i)
    body += drawInstruction(draw, kernel.map.rank);
  kernel.ptx = R"(.version 8.4
.target sm_90a
.address_size 64
.extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);
.visible .entry k(.param .u64 buffer, .param .u64 address, .param .u64 distance, .param .u32 size, .param .align 64 .b8 map[128])
{
  .reg .pred %p<4>;
  .reg .b16 %h<8>;
  .reg .b32 %r<32>;
  .reg .b64 %rd<16>;
  .reg .f32 %f<64>;
  .reg .b32 %lane, %narrow, %size;
  .reg .b64 %wide, %buffer, %map, %distance, %first;
  .shared .align 128 .b8 tile[1984];
  .shared .align 8 .b64 bars[8];
  .local .align 16 .b8 own[64];
  ld.param.u64 %buffer, [buffer];
  ld.param.u64 %first, [address];
  ld.param.u64 %distance, [distance];
  ld.param.u32 %size, [size];
  mov.b64 %map, map;
  cvta.param.u64 %map, %map;
  mov.u32 %lane, %laneid;
  cvt.u64.u32 %wide, %lane;
  mad.lo.u64 %wide, %wide, %distance, %first;
  cvt.u32.u64 %narrow, %wide;
  mov.u32 %r0, tile; // what is named takes space
  mov.u64 %rd0, own;
  mov.b16 %h1, 3;
  mov.u32 %r0, %tid.x;
  setp.eq.u32 %p0, %r0, 0;
  @%p0 mbarrier.init.shared.b64 [bars], 1;
  fence.proxy.async;
  bar.sync 0;
)" + body + R"(  cp.async.wait_all;
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group 0;
  ret;
}
)";
  return kernel;
}

} // namespace tile::fuzz
