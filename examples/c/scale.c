// y = x / 2 by a kernel of a library, from C: scale LIBRARY.so
#include <tile/tile_c.h>
#include <stdio.h>

// Reports what went wrong at this line of this file.
#define TRY(call)                                                                                  \
  do {                                                                                             \
    tile_at(__FILE__, __LINE__);                                                                   \
    if ((call) != TILE_OK) {                                                                       \
      fprintf(stderr, "%s\n", tile_last_error_text());                                             \
      return 1;                                                                                    \
    }                                                                                              \
  } while (0)

enum { kCount = 1000 };

int main(int argc, char **argv) {
  tile_device *device;
  tile_stream *stream;
  TRY(tile_device_open(NULL, &device)); // an NVIDIA GPU if there is one, else the virtual GPU
  TRY(tile_stream_create(device, &stream));

  float values[kCount];
  for (int i = 0; i < kCount; ++i)
    values[i] = (float)i;
  const int64_t shape[] = {kCount};
  tile_tensor *x, *y;
  TRY(tile_tensor_create(device, TILE_F32, 1, shape, NULL, &x));
  TRY(tile_tensor_create(device, TILE_F32, 1, shape, NULL, &y));
  TRY(tile_tensor_upload(x, stream, values, sizeof values));

  tile_library *library;
  tile_kernel *scale;
  TRY(tile_library_open(argc > 1 ? argv[1] : "libkernels.so", &library));
  TRY(tile_library_kernel(library, "scale", &scale));

  // One argument for each parameter that is no constant, in their order.
  tile_argument arguments[3] = {{0}, {0}, tile_real(0.5)};
  TRY(tile_tensor_argument(x, &arguments[0]));
  TRY(tile_tensor_argument(y, &arguments[1]));
  const tile_constant constants[] = {{"B", 256}};
  tile_launch_options options = {sizeof options, constants, 1, 0, 0, 0, 0, {0}};
  options.warps = 4;
  TRY(tile_kernel_launch(scale, stream, &options, arguments, 3)); // compiles on first use

  TRY(tile_tensor_download(y, stream, values, sizeof values));
  printf("y[7] = %g\n", values[7]);

  TRY(tile_kernel_release(scale)); // in any order
  TRY(tile_library_release(library));
  TRY(tile_tensor_release(y));
  TRY(tile_tensor_release(x));
  TRY(tile_stream_release(stream));
  TRY(tile_device_release(device));
  return values[7] != 3.5f;
}
