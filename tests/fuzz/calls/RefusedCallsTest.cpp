// A call that is refused has changed nothing: every op by name, called rightly but for one setting, one tensor too many, or
// one of another dtype or rank. What is wrong is found before anything is launched, so that all memory stays as it is.
#include "runtime/host/State.h"
#include "tests/fuzz/calls/DrawCall.h"
#include "tests/ops/PlacedTensor.h"

#include <tile/Device.h>

#include <gtest/gtest.h>

#include <cstring>

namespace tile::test {
namespace {

using fuzz::DrawnCall;

constexpr int64_t kMostElements = 20000;

/// A call with its tensors in memory.
struct RightCall {
  const OpEntry *op;
  std::vector<Tensor> inputs, outputs;
  std::map<std::string, std::string> settings;
};

class RefusedCalls : public testing::Test {
protected:
  Tensor made(const TensorSpec &spec) {
    Tensor tensor(device, spec.dtype, spec.extents);
    std::vector<uint8_t> bytes(tensor.bytes());
    for (size_t i = 0, size = sizeOf(spec.dtype); i < bytes.size() / size; ++i) {
      uint64_t bits = bitsOf(spec.dtype, static_cast<int64_t>(i), Contents::Plain);
      std::memcpy(&bytes[i * size], &bits, size);
    }
    tensor.uploadBytes(bytes.data(), bytes.size());
    return tensor;
  }
  static std::vector<uint8_t> bytesOf(const Tensor &tensor) {
    std::vector<uint8_t> bytes(tensor.bytes());
    tensor.downloadBytes(bytes.data(), bytes.size());
    return bytes;
  }

  /// Whether the call is right: its launches are taken, and there are some.
  bool isRight(const RightCall &call) {
    int launches = 0;
    detail::LaunchTaker take = [&](const auto &...) { ++launches; };
    stream.state().taker = &take;
    bool isTaken = true;
    try {
      call.op->run(stream, call.inputs, call.outputs, OpSettings(call.settings));
    } catch (const Error &) {
      isTaken = false;
    }
    stream.state().taker = nullptr;
    return isTaken && launches > 0;
  }
  /// A right call of the op with some elements to change.
  RightCall rightCallOf(const std::string &name) {
    for (int attempt = 0; attempt < 20000; ++attempt) {
      DrawnCall drawn = source.drawOf(name);
      if (std::ranges::any_of(drawn.inputs, [](const TensorSpec &spec) { return !fits(spec); }))
        continue;
      RightCall call = {findOp(name), {}, {}, {}};
      for (const TensorSpec &spec : drawn.inputs)
        call.inputs.push_back(made(spec));
      for (auto &[setting, value] : drawn.settings)
        call.settings[setting] = value;
      try {
        std::vector<TensorSpec> specs = call.op->outputs(call.inputs, OpSettings(call.settings));
        if (std::ranges::all_of(specs, fits))
          for (const TensorSpec &spec : specs)
            call.outputs.push_back(made(spec));
      } catch (const Error &) {
        continue;
      }
      if (isRight(call))
        return call;
    }
    ADD_FAILURE() << "no right call of " << name << " was drawn";
    return {};
  }

  /// Refused or not, as `mustBeRefused` says; if it is, every tensor holds what it held.
  void check(const RightCall &call, bool mustBeRefused, const std::string &what) {
    if (!mustBeRefused && isRight(call))
      return;
    std::vector<std::vector<uint8_t>> before;
    auto forAll = [&](auto act) {
      for (const std::vector<Tensor> *list : {&call.inputs, &call.outputs})
        for (const Tensor &tensor : *list)
          act(tensor);
    };
    forAll([&](const Tensor &tensor) { before.push_back(bytesOf(tensor)); });
    try {
      call.op->run(stream, call.inputs, call.outputs, OpSettings(call.settings));
      EXPECT_FALSE(mustBeRefused) << call.op->name << ": " << what << " was not refused";
      return;
    } catch (const Error &error) {
      EXPECT_EQ(error.fault(), Fault::User) << error.what();
    }
    stream.synchronize();
    size_t next = 0;
    forAll([&](const Tensor &tensor) {
      EXPECT_EQ(bytesOf(tensor), before[next])
          << call.op->name << ": " << what << ", tensor " << next;
      ++next;
    });
  }
  void checkSettings(const RightCall &call);
  void checkTensors(const RightCall &call);

  static bool fits(const TensorSpec &spec) {
    int64_t count = 1;
    for (int64_t extent : spec.extents)
      count = std::min(count * extent, kMostElements + 1);
    return count <= kMostElements;
  }

  Device device = Device::open("virtual:sm_80");
  Stream stream = device.stream();
  fuzz::CallSource source{5};
};

void RefusedCalls::checkSettings(const RightCall &call) {
  auto with = [&](const std::string &name, const std::string &value) {
    RightCall wrong = call;
    wrong.settings[name] = value;
    check(wrong, true, name + "=" + value);
  };
  with("lr", "0.1");
  for (const OpSetting &setting : call.op->settings)
    if (setting.kind != OpSetting::Kind::Text)
      with(setting.name, "wrong");
}

void RefusedCalls::checkTensors(const RightCall &call) {
  RightCall more = call;
  more.outputs.push_back(made({f32, {2}}));
  check(more, true, "an output too many");
  for (bool ofOutputs : {false, true})
    for (size_t i = 0; i < (ofOutputs ? call.outputs : call.inputs).size(); ++i)
      for (int change = 0; change < 3; ++change) {
        RightCall wrong = call;
        Tensor &tensor = (ofOutputs ? wrong.outputs : wrong.inputs)[i];
        TensorSpec spec = TensorSpec::of(tensor);
        if (change == 0)
          spec.dtype = spec.dtype == i1 ? e4m3 : i1;
        else
          spec.extents.insert(spec.extents.begin(), change == 1 ? 1 : 3);
        if (spec.extents.size() > kMaxRank)
          continue;
        tensor = made(spec);
        check(wrong, false, (ofOutputs ? "output " : "input ") + std::to_string(i));
      }
}

TEST_F(RefusedCalls, ChangeNothing) {
  for (const std::string &name : opNames()) {
    RightCall call = rightCallOf(name);
    if (!call.op)
      continue;
    checkSettings(call), checkTensors(call);
  }
}

} // namespace
} // namespace tile::test
