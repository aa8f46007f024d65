#!/usr/bin/env python3
"""pipelining_document.py TILE-OPT: docs/pipelining.md shows what the passes do, and names what the sources have.

The document holds kernels (`<!-- kernel: NAME -->`, then a block) and excerpts of what passes make of them:
  <!-- ir: NAME after PASS -->         then a block, which is made
  <!-- same: NAME after PASS, PASS --> after these passes the kernel is what it was before them

pipelining_excerpts.txt says what the excerpts show, and of kernels that the document has no block of how they differ from others:
  [NAME is OTHER]
  replace: OLD | NEW     OLD is there once; `\\n` ends a line
  [NAME after PASS]
  show: REGEX            lines with this are shown, and the loops and branches around them
  hide: REGEX            but not those with this
  within: REGEX          only what is in a loop or branch with this in its first line
  drop: REGEX            is left out of each line
  keep: WORD             `loop_plan` or `variant`, which are left out otherwise
  name: REGEX | NAMES    the values in the group of lines with this have these names, in the order of their first lines
  note: REGEX | TEXT     the first shown line with this gets a comment
In a block constants stand for themselves, other values are named by the operation they come from, layouts and types that say
nothing of the pipeline are left out, and so are variables of a loop that no shown line has.

Constants with a value (`kMeeting = 15`), functions, attributes and names of passes must be in the sources, linked files exist.
TILE_UPDATE_GOLDEN=1: writes the blocks into the document instead."""
import difflib
import itertools
import os
import pathlib
import re
import subprocess
import sys

kRoot = pathlib.Path(__file__).resolve().parent.parent.parent
kDocument = kRoot / "docs/pipelining.md"
kSettings = kRoot / "tests/tools/pipelining_excerpts.txt"
kKernel = re.compile(r"^<!-- kernel: (\w+) -->\n```mlir\n(.*?)^```$", re.M | re.S)
kExcerpt = re.compile(r"^<!-- ir: (\w+ after [\w-]+) -->\n```mlir\n(.*?)^```$", re.M | re.S)
kSame = re.compile(r"^<!-- same: (\w+) after ([\w, -]+) -->$", re.M)
kTarget = "sm_90a"
kCodegen = ["tile-lower-to-scalars", "tile-nest-loops"]


# --- What the passes make -------------------------------------------------------------------------------------------------

def stages(tile_opt, kernel):
    """Pass -> the kernel after it; "before PASS" -> what it was given."""
    codegen = [f"-{kCodegen[0]}=target={kTarget}", f"-{kCodegen[1]}"]
    done = subprocess.run([tile_opt, f"-tile-pipeline=target={kTarget}", *codegen, "-mlir-print-ir-after-all", "-o", os.devnull],
                          input=kernel, text=True, capture_output=True, timeout=60)
    if done.returncode:
        sys.exit(f"tile-opt fails with {done.returncode}:\n{done.stderr[-2000:]}")
    found, before = {}, None
    for head, body in re.findall(r"^// -----// IR Dump After \w+ \(([\w-]+)\).*?//----- //\n(.*?)(?=^// -----// IR Dump|\Z)",
                                 done.stderr, re.M | re.S):
        found.setdefault("before " + head, before)
        found[head] = before = body.rstrip()
    return found


# --- Shorter lines --------------------------------------------------------------------------------------------------------

def without(text, opening):
    """Leaves out each `opening` with what is in its angle brackets."""
    while (at := text.find(opening + "<")) >= 0:
        end = at + len(opening)
        depth = 0
        for end in range(end, len(text)):
            depth += (text[end] == "<") - (text[end] == ">" and text[end - 1] != "-")
            if depth == 0:
                break
        text = text[:at] + text[end + 1:]
    return text


def instruction(match):
    """Of a piece of assembly the instruction that it is for."""
    text = match[1].replace("\\0A\\09", " ")
    known = re.search(r"(?:@own |@one )?(?:wgmma\.(?:mma|wait)[^;]*|mbarrier\.[^;]*|cp\.async\.bulk[^;]*|bar\.\w+ [^;]*)", text)
    return f'asm "{re.sub(r" +[{].*", " ...", known[0] if known else text)}"'


