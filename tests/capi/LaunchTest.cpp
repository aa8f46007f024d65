// Kernels of libraries by the C API: parameters, constants, settings and arguments, right and wrong.
#include "tests/capi/Handles.h"

#include <cmath>
#include <cstdlib>

namespace tile::test {
namespace {

class CLaunch : public CApi {
protected:
  void SetUp() override {
    CApi::SetUp();
    ok(tile_library_open(TILE_TEST_KERNELS, &library));
  }
  void TearDown() override {
    for (tile_kernel *kernel : kernels_)
      ok(tile_kernel_release(kernel));
    ok(tile_library_release(library));
    CApi::TearDown();
  }

  tile_kernel *kernel(const char *name) {
    tile_kernel *found = nullptr;
    ok(tile_library_kernel(library, name, &found));
    kernels_.push_back(found);
    return found;
  }
  tile_argument argument(tile_tensor *of) {
    tile_argument filled;
    ok(tile_tensor_argument(of, &filled));
    return filled;
  }
  tile_status launch(const char *name, std::vector<tile_argument> arguments,
                     std::vector<tile_constant> constants = {}, tile_launch_options options = {}) {
    options.size = sizeof options;
    options.constants = constants.data();
    options.constant_count = constants.size();
    return tile_kernel_launch(kernel(name), stream, &options, arguments.data(), arguments.size());
  }

