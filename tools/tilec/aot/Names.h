// Names in generated headers: of functions and libraries, which users choose, and of parameters, which kernels have.
#pragma once

#include <string>
#include <vector>

namespace tile::tilec {

/// Letters, digits and _, not beginning with a digit.
bool isIdentifier(const std::string &name);

/// Whether a C++ header cannot define a function or a namespace of this name: a keyword, `tile` and `std`.
bool hasMeaningInCpp(const std::string &name);

/// Names for the parameters of a C function, each as near to its own as can be: without what C has keywords for, what the function
/// itself uses, and names that are there twice.
std::vector<std::string> namesInC(const std::vector<std::string> &names);

} // namespace tile::tilec
