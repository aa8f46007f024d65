// What a report says that a launch does is what it does: for every op by name the virtual GPU runs the very kernels that were
// reported, and its counters say how many bytes were read and written and how many products summed. Where the report cannot know
// it must say so.
#include "codegen/report/KernelReport.h"
#include "codegen/report/Roofline.h"
#include "runtime/host/State.h"
#include "runtime/jit/Compile.h"
#include "runtime/jit/Launch.h"
#include "runtime/vgpu/VgpuDevice.h"
#include "tests/ops/OpExamples.h"

#include <tile/Ops.h>
#include <tile/Registry.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

using namespace tile;

namespace {

/// Sums over the launches of one op.
struct Work {
  double read = 0, written = 0, distinctRead = 0, distinctWritten = 0, macs = 0;
  std::vector<std::string> unknown, atMost;
};

Work &operator+=(Work &sum, const codegen::LaunchWork &launch) {
  EXPECT_TRUE(launch.isOfLaunch);
  if (!launch.unknown.empty())
    sum.unknown.push_back(launch.unknown);
  sum.atMost.insert(sum.atMost.end(), launch.atMost.begin(), launch.atMost.end());
  sum.read += launch.bytesRead, sum.written += launch.bytesWritten;
  sum.distinctRead += launch.distinctRead, sum.distinctWritten += launch.distinctWritten;
  for (auto &[unit, flops] : launch.flops)
    if (unit.starts_with("tensor core"))
      sum.macs += flops / 2;
  return sum;
}

/// Copies of the engine are counted by the bytes of their boxes, other accesses by the distinct ones that each asks for.
Work counted(const vgpu::VirtualDevice &gpu) {
  Work work;
  for (const vgpu::LineCounters &line : gpu.countersByLine()) {
    const std::string &ptx = line.ptxText;
    auto has = [&](const char *word) { return ptx.find(word) != ptx.npos; };
    if (ptx.find("ld.const") != ptx.npos)
      continue; // tables of the library of functions
    const vgpu::Counters &c = line.counters;
    bool isAtomic = line.kind == vgpu::InstructionClass::Atomic;
    bool isStore = !isAtomic && (has("st.global") || has("st.relaxed") || has("st.volatile") ||
                                 has(".global.shared::cta"));
    auto bytes = static_cast<double>(has(".bulk") ? c.asyncBytes : c.globalBytesUsed);
    (isStore ? work.written : work.read) += bytes;
    if (isAtomic)
      work.written += bytes;
  }
  vgpu::Counters all = gpu.counters();
  constexpr double kSector = vgpu::Counters::kSectorBytes;
  work.macs = static_cast<double>(all.macs);
  work.distinctRead = kSector * static_cast<double>(all.distinctSectorsLoaded);
  work.distinctWritten = kSector * static_cast<double>(all.distinctSectorsStored);
  return work;
}

/// An op's launches are reported, and then carried out as reported.
class ReportedOp {
public:
  ReportedOp(const std::string &target, std::string name,
             std::map<std::string, std::string> settings)
      : target_(target), name_(std::move(name)), settings_(std::move(settings)) {
    settings_.setTarget(target);
    gpu_->setCounters(true);
  }

  /// What the reports say; `counters` what is counted.
  Work run(Work &counters) {
    const OpEntry &op = *findOp(name_);
    OpSettings call = settings_.forExample(op.settings);
    std::vector<Tensor> inputs, outputs;
    // Boxes of TMA are counted whole: extents are multiples of them where there are any.
    int64_t extent = target_ == "sm_90a" ? 256 : 200;
    for (const TensorSpec &spec : test::exampleInputs(op, settings_, extent))
      inputs.push_back(zeros(spec));
    for (const TensorSpec &spec : op.outputs(inputs, call))
      outputs.push_back(zeros(spec));
    detail::LaunchTaker take =
        [&](const detail::KernelRecord &record, std::span<const HostArg> args,
            std::span<const int64_t> constants, const detail::CompileSettings &compile) {
          codegen::CompileOptions options;
          options.target = target_, options.keepReport = true;
          codegen::CompiledKernel kernel = jit::compileRequest(
              {record, {constants.begin(), constants.end()}, compile, {args.begin(), args.end()}},
              options);
          sum_ += kernel.report->launch;
          stream_.synchronize();
          jit::launchCompiled(device_, kernel, args, {});
        };
    stream_.state().taker = &take;
    op.run(stream_, inputs, outputs, call);
    stream_.state().taker = nullptr;
    stream_.synchronize();
    counters = counted(*gpu_);
    return sum_;
  }

  const vgpu::VirtualDevice &gpu() const { return *gpu_; }

private:
  Tensor zeros(const TensorSpec &spec) {
    Tensor tensor = stream_.tensor(spec.dtype, spec.extents);
    std::vector<std::byte> bytes(tensor.bytes());
    tensor.uploadBytes(bytes.data(), bytes.size());
    return tensor;
  }

