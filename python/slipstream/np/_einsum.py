"""Einstein summation: operands are contracted two at a time in a cheap order, as products of matrices over views."""

from __future__ import annotations

import itertools
import math
import string
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from .. import _core
from .._core import ndarray
from ._arguments import as_arrays, as_dtype, deliver, public
from ._types import ArrayLike, DTypeLike

# A label is the number of its letter; the axes of an ellipsis are -1 (the last), -2, ...
Labels = tuple[int, ...]
Path = tuple[tuple[int, ...], ...]

_FEW = 6  # so many operands are ordered in the best way, more in a good one


# ---- subscripts


def _letters(term: Sequence[Any]) -> str:
    """A list of numbers (and Ellipsis) as a string."""
    letters = string.ascii_uppercase + string.ascii_lowercase
    return "".join("..." if label is Ellipsis else letters[label] for label in term)


def _split_call(operands: tuple[Any, ...]) -> tuple[str, list[Any]]:
    """Both forms of a call as subscripts and arrays."""
    if not operands:
        raise ValueError("einsum: subscripts and at least one array are needed")
    if isinstance(operands[0], str):
        return operands[0].replace(" ", ""), list(operands[1:])
    given = list(operands)
    output = "->" + _letters(given.pop()) if len(given) % 2 else ""
    return ",".join(_letters(term) for term in given[1::2]) + output, given[::2]


def _term(text: str, wide: int) -> Labels:
    """Labels of one operand; the ellipsis stands for `wide` axes."""
    head, dots, tail = text.partition("...")
    for letter in head + tail:
        if letter not in string.ascii_letters:
            raise ValueError(f"einsum: {letter!r} in {text!r} is no subscript; letters and one '...' are")
    middle = tuple(range(-wide, 0)) if dots else ()
    return (*map(ord, head), *middle, *map(ord, tail))


def _parse(subscripts: str, ndims: tuple[int, ...]) -> tuple[tuple[Labels, ...], Labels]:
    """Labels of the operands and of the result."""
    left, arrow, right = subscripts.partition("->")
    terms = left.split(",")
    if len(terms) != len(ndims):
        raise ValueError(f"einsum: subscripts {subscripts!r} are for {len(terms)} arrays, but there are {len(ndims)}")
    inputs = []
    for number, (term, ndim) in enumerate(zip(terms, ndims, strict=True)):
        named = len(term.replace("...", ""))
        wide = ndim - named
        if wide < 0 or (wide > 0 and "..." not in term):
            raise ValueError(f"einsum: subscripts {term!r} do not fit array {number}, which has {ndim} dimensions")
        inputs.append(_term(term, wide))
    everything = [label for labels in inputs for label in labels]
    wide = max((-label for label in everything if label < 0), default=0)
    if not arrow:
        once = sorted(label for label in set(everything) if label > 0 and everything.count(label) == 1)
        return tuple(inputs), (*range(-wide, 0), *once)
    if wide and "..." not in right:
        raise ValueError(f"einsum: the output of {subscripts!r} must have '...' too: it stands for {wide} axes")
    output = _term(right, wide)
    for label in output:
        if label > 0 and label not in everything:
            raise ValueError(f"einsum: the output of {subscripts!r} has {chr(label)!r}, which no input has")
        if output.count(label) > 1:
            raise ValueError(f"einsum: the output of {subscripts!r} has {chr(label)!r} twice")
    return tuple(inputs), output


def _sizes(subscripts: str, inputs: Sequence[Labels], shapes: Sequence[tuple[int, ...]]) -> dict[int, int]:
    """The length of each label; 1 goes with any other."""
    sizes: dict[int, int] = {}
    for labels, shape in zip(inputs, shapes, strict=True):
        for label, length in zip(labels, shape, strict=True):
            known = sizes.setdefault(label, length)
            if known == 1:
                sizes[label] = length
            elif length not in (1, known):
                name = repr(chr(label)) if label > 0 else "the ellipsis"
                raise ValueError(f"einsum: {name} in {subscripts!r} is {known} long in one array, {length} in another")
    return sizes


@lru_cache(1024)
def _prepare(subscripts: str, shapes: tuple[tuple[int, ...], ...]) -> tuple[tuple[Labels, ...], Labels, dict[int, int]]:
    """Labels of the operands and of the result, and their lengths."""
    inputs, output = _parse(subscripts, tuple(map(len, shapes)))
    return inputs, output, _sizes(subscripts, inputs, shapes)


