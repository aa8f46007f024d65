#include "tests/fuzz/Run.h"

#include "runtime/jit/Compile.h"
#include "runtime/jit/Launch.h"

#include <tile/Registry.h>

#include <cstring>

namespace tile::fuzz {
namespace {

template <class T> void put(std::vector<unsigned char> &bytes, T value) {
  size_t at = bytes.size();
  bytes.resize(at + sizeof value);
  std::memcpy(&bytes[at], &value, sizeof value);
}

void append(std::vector<unsigned char> &bytes, DType dtype, Number number) {
  switch (dtype) {
  case DType::F16:
    return put(bytes, half(float(number.f)).bits);
  case DType::E4M3:
    return put(bytes, float8_e4m3(float(number.f)).bits);
  case DType::E5M2:
    return put(bytes, float8_e5m2(float(number.f)).bits);
  case DType::BF16:
    return put(bytes, bfloat16(float(number.f)).bits);
  case DType::F32:
    return put(bytes, float(number.f));
  case DType::F64:
    return put(bytes, number.f);
  default:
    bytes.insert(bytes.end(), reinterpret_cast<unsigned char *>(&number.i),
                 reinterpret_cast<unsigned char *>(&number.i) + sizeOf(dtype));
  }
}

template <class T> T get(const unsigned char *bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

Number elementAt(const std::vector<unsigned char> &bytes, DType dtype, size_t index) {
  const unsigned char *at = &bytes[index * sizeOf(dtype)];
  switch (dtype) {
  case DType::F16:
    return {.f = detail::floatOfHalf(get<uint16_t>(at))};
  case DType::E4M3:
    return {.f = get<float8_e4m3>(at)};
  case DType::E5M2:
    return {.f = get<float8_e5m2>(at)};
  case DType::BF16:
    return {.f = std::bit_cast<float>(uint32_t(get<uint16_t>(at)) << 16)};
  case DType::F32:
    return {.f = get<float>(at)};
  case DType::F64:
    return {.f = get<double>(at)};
  default: {
    int64_t value = 0;
    std::memcpy(&value, at, sizeOf(dtype));
    return {.i = wrapped(dtype, value)};
  }
  }
}

Tensor upload(const Device &device, const TensorSpec &spec) {
  Tensor tensor(device, spec.dtype, spec.extents);
  std::vector<unsigned char> bytes;
  for (Number number : spec.values)
    append(bytes, spec.dtype, number);
  tensor.uploadBytes(bytes.data(), bytes.size());
  return tensor;
}

/// Room for what each program stores, filled with a pattern.
Tensor makeOutput(const Device &device, const Program &program, const Type &type) {
  int rank = type.shape.rank();
  int64_t columns = rank == 2 ? type.shape[1] : 1, elements = type.shape.elements();
  Tensor tensor(device, type.dtype,
                std::vector<int64_t>{program.programs * elements / columns, columns});
  std::vector<unsigned char> pattern(tensor.bytes(), 0x5A);
  tensor.uploadBytes(pattern.data(), pattern.size());
  return tensor;
}

std::vector<Machine> runOnHost(const Program &program) {
  std::vector<Machine> machines;
  for (int id = 0; id < program.programs; ++id) {
    Machine machine(program, id);
    machine.run(program.statements);
    machines.push_back(std::move(machine));
  }
  return machines;
}

std::string shown(DType dtype, Number number) {
  return isFloat(dtype) ? std::to_string(number.f) : std::to_string(number.i);
}

/// The first difference of an output, or nothing.
std::string compareOutput(const Program &program, int output, const Tensor &tensor,
                          const std::vector<Machine> &machines) {
  const Type &type = program.outputs[output];
  std::vector<unsigned char> bytes(tensor.bytes());
  tensor.downloadBytes(bytes.data(), bytes.size());
  size_t elements = size_t(type.shape.elements());
  for (const Machine &machine : machines) {
    if (!machine.outputs[output]) // a shrunk program may store less
      return "";
    for (size_t i = 0; i < elements; ++i) {
      Number expected = machine.outputs[output]->elements[i];
      Number got = elementAt(bytes, type.dtype, size_t(machine.id) * elements + i);
      if (isFloat(type.dtype) ? got.f != expected.f : got.i != expected.i)
        return "output " + std::to_string(output) + " of program " + std::to_string(machine.id) +
               ", element " + std::to_string(i) + ": " + shown(type.dtype, got) + ", expected " +
               shown(type.dtype, expected);
    }
  }
  return "";
}

std::string compareMemory(const std::vector<Machine> &machines, const TensorOf<int32_t> &scratch,
                          const TensorOf<int32_t> &counters) {
  std::vector<int32_t> owned = scratch.download(), shared = counters.download();
  for (size_t i = 0; i < owned.size(); ++i)
    if (int32_t expected = machines[i / kScratch].scratch[i % kScratch]; owned[i] != expected)
      return "scratch element " + std::to_string(i) + ": " + std::to_string(owned[i]) +
             ", expected " + std::to_string(expected);
  for (size_t i = 0; i < shared.size(); ++i) {
    int32_t expected = 0;
    for (const Machine &machine : machines)
      expected += machine.counters[i];
    if (shared[i] != expected)
      return "counter " + std::to_string(i) + ": " + std::to_string(shared[i]) + ", expected " +
             std::to_string(expected);
  }
  return "";
}

auto kernelOf(const Program &program, const std::string &key) {
  return kernel_capturing(
      key, "fuzz",
      [program](In<any, 2> a, In<any, 2> b, In<any, 2> c, InOut<i32, 1> scratch,
                InOut<i32, 1> counters, Out<any, 2> w, Out<any, 2> x, Out<any, 2> y, Out<any, 2> z,
                Scalar<i32> argument) {
        Parameters parameters{{a, b, c}, scratch, counters, {w, x, y, z}, argument, program_id(0)};
        trace(program, parameters);
      });
}

/// Launches what a launcher would, but compiled with a selection of passes.
template <class Launcher>
void launchWith(const passes::PassSelection &selection, const Device &device,
                const Launcher &launcher, std::vector<HostArg> arguments) {
  KernelRequest request(launcher, std::move(arguments));
  codegen::CompileOptions options;
  options.target = device.target();
  options.passes = selection;
  jit::launchCompiled(device, jit::compileRequest(request, options), request.arguments,
                      launcher.options());
}

std::string launchAndCompare(const Device &device, const Program &program, int warps,
                             const std::optional<passes::PassSelection> &selection) {
  static uint64_t launches = 0; // a key of its own for each launch: every one is compiled
  std::vector<Machine> machines = runOnHost(program);
  Stream stream = device.stream();
  auto zeros = [&](int64_t size) {
    auto tensor = device.tensor<int32_t>({size});
    tensor.fill(0);
    return tensor;
  };
  auto scratch = zeros(program.programs * kScratch), counters = zeros(kCounters);
  Tensor a = upload(device, program.inputs[0]), b = upload(device, program.inputs[1]),
         c = upload(device, program.inputs[2]);
  std::vector<Tensor> outputs;
  for (const Type &type : program.outputs)
    outputs.push_back(makeOutput(device, program, type));
  auto fuzzed = kernelOf(program, std::to_string(launches++));
  auto launcher = fuzzed.warps(warps).grid(program.programs);
  auto argument = static_cast<int32_t>(program.argument);
  auto launch = [&](const auto &...tensors) {
    if (selection)
      launchWith(*selection, device, launcher,
                 {toHostArg(tensors)..., exampleScalar(i32, argument)});
    else
      launcher(stream, tensors..., argument);
  };
  launch(a, b, c, scratch, counters, outputs[0], outputs[1], outputs[2], outputs[3]);
  stream.synchronize();
  for (int output = 0; output < kOutputs; ++output)
    if (auto words = compareOutput(program, output, outputs[size_t(output)], machines);
        !words.empty())
      return words;
  return compareMemory(machines, scratch, counters);
}

Outcome outcomeOf(const Device &device, const Program &program, int warps,
                  const std::optional<passes::PassSelection> &selection) {
  try {
    std::string words = launchAndCompare(device, program, warps, selection);
    return {words.empty() ? Verdict::Equal : Verdict::Wrong, words};
  } catch (const NotComparable &open) {
    return {Verdict::Refused, open.what()};
  } catch (const Error &error) {
    bool isRefusal = error.fault() == Fault::User && (error.code() == ErrorCode::ResourceExceeded ||
                                                      error.code() == ErrorCode::Unsupported);
    return {isRefusal ? Verdict::Refused : Verdict::Wrong, error.what()};
  }
}

} // namespace

Outcome runOn(const Device &device, const Program &program, int warps) {
  return outcomeOf(device, program, warps, {});
}

Outcome runOn(const Device &device, const Program &program, int warps,
              const passes::PassSelection &selection) {
  return outcomeOf(device, program, warps, selection);
}

passes::PassSelection somePassesLeftOut(uint64_t seed) {
  std::mt19937_64 random(seed);
  passes::PassSelection selection;
  for (const passes::OptionalPass &pass : passes::optionalPasses())
    if (random() % 4 == 0)
      selection.disabled.emplace_back(pass.name);
  return selection;
}

} // namespace tile::fuzz
