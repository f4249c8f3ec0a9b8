"""Classes by name: what makes `"xavier"`, `"adam"` or `"accuracy"` mean a class, and `register` add one's own."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Generic, TypeVar

T = TypeVar("T")
C = TypeVar("C", bound=type[Any])


class Registry(Generic[T]):
    """The classes of one kind. Names are the same in upper and lower case."""

    def __init__(self, base: type[T], kind: str) -> None:
        self.base = base
        self.kind = kind
        self.classes: dict[str, type[T]] = {}

    def register(self, klass: Any, name: str | None = None) -> Any:
        """Adds a class under its own name, or another; a later class of the same name takes its place."""
        if not (isinstance(klass, type) and issubclass(klass, self.base)):
            raise TypeError(f"register: {klass!r} is not a subclass of {self.base.__name__}")
        self.classes[(name or klass.__name__).lower()] = klass
        return klass

    def alias(self, *names: str) -> Callable[[C], C]:
        """A decorator that registers a class under more names.

        >>> from slipstream import metric
        >>> @metric.alias("nearly", "about")
        ... class Nearly(metric.MSE):
        ...     pass
        >>> type(metric.create("about")).__name__
        'Nearly'
        """

        def add(klass: C) -> C:
            for name in names:
                self.register(klass, name)
            return klass

        return add

    def create(self, what: Any, *arguments: Any, **settings: Any) -> T:
        """An object of the class that is named; an object is taken as it is.

        `'["name", {settings}]'` works too, and so do settings that name the class by their kind, as `get_config` gives
        them: `{"metric": "Accuracy", "axis": 1}`, in a dict or as JSON.

        >>> from slipstream import metric
        >>> metric.create({"metric": "Accuracy", "axis": 0}).axis
        0
        """
        if isinstance(what, self.base):
            if arguments or settings:
                raise TypeError(f"{self.kind} {what!r} is made already: it takes no more arguments")
            return what
        if isinstance(what, str) and what.startswith("{"):
            what = json.loads(what)
        if isinstance(what, dict):
            if self.kind not in what:
                raise ValueError(f"{self.kind}: the settings {what} do not name a class as {self.kind!r}")
            settings = {**what, **settings}
            what = settings.pop(self.kind)
        if not isinstance(what, str):
            raise TypeError(f"{self.kind}: expected a name or an object, got {what!r}")
        if what.startswith("["):
            what, more = json.loads(what)
            settings = {**more, **settings}
        if what.lower() not in self.classes:
            raise ValueError(f"{self.kind} {what!r} is none of {', '.join(sorted(self.classes))}")
        return self.classes[what.lower()](*arguments, **settings)
