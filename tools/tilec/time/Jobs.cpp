#include "tools/tilec/time/Jobs.h"

#include "base/ReadFile.h"
#include "runtime/vgpu/decode/Decode.h"
#include "runtime/vgpu/isa/Opcodes.h"
#include "runtime/vgpu/machine/Targets.h"
#include "runtime/vgpu/machine/async/TensorMap.h"
#include "runtime/vgpu/time/PredictTime.h"
#include "tools/tilec/input/Refuse.h"

#include <tile/Error.h>

#include <nlohmann/json.hpp>

#include <cmath>
#include <cstring>
#include <locale>
#include <map>
#include <sstream>

namespace tile::tilec {
namespace {

using nlohmann::json;

// PTX files and their kernels, decoded once each.
class Kernels {
public:
  std::shared_ptr<const vgpu::Program> program(const std::string &file, const std::string &kernel) {
    std::shared_ptr<vgpu::Module> &module = modules_[file];
    if (!module)
      module = vgpu::parsePtx(base::readFile(file), file);
    auto &program = programs_[{file, kernel}];
    if (!program) {
      vgpu::DecodeOptions options;
      options.watchMatrices = false;
      options.keepsInstructions = true;
      options.arch = vgpu::propsFor(vgpu::targetFor(module->target)).arch;
      program = vgpu::Decoder(module, entryOf(*module, kernel), vgpu::opcodes(), options).decode();
    }
    return program;
  }

private:
  static const vgpu::Function &entryOf(const vgpu::Module &module, const std::string &name) {
    const vgpu::Function *found = nullptr;
    for (const vgpu::Function &function : module.functions) {
      if (!function.isEntry || function.name.find(name) == std::string_view::npos)
        continue;
      if (function.name == name)
        return function;
      if (found)
        refuse("'" + name + "' is in the names of several kernels of " + module.name);
      found = &function;
    }
    if (!found)
      refuse(module.name + " has no kernel '" + name + "'");
    return *found;
  }

  std::map<std::string, std::shared_ptr<vgpu::Module>> modules_;
  std::map<std::pair<std::string, std::string>, std::shared_ptr<const vgpu::Program>> programs_;
};

device::Dim3 shapeOf(const json &job, const char *name) {
  auto extents = job.value(name, std::vector<uint32_t>{});
  extents.resize(3, 1);
  return {extents[0], extents[1], extents[2]};
}

device::TensorMapParams mapOf(const json &tensor) {
  device::TensorMapParams map;
  auto dims = tensor.at("dims").get<std::vector<uint64_t>>();
  auto strides = tensor.at("strides").get<std::vector<uint64_t>>();
  auto box = tensor.at("box").get<std::vector<uint32_t>>();
  if (dims.empty() || dims.size() > device::kMaxTensorRank || box.size() != dims.size() ||
      strides.size() + 1 != dims.size())
    refuse("a tensor has 1 to 5 dims, as many of its box, and one stride less");
  map.rank = static_cast<uint32_t>(dims.size());
  map.base = tensor.at("address");
  std::ranges::copy(dims, map.dims.begin());
  std::ranges::copy(strides, map.strides.begin());
  std::ranges::copy(box, map.box.begin());
  static const std::map<unsigned, device::TensorMapType> types = {{1, device::TensorMapType::U8},
                                                                  {2, device::TensorMapType::BF16},
                                                                  {4, device::TensorMapType::F32},
                                                                  {8, device::TensorMapType::F64}};
  map.type = types.at(tensor.value("element_bytes", 2u));
  static const std::map<unsigned, device::TensorMapSwizzle> swizzles = {
      {0, device::TensorMapSwizzle::None},
      {32, device::TensorMapSwizzle::Bytes32},
      {64, device::TensorMapSwizzle::Bytes64},
      {128, device::TensorMapSwizzle::Bytes128}};
  map.swizzle = swizzles.at(tensor.value("swizzle", 0u));
  return map;
}

template <class T> void put(std::vector<uint8_t> &bytes, T value) {
  bytes.resize(sizeof value);
  std::memcpy(bytes.data(), &value, sizeof value);
}

std::vector<uint8_t> argumentOf(const json &argument, int arch) {
  std::vector<uint8_t> bytes;
  if (argument.contains("tensor"))
    put(bytes, vgpu::encodeTensorMap(mapOf(argument["tensor"]), arch));
  else if (argument.contains("pointer"))
    put(bytes, argument["pointer"].get<uint64_t>());
  else if (argument.contains("i64"))
    put(bytes, argument["i64"].get<int64_t>());
  else if (argument.contains("i32"))
    put(bytes, argument["i32"].get<int32_t>());
  else if (argument.contains("f32"))
    put(bytes, argument["f32"].get<float>());
  else
    refuse("an argument is one of tensor, pointer, i64, i32, f32");
  return bytes;
}

std::vector<uint8_t> parametersOf(const vgpu::Program &program, const json &arguments, int arch) {
  if (arguments.size() != program.params.size())
    refuse(std::to_string(arguments.size()) + " arguments, the kernel has " +
           std::to_string(program.params.size()));
  std::vector<uint8_t> bytes(program.paramBytes);
  for (size_t i = 0; i < arguments.size(); ++i) {
    std::vector<uint8_t> value = argumentOf(arguments[i], arch);
    const vgpu::Program::Param &param = program.params[i];
    if (value.size() != param.bytes)
      refuse("argument " + std::to_string(i) + " has " + std::to_string(value.size()) +
             " bytes, the parameter " + std::to_string(param.bytes));
    std::memcpy(bytes.data() + param.offset, value.data(), value.size());
  }
  return bytes;
}

template <class T> std::optional<T> optionalOf(const json &job, const char *name) {
  if (job.contains(name))
    return job[name].get<T>();
  return std::nullopt;
}

json reportOf(const vgpu::TimeReport &report) {
  json busy;
  for (vgpu::Pipe pipe : {vgpu::Pipe::Tensor, vgpu::Pipe::Fma, vgpu::Pipe::Alu, vgpu::Pipe::Imad,
                          vgpu::Pipe::Mufu, vgpu::Pipe::Memory, vgpu::Pipe::BulkCopy})
    busy[vgpu::nameOf(pipe)] = report.busy[static_cast<size_t>(pipe)];
  busy["issue"] = report.issueShare;
  return {{"us", report.us},
          {"low_us", report.lowUs},
          {"high_us", report.highUs},
          {"cycles", report.cycles},
          {"clock_ghz", report.clockGhz},
          {"busy", busy},
          {"distinct", report.distinctShare},
          {"loaded_bytes", report.sm.loadedBytes},
          {"stored_bytes", report.sm.storedBytes},
          {"dram_bytes", report.sm.dramBytes},
          {"instructions", report.sm.instructions},
          {"occupancy", report.occupancy.blocks},
          {"limit", report.occupancy.limit},
          {"registers", report.occupancy.registers},
          {"barriers", report.occupancy.barriers},
          {"assumptions", report.assumptions}};
}

class JobRunner {
public:
  explicit JobRunner(const JobOptions &options) : calibration_(vgpu::defaultCalibration()) {
    for (const auto &[name, value] : settingsOf(options))
      vgpu::setNumber(calibration_, name, value);
  }

