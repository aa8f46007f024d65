// y = x / 2 in C, by a kernel that was compiled ahead of time.
#include "ahead_kernels.h" // made of kernels.cpp by `tilec aot`; see CMakeLists.txt

#include <stdio.h>

#define TRY(call)                                                                                  \
  do {                                                                                             \
    tile_at(__FILE__, __LINE__);                                                                   \
    if ((call) != TILE_OK) {                                                                       \
      fprintf(stderr, "%s\n", tile_last_error_text());                                             \
      return 1;                                                                                    \
    }                                                                                              \
  } while (0)

enum { kCount = 1000 };

int main(void) {
  tile_device *device;
  tile_stream *stream;
  TRY(tile_device_open(NULL, &device));
  TRY(tile_stream_create(device, &stream));

  float values[kCount];
  for (int i = 0; i < kCount; ++i)
    values[i] = (float)i;
  const int64_t shape[] = {kCount};
  tile_tensor *x, *y;
  TRY(tile_tensor_create(device, TILE_F32, 1, shape, NULL, &x));
  TRY(tile_tensor_create(device, TILE_F32, 1, shape, NULL, &y));
  TRY(tile_tensor_upload(x, stream, values, sizeof values));
  TRY(ahead_kernels_scale(stream, x, y, 0.5));
  TRY(tile_tensor_download(y, stream, values, sizeof values));
  printf("y[7] = %g\n", values[7]);

  TRY(tile_tensor_release(y));
  TRY(tile_tensor_release(x));
  TRY(tile_stream_release(stream));
  TRY(tile_device_release(device));
  return values[7] != 3.5f;
}
