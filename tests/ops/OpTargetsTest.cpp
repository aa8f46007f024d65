// Every op by name in every dtype on every target: it is compiled for it, runs on a virtual GPU with its limits, or is refused
// before anything is compiled. docs/op-targets.md is the table of it. A test run does one target, and of its extents one;
// TILE_OP_TARGETS=all does all of them, and gives kernels of larger tensors to the assembler, which must not spill.
#include "ir/target/Target.h"
#include "runtime/host/State.h"
#include "runtime/jit/Compile.h"
#include "runtime/jit/Launch.h"
#include "runtime/toolchain/Assemble.h"
#include "tests/Golden.h"
#include "tests/ops/OpExamples.h"

#include <tile/Ops.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

namespace tile::test {
namespace {

constexpr DType kDtypes[] = {f16, bf16, f32, f64, e4m3, e5m2, i1, i8,
                             i16, i32,  i64, u8,  u16,  u32,  u64};
/// A multiple of what tensor cores take but not of large tiles; a small extent and an odd one.
constexpr int64_t kUsual = 144, kOthers[] = {16, 77};
constexpr const char *kTestedTarget = "sm_86", *kDocument = "../docs/op-targets.md";

bool doesAll() {
  const char *which = std::getenv("TILE_OP_TARGETS");
  return which && std::string(which) == "all";
}

/// What multiplies in a kernel.
std::string productsOf(const std::string &ptx) {
  for (const char *instruction : {"wgmma", "mma.sync"})
    if (ptx.find(instruction) != ptx.npos)
      return instruction;
  return "";
}

/// An op in one dtype, for one target.
class OpOnTarget {
public:
  OpOnTarget(std::string name, std::string target)
      : op_(*findOp(name)), target_(std::move(target)) {}

  /// Whether the op takes this dtype, or with `any` those of its example.
  bool takes(DType dtype, int64_t extent) {
    try {
      prepare(dtype, extent);
      LaunchTaker none = [](auto &&...) {};
      launch(none);
      return true;
    } catch (const Error &error) {
      EXPECT_EQ(error.fault(), Fault::User) << error.what();
      return false;
    }
  }

  /// Compiles and runs all that it launches; returns what multiplies.
  std::string run(DType dtype, int64_t extent) {
    std::string products;
    prepare(dtype, extent);
    for (std::vector<Tensor> *tensors : {&inputs_, &outputs_})
      for (const Tensor &tensor : *tensors) {
        std::vector<std::byte> zeros(tensor.bytes());
        tensor.uploadBytes(zeros.data(), zeros.size());
      }
    launch([&](const auto &record, auto args, auto constants, const auto &compile) {
      codegen::CompiledKernel kernel = compiled(record, args, constants, compile);
      if (products.empty())
        products = productsOf(kernel.ptx);
      stream_.synchronize();
      jit::launchCompiled(device_, kernel, args, {});
    });
    stream_.synchronize();
    return products;
  }

  /// Gives all that it launches for tensors as large as those of its example to the assembler.
  void assemble(DType dtype) {
    prepare(dtype, 0);
    launch([&](const auto &record, auto args, auto constants, const auto &compile) {
      codegen::CompiledKernel kernel = compiled(record, args, constants, compile);
      jit::AssemblerReport report = jit::inspectAssembly(kernel.ptx, target_);
      constexpr int kFewBytes = 16;
      if (!report.assembler.empty())
        EXPECT_LE(report.spillStoreBytes, kFewBytes) << kernel.name;
    });
  }

  /// Whether examples ask for a dtype.
  bool hasDtypes() {
    prepare(any, kUsual);
    return hasDtypes_;
  }

private:
  using LaunchTaker = detail::LaunchTaker;

  /// Tensors for a call; an extent of 0 leaves those of the example.
  void prepare(DType dtype, int64_t extent) {
    std::map<std::string, std::string> words;
    if (extent > 0)
      words = smallSettings(op_, std::to_string(extent));
    if (dtype != any)
      words["dtype"] = nameOf(dtype);
    OpSettings settings(words);
    settings.setTarget(target_);
    // Where there are inputs they say it, and the setting is of the result.
    std::map<std::string, std::string> ofCall = words;
    if (op_.inputs > 0)
      ofCall.erase("dtype");
    call_ = OpSettings(ofCall).forExample(op_.settings);
    inputs_.clear(), outputs_.clear();
    constexpr int64_t kLarge = 1024;
    for (const TensorSpec &spec : exampleInputs(op_, settings, extent > 0 ? extent : kLarge))
      inputs_.push_back(stream_.tensor(spec.dtype, spec.extents));
    hasDtypes_ = settings.used().contains("dtype");
    for (const TensorSpec &spec : op_.outputs(inputs_, call_))
      outputs_.push_back(stream_.tensor(spec.dtype, spec.extents));
  }

  void launch(LaunchTaker take) {
    stream_.state().taker = &take;
    try {
      op_.run(stream_, inputs_, outputs_, call_);
    } catch (...) {
      stream_.state().taker = nullptr;
      throw;
    }
    stream_.state().taker = nullptr;
  }