# ---- the order of contractions


def _result(left: frozenset[int], right: frozenset[int], needed: frozenset[int]) -> frozenset[int]:
    return (left | right) & needed


def _size(labels: Any, sizes: dict[int, int]) -> int:
    return math.prod(sizes[label] for label in labels)


def _best_order(terms: list[frozenset[int]], output: frozenset[int], sizes: dict[int, int]) -> Path:
    """The pairs with the fewest multiplications in all: over all subsets, from small to large."""
    count = len(terms)
    everyone = (1 << count) - 1

    def labels_of(members: int) -> frozenset[int]:
        inside = frozenset().union(*(terms[i] for i in range(count) if members >> i & 1))
        outside = frozenset().union(output, *(terms[i] for i in range(count) if not members >> i & 1))
        return inside & outside

    kept = {members: labels_of(members) for members in range(1, everyone + 1)}
    best: dict[int, tuple[int, int]] = {1 << i: (0, 0) for i in range(count)}  # cost, and one of the two parts
    for members in sorted(range(1, everyone + 1), key=int.bit_count):
        if members in best:
            continue
        part = (members - 1) & members
        options = []
        while part:
            other = members ^ part
            if part < other:
                cost = best[part][0] + best[other][0] + _size(kept[part] | kept[other], sizes)
                options.append((cost, part))
            part = (part - 1) & members
        best[members] = min(options)
    pairs: list[tuple[int, int]] = []

    def walk(members: int) -> None:
        part = best[members][1]
        if part:
            walk(part)
            walk(members ^ part)
            pairs.append((part, members ^ part))

    walk(everyone)
    return _as_positions(pairs, [1 << i for i in range(count)])


def _as_positions(pairs: list[tuple[int, int]], current: list[int]) -> Path:
    """Pairs of sets as positions in the list of what is left, to whose end each result goes."""
    path = []
    for left, right in pairs:
        i, j = sorted((current.index(left), current.index(right)))
        path.append((i, j))
        del current[j], current[i]
        current.append(left | right)
    return tuple(path)


def _greedy_order(terms: list[frozenset[int]], output: frozenset[int], sizes: dict[int, int]) -> Path:
    """Always the pair whose result is smallest compared with its parts."""
    current, path = list(terms), []
    while len(current) > 1:
        options = []
        for i, j in itertools.combinations(range(len(current)), 2):
            rest = frozenset().union(output, *(t for k, t in enumerate(current) if k not in (i, j)))
            made = _result(current[i], current[j], rest)
            grown = _size(made, sizes) - _size(current[i], sizes) - _size(current[j], sizes)
            options.append((grown, _size(current[i] | current[j], sizes), i, j, made))
        _, _, i, j, made = min(options, key=lambda option: option[:4])
        path.append((i, j))
        del current[j], current[i]
        current.append(made)
    return tuple(path)


@lru_cache(1024)
def _order(inputs: tuple[Labels, ...], output: Labels, sizes: tuple[tuple[int, int], ...], how: str) -> Path:
    terms = [frozenset(labels) for labels in inputs]
    if len(terms) < 3:
        return (tuple(range(len(terms))),)
    best = how == "optimal" or (how != "greedy" and len(terms) <= _FEW)
    return (_best_order if best else _greedy_order)(terms, frozenset(output), dict(sizes))


def _choose_path(optimize: Any, inputs: tuple[Labels, ...], output: Labels, sizes: dict[int, int]) -> Path:
    if isinstance(optimize, (list, tuple)) and optimize and optimize[0] == "einsum_path":
        return tuple(tuple(step) for step in optimize[1:])
    how = optimize[0] if isinstance(optimize, (list, tuple)) else optimize
    if len(inputs) < 3 and how in (True, False):
        return ((0, 1),) if len(inputs) == 2 else ((0,),)
    if how not in (True, False, None, "greedy", "optimal"):
        raise ValueError(f"einsum: optimize is {optimize!r}, but must be a bool, 'greedy', 'optimal' or a path")
    return _order(inputs, output, tuple(sorted(sizes.items())), how if isinstance(how, str) else "auto")


# ---- contraction


