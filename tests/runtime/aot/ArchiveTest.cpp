// Bytes that are no archive are refused, whoever has made them.
#include "tests/runtime/aot/Archives.h"

#include <tile/tile.h>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <zstd.h>

#include <cstring>
#include <functional>
#include <random>

using namespace tile;
using namespace tile::test;

namespace {

const auto copy = kernel("copy", [](In<f16, 2> x, Out<f16, 2> y, Const B) {
  auto [i, j] = grid2d(y, {B, B});
  y.tile({B, B})(i, j) = x.tile({B, B})(i, j);
});

const std::vector<std::byte> &goodArchive() {
  static const std::vector<std::byte> bytes = archiveOf({compiledAhead(
      "copy", {copy.consts(64), {exampleView(f16, {1024, 1024}), exampleView(f16, {1024, 1024})}},
      {"x", "y"}, {"sm_80", "sm_90a"})});
  return bytes;
}

/// Empty if the bytes are taken.
std::string refusalOf(std::span<const std::byte> bytes) {
  try {
    KernelArchive::of(bytes, "some.tilekernels");
    return "";
  } catch (const Error &error) {
    EXPECT_EQ(nameOf(error.code()), std::string("Parse"));
    EXPECT_EQ(
        error.message().find("'some.tilekernels' is no archive of kernels that can be used: "), 0u)
        << error.message();
    return error.message().substr(error.message().find(": ") + 2);
  }
}

constexpr size_t kMagicBytes = 8;

/// The archive with other content in a frame that is whole.
std::vector<std::byte> changed(const std::function<void(nlohmann::json &)> &change) {
  const std::vector<std::byte> &good = goodArchive();
  std::vector<uint8_t> content(
      ZSTD_getFrameContentSize(good.data() + kMagicBytes, good.size() - kMagicBytes));
  ZSTD_decompress(content.data(), content.size(), good.data() + kMagicBytes,
                  good.size() - kMagicBytes);
  nlohmann::json value = nlohmann::json::from_cbor(content);
  change(value);
  content = nlohmann::json::to_cbor(value);
  std::vector<std::byte> bytes(kMagicBytes + ZSTD_compressBound(content.size()));
  std::memcpy(bytes.data(), good.data(), kMagicBytes);
  bytes.resize(kMagicBytes + ZSTD_compress(bytes.data() + kMagicBytes, bytes.size() - kMagicBytes,
                                           content.data(), content.size(), 1));
  return bytes;
}

} // namespace

TEST(Archives, KeepAllOfAFunction) {
  aot::Function function = compiledAhead(
      "copy", {copy.consts(64), {exampleView(f16, {1024, 1024}), exampleView(f16, {1024, 1024})}},
      {"x", "y"}, {"sm_90a"});
  function.constants = {{"B", 64}};
  function.variants[0].cubin = {std::byte{1}, std::byte{0}, std::byte{255}};
  aot::Archive read = aot::decode(aot::encode({"name", {function}}), "bytes");
  ASSERT_EQ(read.functions.size(), 1u);
  const aot::Function &same = read.functions[0];
  EXPECT_EQ(read.name, "name");
  EXPECT_EQ(same.kernel, "copy");
  EXPECT_EQ(same.line, function.line);
  EXPECT_EQ(same.constants, function.constants);
  ASSERT_EQ(same.variants.size(), function.variants.size());
  for (size_t i = 0; i < same.variants.size(); ++i) {
    const aot::Variant &a = function.variants[i], &b = same.variants[i];
    EXPECT_EQ(a.compiled.ptx, b.compiled.ptx);
    EXPECT_EQ(a.compiled.threads, b.compiled.threads);
    EXPECT_EQ(a.compiled.tensorMaps.size(), b.compiled.tensorMaps.size());
    EXPECT_EQ(a.cubin, b.cubin);
    EXPECT_EQ(a.needs.tiles, b.needs.tiles);
    EXPECT_EQ(a.needs.args[0].alignment, b.needs.args[0].alignment);
    EXPECT_EQ(a.needs.args[1].extentDivisible, b.needs.args[1].extentDivisible);
    EXPECT_EQ(a.needs.args[1].isWide, b.needs.args[1].isWide);
  }
}

TEST(Archives, EveryCutIsRefused) {
  const std::vector<std::byte> &good = goodArchive();
  ASSERT_EQ(refusalOf(good), "");
  for (size_t size = 0; size < good.size(); size += size < 64 ? 1 : 97)
    EXPECT_NE(refusalOf(std::span(good).first(size)), "") << size << " of " << good.size();
}

