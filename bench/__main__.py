"""Run measurements and print their ratios, beside a calibration loop measured in the same run.

    python -m bench                 every measurement but `peers`, which installs other software
    python -m bench stats_mace      only these (modules of this folder that have a function run)

A ratio is always "at least": how many times faster than the peer, or how many times within a limit. The calibration
loop is a fixed piece of work, so that seconds printed on one machine can be compared with another's.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import pkgutil
import sys
import time

import numpy as np

import bench

#: Measured only if named.
ON_REQUEST = {"peers"}
#: Commands of their own, as `python -m bench.chaos`.
RUN_ALONE = {"chaos"}


def calibration() -> float:
    """Seconds for a fixed piece of work, a plain loop and some array arithmetic; the best of three."""
    seconds = []
    for _ in range(3):
        began = time.perf_counter()
        total = 0
        for i in range(2_000_000):
            total += i & 3
        x = np.linspace(0.5, 20.0, 1_000_000)
        for _ in range(10):
            np.exp(np.log(x)).sum()
        seconds.append(time.perf_counter() - began)
    return min(seconds)


def measurements() -> list[str]:
    """Return the names of the measurements: what is in this folder, without leading underscores and `RUN_ALONE`."""
    names = {module.name for module in pkgutil.iter_modules(bench.__path__) if not module.name.startswith("_")}
    return sorted(names - RUN_ALONE)


def main() -> int:
    """Print the table; return 1 if a ratio misses its target."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="name", help=f"one of: {', '.join(measurements())}")
    parser.add_argument("--replications", type=int, metavar="N", help="of measurements that simulate; 1,000 by default")
    asked = parser.parse_args()
    names = asked.names or sorted(set(measurements()) - ON_REQUEST)
    unknown = sorted(set(names) - set(measurements()))
    if unknown:
        parser.error(f"no such measurement: {', '.join(unknown)}; there are {', '.join(measurements())}")
    print(f"calibration loop: {calibration():.3f} s", flush=True)
    missed = 0
    for name in names:
        module = importlib.import_module(f"bench.{name}")
        print(f"\n{name}: {(module.__doc__ or '').strip().splitlines()[0]}", flush=True)
        simulates = asked.replications is not None and "replications" in inspect.signature(module.run).parameters
        for row in module.run(replications=asked.replications) if simulates else module.run():
            reached = row["ratio"] >= row["target"]
            missed += not reached
            sign = "ok    " if reached else "MISSED"
            print(
                f"  {sign} {row['ratio']:>10.4g} (at least {row['target']:g})  {row['name']}: {row['detail']}",
                flush=True,
            )
    print(f"\ncalibration loop again: {calibration():.3f} s")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
