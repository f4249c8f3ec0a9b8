"""An optimizer's settings as JSON: its numbers and counts, and those of its scheduler and of schedulers within that.

Nothing that is read is run: values go into objects that are there, under names that they have.
"""

from __future__ import annotations

import numbers
from typing import Any

import numpy

from .. import np
from .._core import ndarray
from .base import Optimizer, create

_NOT_KEPT = ("param_dict", "lr_scheduler", "_index_update_count", "_all_index_update_counts")


class _UnwritableError(Exception):
    """A value that JSON cannot say."""


def written(optimizer: Optimizer) -> dict[str, Any]:
    """What makes an optimizer go on where it stopped. Waits for arrays among its settings."""
    kept = {name: value for name, value in vars(optimizer).items() if name not in _NOT_KEPT}
    counts = [[str(device), list(of.items())] for device, of in optimizer._all_index_update_counts.items()]
    schedule = optimizer.lr_scheduler
    of_schedule = None if schedule is None else _all_written(getattr(schedule, "__dict__", {}), (schedule,))
    return {
        "class": type(optimizer).__name__,
        "values": _all_written(kept, ()),
        "counts": counts,
        "schedule": of_schedule,
    }


def read(settings: dict[str, Any], now: Optimizer) -> Optimizer:
    """The optimizer of a file, with the parameters and the kind of scheduler of the one in use."""
    name = settings["class"]
    made = now if type(now).__name__ == name else create(name)
    _set_all(made, {key: value for key, value in settings["values"].items() if key not in _NOT_KEPT})
    made.param_dict = now.param_dict
    made._go_on_from(dict(of) for _, of in settings["counts"])
    if settings["schedule"] and now.lr_scheduler is not None:
        _set_all(now.lr_scheduler, settings["schedule"])
    made.lr_scheduler = now.lr_scheduler
    return made


def _all_written(attributes: dict[str, Any], above: tuple[Any, ...]) -> dict[str, Any]:
    """Attributes by name, without those that cannot be written."""
    found = {}
    for name, value in attributes.items():
        try:
            found[name] = _written(value, above)
        except _UnwritableError:
            continue
    return found


def _written(value: Any, above: tuple[Any, ...]) -> Any:
    """A value as JSON says it; of what is no number, string or list, a dict says what it is. `above` are its owners."""
    if isinstance(value, numpy.generic):
        value = value.item()
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, numbers.Real):
        return float(value)
    if isinstance(value, (ndarray, numpy.ndarray)) and numpy.can_cast(value.dtype, "float64"):
        return {"array": _written(value.tolist(), above), "dtype": value.dtype.name}
    if any(value is owner for owner in above):
        raise _UnwritableError
    above = (*above, value)
    if isinstance(value, (list, tuple)):
        return [_written(part, above) for part in value]
    if isinstance(value, dict):
        return {"items": [[_written(key, above), _written(part, above)] for key, part in value.items()]}
    if callable(value) and not isinstance(value, type) and hasattr(value, "__dict__"):  # a scheduler within another
        return {"object": _all_written(vars(value), above)}
    raise _UnwritableError


def _set_all(owner: Any, values: dict[str, Any]) -> None:
    """Sets the attributes that the owner has."""
    known = getattr(owner, "__dict__", {})
    known.update({key: _read(value, known[key]) for key, value in values.items() if key in known})


def _read(value: Any, now: Any) -> Any:
    """What was written, in the form of what is there now."""
    if isinstance(value, list) and isinstance(now, dict):  # as older files have dicts
        value = {"items": value}
    if isinstance(value, list):
        beside = now if isinstance(now, (list, tuple)) and len(now) == len(value) else [None] * len(value)
        parts = [_read(part, of) for part, of in zip(value, beside, strict=True)]
        return tuple(parts) if isinstance(now, tuple) else parts
    if not isinstance(value, dict):
        return value
    if "array" in value:
        made = np.array(value["array"], dtype=value["dtype"], device=getattr(now, "device", None))
        return made if isinstance(now, ndarray) else made.asnumpy()
    if "items" in value:
        known = now if isinstance(now, dict) else {}
        keyed = [(tuple(key) if isinstance(key, list) else key, part) for key, part in value["items"]]
        return {key: _read(part, known.get(key)) for key, part in keyed}
    if "object" in value:
        _set_all(now, value["object"])
        return now
    return value
