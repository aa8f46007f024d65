// The explanation as a page: the stages of a compile side by side. Each line carries the number of the source line it stands
// for; pointing at one marks all lines of that number, clicking brings them into view.
#include "tools/tilec/explain/Explain.h"

#include <algorithm>
#include <set>
#include <sstream>
#include <string_view>
#include <utility>

namespace tile::tilec {
namespace {

using namespace codegen;

constexpr std::string_view kStyle = R"css(
:root { color-scheme: light dark; --line: #8884; --mark: #ffd54a66; --pin: #ff9d0088; }
body { margin: 0; font: 14px system-ui, sans-serif; display: flex; flex-direction: column; height: 100vh; }
header { padding: 6px 12px; border-bottom: 1px solid var(--line); }
h1 { font-size: 16px; display: inline; margin-right: 16px; }
h2 { font-size: 13px; margin: 0; padding: 4px 8px; border-bottom: 1px solid var(--line); }
details pre { max-height: 45vh; overflow: auto; }
main { display: flex; flex: 1; min-height: 0; }
section { flex: 1 1 0; min-width: 0; display: flex; flex-direction: column; border-right: 1px solid var(--line); }
pre { margin: 0; font: 11px/1.45 ui-monospace, monospace; }
section pre { overflow: auto; flex: 1; }
.l { display: block; padding: 0 6px; border-left: 4px solid transparent; min-height: 1.45em; }
.l[data-k] { cursor: pointer; border-left-color: hsl(calc(var(--k) * 47) 70% 55%); }
.n { color: #888; user-select: none; }
.h { background: var(--mark); }
.p { background: var(--pin); }
.hidden { display: none; }
)css";

constexpr std::string_view kScript = R"js(
const all = document.querySelectorAll('.l[data-k]');
const byKey = new Map();
for (const line of all) {
  line.style.setProperty('--k', line.dataset.k);
  if (!byKey.has(line.dataset.k)) byKey.set(line.dataset.k, []);
  byKey.get(line.dataset.k).push(line);
}
function mark(key, name, on) { for (const line of byKey.get(key) || []) line.classList.toggle(name, on); }
let pinned = null;
function pin(key, from) {
  if (pinned !== null) mark(pinned, 'p', false);
  pinned = pinned === key ? null : key;
  if (pinned === null) return;
  mark(key, 'p', true);
  for (const column of document.querySelectorAll('section')) {
    const first = column.querySelector('.p');
    if (first && column !== from) {
      const box = column.querySelector('pre');
      box.scrollTop = first.offsetTop - box.offsetTop - box.clientHeight / 3;
    }
  }
}
for (const line of all) {
  line.addEventListener('mouseenter', () => mark(line.dataset.k, 'h', true));
  line.addEventListener('mouseleave', () => mark(line.dataset.k, 'h', false));
  line.addEventListener('click', () => pin(line.dataset.k, line.closest('section')));
}
for (const box of document.querySelectorAll('input[data-column]'))
  box.addEventListener('change', () => document.getElementById(box.dataset.column).classList.toggle('hidden', !box.checked));
const wanted = location.hash.match(/^#line(\d+)$/);
if (wanted && byKey.has(wanted[1])) pin(wanted[1], null);
)js";

std::string escape(std::string_view text) {
  std::string safe;
  for (char c : text)
    switch (c) {
    case '&':
      safe += "&amp;";
      break;
    case '<':
      safe += "&lt;";
      break;
    case '>':
      safe += "&gt;";
      break;
    case '"':
      safe += "&quot;";
      break;
    case '\'':
      safe += "&#39;";
      break;
    default:
      safe += c == '\n' || c == '\t' || static_cast<unsigned char>(c) >= 0x20 ? c : '?';
    }
  return safe;
}

std::vector<std::string> splitLines(const std::string &text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);)
    lines.push_back(line);
  return lines;
}

/// The integer that begins at a place of a text, -1 if none does.
int numberAt(std::string_view text, size_t at) {
  int number = -1;
  for (; at < text.size() && text[at] >= '0' && text[at] <= '9' && number < 100000000; ++at)
    number = std::max(number, 0) * 10 + (text[at] - '0');
  return number;
}

/// The integer after some words, -1 if there is none.
int numberAfter(std::string_view text, std::string_view words) {
  size_t at = text.find(words);
  return at == text.npos ? -1 : numberAt(text, at + words.size());
}

/// The text in quotes that follows `words`.
std::string quotedAfter(std::string_view text, std::string_view words) {
  size_t at = text.find(words);
  size_t open = at == text.npos ? text.npos : text.find('"', at + words.size());
  size_t close = open == text.npos ? text.npos : text.find('"', open + 1);
  return close == text.npos ? "" : std::string(text.substr(open + 1, close - open - 1));
}

/// LLVM IR: `!dbg !7` names a DILocation, whose scope names a file.
class DebugMetadata {
public:
  explicit DebugMetadata(const std::vector<std::string> &lines) {
    for (const std::string &line : lines)
      if (line.starts_with("!"))
        if (int number = numberAt(line, 1); number >= 0)
          nodes_[number] = line;
  }