  codegen::CompiledKernel compiled(const detail::KernelRecord &record,
                                   std::span<const HostArg> args,
                                   std::span<const int64_t> constants,
                                   const detail::CompileSettings &compile) {
    codegen::CompileOptions options;
    options.target = target_;
    return jit::compileRequest(
        {record, {constants.begin(), constants.end()}, compile, {args.begin(), args.end()}},
        options);
  }

  const OpEntry &op_;
  std::string target_;
  OpSettings call_;
  std::vector<Tensor> inputs_, outputs_;
  bool hasDtypes_ = true;
  Device device_ = Device::open("virtual:" + target_);
  Stream stream_ = device_.stream();
};

/// "f16, bf16 by mma.sync; f64", or "yes" of an op that has its dtypes from elsewhere.
std::string cellOf(const std::string &name, const std::string &target) {
  OpOnTarget op(name, target);
  std::vector<std::pair<std::string, std::string>> groups; // what multiplies, dtypes
  bool all = doesAll();
  auto check = [&](DType dtype) {
    SCOPED_TRACE(std::string(nameOf(dtype)));
    if (!op.takes(dtype, kUsual))
      return;
    std::string products;
    try {
      products = op.run(dtype, kUsual);
      for (int64_t extent : kOthers)
        if (all && op.takes(dtype, extent))
          op.run(dtype, extent);
      if (all)
        op.assemble(dtype);
    } catch (const Error &error) {
      ADD_FAILURE() << error.what();
    }
    auto group = std::ranges::find(groups, products, [](auto &each) { return each.first; });
    if (group == groups.end())
      groups.push_back({products, nameOf(dtype)});
    else
      group->second += std::string(", ") + nameOf(dtype);
  };
  const bool hasDtypes = op.hasDtypes();
  if (hasDtypes)
    std::ranges::for_each(kDtypes, check);
  else
    check(any);
  std::string cell;
  for (auto &[products, dtypes] : groups)
    cell += (cell.empty() ? "" : "; ") + (hasDtypes ? dtypes : "yes") +
            (products.empty() ? "" : " by " + products);
  return cell.empty() ? "no" : cell;
}

using Table = std::map<std::string, std::map<std::string, std::string>>; // op, target

/// The table of a document, whose first row names targets.
Table tableOf(std::istream &document) {
  Table table;
  std::vector<std::string> heads;
  for (std::string line; std::getline(document, line);) {
    std::vector<std::string> cells;
    std::istringstream row(line);
    for (std::string cell; std::getline(row, cell, '|');) {
      size_t from = cell.find_first_not_of(' '), to = cell.find_last_not_of(' ');
      cells.push_back(from == cell.npos ? "" : cell.substr(from, to - from + 1));
    }
    if (line.starts_with("| op "))
      heads = cells;
    else if (line.starts_with("| `"))
      for (size_t i = 2; i < std::min(cells.size(), heads.size()); ++i)
        table[cells[1].substr(1, cells[1].size() - 2)][heads[i]] = cells[i];
  }
  return table;
}

std::string documentOf(Table &table) {
  std::ostringstream out;
  out << "# Which op runs on which GPU\n\n"
         "Every op by name, compiled for each target and run on a virtual GPU with its limits, in "
         "every dtype that it takes; the "
         "others are refused\nbefore anything is compiled. \"by wgmma\" and \"by mma.sync\" say "
         "which instruction of the tensor "
         "cores multiplies; other arithmetic is that\nof threads. 8-bit floats are widened to f16 "
         "where a target lacks "
         "products of them. GPUs that are not in the table run code for the newest\ntarget that "
         "they take: `tilec doctor` says "
         "which. No card has timed sm_86, sm_89 and sm_90.\n\n"
         "This page is generated: `TILE_OP_TARGETS=all TILE_UPDATE_GOLDEN=1 "
         "build/dev/bin/OpTargetsTest`.\n\n| op |";
  for (const std::string &target : ir::targetNames())
    out << " " << target << " |";
  out << "\n|---|";
  for (size_t i = 0; i < ir::targetNames().size(); ++i)
    out << "---|";
  for (const std::string &name : opNames()) {
    out << "\n| `" << name << "` |";
    for (const std::string &target : ir::targetNames())
      out << " " << table[name][target] << " |";
  }
  out << "\n";
  return out.str();
}

TEST(OpTargets, AreThoseOfTheDocument) {
  std::ifstream document(std::string(TILE_TESTS) + "/" + kDocument);
  Table table = tableOf(document);
  for (const std::string &target :
       doesAll() ? ir::targetNames() : std::vector<std::string>{kTestedTarget})
    for (const std::string &name : opNames()) {
      SCOPED_TRACE(name + " on " + target);
      table[name][target] = cellOf(name, target);
    }
  EXPECT_GOLDEN(documentOf(table), kDocument);
}

} // namespace
} // namespace tile::test