def shortened(line, drop, keep):
    """Layouts, types and attributes that say nothing of the pipeline are left out."""
    line = re.sub(r'llvm\.inline_asm has_side_effects "([^"]*)".*', instruction, line)
    line = re.sub(r"(scf\.while )\(.*\) : .*", r"\1(...) {", re.sub(r"(scf\.condition\([^)]*\)).*", r"\1 ...", line))
    for attribute in ("#tilegpu.shared", "#tilegpu.layout"):
        line = without(line, attribute)
    line = re.sub(r", >", ">", line).replace("!tilegpu.", "")
    for name in ("access", "warp_grid"):
        line = without(line, f"tilegpu.{name} = #tilegpu.{name}")
    if keep != "loop_plan":
        line = re.sub(r", tilegpu\.loop_plan = #tilegpu\.loop_plan<[^>]*>", "", line)
    if keep != "variant" and re.search(r"tilegpu\.(ring_copy|tensor_\w+|dot_async) ", line):
        line = re.sub(r"tilegpu\.variant = #tilegpu\.(?:load|store|dot)<\w+>", "", line)
    line = re.sub(r"tilegpu\.k_major = array<[^>]*>|alignment = \d+ : i32", "", line)
    line = re.sub(drop, "", line) if drop else line
    line = re.sub(r"\{[, ]+", "{", re.sub(r"(, ?)+\}", "}", re.sub(r"(, ){2,}", ", ", line))).replace(" {}", "")
    line = re.sub(r"(?<=\d) : i32(?=[,}])", "", line)
    if line.endswith("{"):
        line = re.sub(r"( -> \(.*\))?  ?: i32 \{$| -> \([^()]*\) \{$", " {", line)
    elif not re.search(r"ring_alloc|smem_alloc|^\s*\}", line):
        line = re.sub(r" : [^\"{]*$", "", line)
    return re.sub(r" +\{$", " {", line)


def scoped(text):
    """Lines in which no two values have one name: the printer uses names again in regions that lie side by side."""
    scopes, count, lines = [{}], itertools.count(1), []

    def define(scope, names):
        scope |= {name: f"{name}@{next(count)}" for name in names}

    def current(use):
        return next((scope[use[0]] for scope in reversed(scopes) if use[0] in scope), use[0])

    for line in text.splitlines():
        if line.strip().startswith("}") and len(scopes) > 1:
            scopes.pop()
        made = re.match(r"\s*(%[\w-]+)(?::\d+)? = ", line)
        define(scopes[-1], [made[1]] if made else [])
        if line.endswith("{"):  # variables of the loop, arguments of the function
            scopes.append({})
            define(scopes[-1], re.findall(r"%[\w-]+(?= = |: )", line[made.end() if made else 0:]))
        elif re.match(r"\s*\^", line):  # arguments of a block
            define(scopes[-1], re.findall(r"%[\w-]+(?=:)", line))
        lines.append(re.sub(r"%[\w-]+", current, line))
    return lines


def inlined(lines):
    """Constants stand for themselves."""
    known = {}
    isConstant = re.compile(r"\s*(%[\w@-]+) = (?:arith\.constant |llvm\.mlir\.constant\()(-?\d+|true|false|dense<0\.[^>]*>)")
    for match in filter(None, map(isConstant.match, lines)):
        known[match[1]] = "zeros" if match[2].startswith("dense") else match[2]
    return [re.sub(r"%[\w@-]+", lambda use: known.get(use[0], use[0]), line) for line in lines if not isConstant.match(line)]


# --- What is shown --------------------------------------------------------------------------------------------------------

def chosen(lines, fields):
    """Numbers of the lines that are shown: those that are asked for, and where loops and branches around them begin and end."""
    shown, around = set(), []  # around: the lines that begin a region of a loop or branch, and whether it is shown
    for number, line in enumerate(lines):
        closes, opens = line.strip().startswith("}"), line.endswith("{")
        isWithin = not fields["within"] or any(isShown for _, isShown in around)
        if closes and opens and around:
            around[-1][0].append(number)
        elif closes and around:
            heads, isShown = around.pop()
            if isShown and any(heads[0] <= other for other in shown):
                shown |= {*heads, number}
        elif isWithin and re.search(fields["show"], line) and not (fields["hide"] and re.search(fields["hide"], line)):
            shown.add(number)
        if opens and not closes:
            isHead = bool(fields["within"] and re.search(fields["within"], line)) or isWithin
            around.append(([number], isHead and not re.match(r"module|\s*func\.func", line)))
    return {number for number in shown if not re.match(r"module|\s*func\.func", lines[number])}


