#include "ir/target/Target.h"

#include <algorithm>
#include <array>
#include <charconv>

using tile::ir::Card;
using tile::ir::Feature;
using tile::ir::Target;

// A card of each architecture; of sm_86, sm_89 and sm_120 a GeForce, whose rate is half where sums
// are f32. clang-format off
static constexpr Card
    //                  f16    sums f16  f8     sums f16  i8    tf32   f32    f64    GB/s  L2  SMs  GHz
    kT4 = {"T4", "NVIDIA T4 data sheet", 65, 65, 0, 0, 130, 0, 8.1, 0.25, 320, 4, 40, 1.59},
    kA100 = {"A100 SXM 80 GB",
             "NVIDIA A100 Tensor Core GPU data sheet",
             312,
             312,
             0,
             0,
             624,
             156,
             19.5,
             9.7,
             2039,
             40,
             108,
             1.41},
    kRtx3090 = {"GeForce RTX 3090",
                "NVIDIA Ampere GA102 GPU Architecture whitepaper",
                71,
                142,
                0,
                0,
                284,
                35.6,
                35.6,
                0.556,
                936,
                6,
                82,
                1.695},
    kRtx4090 = {"GeForce RTX 4090",
                "NVIDIA Ada GPU Architecture whitepaper",
                165.2,
                330.3,
                330.3,
                660.6,
                660.6,
                82.6,
                82.6,
                1.29,
                1008,
                72,
                128,
                2.52},
    kH100 = {"H100 SXM 80 GB",
             "NVIDIA H100 Tensor Core GPU data sheet",
             989,
             989,
             1979,
             1979,
             1979,
             494,
             67,
             34,
             3350,
             50,
             132,
             1.83},
    kRtx5090 = {"GeForce RTX 5090",
                "NVIDIA RTX Blackwell GPU Architecture whitepaper",
                209.5,
                419,
                419,
                838,
                838,
                104.8,
                104.8,
                1.64,
                1792,
                96,
                170,
                2.407};

// Shared memory: Programming Guide table "Technical Specifications per Compute Capability": an SM
// has 64 / 164 / 100 / 100 / 228 / 100 KB, of which one block may use 64 / 163 / 99 / 99 / 227 / 99
// KB (since sm_80 1 KB is reserved for the system). LLVM has instructions for sm_120f that the
// virtual GPU does not know (maxima of three, sums of f16 and f32): GPUs of sm_12x run code for
// sm_89, which fits their shared memory as well. Cards of sm_12x have clusters of one block, and no
// multicast, though PTX for them has the instructions. PTX 8.4 brought mma of 8-bit floats, 8.8
// families of targets: code for sm_120f runs on all of sm_12x. Features: PTX ISA, the target notes
// of the instructions.
static constexpr bool yes = true, no = false;
static constexpr std::array<Target, 7> kTargets = {{
    //                                                                cp.async float8 stmatrix atomics clusters tma  launch wgmma
    {"sm_75", 75, 0, 64 * 1024, 64 * 1024, 65536, 1024, 1024, 16, no, no, no, no, no, no, no, no,
     kT4},
    {"sm_80", 80, 80, 163 * 1024, 164 * 1024, 65536, 2048, 1024, 32, yes, no, no, no, no, no, no,
     no, kA100},
    {"sm_86", 86, 80, 99 * 1024, 100 * 1024, 65536, 1536, 1024, 16, yes, no, no, no, no, no, no, no,
     kRtx3090},
    {"sm_89", 89, 84, 99 * 1024, 100 * 1024, 65536, 1536, 1024, 24, yes, yes, no, no, no, no, no,
     no, kRtx4090},
    {"sm_90", 90, 84, 227 * 1024, 228 * 1024, 65536, 2048, 1024, 32, yes, yes, yes, yes, yes, yes,
     yes, no, kH100},
    {"sm_90a", 90, 84, 227 * 1024, 228 * 1024, 65536, 2048, 1024, 32, yes, yes, yes, yes, yes, yes,
     yes, yes, kH100},
    {"sm_120f", 120, 0, 99 * 1024, 100 * 1024, 65536, 1536, 1024, 24, yes, yes, yes, yes, no, yes,
     yes, no, kRtx5090},
}};
// clang-format on

std::span<const Target> tile::ir::allGpus() { return kTargets; }

std::optional<Target> tile::ir::findGpu(std::string_view name) {
  for (const Target &target : kTargets)
    if (name == target.name)
      return target;
  return std::nullopt;
}

static bool isCompiledFor(const Target &target) { return target.ptxVersion > 0; }

std::optional<Target> tile::ir::findTarget(std::string_view name) {
  std::optional<Target> found = findGpu(name);
  return found && isCompiledFor(*found) ? found : std::nullopt;
}

static int numberIn(std::string_view name) {
  constexpr std::string_view kPrefix = "sm_";
  int number = 0;
  if (name.starts_with(kPrefix))
    std::from_chars(name.data() + kPrefix.size(), name.data() + name.size(), number);
  return number;
}

static bool isFamily(const Target &target) { return std::string_view(target.name).ends_with('f'); }

static bool isOfFamily(const Target &target, int smVersion) {
  return target.smVersion / 10 == smVersion / 10 && target.smVersion <= smVersion;
}

bool tile::ir::runsOn(const Target &target, std::string_view gpu) {
  if (gpu == target.name)
    return true;
  int smVersion = numberIn(gpu);
  for (const Target &family : kTargets)
    if (isFamily(family) && isOfFamily(family, smVersion) &&
        target.maxSharedBytesPerBlock > family.maxSharedBytesPerBlock)
      return false;
  if (isFamily(target))
    return isOfFamily(target, smVersion);
  return target.smVersion <= smVersion && !std::string_view(target.name).ends_with('a');
}

Target tile::ir::targetForGpu(std::string_view name) {
  if (std::optional<Target> own = findTarget(name))
    return *own;
  const Target *best = std::ranges::find_if(kTargets, isCompiledFor);
  for (const Target &target : kTargets)
    if (isCompiledFor(target) && runsOn(target, name) && target.smVersion > best->smVersion)
      best = &target;
  return *best;
}

const char *tile::ir::firstTargetWith(Feature feature) {
  const Target *first = std::ranges::find_if(kTargets, feature);
  return first == kTargets.end() ? "" : first->name;
}

std::vector<std::string> tile::ir::targetNames() {
  std::vector<std::string> names;
  for (const Target &target : kTargets)
    if (isCompiledFor(target))
      names.push_back(target.name);
  return names;
}

std::string tile::ir::knownTargets() {
  std::string text;
  for (const std::string &name : targetNames())
    text += (text.empty() ? "" : ", ") + name;
  return text;
}
