// Lets code compiled by g++ ask about traits of operations in an MLIR library that clang has
// compiled, as Debian's is.
//
// MLIR finds the id of a trait by the name that the compiler gives to a class local to a function
// (TypeID::get<Trait>()): "mlir::OpTrait::ConstantLike<Empty>" by clang,
// "mlir::OpTrait::ConstantLike<mlir::TypeID::get<...>()::Empty>" by g++. With two names no
// operation of the library is a constant or a terminator to code of g++. Here g++ uses clang's
// name. The build includes this before all else (cmake/Tile.cmake), since no trait may be asked for
// earlier.
#pragma once

#include <mlir/Support/TypeID.h>

#include <string>
#include <string_view>

namespace mlir::detail {

inline constexpr std::string_view kLocalToTypeId = "mlir::TypeID::get<";

/// Whether `T` is the class that TypeID::get<Trait>() gives to a trait.
template <typename T> constexpr bool isTraitArgument() {
  return std::string_view(__PRETTY_FUNCTION__).find(kLocalToTypeId) != std::string_view::npos;
}

template <template <typename> class Trait, typename Argument>
class TypeIDResolver<Trait<Argument>, std::enable_if_t<isTraitArgument<Argument>()>>
    : public FallbackTypeIDResolver {
public:
  static TypeID resolveTypeID() {
    static TypeID id = registerImplicitTypeID(nameOfClang());
    return id;
  }

private:
  static std::string nameOfClang() {
    std::string_view ofGcc = llvm::getTypeName<Trait<Argument>>();
    return std::string(ofGcc.substr(0, ofGcc.find(kLocalToTypeId))) + "Empty>";
  }
};

} // namespace mlir::detail
