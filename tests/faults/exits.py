"""Ways for an interpreter to end with work in flight: test_exit.py runs each once, `tools/exits.py` a thousand."""

from __future__ import annotations

from dataclasses import dataclass

QUEUED = """
x = np.ones((400, 400))
for _ in range(40):
    x = x @ x * 2.5e-3
"""


@dataclass(frozen=True)
class Exit:
    """A program, the status it ends with, and what it must have said."""

    program: str
    code: int | None = 0  # None: any
    says: str = ""
    complains: str = ""
    always_async: bool = False  # under the synchronous engine it would not get as far as its end


EXITS = {
    "nothing recorded": Exit(""),
    "queued products": Exit(QUEUED),
    "queued small steps": Exit("x = np.zeros(10)\nfor _ in range(5000): x += 1"),
    "results nobody has": Exit("for _ in range(200): np.ones((100, 100)) + 1"),
    "a host call sleeps": Exit("x = slow(0.3)"),
    "a host call must be heard": Exit(
        "npx.host_call(lambda: (time.sleep(0.2), print('heard', flush=True), numpy.float32(0))[2], [], ())",
        says="heard",
    ),
    "a host call sleeps for ever": Exit(
        "x = npx.host_call(lambda: (time.sleep(1000), 0)[1], [], ())", always_async=True
    ),
    "a thread records": Exit(
        """
def work():
    x = np.zeros(100)
    while True: x += 1
threading.Thread(target=work, daemon=True).start()
time.sleep(0.05)
"""
    ),
    "daemon threads wait": Exit(
        """
x = slow(0.3)
for _ in range(4): threading.Thread(target=lambda: (x + 1).item(), daemon=True).start()
time.sleep(0.05)
"""
    ),
    "a thread that is not a daemon": Exit(
        "threading.Thread(target=lambda: print((slow(0.2) + 1).item(), flush=True)).start()", says="2.0"
    ),
    "a trace is on": Exit("from slipstream import _core\n_core.engine_start_trace()" + QUEUED),
    "a generator is pending": Exit(
        """
def batches():
    for _ in engine.pace(range(10)):
        yield np.ones((200, 200)) @ np.ones((200, 200))
g = batches(); next(g); next(g)
"""
    ),
    "work at exit": Exit(
        "import atexit\natexit.register(lambda: print((np.ones(3) + 1).sum().item(), flush=True))" + QUEUED, says="6.0"
    ),
    "work after our own exit": Exit(
        """
class Last:
    def __del__(self):
        y = x + 1
last = Last()
x = np.ones(3)
"""
    ),
    "exit inside a host call": Exit(
        "x = npx.host_call(lambda: sys.exit(3), [], ())\ntime.sleep(0.1)", complains="SystemExit"
    ),
    "sys.exit": Exit(QUEUED + "sys.exit(5)", code=5),
    "an exception": Exit(QUEUED + "raise KeyError('mine')", code=1, complains="KeyError: 'mine'"),
    "a failure at the end": Exit("x = np.take(np.ones(3), [7])", complains="index 7 is out of bounds"),
    "a failure nobody read": Exit("x = npx.host_call(lambda: 1 / 0, [], ())\ntime.sleep(0.1)", complains="Zero"),
    "os._exit": Exit(QUEUED + "os._exit(0)"),
    "Ctrl-C": Exit(
        QUEUED + "os.kill(os.getpid(), signal.SIGINT)\ntime.sleep(5)", code=-2, complains="KeyboardInterrupt"
    ),
    "Ctrl-C at exit": Exit(
        """
x = npx.host_call(lambda: (time.sleep(1.5), numpy.float32(0))[1], [], ())
threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
""",
        code=None,  # the thread may be joined first, then Python ends by the signal
    ),
    "a terminated process": Exit(QUEUED + "os.kill(os.getpid(), signal.SIGTERM)\ntime.sleep(5)", code=-15),
    "callbacks are pending": Exit("x = slow(0.2)\nx.add_done_callback(lambda _: None)"),
    "asyncio is given up": Exit(
        """
import asyncio
async def main():
    async def one():
        await slow(0.5)
    asyncio.create_task(one())
    await asyncio.sleep(0.05)
asyncio.run(main())
"""
    ),
    "the stream is full": Exit("engine.limits(ops=4)\nx = slow(0.2)\nfor _ in range(20): x = x + 1"),
    "the synchronous engine": Exit("engine.set_kind('sync')" + QUEUED),
    "eight workers": Exit("engine.set_workers(8)" + QUEUED),
    "three devices": Exit("for i in range(3):\n    with npx.cpu(i): y = np.ones((300, 300)) @ np.ones((300, 300))"),
    "memory is lent": Exit(
        "a, b, m = numpy.asarray(np.ones(10)), numpy.from_dlpack(np.ones(4)), memoryview(np.ones(3))"
    ),
    "daemon threads read": Exit(
        """
def work():
    x = np.ones(10)
    while True:
        x = x + 1
        repr(x)
for _ in range(3): threading.Thread(target=work, daemon=True).start()
time.sleep(0.05)
"""
    ),
    "modules are gone": Exit("x = np.ones(5)\nsys.modules.clear()"),
    "a subinterpreter's worth of garbage": Exit("a = []\na.append((a, np.ones(1000) + 1))\ndel a"),
}


def environment(kind: str) -> dict[str, str]:
    return {"SLIPSTREAM_ENGINE": "async"} if EXITS[kind].always_async else {}


SECONDS = 20  # no exit takes longer; most take a second or less