def with_variables_of(lines, shown):
    """Leaves out variables of loops that no shown line has, and what the loop hands on to them."""
    lines = list(lines)
    for head in sorted(number for number in shown if "iter_args(" in lines[number]):
        names = set(re.findall(r"%[\w@-]+(?:#\d+)?", "\n".join(
            lines[number] for number in shown if number != head and not lines[number].strip().startswith("scf.yield"))))
        before, variables, after = re.match(r"(.*iter_args\()([^)]*)\)(.*)", lines[head]).groups()
        variables = variables.split(", ")
        result = re.match(r"\s*(%[\w@-]+)(?::\d+)? = ", lines[head])
        kept = [i for i, variable in enumerate(variables)
                if variable.split(" = ")[0] in names or (result and {f"{result[1]}#{i}", result[1]} & names)]
        left_out = ["..."] if len(kept) < len(variables) else []
        lines[head] = before + ", ".join([variables[i] for i in kept] + left_out) + ")" + after
        indent = len(lines[head]) - len(lines[head].lstrip())
        end = next(n for n in range(head + 1, len(lines)) if lines[n].startswith(" " * indent + "}"))
        if match := re.match(r"(\s*scf\.yield )(.*?)( : .*)?$", lines[end - 1]):
            values = match[2].split(", ")
            lines[end - 1] = match[1] + ", ".join([values[i] for i in kept] + left_out)
    return lines


kKinds = {"cmpi": "is", "consumer_wait": "tiles", "ring_tiles": "tiles", "make_view": "view", "dot_async": "dot", "dot_wait": "acc",
          "smem_alloc": "smem", "ring_alloc": "ring", "smem_stage": "stage", "view_load": "tile", "for": "out", "if": "out",
          "while": "out"}


def named(lines, whole, wishes):
    """Values have the names that are wished, or those of the operations that they come from, in the order of the lines."""
    names, taken, kinds = {}, {}, {}
    for line in whole:
        if made := re.match(r"\s*(%[\w@-]+)(?::\d+)? = [\"]?(?:\w+\.)*(\w+)", line):
            kinds[made[1]] = kKinds.get(made[2], made[2])
        if loop := re.search(r"scf\.for (?:unsigned )?(%[\w@-]+)", line):
            kinds[loop[1]] = "i"
    for pattern, wished in wishes:
        found = dict.fromkeys(match[1] for line in whole for match in re.finditer(pattern, line) if match[1] not in names)
        if len(found) < len(wished.split(", ")):
            sys.exit(f"docs/pipelining.md: too few lines have {pattern} for the names {wished}")
        names |= {value: f"%{name}" for value, name in zip(found, wished.split(", "))}

    def nameOf(use):
        if use[0] not in names:
            kind = kinds.get(use[0], "v")
            while (new := f"%{kind}" + (str(taken[kind]) if taken.get(kind, 0) > 1 else "")) in names.values():
                taken[kind] = taken.get(kind, 0) + 1
            names[use[0]] = new
        return names[use[0]]
    return [re.sub(r"%[\w@-]+", nameOf, line) for line in lines]


def wrapped(line):
    """At most 130 columns where it has commas to be broken at."""
    indent = " " * (len(line) - len(line.lstrip()) + 4)
    if len(line) <= 130 or (at := line.rfind(", ", 40, 130) + 1) == 0:
        return [line]
    return [line[:at]] + wrapped(indent + line[at + 1:])


def excerpt(text, settings):
    """The block of an excerpt, from the whole of the kernel and what its head says."""
    fields = dict.fromkeys(("show", "hide", "within", "drop", "keep"), "")
    wishes, notes = [], []
    for line in settings.splitlines():
        key, value = line.split(": ", 1)
        if key in fields:
            fields[key] = value
        else:
            (wishes if key == "name" else notes).append(value.rsplit(" | ", 1))
    whole = inlined(scoped(text))
    shown = sorted(chosen(whole, fields))
    lines = with_variables_of(whole, shown)
    lines = named([shortened(lines[number], fields["drop"], fields["keep"]) for number in shown], whole, wishes)
    margin = min((len(line) - len(line.lstrip()) for line in lines), default=0)
    out, last = [], shown[0] - 1 if shown else 0
    for number, line in zip(shown, lines):
        line = line[margin:].rstrip()
        if number > last + 1 and not line.strip().startswith("}"):
            out.append(line[:len(line) - len(line.lstrip())] + "...")
        last = number
        if note := next((note for note in notes if re.search(note[0], line)), None):
            notes.remove(note)
            line += f"  // {note[1]}"
        out += wrapped(line)
    if notes:
        sys.exit(f"docs/pipelining.md: no shown line has {notes[0][0]}, which is to be noted: {notes[0][1]}")
    return "\n".join(out) + "\n"