  SourceLine lineOf(int location) {
    const std::string &node = nodes_[location];
    if (node.find("DILocation(") == node.npos)
      return {};
    return {fileOf(numberAfter(node, "scope: !")), numberAfter(node, "line: ")};
  }

private:
  std::string fileOf(int scope) {
    const std::string &node = nodes_[numberAfter(nodes_[scope], "file: !")];
    std::string name = quotedAfter(node, "filename: "), folder = quotedAfter(node, "directory: ");
    return folder.empty() ? name : folder + "/" + name;
  }

  std::map<int, std::string> nodes_;
};

std::vector<SourceLine> linesOfLlvmIr(const std::vector<std::string> &lines) {
  DebugMetadata metadata(lines);
  std::vector<SourceLine> places;
  for (const std::string &line : lines) {
    int location = line.starts_with(" ") ? numberAfter(line, "!dbg !") : -1;
    places.push_back(location >= 0 ? metadata.lineOf(location) : SourceLine());
  }
  return places;
}

/// PTX: `.loc file line column` holds until the next one; `.file number "name"` may come after.
std::vector<SourceLine> linesOfPtx(const std::vector<std::string> &lines) {
  std::map<int, std::string> names;
  for (const std::string &line : lines)
    if (int number = numberAfter(line, ".file\t"); number >= 0)
      names[number] = quotedAfter(line, ".file\t");
  std::vector<SourceLine> places;
  SourceLine current;
  for (const std::string &line : lines) {
    if (int file = numberAfter(line, ".loc\t"); file >= 0) {
      size_t space = line.find(' ', line.find(".loc\t"));
      current = {names[file], space == line.npos ? 0 : numberAt(line, space + 1)};
    } else if (line.starts_with("}")) {
      current = {};
    }
    places.push_back(current);
  }
  return places;
}

/// SASS: a comment of nvdisasm holds until the next one.
std::vector<SourceLine> linesOfSass(const std::vector<std::string> &lines) {
  std::vector<SourceLine> places;
  SourceLine current;
  for (const std::string &line : lines) {
    if (line.find("//## File") != line.npos)
      current = {quotedAfter(line, "//## File"), numberAfter(line, ", line ")};
    bool isInstruction = line.find("/*") != line.npos || line.find("//##") != line.npos;
    places.push_back(isInstruction ? current : SourceLine());
  }
  return places;
}

struct Column {
  std::string title, id;
  std::vector<std::string> lines;
  std::vector<SourceLine> places;
};

class Page {
public:
  Page(const Explanation &all, SourceFiles &files) : all_(all), files_(files) {
    addStages();
    if (!all.assembly.sass.empty()) {
      std::vector<std::string> lines = splitLines(all.assembly.sass);
      columns_.push_back({"SASS", "sass", lines, linesOfSass(lines)});
    }
    addSources();
    for (const Column &column : columns_)
      for (const SourceLine &place : column.places)
        if (place.line > 0)
          keys_.try_emplace({plainPath(place.file), place.line}, keys_.size());
  }