  json run(const json &job) {
    auto program = kernels_.program(job.at("ptx"), job.at("kernel"));
    vgpu::LaunchSetup setup;
    setup.props = vgpu::propsFor(vgpu::targetFor(program->module->target));
    setup.program = program;
    setup.memory = &memory_;
    setup.config.grid = shapeOf(job, "grid");
    setup.config.block = shapeOf(job, "block");
    setup.config.cluster = shapeOf(job, "cluster");
    setup.config.dynamicSharedBytes = job.value("dynamic_shared", 0u);
    setup.checks = vgpu::parseChecks("none");
    setup.params = parametersOf(*program, job.at("arguments"), setup.props.arch);
    vgpu::TimeOptions options;
    options.assembler = {optionalOf<unsigned>(job, "registers"),
                         optionalOf<unsigned>(job, "barriers")};
    options.clockGhz = optionalOf<double>(job, "clock_ghz");
    options.isDirty = job.value("cold", "dirty") == "dirty";
    options.multiprocessor = optionalOf<unsigned>(job, "slot");
    return reportOf(vgpu::predictTime(std::move(setup), calibration_, options));
  }

private:
  vgpu::Calibration calibration_;
  Kernels kernels_;
  vgpu::GlobalMemory memory_{uint64_t{1} << 27};
};

} // namespace

std::vector<std::pair<std::string, double>> settingsOf(const JobOptions &options) {
  std::vector<std::pair<std::string, double>> settings;
  for (const std::string &word : options.settings) {
    size_t equals = std::min(word.find('='), word.size());
    std::istringstream text(word.substr(std::min(equals + 1, word.size())));
    text.imbue(std::locale::classic());
    double value = 0;
    if (equals == 0 || !(text >> value) || text.peek() != std::istringstream::traits_type::eof())
      refuse("--set " + word + ": expected NAME=VALUE, the value a number");
    settings.emplace_back(word.substr(0, equals), value);
  }
  return settings;
}

static std::string lineOf(const json &result, const JobOptions &options) {
  if (!options.cyclesOnly || result.contains("error"))
    return result.dump();
  std::ostringstream line;
  line << result["id"].get<std::string>() << "\t" << std::llround(result["cycles"].get<double>());
  return line.str();
}

int runJobs(std::istream &jobs, std::ostream &out, const JobOptions &options) {
  JobRunner runner(options);
  int failed = 0;
  for (std::string line; std::getline(jobs, line);) {
    if (line.empty())
      continue;
    json result;
    std::string id;
    try {
      json job = json::parse(line);
      id = job.value("id", "");
      result = runner.run(job);
    } catch (const std::exception &error) {
      result["error"] = error.what();
      ++failed;
    }
    result["id"] = id;
    out << lineOf(result, options) << "\n" << std::flush;
  }
  return failed;
}

} // namespace tile::tilec
