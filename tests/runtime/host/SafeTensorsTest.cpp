// Files of tensors: what is written is read again, bit for bit; nothing that is wrong with a file goes further than an error.
#include "tests/runtime/jit/Devices.h"

#include <tile/SafeTensors.h>
#include <tile/detail/SafeTensors.h>

#include <filesystem>
#include <fstream>
#include <sys/stat.h>

using namespace tile;
using namespace tile::test;

namespace {

class SafeTensorsFile : public OnDevice {
protected:
  std::string path = std::filesystem::temp_directory_path() /
                     ("tile-" + std::to_string(::getpid()) + ".safetensors");
  ~SafeTensorsFile() override { std::filesystem::remove(path); }
};
TILE_ON_EVERY_DEVICE(SafeTensorsFile);

TEST_P(SafeTensorsFile, GiveBackWhatWasSaved) {
  auto a = stream.tensor<float>({2, 3});
  a.upload(ramp(6, 1));
  auto empty = stream.tensor<int64_t>({0, 4});
  auto scalar = stream.tensor<double>({});
  scalar.upload(std::vector<double>{0.1});
  auto flags = stream.tensor<bool>({3});
  unsigned char bits[] = {1, 0, 1};
  flags.uploadBytes(bits, 3);
  NamedTensor saved[] = {{"layer.0.weight", a},
                         {"transposed", a.T()},
                         {"empty", empty},
                         {"scalar", scalar},
                         {"flags \"x\"", flags}};
  saveSafeTensors(path, saved, {{"step", "17"}, {"text", "äöü\n"}});
  SafeTensors loaded = loadSafeTensors(stream, path);
  ASSERT_EQ(loaded.tensors.size(), 5u);
  EXPECT_EQ(loaded.metadata.at("step"), "17");
  EXPECT_EQ(loaded.metadata.at("text"), "äöü\n");
  for (const NamedTensor &named : saved) {
    const Tensor &again = loaded.at(named.name);
    EXPECT_EQ(again.dtype(), named.tensor.dtype());
    ASSERT_TRUE(std::ranges::equal(again.extents(), named.tensor.extents())) << named.name;
    std::vector<unsigned char> before(named.tensor.bytes()), after(again.bytes());
    named.tensor.downloadBytes(before.data(), before.size());
    again.downloadBytes(after.data(), after.size());
    EXPECT_EQ(before, after) << named.name;
  }
  Error error = errorOf([&] { loaded.at("layer.1.weight"); });
  EXPECT_EQ(error.code(), ErrorCode::InvalidArgument);
  EXPECT_NE(error.message().find("layer.0.weight, transposed"), std::string::npos)
      << error.message();
}

TEST_P(SafeTensorsFile, AreReplacedWholeOrNotAtAll) {
  auto a = stream.tensor<float>({2});
  a.upload(ramp(2, 1));
  NamedTensor good[] = {{"a", a}}, bad[] = {{"a", a}, {"a", a}};
  saveSafeTensors(path, good);
  EXPECT_EQ(errorOf([&] { saveSafeTensors(path, bad); }).code(), ErrorCode::InvalidArgument);
  EXPECT_EQ(loadSafeTensors(stream, path).tensors.size(), 1u);
  Error unwritten = errorOf([&] { saveSafeTensors("/no/such/folder/x", good); });
  EXPECT_EQ(unwritten.code(), ErrorCode::IoError);
  EXPECT_NE(unwritten.file().find("SafeTensorsTest.cpp"), std::string::npos) << unwritten.what();
  EXPECT_EQ(errorOf([&] { loadSafeTensors(stream, "/no/such/file"); }).code(), ErrorCode::IoError);
  NamedTensor invalid[] = {{"\xff", a}};
  EXPECT_EQ(errorOf([&] { saveSafeTensors(path, invalid); }).code(), ErrorCode::InvalidArgument);
}

/// A file with this header and so many bytes of elements.
std::vector<unsigned char> fileOf(const std::string &header, size_t elements) {
  std::vector<unsigned char> file(8);
  for (size_t i = 0; i < 8; ++i)
    file[i] = static_cast<unsigned char>(header.size() >> 8 * i);
  file.insert(file.end(), header.begin(), header.end());
  file.resize(file.size() + elements);
  return file;
}

TEST_P(SafeTensorsFile, ThatAreNoFilesAreRefused) {
  auto load = [&] { loadSafeTensors(stream, path); };
  auto codeOf = [&] { return errorOf(load).code(); };
  EXPECT_EQ(codeOf(), ErrorCode::IoError) << "there is none";
  std::filesystem::create_directory(path);
  EXPECT_EQ(codeOf(), ErrorCode::IoError);
  std::filesystem::remove(path);
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_EQ(codeOf(), ErrorCode::IoError) << "nobody writes: reading would wait for ever";
}

TEST_P(SafeTensorsFile, LargerThanMemoryAreReadInParts) {
  constexpr uint64_t kBytes = uint64_t(1) << 40;
  std::string header =
      R"({"huge":{"dtype":"U8","shape":[1099511627776],"data_offsets":[0,1099511627776]}})";
  header.resize((header.size() + 7) / 8 * 8, ' ');
  std::string text(8, '\0');
  text[0] = static_cast<char>(header.size());
  std::ofstream(path, std::ios::binary) << text << header;
  std::error_code fault;
  std::filesystem::resize_file(path, 8 + header.size() + kBytes, fault);
  if (fault)
    GTEST_SKIP() << "no sparse files here: " << fault.message();
  EXPECT_EQ(errorOf([&] { loadSafeTensors(stream, path); }).code(), ErrorCode::OutOfMemory);
}

// In time that grows as their number: as its square, this would take minutes.
TEST(SafeTensorsHeaders, OfManyTensors) {
  std::string json = "{";
  for (int i = 0; i < 100'000; ++i)
    json += (i ? ",\"t" : "\"t") + std::to_string(i) +
            R"(":{"dtype":"F32","shape":[0,4],"data_offsets":[0,0]})";
  EXPECT_EQ(detail::parseSafeTensors(fileOf(json + "}", 0), "x", {}).entries.size(), 100'000u);
}

TEST(SafeTensorsHeaders, WhoseNamesATerminalWouldObey) {
  Error error = errorOf(
      [] { detail::parseSafeTensors(fileOf(R"({"\u001b[2J\n":{"dtype":"F32"}})", 0), "x", {}); });
  EXPECT_EQ(error.code(), ErrorCode::Parse);
  EXPECT_NE(error.message().find(R"('\x1b[2J\x0a')"), std::string::npos) << error.message();
}

TEST(SafeTensorsHeaders, ThatAreWrongAreRefused) {
  struct Case {
    const char *header;
    size_t elements;
    const char *words;
  };
  auto refused = [](const std::vector<unsigned char> &file, const std::string &words) {
    Error error = errorOf([&] { detail::parseSafeTensors(file, "x", {}); });
    EXPECT_NE(error.message().find(words), std::string::npos) << error.message();
  };
  for (
      const Case &c : {
          Case{"", 0, "the header is no JSON"},
          {"[]", 0, "the header is no JSON object"},
          {"{", 0, "the header is no JSON"},
          {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})",
           4, "two tensors are called 'a'"},
          {R"({"a":5})", 0, "tensor 'a' has no 'dtype'"},
          {R"({"a":{"dtype":"F32","shape":[1]}})", 4, "has no 'data_offsets'"},
          {R"({"a":{"dtype":7,"shape":[1],"data_offsets":[0,4]}})", 4,
           "'dtype' of tensor 'a' is no text"},
          {R"({"a":{"dtype":"C64","shape":[1],"data_offsets":[0,8]}})", 8,
           "which tensors cannot have"},
          {R"({"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}})", 4,
           "'shape' of tensor 'a' is no list"},
          {R"({"a":{"dtype":"F32","shape":[1.5],"data_offsets":[0,4]}})", 4,
           "'shape' of tensor 'a' is no list"},
          {R"({"a":{"dtype":"F32","shape":[18446744073709551615],"data_offsets":[0,4]}})", 4,
           "is no list"},
          {R"({"a":{"dtype":"F32","shape":[1,1,1,1,1,1,1,1,1],"data_offsets":[0,4]}})", 4,
           "9 dimensions"},
          {R"({"a":{"dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,4]}})", 4,
           "not those of its shape"},
          {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}})", 4,
           "not those of its shape"},
          {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,8]}})", 4,
           "are no place in the 4 bytes"},
          {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[4,0]}})", 4, "are no place"},
          {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})", 8,
           "do not follow those before"},
          {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", 8,
           "the last 4 bytes belong to no tensor"},
          {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"b":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})",
           4, "do not follow"},
          {R"({"__metadata__":{"a":1}})", 0, "does not map texts to texts"},
          {R"({"a":{"b":{"c":{"d":{"e":1}}}}})", 0, "nested too deeply"},
      }) {
    SCOPED_TRACE(c.header);
    refused(fileOf(c.header, c.elements), c.words);
  }
  refused({1, 2, 3}, "too few for a safetensors file");
  refused({255, 255, 255, 255, 255, 255, 255, 255, '{', '}'},
          "its header has 18446744073709551615 bytes");
  EXPECT_TRUE(detail::parseSafeTensors(fileOf("{}   ", 0), "x", {}).entries.empty());
}

} // namespace