# --- What the sources have ------------------------------------------------------------------------------------------------

def sources():
    return "\n".join(path.read_text() for folder in ("passes", "codegen", "ir")
                     for path in sorted((kRoot / folder).rglob("*")) if path.suffix in (".cpp", ".h", ".td"))


def unknown(document, known):
    """What the document names and the sources do not have."""
    prose = re.sub(r"^```.*?^```$|<!--.*?-->", "", document, flags=re.M | re.S)
    isOurs = re.compile(r"k[A-Z]\w+ = \d+|\btile(?:gpu)?\.\w+|\btile-[a-z-]+[a-z]|\b[a-z]+[A-Z]\w+|(?<=::)\w+")
    for code in dict.fromkeys(re.findall(r"`([^`\n]+)`", prose)):
        for word in isOurs.findall(code):
            mnemonic = re.sub(r"^(tilegpu|tile)\.(ring_|mbarrier_)?", "", word)
            if word not in known and f'"{mnemonic}"' not in known:
                yield f"docs/pipelining.md names `{word}`, which passes, codegen and ir do not have"
    for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", prose):
        if not (kDocument.parent / link).exists():
            yield f"docs/pipelining.md links to {link}, which does not exist"


def settings():
    """What is in brackets -> its lines."""
    lines = re.sub(r"^#.*\n", "", kSettings.read_text(), flags=re.M)
    return {head: body.strip() for head, body in re.findall(r"^\[([^\n]*)\]\n(.*?)(?=^\[|\Z)", lines, re.M | re.S)}


def kernels(document, known):
    found = dict(kKernel.findall(document))
    for head, lines in known.items():
        if " is " not in head:
            continue
        name, other = head.split(" is ")
        found[name] = found[other]
        for line in lines.splitlines():
            old, new = line.removeprefix("replace: ").split(" | ")
            if found[name].count(old) != 1:
                sys.exit(f"docs/pipelining.md: {other} does not have {old} once")
            found[name] = found[name].replace(old, new.replace("\\n", "\n"))
    return found


def main(tile_opt):
    document, known = kDocument.read_text(), settings()
    made = {name: stages(tile_opt, text) for name, text in kernels(document, known).items()}

    def stage(head):
        name, which = head.split(" after ")
        if which not in made[name]:
            sys.exit(f"docs/pipelining.md: there is no pass {which}; there are {', '.join(made[name])}")
        return made[name][which]

    wanted, shown = {head for head in known if " after " in head}, {match[1] for match in kExcerpt.finditer(document)}
    if wanted != shown:
        sys.exit(f"docs/pipelining.md or {kSettings.name} lacks {', '.join(wanted ^ shown)}")
    fresh = kExcerpt.sub(lambda m: m[0][:m.start(2) - m.start()] + excerpt(stage(m[1]), known[m[1]]) + "```", document)
    problems = list(unknown(document, sources()))
    problems += [f"docs/pipelining.md:{number}: a line of {len(line)} columns; drop what says nothing"
                 for number, line in enumerate(fresh.splitlines(), 1) if len(line) > 130 and not line.startswith("|")]
    for name, passes in kSame.findall(document):
        problems += [f"docs/pipelining.md: {name} is another after {each}" for each in passes.split(", ")
                     if stage(f"{name} after {each}") != stage(f"{name} after before {each}")]
    if os.environ.get("TILE_UPDATE_GOLDEN") == "1":
        kDocument.write_text(fresh)
    elif fresh != document:
        problems += difflib.unified_diff(document.splitlines(), fresh.splitlines(), "docs/pipelining.md",
                                         "what the passes make", lineterm="")
        problems.append("tools/dev golden brings the document up to date")
    print("\n".join(problems) or "docs/pipelining.md shows what the passes make")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(os.path.abspath(sys.argv[1])))
