// The file of a trace: whole JSON after every event.
#include "runtime/trace/TraceFile.h"
#include "tests/runtime/cache/TemporaryFolder.h"

#include <nlohmann/json.hpp>

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

namespace tile::trace {
namespace {

class TraceFiles : public testing::Test {
protected:
  std::string path(const std::string &name) const { return folder_.file(name); }
  std::unique_ptr<TraceFile> open(const std::string &name) const {
    std::string why;
    auto file = TraceFile::open(path(name), why);
    EXPECT_TRUE(file) << why;
    return file;
  }
  std::string whyNot(const std::string &name) const {
    std::string why;
    EXPECT_FALSE(TraceFile::open(path(name), why));
    return why;
  }
  /// The names of the events of a file, but of those that name threads and processes.
  std::vector<std::string> namesIn(const std::string &name) const {
    std::ifstream in(path(name));
    std::string text(std::istreambuf_iterator<char>(in), {});
    nlohmann::json events = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
    if (events.is_discarded()) {
      ADD_FAILURE() << "no JSON:\n" << text;
      return {};
    }
    std::vector<std::string> names;
    for (const nlohmann::json &event : events)
      if (event.at("ph") != "M")
        names.push_back(event.at("name"));
    return names;
  }

private:
  test::TemporaryFolder folder_;
};

std::string named(const std::string &name) { return "{\"name\":\"" + name + "\",\"ph\":\"X\"}"; }

TEST_F(TraceFiles, AreWholeAfterEveryEvent) {
  auto file = open("a.json");
  EXPECT_TRUE(namesIn("a.json").empty());
  std::vector<std::string> names;
  for (int i = 0; i < 5; ++i) {
    names.push_back("event " + std::to_string(i));
    file->add(named(names.back()));
    EXPECT_EQ(namesIn("a.json"), names);
  }
}

TEST_F(TraceFiles, HoldTheEventsOfAllThreads) {
  auto file = open("a.json");
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&] {
      for (int event = 0; event < 200; ++event)
        file->add(named("event"));
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(namesIn("a.json").size(), 8u * 200);
}

TEST_F(TraceFiles, ReplaceWhatWasThere) {
  std::ofstream(path("a.json")) << std::string(100'000, 'x');
  open("a.json")->add(named("new"));
  EXPECT_EQ(namesIn("a.json"), std::vector<std::string>{"new"});
}

TEST_F(TraceFiles, AreOfOneProcessAtATime) {
  {
    auto file = open("a.json");
    file->add(named("first"));
    EXPECT_NE(whyNot("a.json").find("is being written by another process"), std::string::npos);
    EXPECT_EQ(namesIn("a.json"), std::vector<std::string>{"first"});
  }
  EXPECT_TRUE(open("a.json"));
}

TEST_F(TraceFiles, AreLeftToTheParentByAChild) {
  auto file = open("a.json");
  pid_t child = fork();
  if (child == 0) {
    file->add(named("of the child"));
    _exit(0);
  }
  int status = 1;
  waitpid(child, &status, 0);
  file->add(named("of the parent"));
  EXPECT_EQ(status, 0);
  EXPECT_EQ(namesIn("a.json"), std::vector<std::string>{"of the parent"});
}

TEST_F(TraceFiles, RefuseWhatIsNoFile) {
  EXPECT_NE(whyNot("no/such/folder").find("No such file"), std::string::npos);
  EXPECT_NE(whyNot("").find("Is a directory"), std::string::npos);
}

} // namespace
} // namespace tile::trace
