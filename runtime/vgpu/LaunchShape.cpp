// Checks of launches before they run.
#include "runtime/vgpu/LaunchShape.h"

#include "runtime/vgpu/HostRequests.h"

#include <algorithm>
#include <cstring>

namespace tile::vgpu {
namespace {

// Limits for a block. Programs of PTX have as many registers as they like, and an emulated one
// takes memory in each warp.
constexpr uint64_t kMaxRegisterBytes = uint64_t{1} << 30;

std::string shapeText(const device::Dim3 &dim) {
  return std::to_string(dim.x) + "x" + std::to_string(dim.y) + "x" + std::to_string(dim.z);
}

void checkCluster(const Program &program, const device::LaunchConfig &config,
                  const std::string &kernel, const device::DeviceProps &props) {
  const device::Dim3 &cluster = config.cluster, &grid = config.grid;
  std::string text = shapeText(cluster);
  if (cluster.count() != 1 && props.arch < 90)
    throw Error(Fault::User, ErrorCode::Unsupported,
                kernel + "cluster " + text + ": " + props.target +
                    " has no clusters; open the device as sm_90a");
  if (cluster.count() == 0 || cluster.count() > static_cast<uint64_t>(props.maxClusterSize))
    fail(ErrorCode::InvalidArgument, kernel + "cluster " + text + " has 0 or more than " +
                                         std::to_string(props.maxClusterSize) + " blocks");
  if (grid.x % cluster.x || grid.y % cluster.y || grid.z % cluster.z)
    fail(ErrorCode::InvalidArgument,
         kernel + "grid " + shapeText(grid) + " is not a multiple of the cluster " + text);
  if (uint32_t most = program.entry->maxClusterRank; most && cluster.count() > most)
    fail(ErrorCode::InvalidArgument, kernel + "cluster " + text +
                                         ", but the kernel has .maxclusterrank " +
                                         std::to_string(most));
  const uint32_t(&required)[3] = program.entry->requiredCluster;
  if (required[0] && device::Dim3{required[0], required[1], required[2]} != cluster)
    fail(ErrorCode::InvalidArgument, kernel + "cluster " + text +
                                         ", but the kernel has .reqnctapercluster " +
                                         shapeText({required[0], required[1], required[2]}));
}

} // namespace

int maxThreads(const Function &function, const device::DeviceProps &props) {
  for (const uint32_t *limit : {function.requiredThreads, function.maxThreads})
    if (limit[0])
      return static_cast<int>(std::min<uint64_t>(1024, uint64_t{limit[0]} * limit[1] * limit[2]));
  return props.maxThreadsPerBlock;
}

void checkShape(const Program &program, const device::LaunchConfig &config,
                const device::DeviceProps &props) {
  std::string kernel = "launch of " + std::string(program.entry->name) + ": ";
  const device::Dim3 &grid = config.grid, &block = config.block;
  if (grid.x == 0 || grid.y == 0 || grid.z == 0 || grid.x > props.maxGrid.x ||
      grid.y > props.maxGrid.y || grid.z > props.maxGrid.z)
    fail(ErrorCode::InvalidArgument,
         kernel + "grid " + shapeText(grid) + " is outside 1x1x1 to " + shapeText(props.maxGrid));
  if (block.x == 0 || block.y == 0 || block.z == 0 || block.x > props.maxBlock.x ||
      block.y > props.maxBlock.y || block.z > props.maxBlock.z ||
      block.count() > static_cast<uint64_t>(props.maxThreadsPerBlock))
    fail(ErrorCode::InvalidArgument,
         kernel + "block " + shapeText(block) + " has 0 or more than 1024 threads");
  checkCluster(program, config, kernel, props);
  const uint32_t(&required)[3] = program.entry->requiredThreads;
  if (required[0] && device::Dim3{required[0], required[1], required[2]} != block)
    fail(ErrorCode::InvalidArgument, kernel + "block " + shapeText(block) +
                                         ", but the kernel has .reqntid " +
                                         shapeText({required[0], required[1], required[2]}));
  if (program.entry->maxThreads[0] &&
      block.count() > static_cast<uint64_t>(maxThreads(*program.entry, props)))
    fail(ErrorCode::InvalidArgument, kernel + std::to_string(block.count()) +
                                         " threads a block, but the kernel has .maxntid " +
                                         std::to_string(maxThreads(*program.entry, props)));
  uint64_t registerBytes = (block.count() + 31) / 32 * program.fileBytes;
  if (registerBytes > kMaxRegisterBytes)
    throw Error(Fault::User, ErrorCode::ResourceExceeded,
                kernel + "the virtual GPU needs " + std::to_string(registerBytes) +
                    " bytes for the registers of a block, more than " +
                    std::to_string(kMaxRegisterBytes) + ": declare fewer");
  size_t shared = size_t{program.dynamicSharedAddress - kSharedBase} + config.dynamicSharedBytes;
  if (config.dynamicSharedBytes == 0)
    shared = program.staticSharedBytes;
  if (shared > props.sharedPerBlockOptin)
    throw Error(Fault::User, ErrorCode::ResourceExceeded,
                kernel + std::to_string(program.staticSharedBytes) + " static + " +
                    std::to_string(config.dynamicSharedBytes) +
                    " dynamic bytes of shared memory, " + props.target + " has " +
                    std::to_string(props.sharedPerBlockOptin) + " a block");
}

std::vector<uint8_t> packArguments(const Program &program, std::span<const device::Arg> args) {
  std::string kernel = "launch of " + std::string(program.entry->name) + ": ";
  if (args.size() != program.params.size())
    fail(ErrorCode::InvalidArgument, kernel + std::to_string(args.size()) +
                                         " arguments, the kernel has " +
                                         std::to_string(program.params.size()) + " parameters");
  std::vector<uint8_t> bytes(program.paramBytes);
  for (size_t i = 0; i < args.size(); ++i) {
    const Program::Param &param = program.params[i];
    if (args[i].size != param.bytes)
      fail(ErrorCode::InvalidArgument, kernel + "argument " + std::to_string(i) + " has " +
                                           std::to_string(args[i].size) + " bytes, parameter " +
                                           std::string(param.name) + " has " +
                                           std::to_string(param.bytes));
    if (!args[i].data)
      fail(ErrorCode::InvalidArgument, kernel + "argument " + std::to_string(i) + " has no data");
    std::memcpy(bytes.data() + param.offset, args[i].data, param.bytes);
  }
  return bytes;
}

} // namespace tile::vgpu
