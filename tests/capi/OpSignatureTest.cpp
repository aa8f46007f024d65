// Signatures of ops by name, and inputs that are left out.
#include "tests/capi/Handles.h"

#include <algorithm>
#include <cmath>

namespace tile::test {
namespace {

size_t namesIn(const std::string &list) {
  return list.empty() ? 0 : 1 + static_cast<size_t>(std::ranges::count(list, ','));
}

TEST_F(CApi, EveryOpHasASignature) {
  size_t count = 0;
  ok(tile_op_count(&count));
  for (size_t i = 0; i < count; ++i) {
    tile_op_description op = {sizeof op, nullptr, nullptr, 0, 0, 0};
    ok(tile_op_at(i, &op));
    tile_op_signature signature = {sizeof signature, nullptr, nullptr, 0};
    ok(tile_op_signature_of(op.name, &signature));
    // Fewer names than tensors: the last is that of all others.
    auto most = static_cast<size_t>(op.inputs + op.optional_inputs);
    size_t names = namesIn(signature.inputs);
    EXPECT_TRUE(names == most || (most > 8 && names && names <= 2)) << op.name;
    EXPECT_EQ(namesIn(signature.outputs) == 0, op.changed != 0) << op.name;
    for (int32_t at = 0; at < signature.settings; ++at) {
      tile_setting_description setting = {sizeof setting, nullptr, nullptr, nullptr, 0, 0};
      ok(tile_op_setting_at(op.name, static_cast<size_t>(at), &setting));
      EXPECT_NE(*setting.name, 0) << op.name;
      EXPECT_NE(*setting.summary, 0) << op.name << " " << setting.name;
      EXPECT_TRUE(setting.kind >= TILE_INTEGER_SETTING && setting.kind <= TILE_TEXT_SETTING);
    }
  }
}

TEST_F(CApi, SignaturesThatAreNone) {
  tile_op_signature signature = {sizeof signature, nullptr, nullptr, 0};
  tile_setting_description setting = {sizeof setting, nullptr, nullptr, nullptr, 0, 0};
  failed(tile_op_signature_of("nope", &signature), TILE_INVALID_ARGUMENT, "there is no op 'nope'");
  failed(tile_op_signature_of(nullptr, &signature), TILE_INVALID_ARGUMENT, "'name' is NULL");
  failed(tile_op_signature_of("add", nullptr), TILE_INVALID_ARGUMENT, "'signature' is NULL");
  failed(tile_op_setting_at("fill", 1, &setting), TILE_INVALID_ARGUMENT,
         "index 1: there are 1 settings");
  failed(tile_op_setting_at("fill", 0, nullptr), TILE_INVALID_ARGUMENT, "'setting' is NULL");
}

TEST_F(CApi, OptionalInputsMayBeNull) {
  constexpr int kRows = 4, kColumns = 8;
  tile_tensor *x = tensor(TILE_F32, {kRows, kColumns}), *bias = tensor(TILE_F32, {kColumns}),
              *y = tensor(TILE_F32, {kRows, kColumns});
  std::vector<float> values, biases, found(kRows * kColumns);
  for (int i = 0; i < kRows * kColumns; ++i)
    values.push_back(static_cast<float>(i * i % 13));
  for (int i = 0; i < kColumns; ++i)
    biases.push_back(static_cast<float>(i));
  ok(tile_tensor_upload(x, stream, values.data(), values.size() * sizeof(float)));
  ok(tile_tensor_upload(bias, stream, biases.data(), biases.size() * sizeof(float)));
  tile_tensor *inputs[] = {x, nullptr, bias};
  ok(tile_op_launch("layernorm", stream, inputs, 3, &y, 1, nullptr, 0));
  ok(tile_tensor_download(y, stream, found.data(), found.size() * sizeof(float)));
  for (int row = 0; row < kRows; ++row) {
    double mean = 0, squares = 0;
    for (int i = 0; i < kColumns; ++i)
      mean += values[static_cast<size_t>(row * kColumns + i)] / double(kColumns);
    for (int i = 0; i < kColumns; ++i)
      squares += std::pow(values[static_cast<size_t>(row * kColumns + i)] - mean, 2) / kColumns;
    for (int i = 0; i < kColumns; ++i) {
      auto at = static_cast<size_t>(row * kColumns + i);
      EXPECT_NEAR(found[at], (values[at] - mean) / std::sqrt(squares + 1e-5) + i, 1e-4);
    }
  }
  inputs[2] = nullptr; // those at the end as well
  ok(tile_op_launch("layernorm", stream, inputs, 3, &y, 1, nullptr, 0));
  tile_tensor *none[] = {nullptr, bias};
  failed(tile_op_launch("layernorm", stream, none, 2, &y, 1, nullptr, 0), TILE_INVALID_HANDLE,
         "'inputs[0]' is NULL");
}

TEST_F(CApi, FindingsInOpsAreAtTheCallersLineAndNameTheArgument) {
  tile_tensor *x = tensor(TILE_F32, {4, 8}), *y = tensor(TILE_F32, {4, 8}); // x is not filled
  const char *place = "program.py:7";
  tile_at("program.py", 7);
  EXPECT_EQ(tile_op_launch("softmax", stream, &x, 1, &y, 1, nullptr, 0), TILE_DEVICE_FINDING);
  std::string text = tile_last_error_text();
  std::string expected = std::string(place) + ": error: [uninitialised] softmax: 32 of the 32 "
                                              "elements of 'x' were never written: upload or "
                                              "fill it first\n";
  EXPECT_TRUE(text.starts_with(expected)) << text;
  EXPECT_EQ(text.find(place, 1), std::string::npos) << text;
  EXPECT_EQ(tile_last_error_note_count(), 0u);
}

} // namespace
} // namespace tile::test
