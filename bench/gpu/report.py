"""Tables for people, and the means of ratios."""
import math


def means_of(rows):
    """Geometric means of the ratios of each group, and of each part that has several, by contender; above 1 ours is faster."""
    groups, parts = {}, {}
    for row in rows:
        for contender, ratio in row.get("ratios", {}).items():
            groups.setdefault((row["part"], row["group"], contender), []).append(ratio)
            parts.setdefault((row["part"], "all", contender), []).append(ratio)
    wholes = {key: ratios for key, ratios in parts.items() if ratios not in groups.values()}
    means = [{"part": part, "group": group, "contender": contender, "rows": len(ratios),
              "ratio": math.exp(sum(map(math.log, ratios)) / len(ratios))}
             for (part, group, contender), ratios in (*groups.items(), *wholes.items())]
    return sorted(means, key=lambda mean: list(parts).index((mean["part"], "all", mean["contender"])))


def markdown(document):
    text = head(document)
    for part in dict.fromkeys(row["part"] for row in document["rows"]):
        rows = [row for row in document["rows"] if row["part"] == part]
        table = model_table if document["score"] == "model" else time_table
        text += f"\n## {part}\n\n" + table([row for row in rows if row.get("ms") or row.get("model")])
        text += "".join(f"\n- {row['shape']}: {row['status']}: {row['reason'].splitlines()[0]}"
                        for row in rows if row["status"] != "ok" and row.get("reason"))
        text += "".join(f"\n- {row['shape']}: {name} is not compared: {reason}"
                        for row in rows for name, reason in row.get("failed", {}).items())
        text = text.rstrip("\n") + "\n"
    if document["means"]:
        text += "\n## Geometric means of the ratios\n\n" + means_table(document["means"])
    if document["left"]:
        text += f"\nNot timed: {len(document['left'])} rows, from {document['left'][0]} on.\n"
    return text


def head(document):
    versions = ", ".join(f"{name} {version}" for name, version in document["versions"].items())
    note = {"time": "Times are medians by device events, all contenders of a shape in turn, in an order drawn anew each round, with "
                    "the L2 cache emptied by reading before each. A ratio is the contender's time by ours: above 1 ours is faster.",
            "model": "**No times**: on the virtual GPU the score is a model's, the least milliseconds that the busiest resource "
                     "of a GPU would need for what was counted. Hardware is slower; nothing is compared with libraries."}
    return (f"# tilec beside libraries: {document['product']}\n\n{document['date']}, driver {document['driver']}; {versions}.\n"
            f"`{document['command']}`\n\n{note[document['score']]}\n")


def line(cells):
    return "| " + " | ".join(cells) + " |\n"


def time_table(rows):
    """A rate of each contender, and ours relative to it."""
    if not rows:
        return ""
    unit, key = ("TFLOPS", "tflops") if any("tflops" in row for row in rows) and rows[0]["part"] != "skinny" else ("GB/s", "gbs")
    names = list(dict.fromkeys(name for row in rows for name in row.get("ms", {})))
    others = [name for name in names if name != "tilec"]
    text = line(["shape", "tilec ms", *(f"{name} {unit}" for name in names), *(f"tilec / {name}" for name in others), "differs by"])
    text += "|---" * (3 + len(names) + len(others)) + "|\n"
    for row in rows:
        text += line([row["shape"], f"{row['ms']['tilec']:.4g}", *(number(row[key].get(name), ".0f") for name in names),
                      *(number(row["ratios"].get(name), ".2f") for name in others), agreement(row)])
    return text


def model_table(rows):
    if not rows:
        return ""
    text = line(["shape", "model ms", "bound by", "warp instructions", "bytes", "differs by"]) + "|---" * 6 + "|\n"
    for row in rows:
        score = row["model"]["tilec"]
        text += line([row["shape"], number(score["ms"], ".4g"), score.get("resource", "-"), str(score["instructions"]),
                      str(score["bytes"]), agreement(row)])
    return text


def agreement(row):
    return number(next(iter(row.get("errors", {}).values()), None), ".1e")


def number(value, form):
    return "-" if value is None else format(value, form)


def means_table(means):
    text = line(["part", "group", "beside", "ratio", "rows"]) + "|---" * 5 + "|\n"
    for mean in means:
        text += line([mean["part"], mean["group"], mean["contender"], f"{mean['ratio']:.3f}", str(mean["rows"])])
    return text
