#!/usr/bin/env python3
"""How ops are called: inputs by place and name, of all packages; settings under the names that people know; what is said of wrong calls."""
import inspect
import pydoc
import re
import unittest

from support import Case, kRuntime, numpy, python, tilec
from numpy.testing import assert_allclose, assert_array_equal


class Foreign:
    """A tensor of another library, which is called as PyTorch's."""

    __module__, __qualname__ = "torch", "Tensor"

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__()

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


class Calls(Case):
    def setUp(self):
        tilec.Device("virtual:sm_80").default_stream  # lives as long as the process
        super().setUp()
        random = numpy.random.default_rng(5)
        self.a, self.weight, self.bias = (random.standard_normal(shape).astype("f4") for shape in ((4, 8), 8, 8))
        self.x, self.w, self.b = (tilec.from_numpy(array, self.device) for array in (self.a, self.weight, self.bias))
        for name in "xwb":
            self.addCleanup(self.__dict__.pop, name)

    def normed(self):
        deviation = numpy.sqrt(self.a.var(-1, keepdims=True) + 1e-5)
        return (self.a - self.a.mean(-1, keepdims=True)) / deviation

    def close(self, tensor, expected):
        assert_allclose(tensor.numpy(), expected, rtol=1e-4, atol=1e-5)


