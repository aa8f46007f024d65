// Mutants: of correct kernels every one that lacks one synchronising instruction, or has one of its numbers off by one, must
// be reported, refused, or give other bytes under some schedule. Those that do not are listed, with the reason.
#include "tests/runtime/vgpu/PipelineKernels.h"

#include <functional>
#include <regex>

namespace tile::vgpu {
namespace {

using Bytes = std::vector<uint8_t>;
// Runs one entry of a module on fixed inputs and returns all buffers.
using Runner = std::function<Bytes(Gpu &)>;

struct Subject {
  std::string name, ptx, target;
  Runner run;
};

struct Mutant {
  std::string what; // the line, and what became of it
  std::string ptx;
};

// Mutants that do not show: most order and count as much as the original does, a few are missed.
struct Silent {
  std::string subject, part, reason;
  bool isMissed = false;
};
const Silent kSilent[] = {
    {"multicast", "deleted: fence.mbarrier_init.release.cluster",
     "the barrier.cluster.arrive.release after it orders as much"},
    {"multicast", "line 42 deleted: barrier.cluster.wait.aligned",
     "a block waits for its own bytes, so none exits before the copy is done"},
    {"grid_fence", "line 151 deleted", "another barrier stands before the words are written again"},
    {"grid_fence", "line 295 deleted", "nothing is written to the words after it"},
    {"softmax", "line 315 deleted", "nothing is written to the words after it"},
    {"wmma_shared", "line 148 deleted", "another bar.warp.sync stands before the first load"},
    {"locked", "line 31 deleted: membar.gl",
     "counter and lock are strong, so they do not race, and they are executed in program order",
     true},
    {"locked", "line 38 deleted: membar.gl", "the same", true},
};

const char *const kSynchronising =
    R"((bar\.(sync|arrive|red)|bar\.warp\.sync|barrier\.|membar|fence|cp\.async\.(wait|commit|mbarrier|bulk\.(wait|commit))|mbarrier\.|atom\.[a-z.]*(acq|rel)))";

bool isMatch(const std::string &line, const std::string &pattern) {
  return std::regex_search(line, std::regex(R"(^\s*(@!?%[a-z0-9]+ )?)" + pattern));
}

std::string trimmed(const std::string &line) {
  size_t begin = line.find_first_not_of(" \t");
  return begin == std::string::npos ? "" : line.substr(begin);
}

// The line with its `which`th number replaced by one more or less, or nothing.
std::optional<std::string> shifted(const std::string &line, const char *pattern, int by) {
  std::smatch match;
  if (!std::regex_search(line, match, std::regex(pattern)))
    return std::nullopt;
  long long number = std::stoll(match[1]) + by;
  if (number < 0)
    return std::nullopt;
  return match.prefix().str() +
         match.str().replace(static_cast<size_t>(match.position(1) - match.position(0)),
                             static_cast<size_t>(match.length(1)), std::to_string(number)) +
         match.suffix().str();
}

// Stages, phases, parities, counts: the last number of these instructions, and how far to shift it.
struct Number {
  const char *instruction, *pattern;
  int by;
};
constexpr Number kNumbers[] = {
    {R"(cp\.async\.(bulk\.)?wait_group)", R"((\d+);)", 1},
    {R"(mbarrier\.(try|test)_wait)", R"(, (\d+);)", 1},
    {R"(mbarrier\.init)", R"(, (\d+);)", 1},
    {R"(mbarrier\.arrive\.expect_tx)", R"(, (\d+);)", 16},
    {R"(mbarrier\.arrive\.expect_tx)", R"(, (\d+);)", -16},
    {R"(xor\.b32 %r3, %r3)", R"(, (\d+);)", -1},
    {R"(and\.b32 %r2, %r1)", R"(, (\d+);)", -1},
    {R"(bar\.(sync|arrive) \d+, )", R"(, (\d+);)", 32},
};

std::vector<Mutant> mutantsOf(const std::string &ptx) {
  std::vector<std::string> lines;
  std::stringstream text(ptx);
  for (std::string line; std::getline(text, line);)
    lines.push_back(line);
  std::vector<Mutant> mutants;
  auto add = [&](size_t at, const std::string &line, const std::string &what) {
    std::string all;
    for (size_t i = 0; i < lines.size(); ++i)
      all += (i == at ? line : lines[i]) + "\n";
    mutants.push_back({"line " + std::to_string(at + 1) + " " + what, all});
  };
  for (size_t i = 0; i < lines.size(); ++i) {
    const std::string &line = lines[i];
    bool isLoop =
        i > 0 && isMatch(lines[i - 1], R"(mbarrier\.(try|test)_wait)") && isMatch(line, R"(bra)");
    if ((isMatch(line, kSynchronising) && !isMatch(line, R"(mbarrier\.(try|test)_wait)")) || isLoop)
      add(i, "//" + line, "deleted: " + trimmed(line));
    for (const Number &number : kNumbers)
      if (isMatch(line, number.instruction))
        if (auto other = shifted(line, number.pattern, number.by))
          add(i, *other, "shifted: " + trimmed(*other));
  }
  return mutants;
}

// True if something shows: a refusal, a finding, other bytes.
bool shows(const Subject &subject, const std::string &ptx, const Bytes &expected) {
  for (auto [schedule, seed] : kSchedules) {
    try {
      Gpu gpu(ptx, subject.target);
      gpu.device->setSchedule(schedule, seed);
      if (subject.run(gpu) != expected || !gpu.findings.empty())
        return true;
    } catch (const Error &) {
      return true;
    }
  }
  return false;
}

template <class T> Bytes bytesOf(Gpu &gpu, device::DevicePtr pointer, size_t count) {
  return gpu.download<uint8_t>(pointer, count * sizeof(T));
}

std::vector<int> numbers(size_t count) {
  std::vector<int> values(count);
  for (size_t i = 0; i < count; ++i)
    values[i] = static_cast<int>(i * 2654435761u >> 20) - 1000;
  return values;
}
std::vector<float> fractions(size_t count) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i)
    values[i] = static_cast<float>(i * 2654435761u >> 24) / 32 - 3;
  return values;
}

