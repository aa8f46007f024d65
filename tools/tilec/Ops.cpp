// `tilec ops`: the ops by name that `build`, `run`, `explain`, `aot` and programs in C and Python take.
#include "tools/tilec/Child.h"
#include "tools/tilec/Commands.h"

#include <tile/Registry.h>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <iostream>

namespace tile::tilec {
namespace {

/// "2", "1 to 3".
std::string inputsText(const OpEntry &op) {
  std::string text = std::to_string(op.inputs);
  return op.optionalInputs ? text + " to " + std::to_string(op.inputs + op.optionalInputs) : text;
}

int list() {
  std::vector<std::string> names = opNames();
  size_t width = std::ranges::max(names, {}, &std::string::size).size();
  for (const std::string &name : names) {
    const OpEntry &op = *findOp(name);
    std::string inputs = inputsText(op);
    constexpr size_t kInputsWidth = 9;
    std::cout << name << std::string(width + 2 - name.size(), ' ') << inputs
              << std::string(kInputsWidth - std::min(inputs.size(), kInputsWidth - 1), ' ')
              << op.summary << (op.changed.empty() ? "" : " (in place)") << "\n";
  }
  return kOk;
}

} // namespace

void addOps(CLI::App &app, std::function<int()> &chosen) {
  app.add_subcommand("ops", "List the ops by name, with how many tensors they take")
      ->callback([&chosen] { chosen = list; });
}

} // namespace tile::tilec