class Inputs(Calls):
    def test_by_name_and_left_out(self):
        norm, unit = tilec.ops.layernorm, self.normed()
        for call, expected in (((self.x,), unit), ((self.x, self.w), unit * self.weight), ((self.x, None, self.b), unit + self.bias),
                               ((self.x, None), unit), ((self.x, None, None), unit)):
            self.close(norm(*call), expected)
        self.close(norm(self.x, bias=self.b), unit + self.bias)
        self.close(norm(bias=self.b, weight=self.w, x=self.x), unit * self.weight + self.bias)
        self.close(norm(self.x, weight=None, bias=self.b), unit + self.bias)
        self.close(norm(self.x, bias=None), unit)
        square = self.a[:, :4]
        self.close(tilec.ops.linear(self.x, self.x, bias=square[0]), self.a @ self.a.T + square[0])
        self.close(tilec.ops.subtract(b=self.w, a=self.x), self.a - self.weight)
        left, right = tilec.ops.add_layernorm(self.x, self.x, bias=self.b)
        self.close(left, 2 * self.a)

    def test_of_other_packages(self):
        for other in (self.weight, Foreign(self.weight), self.weight[::-1][::-1]):
            result = tilec.ops.multiply(self.x, other)
            self.assertIsInstance(result, tilec.Tensor)
            self.close(result, self.a * self.weight)
            self.close(tilec.ops.multiply(other, self.x, stream=self.stream), self.a * self.weight)
            self.close(tilec.ops.layernorm(self.x, weight=other), self.normed() * self.weight)
        alone = tilec.ops.relu(self.a)  # on the device that TILE_DEVICE names
        self.assertEqual(alone.device, self.device)
        self.close(alone, numpy.maximum(self.a, 0))
        self.assertEqual(tilec.ops.relu(self.a, stream=self.stream).device, self.device)
        other = tilec.Device("virtual:sm_80")
        moved = tilec.ops.add(self.a, tilec.from_numpy(self.weight, other))
        self.assertEqual(moved.device, other)

    def test_libraries_without_a_compiler(self):
        done = python("""
import os, tilec
x = tilec.tensor([[1.0, 2.0], [3.0, 4.0]], device="virtual:sm_90a")
print(x.T.tolist(), x[0, 1].item(), bool(x[0, 0]), x.reshape(4)[None].shape, dir(tilec.ops))
for call in (lambda: x + 1, lambda: x == x, lambda: tilec.ops.run("add", x, x), lambda: tilec.ones(2)):
    try:
        call()
    except tilec.Error as error:
        print(error.code, "ops need the compiler" in str(error))
print(hasattr(x, "relu"), hasattr(tilec.ops, "add"))
""", TILE_LIBRARY=kRuntime)
        self.assertEqual(done.stdout.splitlines(), ["[[1.0, 3.0], [2.0, 4.0]] 2.0 True (1, 4) ['names', 'run']",
                                                    *["Unsupported True"] * 4, "False False"], done.stderr)

    def test_numbers(self):
        for number in (1, 2.5, True, numpy.float64(0.5), numpy.int8(3)):
            self.close(tilec.ops.add(self.x, number), self.a + numpy.float32(number))
            self.close(tilec.ops.subtract(number, self.x), numpy.float32(number) - self.a)
        whole = tilec.tensor([1, 2], device=self.device)
        self.assertEqual(tilec.ops.maximum(whole, 2).tolist(), [2, 2])
        with self.assertRaisesRegex(TypeError, "1.5 is no i64"):
            tilec.ops.add(whole, 1.5)
        with self.assertRaisesRegex(TypeError, "add: a tensor is expected beside the number 1"):
            tilec.ops.add(1, 2)

    def test_what_is_no_tensor(self):
        for wrong, name in (([1, 2], "list"), ("a", "str"), (object(), "object"), (1j, "complex"), (self.device, "tilec.device.Device"),
                            (len, "builtin_function_or_method")):
            with self.assertRaisesRegex(TypeError, f"relu: 'x': a tilec.Tensor is expected, got a {re.escape(name)}: tilec.tensor, from_numpy"):
                tilec.ops.relu(wrong)
        with self.assertRaisesRegex(TypeError, "add: 'b': .* got a list"):
            tilec.ops.add(self.x, [1])
        for wrong in (self.a, Foreign(self.a)):
            name = re.escape("numpy.ndarray" if wrong is self.a else "torch.Tensor")
            with self.assertRaisesRegex(TypeError, f"relu: 'out': a tilec.Tensor is expected, got a {name}"):
                tilec.ops.relu(self.x, out=wrong)
            with self.assertRaisesRegex(TypeError, f"sgd changes 'weights' in place.* a copy.*got a {name}"):
                tilec.ops.sgd(wrong, self.x)
        for wrong in (7, "a", self.device):
            with self.assertRaisesRegex(TypeError, "a tilec.Stream is expected"):
                tilec.ops.relu(self.x, stream=wrong)

    def test_wrong_numbers_of_inputs(self):
        for call, words in (((), "add: the op reads 2 tensors, got 0: add(a, b) lacks a, b"),
                            ((self.x,), "add: the op reads 2 tensors, got 1: add(a, b) lacks b"),
                            ((self.x, None), "add(a, b) lacks b"), ((None, self.x), "add(a, b) lacks a"),
                            ((self.x,) * 3, "add: the op reads 2 tensors, got 3: add(a, b)")):
            self.fails("InvalidArgument", words, tilec.ops.add, *call)
        self.fails("InvalidArgument", "layernorm: the op reads 1 to 3 tensors, got 0: layernorm(x, weight=None, bias=None) lacks x",
                   tilec.ops.layernorm)
        self.fails("InvalidArgument", "lacks x", tilec.ops.layernorm, bias=self.b)
        self.fails("InvalidArgument", "input 'b' is given twice", tilec.ops.add, self.x, self.x, b=self.x)
        self.fails("InvalidArgument", "global_norm(*tensors) lacks tensors", tilec.ops.global_norm)
        self.fails("InvalidArgument", "relu: the op reads 1 tensor, got 2: relu(x); settings are given by name", tilec.ops.relu, self.x, 0.5)
        self.fails("InvalidArgument", "nothing is called 'target'; did you mean targets?", tilec.ops.cross_entropy, self.x, target=self.x)
        error = self.fails("InvalidArgument", "there is no op 'nope': tilec.ops.names() lists all", tilec.ops.run, "nope")
        self.assertTrue(error.file.endswith("support.py") and error.line and error.fault == "user" and error.status == 1)


