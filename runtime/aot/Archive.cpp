#include "runtime/aot/Archive.h"

#include "codegen/compiled/KernelFacts.h"

#include <nlohmann/json.hpp>
#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string_view>

using Json = nlohmann::json;

namespace tile::frontend {

static void to_json(Json &value, const ArgFacts &facts) {
  value = {static_cast<int>(facts.dtype),
           facts.rank,
           facts.sameAs,
           facts.alignment,
           facts.isWide,
           facts.unitStrides,
           facts.strideBytesDivisible,
           facts.extentDivisible};
}

static void from_json(const Json &value, ArgFacts &facts) {
  facts.dtype = static_cast<DType>(value.at(0).get<int>());
  facts.rank = value.at(1), facts.sameAs = value.at(2), facts.alignment = value.at(3);
  facts.isWide = value.at(4), facts.unitStrides = value.at(5);
  facts.strideBytesDivisible = value.at(6), facts.extentDivisible = value.at(7);
}

static void to_json(Json &value, const TileUse &use) { value = {use.arg, use.dim, use.extent}; }

static void from_json(const Json &value, TileUse &use) {
  use = {value.at(0), value.at(1), value.at(2)};
}

} // namespace tile::frontend

namespace tile::aot {

static void to_json(Json &value, const NeededValue &needed) {
  value = {needed.use.arg, needed.use.dim, needed.value};
}

static void from_json(const Json &value, NeededValue &needed) {
  needed = {{value.at(0), value.at(1)}, value.at(2)};
}

static void to_json(Json &value, const Variant &variant) {
  auto *cubin = reinterpret_cast<const uint8_t *>(variant.cubin.data());
  value = {{"args", variant.needs.args},
           {"tiles", variant.needs.tiles},
           {"values", variant.needs.values},
           {"aliases", variant.aliases},
           {"facts", codegen::factsOf(variant.compiled)},
           {"ptx", variant.compiled.ptx},
           {"cubin", Json::binary({cubin, cubin + variant.cubin.size()})}};
}

static void from_json(const Json &value, Variant &variant) {
  variant.needs.args = value.at("args").get<std::vector<frontend::ArgFacts>>();
  variant.needs.tiles = value.at("tiles").get<std::vector<frontend::TileUse>>();
  variant.needs.values = value.at("values").get<std::vector<NeededValue>>();
  variant.aliases = value.at("aliases").get<std::vector<std::pair<int, int>>>();
  std::optional<codegen::CompiledKernel> compiled =
      codegen::kernelOf(value.at("facts").get_ref<const std::string &>());
  if (!compiled)
    throw std::runtime_error("what a launch must know is of another form");
  variant.compiled = std::move(*compiled);
  variant.compiled.ptx = value.at("ptx");
  const auto &cubin = value.at("cubin").get_binary();
  const auto *bytes = reinterpret_cast<const std::byte *>(cubin.data());
  variant.cubin.assign(bytes, bytes + cubin.size());
}

static void to_json(Json &value, const Function &function) {
  Json params = Json::array();
  for (size_t i = 0; i < function.params.size(); ++i)
    params.push_back({function.paramNames[i], static_cast<int>(function.params[i].kind),
                      static_cast<int>(function.params[i].dtype), function.params[i].rank});
  value = {{"name", function.name},
           {"kernel", function.kernel},
           {"file", function.file},
           {"line", function.line},
           {"params", params},
           {"constants", function.constants},
           {"variants", function.variants}};
}

static void from_json(const Json &value, Function &function) {
  function.name = value.at("name"), function.kernel = value.at("kernel");
  function.file = value.at("file"), function.line = value.at("line");
  for (const Json &param : value.at("params")) {
    function.paramNames.push_back(param.at(0));
    function.params.push_back({static_cast<detail::ParamSpec::Kind>(param.at(1).get<int>()),
                               static_cast<DType>(param.at(2).get<int>()), param.at(3)});
  }
  function.constants = value.at("constants").get<std::vector<std::pair<std::string, int64_t>>>();
  function.variants = value.at("variants").get<std::vector<Variant>>();
}

namespace {

constexpr std::string_view kMagic = "tileAOT1"; // the last character is the format's number
constexpr size_t kMostBytes = size_t(1) << 30;

/// Numbers that code indexes by are what they must be, whoever has written them.
void checkFunction(const Function &function) {
  auto require = [&](bool holds) {
    if (!holds)
      throw std::runtime_error("function '" + function.name + "' is not whole");
  };
  int count = static_cast<int>(function.params.size());
  auto isArgument = [&](int arg) { return arg >= 0 && arg < count; };
  for (const detail::ParamSpec &spec : function.params)
    require(spec.kind <= detail::ParamSpec::Scalar && spec.dtype <= any && spec.rank >= 0 &&
            spec.rank <= kMaxRank);
  for (const Variant &variant : function.variants) {
    require(static_cast<int>(variant.needs.args.size()) == count);
    for (size_t i = 0; i < variant.needs.args.size(); ++i)
      require(variant.needs.args[i].rank == function.params[i].rank &&
              variant.needs.args[i].sameAs < count);
    auto isPlace = [&](int arg, int dim) {
      return isArgument(arg) && dim < function.params[static_cast<size_t>(arg)].rank;
    };
    for (const frontend::TileUse &use : variant.needs.tiles)
      require(isPlace(use.arg, use.dim) && use.dim >= 0 && use.extent > 0);
    for (const NeededValue &value : variant.needs.values)
      require(isPlace(value.use.arg, value.use.dim));
    for (const codegen::Parameter &parameter : variant.compiled.parameters) {
      using Kind = codegen::Parameter::Kind;
      bool hasDimension = parameter.kind == Kind::Extent || parameter.kind == Kind::Stride;
      require(parameter.isOfLaunch() ? parameter.arg < 0
                                     : isPlace(parameter.arg, parameter.dim) ||
                                           (isArgument(parameter.arg) && !hasDimension));
    }
    for (const codegen::TensorMapRecipe &map : variant.compiled.tensorMaps) {
      require(map.box.size() == map.dims.size() && map.dims.size() <= kMaxRank);
      for (int32_t dim : map.dims)
        require(dim >= 0 && isPlace(map.arg, dim));
    }
    for (codegen::GridExpression::Symbol symbol : variant.compiled.grid.symbols())
      require(isPlace(symbol.arg, symbol.dim));
  }
}

[[noreturn]] void refuse(const std::string &source, const std::string &why) {
  throw Error(Fault::User, ErrorCode::Parse,
              "'" + source + "' is no archive of kernels that can be used: " + why);
}

std::vector<uint8_t> unpacked(std::span<const std::byte> bytes, const std::string &source) {
  if (bytes.size() < kMagic.size() || std::memcmp(bytes.data(), kMagic.data(), kMagic.size() - 1))
    refuse(source, "it does not begin like one");
  if (static_cast<char>(bytes[kMagic.size() - 1]) != kMagic.back())
    refuse(source, "it is of another version of tilec; make it anew by `tilec aot`");
  std::span<const std::byte> frame = bytes.subspan(kMagic.size());
  unsigned long long size = ZSTD_getFrameContentSize(frame.data(), frame.size());
  if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN || size > kMostBytes)
    refuse(source, "it is damaged");
  std::vector<uint8_t> content(size);
  size_t result = ZSTD_decompress(content.data(), content.size(), frame.data(), frame.size());
  if (ZSTD_isError(result) || result != size)
    refuse(source, "it is damaged or cut off");
  return content;
}

} // namespace