// One entry of a compiled module.
Subject compiled(const std::string &file, const std::string &entry, Runner run,
                 const std::string &target = "sm_80") {
  return {entry, kernelText(file + ".ptx"), target, std::move(run)};
}

// Mutants only where `entry` is; modules hold several.
std::vector<Mutant> mutantsOf(const Subject &subject) {
  size_t begin = subject.ptx.find(".entry " + subject.name + "(");
  if (begin == std::string::npos)
    return mutantsOf(subject.ptx);
  size_t end = subject.ptx.find("\n}", begin);
  std::string head = subject.ptx.substr(0, begin), tail = subject.ptx.substr(end);
  std::vector<Mutant> mutants = mutantsOf(subject.ptx.substr(begin, end - begin));
  for (Mutant &mutant : mutants)
    mutant.ptx = head + mutant.ptx + tail;
  return mutants;
}

std::vector<Subject> compiledSubjects() {
  std::vector<Subject> all;
  all.push_back(compiled("block_sum", "block_sum", [](Gpu &gpu) {
    auto in = gpu.upload(fractions(512)), out = gpu.upload(std::vector<float>(2));
    gpu.run("block_sum", {2}, {256}, 0, in, out, 512);
    return bytesOf<float>(gpu, out, 2);
  }));
  all.push_back(compiled("control", "last_block", [](Gpu &gpu) {
    auto in = gpu.upload(numbers(512)), partial = gpu.upload(std::vector<int>(4)),
         out = gpu.upload(std::vector<int>(1));
    gpu.run("last_block", {4}, {128}, 0, in, partial, out, 512);
    return bytesOf<int>(gpu, out, 1);
  }));
  all.push_back(compiled("reduce", "block_tree", [](Gpu &gpu) {
    auto in = gpu.upload(numbers(512)), out = gpu.upload(std::vector<int>(2));
    gpu.run("block_tree", {2}, {128}, 512, in, out, 512);
    return bytesOf<int>(gpu, out, 2);
  }));
  all.push_back(compiled("reduce", "grid_fence", [](Gpu &gpu) {
    std::vector<double> values(512);
    std::iota(values.begin(), values.end(), 0.25);
    auto in = gpu.upload(values), partial = gpu.upload(std::vector<double>(4)),
         out = gpu.upload(std::vector<double>(1));
    gpu.run("grid_fence", {4}, {256}, 0, in, partial, out, 512);
    return bytesOf<double>(gpu, out, 1);
  }));
  all.push_back(compiled("scan", "scan_block", [](Gpu &gpu) {
    auto in = gpu.upload(numbers(256)), out = gpu.upload(std::vector<int>(256));
    gpu.run("scan_block", {2}, {128}, 0, in, out, 256);
    return bytesOf<int>(gpu, out, 256);
  }));
  all.push_back(compiled("scan", "scan_hillis_steele", [](Gpu &gpu) {
    auto in = gpu.upload(fractions(128)), out = gpu.upload(std::vector<float>(128));
    gpu.run("scan_hillis_steele", {1}, {128}, 1024, in, out);
    return bytesOf<float>(gpu, out, 128);
  }));
  all.push_back(compiled("softmax", "softmax", [](Gpu &gpu) {
    auto in = gpu.upload(fractions(600)), out = gpu.upload(std::vector<float>(600));
    gpu.run("softmax", {2}, {256}, 0, in, out, 300);
    return bytesOf<float>(gpu, out, 600);
  }));
  all.push_back(compiled("normalise", "softmax_online", [](Gpu &gpu) {
    auto in = gpu.upload(fractions(600)), out = gpu.upload(std::vector<float>(600));
    gpu.run("softmax_online", {2}, {256}, 0, in, out, 300);
    return bytesOf<float>(gpu, out, 600);
  }));
  all.push_back(compiled("sort", "bitonic", [](Gpu &gpu) {
    auto data = gpu.upload(numbers(256));
    gpu.run("bitonic", {1}, {256}, 1024, data);
    return bytesOf<int>(gpu, data, 256);
  }));
  all.push_back(compiled("sort", "radix_pass", [](Gpu &gpu) {
    auto in = gpu.upload(numbers(256)), out = gpu.upload(std::vector<int>(256));
    gpu.run("radix_pass", {1}, {256}, 0, in, out, 4);
    return bytesOf<int>(gpu, out, 256);
  }));
  all.push_back(compiled("tables", "histogram", [](Gpu &gpu) {
    auto in = gpu.upload(numbers(64)), bins = gpu.upload(std::vector<int>(256));
    gpu.run("histogram", {2}, {128}, 0, in, bins, 256);
    return bytesOf<int>(gpu, bins, 256);
  }));
  all.push_back(compiled("tables", "transpose_padded", [](Gpu &gpu) {
    auto in = gpu.upload(fractions(64 * 32)), out = gpu.upload(std::vector<float>(64 * 32));
    gpu.run("transpose_padded", {1, 2}, {32, 8}, 0, in, out, 64, 32);
    return bytesOf<float>(gpu, out, 64 * 32);
  }));
  all.push_back(compiled("tables", "stencil", [](Gpu &gpu) {
    auto in = gpu.upload(fractions(1024)), out = gpu.upload(std::vector<float>(1024));
    gpu.run("stencil", {2, 2}, {16, 16}, 0, in, out, 32, 32);
    return bytesOf<float>(gpu, out, 1024);
  }));
  all.push_back(compiled("memory", "reverse_dynamic", [](Gpu &gpu) {
    auto in = gpu.upload(numbers(128)), out = gpu.upload(std::vector<int>(128));
    gpu.run("reverse_dynamic", {2}, {64}, 64 * 12, in, out, 128);
    return bytesOf<int>(gpu, out, 128);
  }));
  all.push_back(compiled("memory", "chain", [](Gpu &gpu) {
    auto flags = gpu.upload(std::vector<int>(6)), values = gpu.upload(std::vector<int>(6));
    gpu.run("chain", {6}, {32}, 0, flags, values);
    return bytesOf<int>(gpu, values, 6);
  }));
  all.push_back(compiled("memory", "locked", [](Gpu &gpu) {
    auto lock = gpu.upload(std::vector<int>(1)), counter = gpu.upload(std::vector<int>(1)),
         history = gpu.upload(std::vector<int>(64, -1));
    gpu.run("locked", {2}, {32}, 0, lock, counter, history);
    return bytesOf<int>(gpu, counter, 1);
  }));
  all.push_back(compiled("matmul_stages", "matmul_stages", [](Gpu &gpu) {
    int n = 64, k = 64;
    auto a = gpu.upload(fractions(64 * 64)), b = gpu.upload(fractions(64 * 64)),
         c = gpu.upload(std::vector<float>(64 * 64));
    gpu.run("matmul_stages", {2, 2}, {64}, 0, a, b, c, n, k);
    return bytesOf<float>(gpu, c, 64 * 64);
  }));
  all.push_back(compiled("matmul_mma", "matmul_mma", [](Gpu &gpu) {
    int m = 64, n = 64, k = 128;
    auto a = gpu.upload(std::vector<uint16_t>(64 * 128, 0x3c00)),
         b = gpu.upload(std::vector<uint16_t>(64 * 128, 0x3800)),
         c = gpu.upload(std::vector<float>(64 * 64));
    gpu.run("matmul_mma", {1}, {128}, 0, a, b, c, m, n, k);
    return bytesOf<float>(gpu, c, 64 * 64);
  }));
  all.push_back(compiled("matmul_wmma", "wmma_shared", [](Gpu &gpu) {
    auto a = gpu.upload(std::vector<uint16_t>(256, 0x3c00)),
         b = gpu.upload(std::vector<uint16_t>(256, 0x3800)),
         c = gpu.upload(std::vector<float>(256));
    gpu.run("wmma_shared", {1}, {32}, 0, a, b, c);
    return bytesOf<float>(gpu, c, 256);
  }));
  all.push_back(compiled(
      "hopper_warp", "store_matrices",
      [](Gpu &gpu) {
        auto in = gpu.upload(numbers(64)), out = gpu.upload(std::vector<int>(64));
        gpu.run("store_matrices", {1}, {32}, 0, in, out);
        return bytesOf<int>(gpu, out, 64);
      },
      "sm_90a"));
  return all;
}