class Settings(Calls):
    def test_other_names(self):
        a = self.a
        for given in ({"axes": 0}, {"axis": 0}, {"dim": 0}, {"axis": (0,)}, {"dim": -2}):
            self.close(tilec.ops.sum(self.x, **given), a.sum(0))
        for given in ({"keep_dims": True}, {"keepdim": True}, {"keepdims": numpy.True_}, {"keepdim": 1}):
            self.close(tilec.ops.sum(self.x, axis=1, **given), a.sum(1, keepdims=True))
        for name in ("dim", "axis", "axes"):
            powers = numpy.exp(a)
            self.close(tilec.ops.softmax(self.x, **{name: 0}), powers / powers.sum(0))
        self.close(tilec.ops.layernorm(self.x, eps=1e-5), self.normed())
        for name in ("rate", "lr", "learning_rate"):
            weights = tilec.from_numpy(self.weight, self.device)
            tilec.ops.sgd(weights, self.b, **{name: 0.5})
            self.close(weights, self.weight - 0.5 * self.bias)
        self.fails("InvalidArgument", "softmax: setting 'dim' is given twice, by axis= and dim=", tilec.ops.softmax, self.x, axis=1, dim=1)

    def test_none_of_the_axes(self):
        for none in ((), [], range(0), numpy.array([], "i8")):
            self.close(tilec.ops.sum(self.x, axes=none), self.a)

    def test_numbers_of_all_kinds(self):
        for axes in (range(2), numpy.array([0, 1]), [0, numpy.int64(1)], (0, -1), None, iter((0, 1)), {0, 1}):
            self.close(tilec.ops.sum(self.x, axes=axes), self.a.sum())
        self.close(tilec.ops.affine(self.x, factor=numpy.float32(0.5), offset=numpy.int16(2)), self.a * 0.5 + 2)
        values, _ = tilec.ops.top_k(self.x, k=numpy.uint8(3))
        self.assertEqual(values.shape, (4, 3))
        self.close(tilec.ops.layernorm(self.x, statistics=numpy.False_, epsilon=None), self.normed())

    def test_integers_are_exact(self):
        for value, dtype in ((2**53 + 1, "i64"), (2**63 - 1, "i64"), (-2**63, "i64"), (2**64 - 1, "u64"), (2**53 + 1, "u64")):
            self.assertEqual(tilec.full(2, value, dtype, self.device).tolist(), [value] * 2)
        x = tilec.zeros(8, device=self.device)
        tilec.ops.rand(x, seed=2**64 - 1)
        other = tilec.zeros(8, device=self.device)
        tilec.ops.rand(other, seed=2**63 - 1)
        self.assertTrue((x != other).any())

    def test_messages_name_settings(self):
        """The ops' functions name fields of options as in C++."""
        with self.assertRaisesRegex(tilec.Error, "cross_entropy: label_smoothing is 2"):
            tilec.ops.cross_entropy(self.x, tilec.zeros(4, dtype="i32", device=self.device), label_smoothing=2)
        with self.assertRaisesRegex(tilec.Error, "matmul: accumulator is f16, but products of f32"):
            tilec.ops.matmul(tilec.ones(4, 4, device=self.device), tilec.ones(4, 4, device=self.device), accumulator="f16")

    def test_values_that_a_setting_is_not(self):
        for call, words in ((lambda: tilec.ops.top_k(self.x, k=2.0), "k=2.0: an integer is expected, got a float"),
                            (lambda: tilec.ops.top_k(self.x, k=True), "k=True: an integer is expected"),
                            (lambda: tilec.ops.sum(self.x, axes=True), "axes=True: an integer or a sequence of them is expected"),
                            (lambda: tilec.ops.sum(self.x, axes=(0, 1.0)), "axes=1.0: an integer is expected"),
                            (lambda: tilec.ops.sum(self.x, keep_dims=2), "keep_dims=2: True or False is expected"),
                            (lambda: tilec.ops.layernorm(self.x, epsilon=[1]), "epsilon=.*: a number is expected, got a list"),
                            (lambda: tilec.ops.layernorm(self.x, epsilon=1j), "a number is expected, got a complex"),
                            (lambda: tilec.ops.cross_entropy(self.x, self.x, reduction=0), "reduction=0: a text is expected, got a int")):
            with self.assertRaisesRegex(TypeError, words):
                call()

    def test_settings_beyond_their_range(self):
        positions = tilec.zeros(4, dtype="i32", device=self.device)
        for call, words in ((lambda: tilec.ops.softmax(self.x, dim=2**32 + 1), "softmax: dim=4294967297"),
                            (lambda: tilec.ops.sum(self.x, axes=2**40), "sum: axes=1099511627776"),
                            (lambda: tilec.ops.top_k(self.x, k=-1), "top_k: k=-1"), (lambda: tilec.ops.top_k(self.x, k=2**70), "top_k: k="),
                            (lambda: tilec.ops.embedding_backward(positions, self.x, rows=-1), "embedding_backward: rows=-1"),
                            (lambda: tilec.ops.rotary_tables(positions, dims=-2), "rotary_tables: dims=-2"),
                            (lambda: tilec.ops.rotary_tables(positions, dims=7), "rotary_tables: dims"),
                            (lambda: tilec.ops.rand(self.x, seed=2**64), "rand: seed="), (lambda: tilec.ops.rand(self.x, seed=-1), "rand: seed=-1"),
                            (lambda: tilec.ops.fill(self.x, value="much"), "fill: value=much")):
            error = self.fails("InvalidArgument", words, call)
            self.assertTrue(error.file.endswith("calls_test.py"))
        assert_array_equal(self.x.numpy(), self.a)

    def test_what_draws_must_be_given_a_seed(self):
        self.fails("InvalidArgument", "dropout: seed= is needed", tilec.ops.dropout, self.x, p=0.5)
        masks = [tilec.ops.dropout(self.x, p=0.5, seed=seed).tolist() for seed in (1, 2, 1)]
        self.assertEqual(masks[0], masks[2])
        self.assertNotEqual(masks[0], masks[1])

    def test_an_unknown_setting_changes_nothing(self):
        weights = tilec.from_numpy(self.weight, self.device)
        error = self.fails("InvalidArgument", "sgd: nothing is called 'rat'; did you mean rate?", tilec.ops.sgd, weights, self.b, rat=0.1)
        self.assertIn("settings are rate=0.01, momentum=0, weight_decay=0", error.message)
        self.fails("InvalidArgument", "did you mean value?", tilec.ops.fill, weights, valeu=5)
        self.fails("InvalidArgument", "did you mean weight?", tilec.ops.layernorm, self.x, wieght=weights)
        self.fails("InvalidArgument", "the op has no settings", tilec.ops.global_norm, self.x, inplace=True)
        self.fails("InvalidArgument", "relu: nothing is called 'inplace'", tilec.ops.relu, self.x, out=weights, inplace=True)
        assert_array_equal(weights.numpy(), self.weight)


