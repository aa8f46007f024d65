// Every op by name, called through the C API with random inputs, outputs and settings: it does what it is asked, or says in
// a sentence what the caller did wrong, before anything is launched. Launches of most calls are taken and thrown away; of
// each third op one is run. TILE_FUZZ_CALLS and TILE_FUZZ_SEED say how many calls there are, and which.
#include "capi/Dtype.h"
#include "capi/Handles.h"
#include "runtime/host/State.h"
#include "tests/capi/Handles.h"
#include "tests/fuzz/calls/DrawCall.h"
#include "tests/fuzz/calls/Message.h"
#include "tests/ops/PlacedTensor.h"

#include <cstdlib>
#include <map>
#include <set>

namespace tile::test {
namespace {

using fuzz::DrawnCall;

uint64_t numberFrom(const char *variable, uint64_t fallback) {
  const char *text = std::getenv(variable);
  return text ? std::strtoull(text, nullptr, 10) : fallback;
}

constexpr int64_t kMostElements = 20000;

int64_t elementsOf(const TensorSpec &spec) {
  int64_t count = 1;
  for (int64_t extent : spec.extents)
    if (__builtin_mul_overflow(count, extent, &count))
      return std::numeric_limits<int64_t>::max();
  return count;
}

std::string describe(const TensorSpec &spec) {
  std::string text = nameOf(spec.dtype);
  for (size_t dim = 0; dim < spec.extents.size(); ++dim)
    text += (dim ? "x" : " ") + std::to_string(spec.extents[dim]);
  return spec.extents.empty() ? text + " scalar" : text;
}

std::vector<std::string> describe(const std::vector<TensorSpec> &specs) {
  std::vector<std::string> texts;
  for (const TensorSpec &spec : specs)
    texts.push_back(describe(spec));
  return texts;
}

class Calls : public CApi {
protected:
  void SetUp() override {
    CApi::SetUp();
    take_ = [this](const auto &...) { ++launches_; };
  }
  void TearDown() override {
    forget();
    CApi::TearDown();
  }

  void check(const DrawnCall &call);
  void forget();
  std::map<std::string, uint64_t> succeeded;
  uint64_t refused = 0, ran = 0;
  fuzz::CallSource source{numberFrom("TILE_FUZZ_SEED", 1)};

private:
  /// The arguments of a call as C has them.
  struct Words {
    std::vector<tile_tensor *> inputs, outputs;
    std::vector<tile_setting> settings;
  };

  tile_tensor *made(const TensorSpec &spec, size_t place);
  std::vector<TensorSpec> outputsOf(const DrawnCall &call, Words &words, bool &isRefused);
  tile_status launch(const DrawnCall &call, Words &words, bool isTaken);
  void expectRefusal(const DrawnCall &call, const std::vector<TensorSpec> &unmade);

