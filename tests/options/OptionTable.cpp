#include "tests/options/OptionTable.h"

#include "ir/target/Target.h"

#include <tile/Ops.h>

#include <optional>
#include <sstream>

namespace tile::test {

static std::optional<Error> tryRow(const OptionRow &row, const std::string &target) {
  try {
    Device device = Device::open("virtual:" + target);
    EXPECT_TRUE(row.isRight(device)) << "the results are wrong";
  } catch (const Error &error) {
    return error;
  }
  return std::nullopt;
}

static void expectRow(const OptionRow &row, const std::string &target) {
  SCOPED_TRACE(row.name + " on " + target);
  TargetInfo gpu = target_info(target);
  bool isAccepted = row.accepted == On::Every || (row.accepted == On::Tma && gpu.has_tma) ||
                    (row.accepted == On::Wgmma && gpu.has_wgmma);
  std::optional<Error> error = tryRow(row, target);
  if (!error) {
    EXPECT_TRUE(isAccepted) << "accepted, though it should be refused: " << row.refusal;
    return;
  }
  EXPECT_FALSE(isAccepted) << error->what();
  EXPECT_NE(error->code(), ErrorCode::InternalCompilerError) << error->what();
  EXPECT_NE(std::string(error->what()).find(row.refusal), std::string::npos) << error->what();
  EXPECT_FALSE(row.refusal.empty()) << "the row has no sentence";
}

void expectRows(const std::vector<OptionRow> &rows) {
  std::vector<std::string> targets = ir::targetNames();
  ASSERT_GE(targets.size(), 5u);
  for (const std::string &target : targets)
    for (const OptionRow &row : rows)
      expectRow(row, target);
}

std::vector<float> numbers(int64_t count, int seed) {
  std::vector<float> values(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i)
    values[static_cast<size_t>(i)] = static_cast<float>((i * 7 + i / 5 + seed) % 5 - 2);
  return values;
}

} // namespace tile::test
