"""What a call costs the front end: each kind of it on arrays of 1×2, against NumPy's whole call, and while recording.

Only the thread that calls is timed, from the first call to the return of the last; what is then still unfinished is
waited for off the clock. The engine is as it always is: its other threads may work meanwhile, and tiny calls that the
front end runs itself, some hundreds at a time, are in its time. Nobody keeps the results.
"""

from __future__ import annotations

from typing import Any

from ..peers import Peer
from ..workload import OURS, at_most, workload
from .data import uniform

RECORDING = "recording"
ELEMENTWISE, OTHERS = 0.5, 1.0  # goals, as ratios to NumPy

# Kinds of calls: the expression, as Python, of arrays x and y and a namespace np; and the goal.
KINDS = {
    "add": ("x + y", ELEMENTWISE),
    "add-number": ("x + 1", ELEMENTWISE),
    "negative": ("-x", ELEMENTWISE),
    "add-function": ("np.add(x, y)", ELEMENTWISE),
    "add-number-function": ("np.add(x, 1)", ELEMENTWISE),
    "multiply-number": ("x * 2.5", ELEMENTWISE),
    "tanh": ("np.tanh(x)", ELEMENTWISE),
    "where": ("np.where(x > y, x, y)", ELEMENTWISE),
    "clip": ("np.clip(x, 0, 1)", ELEMENTWISE),
    "sum": ("x.sum()", OTHERS),
    "sum-axis": ("np.sum(x, axis=0)", OTHERS),
    "mean": ("x.mean()", OTHERS),
    "reshape": ("x.reshape(2, 1)", OTHERS),
    "transpose": ("x.T", OTHERS),
    "row": ("x[0]", OTHERS),
    "slice": ("x[:, 1:]", OTHERS),
    "element": ("x[0, 1]", OTHERS),
    "zeros": ("np.zeros((1, 2))", OTHERS),
    "copy": ("x.copy()", OTHERS),
    "astype": ("x.astype('float64')", OTHERS),
    "dot": ("np.dot(x, y.T)", OTHERS),
    "concatenate": ("np.concatenate([x, y])", OTHERS),
}

VIEWS = ("reshape", "transpose", "row", "slice")  # of which nothing is left to skip

# The arrays are local variables, so that little more than the call itself is timed.
LOOP = """
def run(x=x, y=y, np=np):
    for _ in range({times}):
        made = {call}
    return made
"""


def setup(p: Peer, call: str, times: int, record: bool = False) -> Any:
    names = {"x": p.array(uniform(1, 2)), "y": p.array(uniform(1, 2) / 2), "np": p.xp}
    exec(LOOP.format(times=times, call=call), names)
    run = names["run"]
    if not record:
        return run, p.wait_for_all
    from slipstream import autograd

    names["x"].attach_grad()

    def recorded() -> Any:
        with autograd.record():
            return run()

    return recorded, p.wait_for_all


for _name, (_call, _goal) in KINDS.items():
    workload(
        f"call-{_name}",
        f"front-end time of `{_call}`, 1×2; waited for off the clock",
        goals=[at_most(_goal, "numpy"), at_most(1.3, OURS, of=RECORDING)],
        skips=_name not in VIEWS,
        only=("numpy",),
        ours={RECORDING: {"record": True}},
        full={"call": _call, "times": 500},
        quick={"call": _call, "times": 10},
    )(setup)