  std::string target_, name_;
  OpSettings settings_;
  std::shared_ptr<device::Device> raw_ = device::openVirtual({.target = target_, .checks = "none"});
  std::shared_ptr<vgpu::VirtualDevice> gpu_ = vgpu::asVirtual(raw_);
  Device device_ = Device::wrap(raw_, "virtual");
  Stream stream_ = device_.stream();
  Work sum_;
};

// Sectors are fetched whole, also where a row ends in one, and functions such as sin have tables in memory. What a report
// bounds from above may be less, down to nothing.
void expectNear(double reported, double counted, bool isBound, const char *what) {
  double tolerance = 0.05 * std::max(reported, counted) + 2048;
  EXPECT_GE(reported + tolerance, counted) << what;
  if (!isBound)
    EXPECT_LE(reported - tolerance, counted) << what;
}

/// Ops whose course follows from what is in memory: lengths of sequences, indices.
const std::set<std::string> kUnknown = {"decode_attention", "embedding_backward"};

/// Ops that leave out elements, or find their place, by what is in memory: no more bytes than reported.
const std::set<std::string> kBounded = {"cross_entropy", "embedding", "kv_cache_append",
                                        "sample_top_k", "top_k"};

class EveryOp : public testing::TestWithParam<const char *> {};

TEST_P(EveryOp, DoesWhatItsReportSays) {
  bool isTma = std::string(GetParam()) == "sm_90a";
  for (const std::string &name : opNames()) {
    SCOPED_TRACE(name);
    Work counters;
    Work report =
        ReportedOp(GetParam(), name, test::smallSettings(*findOp(name), isTma ? "256" : "200"))
            .run(counters);
    EXPECT_EQ(!report.unknown.empty(), kUnknown.contains(name))
        << (report.unknown.empty() ? "known" : report.unknown[0]);
    if (!report.unknown.empty()) {
      EXPECT_TRUE(report.unknown[0].find(".cpp:") != std::string::npos) << report.unknown[0];
      continue;
    }
    EXPECT_EQ(report.macs, counters.macs);
    bool isBound = !report.atMost.empty();
    EXPECT_EQ(isBound, kBounded.contains(name)) << (isBound ? report.atMost[0] : "known");
    expectNear(report.read, counters.read, isBound, "bytes read");
    expectNear(report.written, counters.written, isBound, "bytes written");
    expectNear(report.distinctRead, counters.distinctRead, isBound, "bytes read, each once");
    expectNear(report.distinctWritten, counters.distinctWritten, isBound,
               "bytes written, each once");
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, EveryOp, testing::Values("sm_80", "sm_90a"),
                         [](const auto &info) { return std::string(info.param); });

// Flattened and persistent, with a producer warp, ping-pong, in clusters, by split-K: the same product.
TEST(ReportedWork, OfAProductIsTheSameInEveryForm) {
  for (const char *form : {"", "schedule=persistent BM=64 BN=64 BK=64 warps=4",
                           "schedule=persistent_warp_specialized BM=128 BN=64 BK=64 warps=8",
                           "schedule=ping_pong BM=64 BN=64 BK=64 warps=4",
                           "schedule=warp_specialized_multicast BM=128 BN=64 BK=64 warps=8",
                           "schedule=split_k_2 BM=64 BN=64 BK=64 warps=4"}) {
    OpSettings settings([&] {
      std::map<std::string, std::string> values = {{"M", "1000"}, {"N", "520"}, {"K", "264"}};
      std::istringstream words(form);
      for (std::string word; words >> word;)
        values[word.substr(0, word.find('='))] = word.substr(word.find('=') + 1);
      return values;
    }());
    settings.setTarget("sm_90a");
    codegen::CompileOptions options;
    options.target = "sm_90a", options.keepReport = true;
    codegen::LaunchWork launch =
        jit::compileRequest(findOp("matmul")->kernel(settings), options).report->launch;
    SCOPED_TRACE(form);
    EXPECT_EQ(launch.unknown, "");
    ASSERT_TRUE(launch.flops.contains(codegen::kUnitTensor16));
    EXPECT_GE(launch.flops.at(codegen::kUnitTensor16), 2.0 * 1000 * 520 * 264);
    EXPECT_LE(launch.flops.at(codegen::kUnitTensor16), 2.0 * 1024 * 768 * 384) << "whole tiles";
    double operands = 2.0 * (1000 * 264 + 264 * 520), result = 2.0 * 1000 * 520;
    if (settings.text("schedule", "") != "split_k_2") {
      EXPECT_EQ(launch.distinctRead, operands);
      EXPECT_EQ(launch.bytesWritten, result);
    } else { // and the sums that programs hand each other, each of which has one of two parts of K
      EXPECT_GE(launch.distinctRead, operands + 2 * 4 * 1000 * 520);
      EXPECT_LE(launch.distinctRead, operands + 2 * 4 * 1024 * 576 + 4096);
    }
    EXPECT_GE(launch.bytesRead, launch.distinctRead);
  }
}

} // namespace
