// Archives through the C API: one that `tilec aot` has made, and wrong calls. What launches check is AotTest's.
#include "tests/capi/Handles.h"

#include <fstream>
#include <iterator>

namespace tile::test {
namespace {

/// The archive of examples/ahead.
class CArchives : public CApi {
protected:
  void SetUp() override {
    CApi::SetUp();
    ok(tile_archive_open(TILE_TEST_ARCHIVE, &archive));
    ok(tile_archive_function(archive, "scale", &scale));
  }
  void TearDown() override {
    ok(tile_function_release(scale));
    ok(tile_archive_release(archive));
    CApi::TearDown();
  }

  tile_argument argumentOf(tile_tensor *of) {
    tile_argument argument;
    ok(tile_tensor_argument(of, &argument));
    return argument;
  }

  tile_archive *archive = nullptr;
  tile_function *scale = nullptr;
};

TEST_F(CArchives, SayWhatTheyHave) {
  size_t count = 0;
  ok(tile_archive_function_count(archive, &count));
  EXPECT_EQ(count, 2u);
  tile_function *softmax = nullptr;
  ok(tile_archive_function_at(archive, 1, &softmax));
  tile_function_description description = {};
  description.size = sizeof description;
  ok(tile_function_info(softmax, &description));
  EXPECT_STREQ(description.name, "softmax");
  EXPECT_STREQ(description.targets, "sm_80, sm_90a");
  EXPECT_EQ(description.parameters, 2);
  EXPECT_EQ(description.constants, 1);
  tile_parameter_description parameter = {};
  parameter.size = sizeof parameter;
  ok(tile_function_parameter(softmax, 1, &parameter));
  EXPECT_STREQ(parameter.name, "y");
  EXPECT_EQ(parameter.kind, TILE_OUT);
  EXPECT_EQ(parameter.dtype, TILE_F32);
  EXPECT_EQ(parameter.rank, 2);
  const char *name = nullptr;
  int64_t value = 0;
  ok(tile_function_constant(softmax, 0, &name, &value));
  EXPECT_STREQ(name, "Columns");
  EXPECT_EQ(value, 256);
  ok(tile_function_release(softmax));
}

TEST_F(CArchives, LaunchAndOutliveTheirFile) {
  std::ifstream file(TILE_TEST_ARCHIVE, std::ios::binary);
  std::string bytes(std::istreambuf_iterator<char>(file), {});
  tile_archive *read = nullptr;
  tile_function *function = nullptr;
  ok(tile_archive_read(bytes.data(), bytes.size(), "memory", &read));
  bytes.assign(bytes.size(), 'x');
  ok(tile_archive_function(read, "scale", &function));
  ok(tile_archive_release(read)); // the function keeps it
  ok(tile_function_prepare(function, device));
  tile_tensor *y = tensor();
  const tile_argument arguments[] = {argumentOf(filled(3)), argumentOf(y), tile_real(0.5)};
  ok(tile_function_launch(function, stream, arguments, 3));
  EXPECT_EQ(valuesOf(y), std::vector<float>(kCount, 1.5f));
  ok(tile_function_release(function));
}

TEST_F(CArchives, WrongCallsAreToldInOneLine) {
  tile_archive *none = nullptr;
  tile_function *function = nullptr;
  failed(tile_archive_open("/nowhere.tilekernels", &none), TILE_IO_ERROR,
         "cannot read '/nowhere.tilekernels': No such file or directory");
  failed(tile_archive_open("/proc/self", &none), TILE_IO_ERROR,
         "cannot read '/proc/self': Is a directory");
  failed(tile_archive_open(nullptr, &none), TILE_INVALID_ARGUMENT, "'path' is NULL");
  failed(tile_archive_read("junk", 4, "memory", &none), TILE_PARSE, "'memory' is no archive");
  failed(tile_archive_read("", 0, "memory", &none), TILE_PARSE, "'memory' is no archive");
  EXPECT_EQ(none, nullptr);
  failed(tile_archive_function(archive, "scales", &function), TILE_INVALID_ARGUMENT,
         "has no function 'scales'; it has scale, softmax");
  failed(tile_archive_function_at(archive, 2, &function), TILE_INVALID_ARGUMENT,
         "index 2: there are 2 functions");
  failed(tile_archive_function(reinterpret_cast<tile_archive *>(scale), "scale", &function),
         TILE_INVALID_HANDLE, "'archive' is a function: an archive is expected");
  failed(tile_function_launch(nullptr, stream, nullptr, 0), TILE_INVALID_HANDLE,
         "'function' is NULL");
  tile_argument x = argumentOf(filled(1));
  const tile_argument wrong[] = {x, tile_integer(3), tile_real(0.5)};
  failed(tile_function_launch(scale, stream, wrong, 2), TILE_INVALID_ARGUMENT,
         "function 'scale' takes 3 arguments, got 2");
  failed(tile_function_launch(scale, stream, wrong, 3), TILE_INVALID_ARGUMENT, "argument 'y'");
  failed(tile_function_launch(scale, stream, nullptr, 3), TILE_INVALID_ARGUMENT,
         "'arguments' is NULL");
  const char *name = nullptr;
  int64_t value = 0;
  failed(tile_function_constant(scale, 1, &name, &value), TILE_INVALID_ARGUMENT,
         "index 1: there are 1 constants");
  failed(tile_embedded_launch(nullptr, 0, "scale", stream, nullptr, 0), TILE_INVALID_ARGUMENT,
         "'bytes' is NULL");
  static const unsigned char junk[] = "junk";
  failed(tile_embedded_launch(junk, sizeof junk, "scale", stream, nullptr, 0), TILE_PARSE,
         "it does not begin like one");
}

} // namespace
} // namespace tile::test
