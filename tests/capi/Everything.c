// Every function of the C API, from C99, on the virtual GPU: everything LIBRARY.so
#include "Checks.h"

enum { kCount = 1000 };

static tile_device *device;
static tile_stream *stream;

static tile_tensor *filled(float first) {
  float values[kCount];
  const int64_t shape[] = {kCount};
  tile_tensor *tensor = NULL;
  for (int i = 0; i < kCount; ++i)
    values[i] = first + (float)i;
  OK(tile_tensor_create(device, TILE_F32, 1, shape, NULL, &tensor));
  OK(tile_tensor_upload(tensor, stream, values, sizeof values));
  return tensor;
}

static float element(tile_tensor *tensor, int index) {
  float values[kCount] = {0};
  OK(tile_tensor_download(tensor, stream, values, sizeof values));
  return values[index];
}

static void versions(void) {
  CHECK(tile_abi_version() == TILE_ABI_VERSION);
  CHECK(strchr(tile_version(), '.'));
  CHECK(!strcmp(tile_status_name(TILE_OK), "Ok"));
  CHECK(!strcmp(tile_status_name(TILE_WRONG_DEVICE), "WrongDevice"));
  CHECK(!strcmp(tile_status_name(TILE_FORKED_CONTEXT), "ForkedContext"));
  CHECK(!strcmp(tile_status_name(12345), "?"));
  CHECK(!strcmp(tile_dtype_name(TILE_BF16), "bf16") && tile_dtype_size(TILE_BF16) == 2);
  CHECK(!strcmp(tile_dtype_name(99), "?") && tile_dtype_size(TILE_ANY) == 0);
}

static void devices(void) {
  const char *text = NULL;
  int64_t number = 0;
  OK(tile_device_open("virtual:sm_90a", &device));
  OK(tile_device_text(device, "name", &text));
  CHECK(!strcmp(text, "virtual:sm_90a"));
  OK(tile_device_text(device, "target", &text));
  CHECK(!strcmp(text, "sm_90a"));
  OK(tile_device_text(device, "product", &text));
  CHECK(strlen(text) > 0);
  OK(tile_device_number(device, "is_virtual", &number));
  CHECK(number == 1);
  OK(tile_device_number(device, "multiprocessors", &number));
  CHECK(number > 0);
  OK(tile_device_synchronize(device));
}

static void streamsAndEvents(void) {
  tile_stream *other = NULL, *adopted = NULL;
  tile_event *start = NULL, *end = NULL;
  tile_device *same = NULL;
  void *native = NULL;
  int32_t isReached = 0;
  float milliseconds = -1;
  OK(tile_stream_create(device, &stream));
  OK(tile_stream_create(device, &other));
  OK(tile_stream_native(other, &native));
  OK(tile_stream_adopt(device, native, &adopted));
  OK(tile_stream_device(adopted, &same));
  OK(tile_event_create(device, &start));
  OK(tile_event_create(device, &end));
  OK(tile_event_record(start, stream));
  OK(tile_stream_wait_event(other, start));
  OK(tile_stream_wait(stream, adopted));
  OK(tile_event_record(end, other));
  OK(tile_event_synchronize(end));
  OK(tile_event_query(end, &isReached));
  CHECK(isReached == 1);
  OK(tile_event_elapsed(start, end, &milliseconds));
  CHECK(milliseconds >= 0);
  OK(tile_stream_synchronize(other));
  OK(tile_event_release(start));
  OK(tile_event_release(end));
  OK(tile_device_release(same));
  OK(tile_stream_release(adopted));
  OK(tile_stream_release(other));
}