// The content has a checksum. A bit that it does not depend on, such as one that fills a byte up, may be anything.
TEST(Archives, FlippedBitsAreRefusedOrChangeNothing) {
  const std::vector<std::byte> same = aot::encode(aot::decode(goodArchive(), "good"));
  int refused = 0;
  std::vector<std::byte> bytes = goodArchive();
  std::mt19937 random(7);
  for (int i = 0; i < 2000; ++i) {
    size_t place = i < 320 ? static_cast<size_t>(i) / 8 : random() % bytes.size();
    auto bit = std::byte(1u << i % 8);
    bytes[place] ^= bit;
    if (!refusalOf(bytes).empty())
      ++refused;
    else
      EXPECT_EQ(aot::encode(aot::decode(bytes, "flipped")), same) << "bit of byte " << place;
    bytes[place] ^= bit;
  }
  EXPECT_GT(refused, 1900);
}

TEST(Archives, OtherVersionsAndOtherFilesAreNamed) {
  std::vector<std::byte> bytes = goodArchive();
  bytes[7] = std::byte('2');
  EXPECT_EQ(refusalOf(bytes), "it is of another version of tilec; make it anew by `tilec aot`");
  EXPECT_EQ(refusalOf(std::as_bytes(std::span("#!/bin/sh\nexit 1\n"))),
            "it does not begin like one");
  EXPECT_EQ(refusalOf({}), "it does not begin like one");
}

// Whoever writes an archive by hand gets a sentence, too: nothing indexes by a number that was not looked at.
TEST(Archives, NumbersThatPointNowhereAreRefused) {
  using Json = nlohmann::json;
  ASSERT_EQ(refusalOf(changed([](Json &) {})), "");
  auto variant = [](Json &value) -> Json & { return value["functions"][0]["variants"][0]; };
  std::vector<std::function<void(Json &)>> changes = {
      [](Json &value) { value = 3; },
      [](Json &value) { value["functions"][0].erase("name"); },
      [](Json &value) { value["functions"][0]["params"][0][3] = 99; },
      [](Json &value) { value["functions"][0]["params"][0][2] = 77; },
      [](Json &value) { value["functions"][0]["params"][0][1] = 9; },
      [&](Json &value) { variant(value)["args"] = Json::array(); },
      [&](Json &value) { variant(value)["args"][0][2] = 5; },
      [&](Json &value) { variant(value)["tiles"][0][0] = 2; },
      [&](Json &value) { variant(value)["tiles"][0][1] = -1; },
      [&](Json &value) { variant(value)["tiles"][0][2] = 0; },
      [&](Json &value) {
        variant(value)["values"] = {{0, 7, 1}};
      },
      [&](Json &value) { variant(value)["cubin"] = "text"; },
      [&](Json &value) { variant(value)["facts"] = "{}"; },
      [&](Json &value) {
        Json facts = Json::parse(variant(value)["facts"].get<std::string>());
        facts["parameters"][0][1] = -1;
        variant(value)["facts"] = facts.dump();
      },
      [&](Json &value) {
        Json facts = Json::parse(variant(value)["facts"].get<std::string>());
        facts["parameters"].push_back({1, 0, 6, 8}); // an extent of dimension 6
        variant(value)["facts"] = facts.dump();
      },
      [&](Json &value) {
        Json facts = Json::parse(variant(value)["facts"].get<std::string>());
        facts["tensor_maps"] = {
            {{"arg", 0}, {"element", 1}, {"dims", {5}}, {"box", {8}}, {"swizzle", 0}}};
        variant(value)["facts"] = facts.dump();
      },
      [&](Json &value) {
        Json facts = Json::parse(variant(value)["facts"].get<std::string>());
        facts["parameters"].push_back({4, -1, -1, 8}); // a pointer to a workspace that there is not
        variant(value)["facts"] = facts.dump();
      },
      [&](Json &value) {
        Json facts = Json::parse(variant(value)["facts"].get<std::string>());
        facts["workspace"] = {512, 1, 2}; // to which nothing points
        variant(value)["facts"] = facts.dump();
      },
      [&](Json &value) {
        Json facts = Json::parse(variant(value)["facts"].get<std::string>());
        facts["workspace"] = {512, 0, 0};
        variant(value)["facts"] = facts.dump();
      },
  };
  for (size_t i = 0; i < changes.size(); ++i)
    EXPECT_NE(refusalOf(changed(changes[i])), "") << "change " << i;
}

TEST(Archives, FilesThatCannotBeReadAreNamedWithTheReason) {
  for (const auto &[path, why] :
       {std::pair("/no/such/file.tilekernels", "No such file or directory"),
        std::pair("/proc/self", "Is a directory")})
    try {
      KernelArchive::open(path);
      FAIL() << path;
    } catch (const Error &error) {
      EXPECT_EQ(error.code(), ErrorCode::IoError);
      EXPECT_EQ(error.message(), std::string("cannot read '") + path + "': " + why);
      EXPECT_NE(error.file().find("ArchiveTest.cpp"), std::string::npos);
    }
}