std::vector<std::byte> encode(const Archive &archive) {
  std::vector<uint8_t> content =
      Json::to_cbor({{"name", archive.name}, {"functions", archive.functions}});
  if (content.size() > kMostBytes)
    throw Error(Fault::User, ErrorCode::Unsupported,
                "the archive would hold " + std::to_string(content.size() >> 20) +
                    " MB of kernels, at most 1024 are possible: make several");
  std::unique_ptr<ZSTD_CCtx, size_t (*)(ZSTD_CCtx *)> packer(ZSTD_createCCtx(), ZSTD_freeCCtx);
  ZSTD_CCtx_setParameter(packer.get(), ZSTD_c_checksumFlag, 1);
  ZSTD_CCtx_setParameter(packer.get(), ZSTD_c_compressionLevel, 9);
  std::vector<std::byte> bytes(kMagic.size() + ZSTD_compressBound(content.size()));
  std::memcpy(bytes.data(), kMagic.data(), kMagic.size());
  size_t packed = ZSTD_compress2(packer.get(), bytes.data() + kMagic.size(),
                                 bytes.size() - kMagic.size(), content.data(), content.size());
  if (ZSTD_isError(packed))
    throw Error(Fault::User, ErrorCode::OutOfMemory,
                std::string("cannot pack the archive: ") + ZSTD_getErrorName(packed));
  bytes.resize(kMagic.size() + packed);
  return bytes;
}

Archive decode(std::span<const std::byte> bytes, const std::string &source) {
  std::vector<uint8_t> content = unpacked(bytes, source);
  Archive archive;
  try {
    Json value = Json::from_cbor(content);
    archive.name = value.at("name");
    archive.functions = value.at("functions").get<std::vector<Function>>();
    std::ranges::for_each(archive.functions, checkFunction);
  } catch (const std::exception &error) { // of the library, and those above
    refuse(source, error.what());
  }
  return archive;
}

} // namespace tile::aot
