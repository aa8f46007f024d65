// Words that describe numbers and tensors: "f32", "f32[1000x777]", "i32:5".
#pragma once

#include <tile/Registry.h>

#include <optional>
#include <string>
#include <string_view>

namespace tile::tilec {

/// The dtype of that name, or nothing.
std::optional<DType> dtypeNamed(std::string_view name);

/// "f32[1000x777]" or "f32:1000x777"; nothing if the word has another form. Extents may be 0.
std::optional<TensorSpec> tensorSpec(std::string_view word);

/// "1000x777"
std::optional<std::vector<int64_t>> extentsOf(std::string_view word);

/// A scalar argument of a dtype from decimal digits, as in C++ whatever the locale. Error: InvalidArgument naming the
/// word, for text that is no number of that dtype.
detail::HostArg scalarOf(DType dtype, std::string_view number);

} // namespace tile::tilec
