#include "capi/Parameter.h"

#include "capi/Dtype.h"
#include "capi/Sized.h"

namespace tile::capi {

using detail::ParamSpec;

static int32_t numberOf(ParamSpec::Kind kind) {
  switch (kind) {
  case ParamSpec::In:
    return TILE_IN;
  case ParamSpec::Out:
    return TILE_OUT;
  case ParamSpec::InOut:
    return TILE_IN_OUT;
  case ParamSpec::Scalar:
    return TILE_SCALAR;
  case ParamSpec::Const:
    return TILE_CONST;
  }
  return 0;
}

void writeParameter(tile_parameter_description *target, const std::string &name,
                    const ParamSpec &spec) {
  tile_parameter_description known = {};
  known.name = name.c_str();
  known.kind = numberOf(spec.kind);
  known.dtype = capi::numberOf(spec.dtype);
  known.rank = spec.kind == ParamSpec::Const || spec.kind == ParamSpec::Scalar ? 0 : spec.rank;
  writeSized(target, "parameter", known);
}

void refuseIndex(size_t index, size_t count, const char *what) {
  refuse(ErrorCode::InvalidArgument, "index " + std::to_string(index) + ": there are " +
                                         std::to_string(count) + " " + what + ", from 0 on");
}

} // namespace tile::capi