class _Term:
    """An array and the labels of its axes, each once."""

    def __init__(self, array: ndarray, labels: Labels) -> None:
        self.array, self.labels = array, labels

    def ordered(self, labels: Sequence[int]) -> ndarray:
        """The axes in this order: a view."""
        if tuple(labels) == self.labels:
            return self.array
        return _core.transpose(self.array, [self.labels.index(label) for label in labels])

    def summed(self, labels: Sequence[int]) -> _Term:
        """Without these labels."""
        if not labels:
            return self
        axes = tuple(self.labels.index(label) for label in labels)
        kept = tuple(label for label in self.labels if label not in labels)
        return _Term(_core.sum(self.array, axis=axes, dtype=self.array.dtype), kept)


def _distinct(array: ndarray, labels: Labels, sizes: dict[int, int]) -> _Term:
    """Diagonals where a label is repeated; axes of length 1 that stand for longer ones are dropped. Views only."""
    names = list(labels)
    for label in [label for label in dict.fromkeys(names) if names.count(label) > 1]:
        while names.count(label) > 1:
            i = names.index(label)
            j = names.index(label, i + 1)
            if array.shape[i] != array.shape[j]:
                name = repr(chr(label)) if label > 0 else "the ellipsis"
                raise ValueError(f"einsum: {name} is both {array.shape[i]} and {array.shape[j]} long in one array")
            array = _core.diagonal(array, 0, i, j)
            names = [name for k, name in enumerate(names) if k not in (i, j)] + [label]
    for i in reversed(range(len(names))):
        if array.shape[i] == 1 and sizes[names[i]] != 1:
            array = _core.select(array, i, 0)
            del names[i]
    return _Term(array, tuple(names))


def _aligned(term: _Term, labels: Sequence[int]) -> ndarray:
    """A view with an axis for each label, of length 1 where the term has none."""
    present = [label for label in labels if label in term.labels]
    missing = [i for i, label in enumerate(labels) if label not in term.labels]
    made = term.ordered(present)
    return _core.expand_dims(made, missing) if missing else made


def _lengths(term: _Term, labels: Sequence[int]) -> tuple[int, ...]:
    return tuple(term.array.shape[term.labels.index(label)] for label in labels)


def _merged(array: ndarray, lengths: tuple[int, ...]) -> ndarray:
    return array if array.shape == lengths else _core.reshape(array, lengths)


def _contract(a: _Term, b: _Term, needed: frozenset[int], order: Labels) -> _Term:
    """The product of two terms, summed over all labels that are not needed; results like to be in `order`."""
    a = a.summed([label for label in a.labels if label not in needed and label not in b.labels])
    b = b.summed([label for label in b.labels if label not in needed and label not in a.labels])
    shared = [label for label in a.labels if label in b.labels]
    batch = [label for label in shared if label in needed]
    summed = [label for label in (a if a.array.size >= b.array.size else b).labels if label in shared]
    summed = [label for label in summed if label not in needed]
    rows = [label for label in a.labels if label not in shared]
    columns = [label for label in b.labels if label not in shared]
    if not summed:
        labels = tuple(sorted((*batch, *rows, *columns), key=_place(order)))
        return _Term(_core.multiply(_aligned(a, labels), _aligned(b, labels)), labels)
    if rows and columns and _place(order)(columns[0]) < _place(order)(rows[0]):
        a, b, rows, columns = b, a, columns, rows
    batch.sort(key=_place(order))
    return _product(a, b, batch, rows, columns, summed)


def _place(order: Labels) -> Any:
    return lambda label: order.index(label) if label in order else len(order)


def _product(a: _Term, b: _Term, batch: list[int], rows: list[int], columns: list[int], summed: list[int]) -> _Term:
    """As a product of matrices; batches stay axes of their own, so that nothing has to be copied for them."""
    lengths, stack = _lengths(a, summed), _lengths(a, batch)
    height, width, depth = _lengths(a, rows), _lengths(b, columns), math.prod(lengths)
    left = _merged(a.ordered([*batch, *rows, *summed]), (*stack, math.prod(height), depth))
    right = _merged(b.ordered([*batch, *summed, *columns]), (*stack, depth, math.prod(width)))
    if not batch and not rows and not columns:
        made = _core.dot(_core.reshape(left, (depth,)), _core.reshape(right, (depth,)))
    else:
        made = _core.matmul(left, right)
    return _Term(_merged(made, stack + height + width), (*batch, *rows, *columns))