static void tensors(void) {
  const int64_t shape[] = {3, 4}, strides[] = {8, 1}, flat[] = {2, -1}, few[] = {2, 2},
                fewStrides[] = {5, 1};
  const int32_t order[] = {1, 0};
  float values[12], back[12];
  tile_tensor *gaps = NULL, *turned = NULL, *part = NULL, *whole = NULL, *other = NULL, *again;
  tile_tensor_layout layout = {sizeof layout, 0, 0, {0}, {0}, NULL, 0, 0, 0, 0};
  tile_stream_usage usage = {sizeof usage, 0, 0, 0};
  tile_device *same = NULL;
  for (int i = 0; i < 12; ++i)
    values[i] = (float)i;
  OK(tile_tensor_create(device, TILE_F32, 2, shape, strides, &gaps));
  OK(tile_tensor_upload(gaps, NULL, values, sizeof values));
  OK(tile_tensor_info(gaps, &layout));
  CHECK(layout.rank == 2 && layout.shape[1] == 4 && layout.strides[0] == 8 && layout.bytes == 48);
  CHECK(layout.dtype == TILE_F32 && layout.elements == 12 && !layout.is_contiguous && layout.data);
  OK(tile_tensor_permute(gaps, order, &turned));
  OK(tile_tensor_download(turned, NULL, back, sizeof back));
  CHECK(back[1] == 4 && back[11] == 11);
  OK(tile_tensor_slice(turned, 0, 1, 2, &part));
  OK(tile_tensor_download(part, stream, back, 6 * sizeof(float)));
  CHECK(back[0] == 1 && back[5] == 10);
  OK(tile_tensor_device(part, &same));
  OK(tile_device_release(same));
  OK(tile_tensor_create_on(stream, TILE_F32, 2, shape, NULL, &whole));
  OK(tile_tensor_upload_async(whole, stream, values, sizeof values));
  OK(tile_tensor_reshape(whole, 2, flat, &other));
  OK(tile_tensor_info(other, &layout));
  CHECK(layout.shape[0] == 2 && layout.shape[1] == 6 && layout.is_contiguous);
  OK(tile_tensor_restride(whole, 2, few, fewStrides, &again));
  OK(tile_tensor_download(again, stream, back, 4 * sizeof(float)));
  CHECK(back[2] == 5);
  OK(tile_tensor_download_async(other, stream, back, sizeof back));
  OK(tile_stream_synchronize(stream));
  CHECK(back[11] == 11);
  OK(tile_stream_get_usage(stream, &usage));
  CHECK(usage.used_bytes >= 48 && usage.allocations == 1);
  OK(tile_tensor_release(again));
  OK(tile_tensor_release(whole)); // before its view
  OK(tile_tensor_release(other));
  OK(tile_stream_trim(stream));
  OK(tile_stream_overlap_launches(stream, 1));
  OK(tile_stream_overlap_launches(stream, 0));
  OK(tile_tensor_release(gaps));
  OK(tile_tensor_release(part));
  OK(tile_tensor_release(turned));
}

static void count(void *context) { ++*(int *)context; }

static void foreignMemory(void) {
  const int64_t shape[] = {10};
  tile_tensor *owner = filled(0), *lent = NULL;
  tile_tensor_layout layout = {sizeof layout, 0, 0, {0}, {0}, NULL, 0, 0, 0, 0};
  float ten[10];
  int returned = 0;
  OK(tile_tensor_info(owner, &layout));
  OK(tile_tensor_wrap(device, (char *)layout.data + 400, TILE_F32, 1, shape, NULL, count, &returned,
                      &lent));
  OK(tile_tensor_download(lent, stream, ten, sizeof ten));
  CHECK(ten[3] == 103 && returned == 0);
  OK(tile_tensor_release(lent));
  CHECK(returned == 1);
  FAILS(TILE_INVALID_ARGUMENT,
        tile_tensor_wrap(device, ten, TILE_F32, 1, shape, NULL, count, &returned, &lent));
  CHECK(returned == 1);
  OK(tile_tensor_release(owner));
}

static void exchange(void) {
  struct DLManagedTensorVersioned *managed = NULL;
  struct DLManagedTensor *old = NULL;
  tile_tensor *given = filled(5), *taken = NULL;
  OK(tile_tensor_to_dlpack(given, &managed));
  OK(tile_tensor_from_dlpack(device, managed, NULL, &taken));
  CHECK(element(taken, 10) == 15);
  OK(tile_tensor_release(taken));
  OK(tile_tensor_to_dlpack_unversioned(given, &old));
  OK(tile_tensor_from_dlpack_unversioned(device, old, stream, &taken));
  CHECK(element(taken, 20) == 25);
  OK(tile_tensor_release(taken));
  OK(tile_tensor_release(given));
}

