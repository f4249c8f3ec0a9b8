"""Speed, measured beside the peers: `python -m benchmarks [NAME...]`.

Every workload runs here and in each peer that is installed, in processes of their own with two threads each, turn by
turn. Results are compared with NumPy's before anything is timed. `python -m benchmarks.install` brings the peers.

- `workload.py`: what a workload and its goal are; `workloads/` has them, a file per family
- `peers.py`: how each library makes an array, waits, and compiles
- `worker.py`: the process a peer runs in; `runner.py`: the rounds; `results.py`: ratios and verdicts
- `report.py`: tables; `picture.py`: bench.html
"""