  std::string write() {
    std::string title = escape(all_.kernel.name + " for " + all_.kernel.target);
    std::string html = "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>" +
                       title + "</title>\n<style>" + std::string(kStyle) +
                       "</style></head><body>\n<header><h1>" + title + "</h1>";
    for (const Column &column : columns_)
      html += "<label><input type=\"checkbox\" checked data-column=\"" + column.id + "\">" +
              escape(column.title) + "</label> ";
    html += "<details><summary>report</summary><pre>" + escape(explainAsText(all_, files_)) +
            "</pre></details></header>\n<main>\n";
    for (const Column &column : columns_)
      writeColumn(html, column);
    return html + "</main>\n<script>" + std::string(kScript) + "</script></body></html>\n";
  }

private:
  void addStages() {
    for (auto &[stage, text] : all_.kernel.stages) {
      Column column{"", "", splitLines(text), {}};
      switch (stage) {
      case Stage::Tile:
        column.title = "dialect tile", column.id = "tile";
        break;
      case Stage::TileGpu:
        column.title = "dialect tilegpu", column.id = "tilegpu";
        break;
      case Stage::Llvm:
        continue; // LLVM IR says the same in fewer lines
      case Stage::LlvmIr:
        column.title = "LLVM IR", column.id = "llvm-ir",
        column.places = linesOfLlvmIr(column.lines);
        break;
      case Stage::Ptx:
        column.title = "PTX", column.id = "ptx", column.places = linesOfPtx(column.lines);
      }
      for (const StageLines &known : all_.report().stageLines)
        if (known.stage == stage)
          column.places = known.lines;
      columns_.push_back(std::move(column));
    }
  }

  // The files that lines came from, first those with most.
  void addSources() {
    std::map<std::string, int> uses;
    for (const Column &column : columns_)
      for (const SourceLine &place : column.places)
        if (place.line > 0)
          ++uses[place.file];
    std::set<std::string> shown;
    Column source{"source", "source", {}, {}};
    std::vector<std::pair<int, std::string>> order;
    for (auto &[file, many] : uses)
      order.push_back({-many, file});
    std::sort(order.begin(), order.end());
    for (auto &[many, file] : order) {
      const std::vector<std::string> &lines = files_.lines(file);
      if (!shown.insert(plainPath(file)).second)
        continue;
      source.lines.push_back(plainPath(file) + (lines.empty() ? " (cannot be read here)" : ""));
      source.places.push_back({});
      for (size_t i = 0; i < lines.size(); ++i) {
        source.lines.push_back(lines[i]);
        source.places.push_back({file, static_cast<int>(i) + 1});
      }
    }
    linkOnlyUsed(source);
    columns_.insert(columns_.begin(), std::move(source));
  }

  // Lines of a source that nothing came from are plain text, and keep their numbers.
  void linkOnlyUsed(Column &source) {
    std::set<SourceLine> used;
    for (const Column &column : columns_)
      for (const SourceLine &place : column.places)
        used.insert({plainPath(place.file), place.line});
    for (size_t i = 0; i < source.lines.size(); ++i) {
      SourceLine &place = source.places[i];
      if (place.line == 0)
        continue;
      std::string number = std::to_string(place.line);
      source.lines[i] = std::string(number.size() < 4 ? 4 - number.size() : 0, ' ') + number +
                        "  " + source.lines[i];
      if (!used.contains({plainPath(place.file), place.line}))
        place = {};
    }
  }

  void writeColumn(std::string &html, const Column &column) {
    html += "<section id=\"" + column.id + "\"><h2>" + escape(column.title) + "</h2><pre>";
    for (size_t i = 0; i < column.lines.size(); ++i) {
      SourceLine place = i < column.places.size() ? column.places[i] : SourceLine();
      html += "<span class=\"l\"";
      if (place.line > 0)
        html += " data-k=\"" + std::to_string(keys_.at({plainPath(place.file), place.line})) +
                "\" title=\"" + escape(placeText(place)) + "\"";
      html += ">" + escape(column.lines[i]) + "</span>";
    }
    html += "</pre></section>\n";
  }

  const Explanation &all_;
  SourceFiles &files_;
  std::vector<Column> columns_;
  std::map<std::pair<std::string, int>, size_t> keys_; ///< numbers of source lines
};

} // namespace

std::string explainAsHtml(const Explanation &explanation, SourceFiles &files) {
  return Page(explanation, files).write();
}

} // namespace tile::tilec