def _evaluate(terms: list[_Term], output: Labels, path: Path) -> _Term:
    for step in path:
        chosen = [terms[i] for i in step]
        terms = [term for i, term in enumerate(terms) if i not in step]
        needed = frozenset().union(output, *(term.labels for term in terms))
        made = chosen[0]
        for n, other in enumerate(chosen[1:], 2):
            still = needed.union(*(term.labels for term in chosen[n:]))
            made = _contract(made, other, still, output)
        terms.append(made.summed([label for label in made.labels if label not in needed]))
    while len(terms) > 1:  # a path that does not end
        last, other = terms.pop(), terms.pop()
        needed = frozenset().union(output, *(term.labels for term in terms))
        terms.append(_contract(other, last, needed, output))
    return terms[0]


def einsum(
    *operands: ArrayLike,
    out: ndarray | None = None,
    dtype: DTypeLike = None,
    order: str = "K",
    casting: Any = "safe",
    optimize: Any = True,
) -> ndarray:
    """Sums of products in Einstein's notation: `einsum("ij,jk->ik", a, b)`, or `einsum(a, [0, 1], b, [1, 2], [0, 2])`.

    Operands are contracted two at a time, as products of matrices over views, in the order that multiplies least
    (`optimize` may be "greedy", "optimal" or a path of `einsum_path`; False orders them too).

    >>> a = np.arange(6).reshape(2, 3)
    >>> np.einsum("ij,kj->ik", a, a)
    array([[ 5., 14.],
           [14., 50.]])
    """
    subscripts, given = _split_call(operands)
    arrays = as_arrays(given)
    kind = as_dtype(dtype) if dtype is not None else _core.result_type(*arrays)
    arrays = [x if x.dtype == kind else _core.astype(x, kind) for x in arrays]
    inputs, output, sizes = _prepare(subscripts, tuple(x.shape for x in arrays))
    path = _choose_path(optimize, inputs, output, sizes)
    terms = [_distinct(x, labels, sizes) for x, labels in zip(arrays, inputs, strict=True)]
    made = _evaluate(terms, output, path)
    result = _aligned(made, output)
    shape = tuple(sizes[label] for label in output)
    return deliver(result if result.shape == shape else _core.broadcast_to(result, shape), out, "einsum")


def einsum_path(*operands: ArrayLike, optimize: Any = "greedy", einsum_call: bool = False) -> tuple[list[Any], str]:
    """The order in which `einsum` contracts (to be given to it as `optimize`), and a report of it.

    >>> a, b, c = np.ones((2, 9)), np.ones((9, 9)), np.ones((9, 3))
    >>> np.einsum_path("ij,jk,kl->il", a, b, c)[0]
    ['einsum_path', (0, 1), (0, 1)]
    """
    subscripts, given = _split_call(operands)
    arrays = as_arrays(given)
    inputs, output, sizes = _prepare(subscripts, tuple(x.shape for x in arrays))
    path = _choose_path(optimize, inputs, output, sizes)
    current, cost, largest = [frozenset(labels) for labels in inputs], 0, _size(output, sizes)
    lines = []
    for step in path:
        chosen = [current[i] for i in step]
        current = [labels for i, labels in enumerate(current) if i not in step]
        involved = frozenset().union(*chosen)
        made = involved & frozenset().union(output, *current)
        current.append(made)
        cost += _size(involved, sizes)
        largest = max(largest, _size(made, sizes))
        lines.append(f"{step!s:>12}  {_size(involved, sizes):>12} multiplications, {_size(made, sizes)} elements made")
    naive = _size(sizes, sizes) * max(1, len(arrays) - 1)
    report = [
        f"  Complete contraction:  {subscripts}",
        f"         Naive scaling:  {len(sizes)}",
        f"      Naive FLOP count:  {naive:.3e}",
        f"  Optimized FLOP count:  {cost:.3e}",
        f"   Theoretical speedup:  {naive / max(cost, 1):.3e}",
        f"  Largest intermediate:  {largest:.3e} elements",
        *lines,
    ]
    return ["einsum_path", *path], "\n".join(report)


if not TYPE_CHECKING:
    __all__ = public(globals())
