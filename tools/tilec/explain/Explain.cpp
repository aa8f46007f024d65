// `tilec explain`: what was decided about a kernel, why, and what it costs by a model.
#include "tools/tilec/explain/Explain.h"

#include "base/AtomicFile.h"
#include "runtime/jit/Compile.h"
#include "tools/tilec/Child.h"
#include "tools/tilec/Commands.h"
#include "tools/tilec/input/Input.h"
#include "tools/tilec/input/InputOptions.h"

#include <tile/Error.h>

#include <CLI/CLI.hpp>

#include <filesystem>
#include <fstream>
#include <iostream>

namespace tile::tilec {

std::string plainPath(const std::string &file) {
  std::string path = std::filesystem::path(file).lexically_normal().generic_string();
  while (path.starts_with("../"))
    path.erase(0, 3);
  return path;
}

std::string placeText(const codegen::SourceLine &where) {
  return where.line ? plainPath(where.file) + ":" + std::to_string(where.line) : "?";
}

const std::vector<std::string> &SourceFiles::lines(const std::string &file) {
  auto [entry, isNew] = known_.try_emplace(file);
  if (!isNew)
    return entry->second;
  for (const std::string &path : {file, plainPath(file)}) {
    std::error_code fault;
    std::ifstream in;
    if (std::filesystem::is_regular_file(path, fault))
      in.open(path);
    for (std::string line; std::getline(in, line);)
      entry->second.push_back(line);
    if (!entry->second.empty())
      break;
  }
  return entry->second;
}

std::string SourceFiles::text(const codegen::SourceLine &where) {
  const std::vector<std::string> &all = lines(where.file);
  if (where.line < 1 || static_cast<size_t>(where.line) > all.size())
    return {};
  const std::string &line = all[where.line - 1];
  size_t first = line.find_first_not_of(" \t"), last = line.find_last_not_of(" \t\r");
  return first == line.npos ? "" : line.substr(first, last - first + 1);
}

namespace {

struct ExplainOptions : InputOptions {
  std::string json, html;
};

Explanation explainInput(const ExplainOptions &options) {
  codegen::CompileOptions compile;
  compile.target = options.target;
  compile.keepStages = compile.keepReport = true;
  compile.reproducer = options.reproducer;
  jit::knownTarget(options.target); // refuses unknown ones before anything is compiled
  Explanation explanation;
  explanation.kernel = compileInput(options, compile);
  explanation.assembly = jit::inspectAssembly(explanation.kernel.ptx, options.target);
  std::optional<int64_t> registers;
  if (!explanation.assembly.assembler.empty())
    registers = explanation.assembly.registers;
  ir::Target target = *ir::findTarget(options.target);
  explanation.occupancy = codegen::occupancyOf(target, explanation.kernel.threads, registers,
                                               explanation.kernel.sharedBytes);
  explanation.card = target.card;
  explanation.roofline = codegen::rooflineOf(explanation.report(), target.card);
  return explanation;
}

int explainHere(const ExplainOptions &options) {
  Explanation explanation = explainInput(options);
  SourceFiles files;
  std::cout << explainAsText(explanation, files) << std::flush;
  if (!std::cout)
    throw Error(Fault::User, ErrorCode::IoError, "cannot write to standard output");
  if (!options.json.empty())
    base::writeFile(options.json, explainAsJson(explanation, files));
  if (!options.html.empty())
    base::writeFile(options.html, explainAsHtml(explanation, files));
  return kOk;
}

int explain(const ExplainOptions &options) {
  if (options.inChild)
    return explainHere(options);
  std::vector<std::string> arguments;
  if (!options.json.empty())
    arguments.insert(arguments.end(), {"--json", options.json});
  if (!options.html.empty())
    arguments.insert(arguments.end(), {"--html", options.html});
  return repeatInChild("explain", std::move(arguments), options);
}

} // namespace

void addExplain(CLI::App &app, std::function<int()> &chosen) {
  auto options = std::make_shared<ExplainOptions>();
  CLI::App *command =
      app.add_subcommand("explain", "Say what was decided about a kernel, why, and what it costs");
  addInputOptions(*command, *options);
  command->add_option("--json", options->json, "also write all of it to this file, as JSON");
  command->add_option("--html", options->html,
                      "also write this page: all stages side by side, lines linked");
  command->callback([options, &chosen] { chosen = [options] { return explain(*options); }; });
}

} // namespace tile::tilec
