#include "tools/tilec/input/InputOptions.h"

#include "ir/target/Target.h"
#include "tools/tilec/Child.h"
#include "tools/tilec/input/Input.h"

namespace tile::tilec {

void addInputOptions(CLI::App &command, InputOptions &options) {
  command
      .add_option("input", options.words,
                  "op:NAME, FILE.cpp, LIB.so or FILE.mlir, then settings such as BM=128")
      ->required();
  command.add_option("--target", options.target, ir::knownTargets())->capture_default_str();
  command.add_option("--kernel", options.kernel, "which kernel of a FILE.cpp or LIB.so");
  command.add_flag(
      "--dependent", options.dependent,
      "as for streams that overlap launches: the kernel waits itself for those before");
  command.add_option("--reproducer", options.reproducer)->group("");
  command.add_flag("--in-child", options.inChild)->group("");
}

int repeatInChild(const std::string &command, std::vector<std::string> ownArguments,
                  const InputOptions &options) {
  std::vector<std::string> arguments = {command, "--in-child", "--target", options.target};
  arguments.insert(arguments.end(), ownArguments.begin(), ownArguments.end());
  if (!options.kernel.empty())
    arguments.insert(arguments.end(), {"--kernel", options.kernel});
  if (options.dependent)
    arguments.push_back("--dependent");
  arguments.push_back("--");
  arguments.insert(arguments.end(), options.words.begin(), options.words.end());
  return runInChild(arguments, inputFileOf(options.words));
}

} // namespace tile::tilec