static void ops(void) {
  const tile_setting seven = {"value", "7"};
  size_t number = 0;
  tile_op_description op = {sizeof op, NULL, NULL, 0, 0, 0};
  tile_op_signature signature = {sizeof signature, NULL, NULL, 0};
  tile_setting_description setting = {sizeof setting, NULL, NULL, NULL, 0, 0};
  tile_tensor *inputs[2], *output = NULL;
  tile_dtype dtype;
  int32_t rank;
  int64_t shape[TILE_MAX_RANK];
  OK(tile_op_count(&number));
  CHECK(number > 0);
  OK(tile_op_at(0, &op));
  CHECK(op.name && op.summary);
  OK(tile_op_find("add", &op));
  CHECK(op.inputs == 2);
  OK(tile_op_signature_of("fill", &signature));
  CHECK(!strcmp(signature.inputs, "y") && signature.settings == 1);
  OK(tile_op_setting_at("fill", 0, &setting));
  CHECK(!strcmp(setting.name, "value") && setting.kind == TILE_NUMBER_SETTING);
  inputs[0] = filled(1), inputs[1] = filled(2);
  OK(tile_op_output("add", inputs, 2, NULL, 0, &dtype, &rank, shape));
  CHECK(dtype == TILE_F32 && rank == 1 && shape[0] == kCount);
  OK(tile_tensor_create_on(stream, dtype, rank, shape, NULL, &output));
  OK(tile_op_run("add", stream, inputs, 2, output, NULL, 0));
  CHECK(element(output, 4) == 11);
  OK(tile_op_output_count("add", inputs, 2, NULL, 0, &number));
  CHECK(number == 1);
  OK(tile_op_output_at("add", inputs, 2, NULL, 0, 0, &dtype, &rank, shape));
  OK(tile_op_launch("subtract", stream, inputs, 2, &output, 1, NULL, 0));
  CHECK(element(output, 4) == -1);
  OK(tile_op_launch("fill", stream, &output, 1, NULL, 0, &seven, 1));
  CHECK(element(output, 4) == 7);
  OK(tile_tensor_release(output));
  OK(tile_tensor_release(inputs[0]));
  OK(tile_tensor_release(inputs[1]));
}

struct Launch {
  tile_kernel *kernel;
  tile_argument arguments[3];
};

static tile_status launch(void *context) {
  struct Launch *call = context;
  const tile_constant constants[] = {{"B", 256}};
  tile_launch_options options = {sizeof options, constants, 1, 4, 0, 0, 0, {0}};
  return tile_kernel_launch(call->kernel, stream, &options, call->arguments, 3);
}

static tile_status launchTwice(void *context) {
  tile_status status = launch(context);
  return status ? status : launch(context);
}

static tile_status download(void *context) {
  float values[kCount];
  return tile_tensor_download(context, stream, values, sizeof values);
}

static void graphs(struct Launch *call, tile_tensor *y) {
  tile_graph *graph = NULL;
  const float zeros[kCount] = {0};
  OK(tile_tensor_upload(y, stream, zeros, sizeof zeros));
  OK(tile_graph_capture(stream, launch, call, &graph));
  CHECK(element(y, 8) == 0);
  OK(tile_graph_replay(graph, stream));
  CHECK(element(y, 8) == 4.5f);
  call->arguments[2] = tile_integer(3);
  OK(tile_graph_update(graph, stream, launch, call));
  OK(tile_graph_replay(graph, stream));
  CHECK(element(y, 8) == 27);
  tile_at(__FILE__, __LINE__);
  CHECK(tile_graph_update(graph, stream, launchTwice, call) == TILE_INVALID_ARGUMENT);
  CHECK(tile_graph_capture(stream, download, y, &graph) == TILE_NOT_PREPARED_FOR_CAPTURE);
  CHECK(tile_last_error_code() == TILE_NOT_PREPARED_FOR_CAPTURE);
  OK(tile_graph_release(graph));
}