  tile_library *library = nullptr;

private:
  std::vector<tile_kernel *> kernels_;
};

TEST_F(CLaunch, ParametersAreTold) {
  tile_kernel_description info = {sizeof info, nullptr, nullptr, 0, 0, 0, 0};
  ok(tile_kernel_info(kernel("twice"), &info));
  EXPECT_EQ(info.parameters, 4);
  EXPECT_EQ(info.constants, 2);
  EXPECT_EQ(info.is_tuned, 0);
  EXPECT_NE(std::string(info.file).find("Kernels.cpp"), std::string::npos);
  EXPECT_GT(info.line, 0);
  struct {
    const char *name;
    int32_t kind, rank;
  } expected[] = {
      {"from", TILE_IN, 2}, {"to", TILE_OUT, 2}, {"BM", TILE_CONST, 0}, {"BN", TILE_CONST, 0}};
  for (size_t i = 0; i < 4; ++i) {
    tile_parameter_description parameter = {sizeof parameter, nullptr, 0, 0, 0};
    ok(tile_kernel_parameter(kernel("twice"), i, &parameter));
    EXPECT_STREQ(parameter.name, expected[i].name);
    EXPECT_EQ(parameter.kind, expected[i].kind);
    EXPECT_EQ(parameter.rank, expected[i].rank);
    EXPECT_EQ(parameter.dtype, TILE_ANY);
  }
  tile_parameter_description none = {sizeof none, nullptr, 0, 0, 0};
  failed(tile_kernel_parameter(kernel("twice"), 4, &none), TILE_INVALID_ARGUMENT,
         "index 4: there are 4 parameters");
}

TEST_F(CLaunch, ALibraryThatIsOpenedTwiceHasTheSameKernels) {
  tile_library *again = nullptr;
  size_t count = 0;
  ok(tile_library_open(TILE_TEST_KERNELS, &again));
  ok(tile_library_kernel_count(again, &count));
  EXPECT_EQ(count, 6u);
  ok(tile_library_release(again));
}

TEST_F(CLaunch, LibrariesThatAreNone) {
  tile_library *none = nullptr;
  failed(tile_library_open("/nowhere/lib.so", &none), TILE_IO_ERROR, "cannot read");
  failed(tile_library_open("/tmp", &none), TILE_IO_ERROR, "not a file");
  failed(tile_library_open("/proc/self/exe", &none), TILE_LINK_ERROR, "cannot load");
  tile_kernel *missing = nullptr;
  failed(tile_library_kernel(library, "scales", &missing), TILE_INVALID_ARGUMENT,
         "has no kernel 'scales'; it has scale, twice");
  failed(tile_library_kernel_at(library, 6, &missing), TILE_INVALID_ARGUMENT,
         "there are 6 kernels");
}

TEST_F(CLaunch, SettingsAndGridsAreTheCallers) {
  tile_tensor *x = filled(2), *y = filled(0), *numbers = tensor(TILE_I32, {5});
  tile_launch_options options = {};
  options.warps = 1, options.max_registers = 64, options.occupancy = 2;
  options.flags = TILE_NO_FP_FUSION | TILE_FLUSH_DENORMALS | TILE_CHECKED | TILE_NO_ASSUME;
  ok(launch("scale", {argument(x), argument(y), tile_real(4)}, {{"B", 64}}, options));
  EXPECT_EQ(valuesOf(y), std::vector<float>(kCount, 8));
  options = {};
  options.grid[0] = 5;
  ok(launch("programs", {argument(numbers)}, {}, options));
  int32_t got[5];
  ok(tile_tensor_download(numbers, stream, got, sizeof got));
  for (int i = 0; i < 5; ++i)
    EXPECT_EQ(got[i], i);
}

TEST_F(CLaunch, ScalarsOfEveryTypeArriveAsTheyAre) {
  tile_tensor *y = tensor(TILE_F64, {6});
  tile_argument large = tile_integer(-1);
  large.kind = TILE_UNSIGNED_ARGUMENT;
  tile_launch_options options = {};
  options.grid[0] = 1;
  ok(launch("scalars",
            {argument(y), tile_integer(-128), tile_integer(255), large, tile_integer(3),
             tile_real(0.1), tile_integer(1)},
            {}, options));
  double got[6];
  ok(tile_tensor_download(y, stream, got, sizeof got));
  const double expected[] = {-128, 255, std::ldexp(1.0, 64), 3, 0.1, 1};
  for (int i = 0; i < 6; ++i)
    EXPECT_EQ(got[i], expected[i]) << i;
}

TEST_F(CLaunch, NumbersThatDoNotFitAreRefused) {
  tile_tensor *y = tensor(TILE_F64, {6});
  auto with = [&](size_t place, tile_argument wrong) {
    std::vector<tile_argument> arguments = {argument(y),     tile_integer(0), tile_integer(0),
                                            tile_integer(0), tile_integer(0), tile_integer(0),
                                            tile_integer(0)};
    arguments[place] = wrong;
    return launch("scalars", arguments);
  };
  failed(with(1, tile_integer(128)), TILE_INVALID_ARGUMENT,
         "argument 'a': 128 is not a number of type i8");
  failed(with(1, tile_integer(-129)), TILE_INVALID_ARGUMENT, "-129 is not");
  failed(with(2, tile_integer(-1)), TILE_INVALID_ARGUMENT, "argument 'b': -1 is not");
  failed(with(2, tile_integer(256)), TILE_INVALID_ARGUMENT, "256 is not");
  failed(with(3, tile_integer(-1)), TILE_INVALID_ARGUMENT, "-1 is not a number of type u64");
  failed(with(6, tile_integer(2)), TILE_INVALID_ARGUMENT, "2 is not a number of type i1");
  failed(with(1, tile_real(1.5)), TILE_INVALID_ARGUMENT, "an integer is expected for i8, got 1.5");
  failed(with(4, argument(y)), TILE_INVALID_ARGUMENT, "a number of type f16 is expected");
  failed(with(5, {}), TILE_INVALID_ARGUMENT, "an argument without a kind");
  failed(with(0, tile_integer(1)), TILE_INVALID_ARGUMENT, "argument 'y': a tensor is expected");
}

TEST_F(CLaunch, ConstantsThatAreMissingOrWrongAreNamed) {
  std::vector<tile_argument> arguments = {argument(filled(1)), argument(tensor()), tile_real(1)};
  failed(launch("scale", arguments), TILE_INVALID_ARGUMENT,
         "kernel 'scale': it needs its constants: B");
  failed(launch("scale", arguments, {{"C", 1}}), TILE_INVALID_ARGUMENT,
         "it has no constant 'C'; its constants: B");
  failed(launch("scale", arguments, {{"B", 64}, {"B", 64}}), TILE_INVALID_ARGUMENT, "given twice");
  failed(launch("scale", arguments, {{nullptr, 64}}), TILE_INVALID_ARGUMENT, "name' is NULL");
  failed(launch("programs", {argument(tensor(TILE_I32))}, {{"B", 1}}), TILE_INVALID_ARGUMENT,
         "its constants: none");
  tile_launch_options options = {};
  options.flags = 256;
  failed(launch("scale", arguments, {{"B", 64}}, options), TILE_INVALID_ARGUMENT, "options.flags");
}

TEST_F(CLaunch, ArgumentsThatDoNotFitAreNamed) {
  tile_argument x = argument(filled(1)), y = argument(tensor());
  const std::vector<tile_constant> constants = {{"B", 64}};
  failed(launch("scale", {x, y}, constants), TILE_INVALID_ARGUMENT,
         "it takes 3 arguments (x, y, by), got 2");
  auto with = [&](tile_argument wrong) {
    return launch("scale", {wrong, y, tile_real(1)}, constants);
  };
  tile_argument wrong = x;
  wrong.dtype = TILE_F16;
  EXPECT_EQ(with(wrong), TILE_INVALID_ARGUMENT);
  EXPECT_NE(std::string(tile_last_error_text()).find("expected ptr<f32>, got ptr<f16>"),
            std::string::npos)
      << tile_last_error_text();
  wrong = x, wrong.rank = 9;
  failed(with(wrong), TILE_INVALID_ARGUMENT, "0 to 8 dimensions, not 9");
  wrong = x, wrong.rank = -1;
  failed(with(wrong), TILE_INVALID_ARGUMENT, "not -1");
  wrong = x, wrong.dtype = TILE_ANY;
  failed(with(wrong), TILE_INVALID_ARGUMENT, "dtype 0 is none");
  wrong = x, wrong.data = nullptr;
  EXPECT_EQ(with(wrong), TILE_INVALID_ARGUMENT);
  wrong = x, wrong.shape[0] = -5;
  EXPECT_EQ(with(wrong), TILE_INVALID_SHAPE);
  wrong = x, wrong.strides[0] = -1;
  EXPECT_EQ(with(wrong), TILE_UNSUPPORTED);
  wrong = x, wrong.device = 12345;
  EXPECT_EQ(with(wrong), TILE_WRONG_DEVICE);
  EXPECT_EQ(launch("scale", {x, x, tile_real(1)}, constants), TILE_OK) << tile_last_error_text();
  tile_kernel *scale = kernel("scale");
  failed(tile_kernel_launch(scale, stream, nullptr, nullptr, 3), TILE_INVALID_ARGUMENT,
         "'arguments' is NULL");
}

TEST_F(CLaunch, WhatIsTunedMayBeLeftOut) {
  tile_tensor *x = filled(2), *y = filled(0);
  ok(launch("tuned", {argument(x), argument(y)}));
  EXPECT_EQ(valuesOf(y)[999], 3);
  ok(launch("tuned", {argument(y), argument(x)}, {{"B", 512}})); // any value, since it is given
  EXPECT_EQ(valuesOf(x)[999], 4);
  tile_kernel_description info = {sizeof info, nullptr, nullptr, 0, 0, 0, 0};
  ok(tile_kernel_info(kernel("tuned"), &info));
  EXPECT_EQ(info.is_tuned, 1);
}

TEST_F(CLaunch, FindingsOfTheVirtualGpuComeAsErrors) {
  tile_launch_options options = {};
  options.grid[0] = 1;
  tile_status status = launch("beyond", {argument(filled(1))}, {}, options);
  if (status == TILE_OK)
    status = tile_stream_synchronize(stream);
  EXPECT_EQ(status, TILE_DEVICE_FINDING);
  EXPECT_NE(std::string(tile_last_error_text()).find("Kernels.cpp"), std::string::npos)
      << tile_last_error_text();
  EXPECT_EQ(tile_last_error_fault(), 3);
  ok(tile_stream_synchronize(stream)); // the device lives on
  EXPECT_EQ(valuesOf(filled(3))[0], 3);
}

TEST_F(CLaunch, AFunctionThatFailsEndsTheCapture) {
  tile_graph *graph = nullptr;
  auto failing = [](void *) -> tile_status { return 42; };
  EXPECT_EQ(tile_graph_capture(stream, failing, nullptr, &graph), 42);
  EXPECT_NE(std::string(tile_last_error_text()).find("returned 42"), std::string::npos);
  EXPECT_EQ(graph, nullptr);
  ok(tile_stream_synchronize(stream)); // no capture is left
}

} // namespace
} // namespace tile::test