Subject pipeline(const std::string &name, const std::string &body, const Shape &shape = {}) {
  return {name, hopper(body), "sm_90a", [shape](Gpu &gpu) {
            std::vector<uint32_t> data(kBufferWords);
            std::iota(data.begin(), data.end(), 0u);
            gpu.data = gpu.upload(data);
            device::TensorMap map;
            device::Arg args[] = {{&gpu.data, sizeof gpu.data}, {&map, sizeof map}};
            gpu.device->launch(gpu.device->getFunction(gpu.module, "k"),
                               {shape.grid, shape.block, shape.cluster, 0}, args);
            return gpu.download<uint8_t>(gpu.data, kBufferWords * 4);
          }};
}

std::vector<Subject> subjects() {
  std::vector<Subject> all = compiledSubjects();
  all.push_back(pipeline("bulk load", kBulkLoad));
  all.push_back(pipeline("ring", kRing));
  all.push_back(pipeline("bulk store", kBulkStore));
  all.push_back(pipeline("cluster", kCluster, {{4}, {64}, {2, 1, 1}, {}}));
  all.push_back(pipeline("stages", kStages));
  all.push_back(pipeline("multicast", kMulticast, {{2}, {64}, {2, 1, 1}, {}}));
  return all;
}

const Silent *silence(const Subject &subject, const Mutant &mutant) {
  for (const Silent &known : kSilent)
    if (subject.name == known.subject && mutant.what.find(known.part) != std::string::npos)
      return &known;
  return nullptr;
}

TEST(Mutations, EveryMutantShows) {
  int killed = 0, equivalent = 0, missed = 0;
  for (const Subject &subject : subjects()) {
    Gpu gpu(subject.ptx, subject.target);
    Bytes expected = subject.run(gpu);
    gpu.expectClean();
    ASSERT_FALSE(shows(subject, subject.ptx, expected)) << subject.name;
    for (const Mutant &mutant : mutantsOf(subject)) {
      bool found = shows(subject, mutant.ptx, expected);
      const Silent *known = silence(subject, mutant);
      if (known) {
        EXPECT_FALSE(found) << subject.name << ": shows, though " << known->reason << ": "
                            << mutant.what;
        (known->isMissed ? missed : equivalent) += 1;
        continue;
      }
      killed += found;
      EXPECT_TRUE(found) << subject.name << ": survives: " << mutant.what;
    }
  }
  std::printf("%d mutants, %d equivalent; of the others %d show and %d are missed: %.1f %%\n",
              killed + equivalent + missed, equivalent, killed, missed,
              100.0 * killed / (killed + missed));
}

} // namespace
} // namespace tile::vgpu