static void predictions(struct Launch *call, tile_tensor *y) {
  tile_prediction *prediction = NULL;
  tile_predict_options options = {sizeof options, 1.5, TILE_PREDICT_CLEAN | TILE_PREDICT_ESTIMATE};
  const float zeros[kCount] = {0};
  double launches = 0, us = 0, cycles = 0;
  const char *text = NULL;
  OK(tile_tensor_upload(y, stream, zeros, sizeof zeros));
  OK(tile_predict(device, launchTwice, call, NULL, &prediction));
  CHECK(element(y, 8) == 0); // nothing ran
  OK(tile_prediction_number(prediction, "launches", &launches));
  OK(tile_prediction_number(prediction, "us", &us));
  OK(tile_prediction_number(prediction, "cycles", &cycles));
  CHECK(launches == 2 && us > 2 && us < 40 && cycles > 1000);
  OK(tile_prediction_text(prediction, "text", &text));
  CHECK(strstr(text, "scale: grid ") && strstr(text, "2 launches: "));
  tile_at(__FILE__, __LINE__);
  CHECK(tile_prediction_text(prediction, "html", &text) == TILE_INVALID_ARGUMENT);
  CHECK(tile_prediction_number(prediction, "ms", &us) == TILE_INVALID_ARGUMENT);
  CHECK(strstr(tile_last_error_message(), "there are us, low_us"));
  OK(tile_prediction_release(prediction));
  OK(tile_predict(device, launch, call, &options, &prediction));
  OK(tile_prediction_text(prediction, "json", &text));
  CHECK(strstr(text, "\"clock_ghz\": 1.5") && strstr(text, "\"registers_are_estimated\": true"));
  OK(tile_prediction_release(prediction));
  options.flags = 4;
  CHECK(tile_predict(device, launch, call, &options, &prediction) == TILE_INVALID_ARGUMENT);
  CHECK(tile_predict(device, download, NULL, NULL, &prediction) == TILE_INVALID_HANDLE);
}

static void kernels(const char *path) {
  tile_library *library = NULL;
  size_t number = 0;
  struct Launch call = {NULL, {{0}, {0}, {0}}};
  tile_tensor *x = filled(1), *y = filled(0);
  tile_kernel_description kernel = {sizeof kernel, NULL, NULL, 0, 0, 0, 0};
  tile_parameter_description parameter = {sizeof parameter, NULL, 0, 0, 0};
  const tile_constant constants[] = {{"B", 128}};
  tile_launch_options options = {sizeof options, constants, 1, 2, 0, 0, 0, {0}};
  OK(tile_library_open(path, &library));
  OK(tile_library_kernel_count(library, &number));
  CHECK(number == 6);
  OK(tile_library_kernel_at(library, 0, &call.kernel));
  OK(tile_kernel_release(call.kernel));
  OK(tile_library_kernel(library, "scale", &call.kernel));
  OK(tile_library_release(library));
  OK(tile_kernel_info(call.kernel, &kernel));
  CHECK(!strcmp(kernel.name, "scale") && kernel.parameters == 4 && kernel.constants == 1);
  OK(tile_kernel_parameter(call.kernel, 2, &parameter));
  CHECK(!strcmp(parameter.name, "by") && parameter.kind == TILE_SCALAR);
  CHECK(parameter.dtype == TILE_F32);
  OK(tile_tensor_argument(x, &call.arguments[0]));
  OK(tile_tensor_argument(y, &call.arguments[1]));
  call.arguments[2] = tile_real(0.5);
  OK(tile_kernel_prepare(call.kernel, device, &options, call.arguments, 3));
  OK(tile_kernel_launch(call.kernel, stream, &options, call.arguments, 3));
  CHECK(element(y, 9) == 5);
  graphs(&call, y);
  predictions(&call, y);
  OK(tile_kernel_release(call.kernel));
  OK(tile_tensor_release(x));
  OK(tile_tensor_release(y));
}

static void errors(void) {
  tile_device *none = NULL;
  tile_clear_last_error();
  CHECK(tile_last_error_code() == TILE_OK && tile_last_error_fault() == 0);
  CHECK(!strcmp(tile_last_error_text(), ""));
  FAILS(TILE_INVALID_ARGUMENT, tile_device_open("gpu", &none));
  CHECK(none == NULL && tile_last_error_fault() == 1);
  CHECK(strstr(tile_last_error_message(), "'gpu' names no device"));
  CHECK(strstr(tile_last_error_file(), "Everything.c"));
  CHECK(strstr(tile_last_error_text(), tile_last_error_message()));
  CHECK(tile_last_error_note_count() == 0 && !tile_last_error_note(0));
  tile_at(NULL, 0);
  CHECK(tile_device_of_context(NULL, &none) != TILE_OK); // there is no CUDA, or no context
  CHECK(tile_last_error_line() == 0 && !strcmp(tile_last_error_file(), ""));
}

int main(int argc, char **argv) {
  CHECK(argc == 2);
  versions();
  errors();
  devices();
  streamsAndEvents();
  tensors();
  foreignMemory();
  exchange();
  ops();
  kernels(argv[1]);
  OK(tile_device_release(device)); // before its stream
  OK(tile_stream_release(stream));
  FAILS(TILE_INVALID_HANDLE, tile_stream_synchronize(stream));
  puts("every function of the C API did what it says");
  return 0;
}
