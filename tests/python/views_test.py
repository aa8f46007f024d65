#!/usr/bin/env python3
"""Views of tensors against NumPy's of arrays."""
import itertools
import unittest

from support import Case, numpy, tilec
from numpy.testing import assert_array_equal


class Views(Case):
    def setUp(self):
        super().setUp()
        self.array = numpy.arange(60, dtype="i4").reshape(3, 4, 5)
        self.tensor = tilec.from_numpy(self.array, self.device)
        self.addCleanup(self.__dict__.pop, "tensor")

    def same(self, tensor, array, what=""):
        self.assertEqual(tensor.shape, array.shape, what)
        assert_array_equal(tensor.numpy(), array, str(what))

    def test_indices(self):
        for key in (0, -1, slice(1, 3), (slice(None), 2), (1, slice(0, 4, 2), slice(4, 1)), (2, 3, 4), slice(5, 9),
                    (slice(None, None, 2), slice(1, None), -2), ..., (..., 2), (1, ..., slice(1, 3)), (0, 1, 2, ...), None, (None, 1),
                    (..., None), (1, None, ..., None, 2), (slice(None), None, slice(1, 3)), (None, None, ..., None), (slice(2, 1, -1), 0),
                    numpy.int64(1), (numpy.int8(-1), slice(numpy.int32(1), None)), (slice(0, 0), None)):
            self.same(self.tensor[key], self.array[key], key)
        self.assertTrue(self.tensor[:, None].is_contiguous)
        self.same(self.tensor[tilec.tensor(2, device=self.device)], self.array[2])
        self.assertEqual(len(self.tensor), 3)
        self.assertEqual([row.item(0, 0) for row in self.tensor], [0, 20, 40])
        view = self.tensor[1]
        self.tensor.close()
        self.assertEqual(view.numpy()[0, 0], 20)

    def test_orders_of_dimensions(self):
        for order in itertools.permutations((0, 1, -1)):
            self.same(self.tensor.permute(*order), self.array.transpose(order), order)
            self.same(self.tensor.permute(order), self.array.transpose(order), order)
        self.same(self.tensor.permute(numpy.array([2, 0, 1])), self.array.transpose(2, 0, 1))
        self.same(self.tensor.T, self.array.T)
        self.same(self.tensor.transpose(), self.array.T)
        self.same(self.tensor.transpose(0, -1), self.array.swapaxes(0, -1))
        self.same(self.tensor[0].transpose(0, 1), self.array[0].T)
        self.same(self.tensor.swapaxes(1, 2), self.array.swapaxes(1, 2))
        self.same(self.tensor.mT, self.array.swapaxes(-1, -2))
        self.same(self.tensor.permute(1, 0, 2)[2, 1:], self.array.transpose(1, 0, 2)[2, 1:])
        for wrong in ((), (0,), (0, 0, 1), (0, 1, 1, 2)):
            with self.assertRaisesRegex(ValueError, "permute needs each of the 3 dimensions once"):
                self.tensor.permute(*wrong)
        for wrong in ((0, 1, 3), (0, 1, -4), (0, 1, 2**32 + 2), (2**64, 0, 1)):
            with self.assertRaises(IndexError):
                self.tensor.permute(*wrong)
        for wrong in ((0, 1, 2.0), (0, 1, "2"), (False, 1, 2)):
            with self.assertRaises(TypeError):
                self.tensor.permute(*wrong)
        with self.assertRaises(TypeError):
            self.tensor.transpose(0, 1, 2)

    def test_dimensions_of_extent_1(self):
        for dim in (0, 2, -1, -2, 3):
            self.same(self.tensor.unsqueeze(dim), numpy.expand_dims(self.array, dim), dim)
        array = self.array[:1, :, :1]
        one = self.tensor[:1, :, :1]
        self.same(one.squeeze(), array.squeeze())
        self.same(one.squeeze(0), array.squeeze(0))
        self.same(one.squeeze((0, -1)), array.squeeze((0, -1)))
        self.same(one.squeeze(1), array)  # as PyTorch has it
        with self.assertRaises(IndexError):
            one.unsqueeze(5)

    def test_dimensions_of_rank_0(self):
        """As in PyTorch, dimension 0 and -1 of a number are itself."""
        number = self.tensor[0, 0, 0]
        for dim in (0, -1):
            self.same(number.squeeze(dim), self.array[0, 0, 0])
            self.same(number.transpose(dim, 0), self.array[0, 0, 0])
        for wrong in (lambda: number.squeeze(1), lambda: number.transpose(0, 1), lambda: number.squeeze(-2)):
            with self.assertRaises(IndexError):
                wrong()

    def test_shapes(self):
        for shape in ((6, -1), ([60],), (-1,), (5, 4, 3), (3, 1, 4, 5, 1), (1, 60), (numpy.int64(30), 2), (2, 2, 3, 5)):
            plain = self.array.reshape(*shape)
            self.same(self.tensor.reshape(*shape), plain, shape)
            self.same(self.tensor.view(*shape), plain, shape)
            self.assertEqual(self.tensor.reshape(*shape).data_ptr, self.tensor.data_ptr)
        self.same(self.tensor.flatten(), self.array.reshape(60))
        self.same(self.tensor.flatten(1), self.array.reshape(3, 20))
        self.same(self.tensor.flatten(0, 1), self.array.reshape(12, 5))
        self.same(self.tensor[0, 0, 0].flatten(), self.array[:1, 0, 0])
        for shape in ((7, 7), (-1, 7), (-1, -1), (61,), ()):
            self.fails("InvalidShape", "", self.tensor.reshape, shape)
        self.assertEqual(self.tensor[:0].reshape(0, 7).shape, (0, 7))
        with self.assertRaises(TypeError):
            self.tensor.reshape(60.0)
        with self.assertRaises(OverflowError):
            self.tensor.reshape(2**64)

    def test_a_view_where_numpy_has_one_else_a_copy(self):
        """All reshapes of all views of a tensor: as NumPy's, and shared where NumPy's are."""
        array = numpy.arange(96, dtype="f4").reshape(4, 3, 8)
        tensor = tilec.from_numpy(array, self.device)
        views = [(..., ), (slice(None), slice(0, 1)), (slice(None, None, 2),), (slice(None), 1),
                 (slice(None), slice(None), slice(None, None, 2))]
        tried = shared = 0
        for key, order in itertools.product(views, ((0, 1, 2), (2, 0, 1), (1, 0, 2))):
            plain = array[key]
            plain = plain.transpose([dim for dim in order if dim < plain.ndim])
            view = tensor[key].permute([dim for dim in order if dim < plain.ndim])
            for shape in shapes_of(plain.size):
                expected = plain.reshape(shape)
                is_shared = numpy.shares_memory(expected, array)
                found = view.reshape(shape)
                self.same(found, expected, (key, order, shape))
                begin = tensor.data_ptr
                self.assertEqual(begin <= found.data_ptr < begin + tensor.nbytes, is_shared, (key, order, shape))
                tried, shared = tried + 1, shared + is_shared
                if not is_shared:
                    with self.assertRaisesRegex(ValueError, "use reshape, which copies"):
                        view.view(shape)
        self.assertGreater(tried, 100)
        self.assertTrue(0 < shared < tried)

    def test_expansion(self):
        row = tilec.tensor([1, 2, 3], device=self.device)
        self.same(row.expand(2, 3), numpy.broadcast_to([1, 2, 3], (2, 3)))
        self.same(row[:, None].expand(-1, 4), numpy.broadcast_to(numpy.array([[1], [2], [3]]), (3, 4)))
        for wrong in ((2, 4), (4,), (-1, 3), ()):
            with self.assertRaisesRegex((ValueError, tilec.Error), "broadcast|negative"):
                row.expand(*wrong)

    def test_impossible_views(self):
        tensor = tilec.empty((3, 4), device=self.device)
        for key in (3, -4, (0, 4), (0, 0, 0), 2**64, (0, None, 0, 0)):
            with self.assertRaises(IndexError):
                tensor[key]
        for key in (slice(None, None, -1), (0, slice(3, 0, -2))):
            with self.assertRaisesRegex(ValueError, "negative stride"):
                tensor[key]
        for key in ((..., 0, 0, 0), (..., ...)):
            with self.assertRaises(IndexError):
                tensor[key]
        # A bool and an array of bools are masks in NumPy: neither is the index 1.
        for key in ("a", True, [0, 1], 1.5, numpy.array([True, False, True]), numpy.True_, tilec.f32, tensor):
            with self.assertRaisesRegex(TypeError, "dimension 0 of a tensor takes an integer, a slice, None or"):
                tensor[key]
        with self.assertRaises(TypeError):
            len(tilec.empty((), device=self.device))



def shapes_of(size):
    """Some shapes of so many elements."""
    found = [(size,), (1, size), (size, 1)]
    for first in (2, 3, 4, 6, 8):
        if size % first == 0:
            found += [(first, size // first), (size // first, first)]
            for second in (2, 4):
                if size // first % second == 0:
                    found.append((first, second, size // first // second))
    return found


if __name__ == "__main__":
    unittest.main()