class Help(Calls):
    def test_signatures(self):
        for name, expected in (
                ("attention", "(q, k, v, *, out=None, stream=None, causal=False, scale=None, precision='tf32x3', deterministic=True, "
                              "accumulator='f32', statistics=False)"),
                ("add", "(a, b, *, out=None, stream=None, dtype=None)"),
                ("layernorm", "(x, weight=None, bias=None, *, out=None, stream=None, epsilon=1e-05, statistics=False)"),
                ("top_k", "(x, *, out=None, stream=None, k=1, dim=-1, indices=None)"),
                ("dropout", "(x, *, out=None, stream=None, p=0.5, dtype=None, seed, offset=0)"),
                ("cross_entropy", "(logits, targets, *, out=None, stream=None, reduction='mean', ignore_index=-100, classes=0, "
                                  "label_smoothing=0.0, statistics=False)"),
                ("global_norm", "(*tensors, out=None, stream=None)"),
                ("clip_by_norm", "(norm, /, *tensors, out=None, stream=None, largest=1.0)")):
            self.assertEqual(str(inspect.signature(getattr(tilec.ops, name))), expected)

    def test_texts(self):
        for name in tilec.ops.names():
            text = pydoc.plain(pydoc.render_doc(getattr(tilec.ops, name)))
            self.assertIn(f"{name}(", text)
            signature = inspect.signature(getattr(tilec.ops, name))
            for parameter in list(signature.parameters)[2 + list(signature.parameters).index("out"):]:
                self.assertRegex(text, rf"\n +{parameter} +\S", name)
        text = pydoc.plain(pydoc.render_doc(tilec.ops.adamw))
        for words in ("adamw(weights, gradient, m, v, master=None", "Changes weights, m, v, master in place", "rate", "the learning rate"):
            self.assertIn(words, text)
        self.assertIn("Returns values, places", tilec.ops.top_k.__doc__)

    def test_names_that_are_meant(self):
        for wrong, words in (("layer_norm", "did you mean layernorm?"), ("argmin", "did you mean argmax?"), ("log", "did you mean log_softmax"),
                             ("topk", "did you mean top_k?"), ("sub", "did you mean subtract?"), ("bmm", "did you mean matmul?"),
                             ("scaled_dot_product_attention", "did you mean attention?"), ("RMSNorm", "did you mean rmsnorm?")):
            with self.assertRaises(AttributeError) as caught:
                getattr(tilec.ops, wrong)
            self.assertIn(f"there is no op '{wrong}': {words}", str(caught.exception))
            self.assertLess(len(str(caught.exception)), 150)
        with self.assertRaisesRegex(AttributeError, "there is no op 'qqq': tilec.ops.names\\(\\) lists all"):
            tilec.ops.qqq
        self.assertFalse(hasattr(tilec.ops, "layer_norm"))
        self.fails("InvalidArgument", "there is no op 'soft_max': did you mean softmax?", tilec.ops.run, "soft_max", self.x)


