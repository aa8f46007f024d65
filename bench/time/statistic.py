"""Numbers that say how good predictions are."""
import dataclasses
import statistics

kHead = (f"{'family':<10} {'points':>6} {'median':>7} {'p90':>7} {'worst':>7} {'inside':>7}   {'pairs > 5 % right':<20}"
         f" {'first, best of 3, of 5':<24} worst first")
kLeast = 4  # variants of a group whose picks are counted
kApart = 1.05


@dataclasses.dataclass
class Prediction:
    """What is said of a measured point, and what its kernel is ranked by."""
    point: object
    us: float
    key: float
    low: float | None  # None: no interval was asked for
    high: float | None

    @property
    def error(self):
        return self.us / self.point.us - 1


def quantile(values, share):
    ordered = sorted(values)
    return ordered[int(share * len(ordered))]


def groups(family, predictions):
    found = {}
    for prediction in predictions:
        found.setdefault(family.group(prediction.point), []).append((prediction.point.us, prediction.key))
    return found.values()


def pairs(members):
    """(right, all) pairs whose measured times are more than 5 % apart."""
    right = count = 0
    for index, (measured, key) in enumerate(members):
        for other, other_key in members[:index]:
            if max(measured / other, other / measured) > kApart:
                count += 1
                right += (measured < other) == (key < other_key)
    return right, count


def regret(members, tries):
    """What the best of the first picks costs over the best there is."""
    picked = sorted(members, key=lambda member: member[1])[:tries]
    return min(measured for measured, _ in picked) / min(measured for measured, _ in members) - 1


def summary(family, predictions):
    errors = [abs(prediction.error) for prediction in predictions]
    together = list(groups(family, predictions))
    counted = [pairs(members) for members in together]
    chosen = [members for members in together if len(members) >= kLeast]
    numbers = {"points": len(errors), "median": quantile(errors, 0.5), "p90": quantile(errors, 0.9), "worst": max(errors),
               "inside": inside(predictions),
               "right": sum(right for right, _ in counted), "count": sum(count for _, count in counted)}
    for tries in (1, 3, 5):
        regrets = [regret(members, tries) for members in chosen]
        numbers[f"best{tries}"] = statistics.mean(regrets) if regrets else None
        numbers["worst_first"] = max(regrets, default=None) if tries == 1 else numbers["worst_first"]
    return numbers


def inside(predictions):
    """The share of measured times that lie in their intervals."""
    if any(one.low is None for one in predictions):
        return None
    return statistics.mean(one.low <= one.point.us <= one.high for one in predictions)


def percent(value):
    return "-" if value is None else f"{100 * value:.1f} %"


def line(family, numbers):
    share = f"{percent(numbers['right'] / numbers['count'])} of {numbers['count']}" if numbers["count"] else "-"
    picks = ", ".join(percent(numbers[f"best{tries}"]) for tries in (1, 3, 5))
    errors = " ".join(f"{percent(numbers[name]):>7}" for name in ("median", "p90", "worst", "inside"))
    return f"{family.name:<10} {numbers['points']:>6} {errors}   {share:<20} {picks:<24} {percent(numbers['worst_first'])}"


def misses(bars, numbers):
    """Sentences of the bars that are missed."""
    if not bars:
        return []
    share = numbers["right"] / numbers["count"] if numbers["count"] else None
    most = [("median", numbers["median"], bars.median), ("p90", numbers["p90"], bars.p90),
            ("first pick", numbers["best1"], bars.first), ("best of 3", numbers["best3"], bars.best3)]
    found = [f"{name} {percent(value)}, at most {percent(bar)}" for name, value, bar in most
             if bar is not None and (value is None or value > bar)]
    if bars.pairs is not None and (share is None or share < bars.pairs):
        found.append(f"pairs {percent(share)}, at least {percent(bars.pairs)}")
    return found


def print_points(predictions):
    for prediction in sorted(predictions, key=lambda prediction: prediction.error):
        point = prediction.point
        print(f"  {prediction.error:+7.1%} {point.run} {point.variant:<28} {point.shape:<24} {point.launch:<10}"
              f" measured {point.us:8.1f} us, predicted {prediction.us:8.1f} us")
