"""The ops as loops over numbers of Python: what small results are compared with where there is no library."""
import array
import math
import sys


def of_e4m3(byte):
    """The number of an 8-bit float: a sign, 4 bits of exponent with bias 7, 3 of mantissa; all ones are NaN."""
    exponent, mantissa = byte >> 3 & 15, byte & 7
    if byte & 127 == 127:
        return math.nan
    size = math.ldexp(mantissa, -9) if exponent == 0 else math.ldexp(8 + mantissa, exponent - 10)
    return -size if byte & 128 else size


def floats_of(path, dtype):
    """The numbers in a file of raw bits."""
    data = path.read_bytes()
    if dtype == "f32":
        values = array.array("f", data)
        assert sys.byteorder == "little"
        return values.tolist()
    if dtype == "e4m3":
        return [of_e4m3(byte) for byte in data]
    if dtype != "bf16":
        raise NotImplementedError(f"plain loops read bf16, e4m3 and f32, not {dtype}")
    return array.array("f", b"".join(b"\0\0" + data[at:at + 2] for at in range(0, len(data), 2))).tolist()


def matrix(values, extents, order):
    """A list of rows."""
    height, width = extents
    if order == "column":
        return [[values[i + j * height] for j in range(width)] for i in range(height)]
    return [values[i * width:(i + 1) * width] for i in range(height)]


def transposed(a):
    return [list(column) for column in zip(*a)]


def times(a, b_columns):
    """a times the matrix whose columns these are."""
    return [[math.fsum(map(float.__mul__, row, column)) for column in b_columns] for row in a]


def softmax_of(row):
    most = max(row)
    e = [math.exp(x - most) for x in row]
    total = math.fsum(e)
    return [x / total for x in e]


def layernorm_of(row, weight, bias):
    mean = math.fsum(row) / len(row)
    variance = math.fsum((x - mean) ** 2 for x in row) / len(row)
    scale = 1 / math.sqrt(variance + 1e-5)
    return [(x - mean) * scale * w + b for x, w, b in zip(row, weight, bias)]


def weights_of(q, k, causal):
    """The matrix of attention's weights of one head; hidden keys weigh 0."""
    scale = 1 / math.sqrt(len(q[0]))
    scores = times(q, k)
    visible = [[s * scale for s in row[:i + 1 if causal else len(row)]] for i, row in enumerate(scores)]
    return [softmax_of(row) + [0.0] * (len(k) - len(row)) for row in visible]


def gradients_of(q, k, v, dout, causal):
    p, scale = weights_of(q, k, causal), 1 / math.sqrt(len(q[0]))
    dp = times(dout, v)
    delta = [math.fsum(map(float.__mul__, a, b)) for a, b in zip(p, dp)]
    ds = [[a * (b - d) * scale for a, b in zip(*both)] for *both, d in zip(p, dp, delta)]
    return times(ds, transposed(k)), times(transposed(ds), transposed(q)), times(transposed(p), transposed(dout))


def flat(matrices):
    return [x for each in matrices for row in each for x in row]


class Plain:
    name = "plain loops"
    MOST_WORK = 1e7  # multiply-adds that Python does in some seconds

    def __init__(self, ours):
        self.ours = ours

    def takes(self, row):
        return max(row.flops, row.bytes) < self.MOST_WORK and all(
            row.operands[name].dtype in ("bf16", "e4m3") for name in row.operands if name != "lse")

    def error(self, row):
        """The largest relative norm of what our outputs differ by."""
        read = {name: self._read(operand) for name, operand in row.operands.items()}
        results = getattr(self, row.op)(row, read)
        return worst(relative_norm(read[name], result) for name, result in zip(row.outputs, results))

    def _read(self, operand):
        path = self.ours.bits(operand)
        values = floats_of(path, operand.dtype)
        path.unlink()
        return values

    @staticmethod
    def _matrix(row, read, name):
        return matrix(read[name], row.operands[name].extents, row.operands[name].order)

    def matmul(self, row, read):
        return [flat([times(self._matrix(row, read, "a"), transposed(self._matrix(row, read, "b")))])]

    def linear(self, row, read):
        return [flat([times(self._matrix(row, read, "x"), self._matrix(row, read, "weight"))])]

    def softmax(self, row, read):
        return [flat([[softmax_of(x) for x in self._matrix(row, read, "x")]])]

    def layernorm(self, row, read):
        return [flat([[layernorm_of(x, read["weight"], read["bias"]) for x in self._matrix(row, read, "x")]])]

    def _heads(self, row, read, *names):
        batch, heads, length, width = row.operands["q"].extents
        step = length * width
        for at in range(0, batch * heads * step, step):
            yield [matrix(read[name][at:at + step], (length, width), "row") for name in names]

    def attention(self, row, read):
        return [flat(times(weights_of(q, k, row.causal), transposed(v)) for q, k, v in self._heads(row, read, "q", "k", "v"))]

    def attentionBackward(self, row, read):
        heads = [gradients_of(*each, row.causal) for each in self._heads(row, read, "q", "k", "v", "dout")]
        return [flat(each) for each in zip(*heads)]


def worst(errors):
    """The largest, and NaN is larger than any number."""
    return max(errors, key=lambda error: (error != error, error))


def relative_norm(values, reference):
    """NaN where a result is not finite, or there is nothing that it could be relative to."""
    if len(values) != len(reference):
        raise ValueError(f"{len(values)} values beside {len(reference)}")
    if not all(map(math.isfinite, values)) or not any(reference):
        return math.nan
    difference = math.fsum((a - b) ** 2 for a, b in zip(values, reference))
    return math.sqrt(difference / math.fsum(b * b for b in reference))