kFindings = """
import sys, tilec
device = tilec.Device("virtual:sm_90a")
x, y = tilec.empty(64, 33, device=device), tilec.zeros(64, 33, device=device)
steps = [
    lambda: tilec.ops.softmax(x),
    lambda: y + x,
    lambda: tilec.ops.layernorm(y, bias=x[0]),
    lambda: tilec.ops.matmul(y, x.T),
    lambda: tilec.ops.sgd(x[:, 0], y[:, 0]),
]
for step in steps:
    try:
        step()
        device.synchronize()
    except tilec.Error as error:
        line = step.__code__.co_firstlineno
        assert (error.code, error.file, error.line) == ("DeviceFinding", "<string>", line), error
        print(str(error).splitlines()[0].replace(f":{line}:", ":"), len(error.notes), str(error).count("<string>"))
"""


class Findings(unittest.TestCase):
    def test_they_are_at_the_line_of_the_program_and_name_the_argument(self):
        expected = ["softmax: 2112 of the 2112 elements of 'x' were", "add: 2112 of the 2112 elements of 'b' were",
                    "layernorm: 33 of the 33 elements of 'bias' were", "matmul: 2112 of the 2112 elements of 'b' were",
                    r"sgd: a value stored to global memory depends on data that were never written; .* offset 0 of 'weights', allocation"]
        for schedule in ("eager", "lazy"):
            done = python(kFindings, TILE_VGPU_SCHEDULE=schedule)
            lines = done.stdout.splitlines()
            self.assertEqual(len(lines), len(expected), done.stdout + done.stderr)
            for line, words in zip(lines, expected):
                self.assertRegex(line, r"^<string>: error: \[uninitialised\] " + words)
                self.assertRegex(line, " 0 1$", "no notes, and the line once")

    def test_races(self):
        done = python("""
import tilec
device = tilec.Device("virtual:sm_90a")
x, first, second = tilec.zeros(1000, device=device), device.stream(), device.stream()
y = tilec.ops.relu(x, stream=first)
try:
    z = tilec.ops.relu(y, stream=second)
    second.synchronize()
except tilec.Error as error:
    print(error)
""")
        self.assertRegex(done.stdout, r"^<string>:7: error: \[race\] kernel 'relu' on stream \d+ \(<string>:7\) reads what kernel 'relu' "
                         r"on stream \d+ \(<string>:5\) writes", done.stderr)


if __name__ == "__main__":
    unittest.main()