  std::map<std::string, tile_tensor *> tensors_;
  detail::LaunchTaker take_;
  uint64_t launches_ = 0;
  std::set<std::string> done_;
};

/// A tensor that is full of numbers; equal ones in one place of calls are one.
tile_tensor *Calls::made(const TensorSpec &spec, size_t place) {
  tile_tensor *&tensor = tensors_[std::to_string(place) + describe(spec)];
  if (tensor)
    return tensor;
  ok(tile_tensor_create(device, capi::numberOf(spec.dtype),
                        static_cast<int32_t>(spec.extents.size()), spec.extents.data(), nullptr,
                        &tensor));
  size_t size = sizeOf(spec.dtype), count = static_cast<size_t>(elementsOf(spec));
  std::vector<uint8_t> bytes(size * count);
  for (size_t i = 0; i < count; ++i) {
    uint64_t bits = bitsOf(spec.dtype, static_cast<int64_t>(i), Contents::Plain);
    std::memcpy(&bytes[i * size], &bits, size);
  }
  ok(tile_tensor_upload(tensor, stream, bytes.data(), bytes.size()));
  return tensor;
}

void Calls::forget() {
  for (auto &[name, tensor] : tensors_)
    ok(tile_tensor_release(tensor));
  tensors_.clear();
}

std::vector<TensorSpec> Calls::outputsOf(const DrawnCall &call, Words &words, bool &isRefused) {
  size_t count = 0;
  std::vector<TensorSpec> specs;
  isRefused = tile_op_output_count(call.op.c_str(), words.inputs.data(), words.inputs.size(),
                                   words.settings.data(), words.settings.size(), &count) != TILE_OK;
  for (size_t i = 0; !isRefused && i < count; ++i) {
    tile_dtype dtype;
    int32_t rank = -1;
    std::vector<int64_t> shape(TILE_MAX_RANK); // on the heap, where one more would be found
    ok(tile_op_output_at(call.op.c_str(), words.inputs.data(), words.inputs.size(),
                         words.settings.data(), words.settings.size(), i, &dtype, &rank,
                         shape.data()));
    EXPECT_TRUE(rank >= 0 && rank <= TILE_MAX_RANK) << call.str();
    shape.resize(static_cast<size_t>(rank));
    specs.push_back({capi::elementType(dtype), shape});
  }
  return specs;
}

tile_status Calls::launch(const DrawnCall &call, Words &words, bool isTaken) {
  capi::at(stream, "stream")->state().taker = isTaken ? &take_ : nullptr;
  tile_status status = tile_op_launch(
      call.op.c_str(), stream, words.inputs.data(), words.inputs.size(), words.outputs.data(),
      words.outputs.size(), words.settings.data(), words.settings.size());
  capi::at(stream, "stream")->state().taker = nullptr;
  return status;
}

void Calls::expectRefusal(const DrawnCall &call, const std::vector<TensorSpec> &unmade) {
  std::string message = tile_last_error_message();
  EXPECT_EQ(tile_last_error_fault(), 1) << call.str() << ": " << message;
  std::string objection =
      fuzz::objectionTo(message, call.op, describe(call.inputs), describe(unmade));
  EXPECT_EQ(objection, "") << call.str() << ": " << message;
  EXPECT_EQ(launches_, 0u) << "launched before it was refused: " << call.str() << ": " << message;
  ++refused;
}

void Calls::check(const DrawnCall &call) {
  launches_ = 0;
  Words words;
  for (const TensorSpec &input : call.inputs) {
    if (elementsOf(input) > kMostElements)
      return;
    words.inputs.push_back(made(input, words.inputs.size()));
  }
  for (auto &[name, value] : call.settings)
    words.settings.push_back({name.c_str(), value.c_str()});
  bool isRefused = false, isOwn = source.oneIn(6);
  std::vector<TensorSpec> outputs = outputsOf(call, words, isRefused);
  if (isRefused)
    return expectRefusal(call, {});
  std::vector<TensorSpec> given = outputs;
  if (isOwn && !given.empty())
    source.mutate(given.back());
  for (const TensorSpec &output : given) {
    if (elementsOf(output) > kMostElements)
      return;
    words.outputs.push_back(made(output, 100 + words.outputs.size()));
  }
  if (isOwn && !given.empty() && !words.inputs.empty() && source.oneIn(4))
    words.outputs.back() = words.inputs.back();
  if (launch(call, words, true) != TILE_OK)
    return expectRefusal(call, isOwn ? std::vector<TensorSpec>() : outputs);
  ++succeeded[call.op];
  if (launches_ == 0 || std::hash<std::string>()(call.op) % 3 != 0 || !done_.insert(call.op).second)
    return;
  EXPECT_EQ(launch(call, words, false), TILE_OK) << call.str() << ": " << tile_last_error_text();
  EXPECT_EQ(tile_stream_synchronize(stream), TILE_OK) << call.str() << tile_last_error_text();
  ++ran;
}

TEST_F(Calls, SucceedOrSayWhatIsWrong) {
  const testing::TestResult &result =
      *testing::UnitTest::GetInstance()->current_test_info()->result();
  uint64_t count = numberFrom("TILE_FUZZ_CALLS", 100'000);
  std::set<std::string> faulty; // of each op the first fault is told
  for (uint64_t i = 0; i < count; ++i) {
    DrawnCall call = source.draw();
    int faults = result.total_part_count();
    if (!faulty.contains(call.op))
      check(call);
    if (result.total_part_count() > faults)
      faulty.insert(call.op);
    if (i % 1000 == 999)
      forget();
  }
  std::printf("%llu calls were refused, %llu ran\n", static_cast<unsigned long long>(refused),
              static_cast<unsigned long long>(ran));
  EXPECT_GT(refused, count / 10);
  for (const std::string &name : opNames())
    EXPECT_GT(succeeded[name], count / 5000) << "few calls of " << name << " are right";
}

} // namespace
} // namespace tile::test
