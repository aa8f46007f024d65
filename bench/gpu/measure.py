"""One row: our result beside those of others, then the contenders timed in turn, in an order that is drawn anew each round."""
import random
import statistics

import ours as our


def measure(row, ours, library, plain, rounds):
    """What is written down of a row. Its `status` is
      ok        timed, and the results agree (`errors`), or there was nothing to compare them with (`unchecked`)
      mismatch  ours differs from the first contender whose result there is; nothing was timed
      skipped   an op that does not take the operands yet
      error     ours failed
    A library that fails, or whose result differs from ours where the first one's does not, is in `failed` and not timed."""
    result = {"part": row.part, "group": row.group, "shape": row.shape, "name": row.name, "status": "ok"}
    try:
        ours.prepare(row)
        contenders = compare(row, ours, library, plain, result)
        if result["status"] == "ok":
            time_in_turn(row, ours, library, contenders, rounds, result)
    except our.Refused as refusal:
        is_known = row.may_be_refused and refusal.code in our.REFUSALS
        result.update(status="skipped" if is_known else "error", reason=str(refusal))
        if refusal.code in ("ContextLost", "DeviceLost"):
            ours.stop()
    except our.Lost as loss:
        result.update(status="error", reason=str(loss))
        ours.stop()
    except Exception as failure:  # of this row: the others are timed all the same
        result.update(status="error", reason=first_line(failure))
    return result


def compare(row, ours, library, plain, result):
    """The library's contenders whose results agree with ours."""
    result["bound"], result["errors"], result["failed"] = row.bound, {}, {}
    if library is None:
        if plain.takes(row):
            judge(plain.name, plain.error(row), row, result)
        else:
            result["unchecked"] = "no library here to compare with"
        return {}
    agreeing = {}
    try:
        contenders = library.prepare(row)
    except (our.Refused, our.Lost):
        raise
    except Exception as failure:  # whatever a library throws concerns its own column alone
        contenders, result["failed"]["library"] = {}, first_line(failure)
    for name, call in contenders.items():
        try:
            results = call()
            if results is None or judge(name, library.error(row, results), row, result):
                agreeing[name] = call
        except (our.Refused, our.Lost):
            raise
        except Exception as failure:
            result["failed"][name] = first_line(failure)
    if not result["errors"]:
        result["unchecked"] = "no library computed this"
    return agreeing


def judge(name, error, row, result):
    """Whether a relative norm is within bounds; if not, whose fault that is taken for."""
    is_first = not result["errors"]
    result["errors"][name] = error
    if error <= row.bound:  # not for NaN
        return True
    reason = f"the results of tilec and {name} differ by {error:.2g} of their norm, more than {row.bound:.2g}"
    if is_first:
        result.update(status="mismatch", reason=reason)
    else:
        result["failed"][name] = reason
    return False


def time_in_turn(row, ours, library, contenders, rounds, result):
    calls = {"tilec": lambda: ours.score(row), **ours.yardsticks(row)}
    is_model = ours.machine["virtual"]  # which gives the same each time
    if not is_model:
        calls.update({name: lambda call=call: library.score(call) for name, call in contenders.items()})
    scores = {name: [] for name in calls}
    for _ in range(1 if is_model else rounds):
        for name in random.sample(list(calls), len(calls)):
            try:
                scores[name].append(calls[name]())
            except (our.Refused, our.Lost):
                raise
            except Exception as failure:
                result["failed"][name] = first_line(failure)
    write_down(row, {name: each for name, each in scores.items() if name not in result["failed"]}, is_model, result)


def write_down(row, scores, is_model, result):
    """Medians, rates and ratios of times; of the model, which has no times, what it says."""
    if is_model:
        result["model"] = {name: each[0] for name, each in scores.items()}
        return
    times = {name: [score["ms"] for score in each] for name, each in scores.items()}
    result["ms"] = {name: statistics.median(each) for name, each in times.items()}
    result["timings"] = {name: len(each) for name, each in times.items()}
    result["quartiles"] = {name: statistics.quantiles(each)[::2] for name, each in times.items() if len(each) > 1}
    result["host_bound"] = sorted(name for name, each in scores.items() if any(score["host_bound"] for score in each))
    result["ratios"] = {name: time / result["ms"]["tilec"] for name, time in result["ms"].items() if name != "tilec"}
    if row.flops:
        result["tflops"] = {name: row.flops / time / 1e9 for name, time in result["ms"].items()}
    if row.bytes:
        result["gbs"] = {name: row.bytes / time / 1e6 for name, time in result["ms"].items()}


def first_line(failure):
    return f"{type(failure).__name__}: {failure}".strip().splitlines()[0][:300]
