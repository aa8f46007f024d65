#include "ops/autograd/Anomaly.h"

#include <algorithm>
#include <cmath>

namespace tile::autograd::detail {

template <class T> static bool anyNan(const Tensor &tensor) {
  auto values = TensorOf<T>(tensor).download();
  return std::ranges::any_of(values,
                             [](T value) { return std::isnan(static_cast<double>(value)); });
}

bool hasNan(const Tensor &tensor) {
  if (tensor.dtype() == f16)
    return anyNan<half>(tensor);
  if (tensor.dtype() == bf16)
    return anyNan<bfloat16>(tensor);
  if (tensor.dtype() == f32)
    return anyNan<float>(tensor);
  return tensor.dtype() == f64 && anyNan<double>(tensor);
}

} // namespace tile::autograd::detail
