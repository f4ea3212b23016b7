"""Put faults into the code one at a time, and count those that the tests find (a mutation check).

    make mutants                                            a sample of faults in each part named below
    make mutants ARGS="--part stats --sample 200"           more of them in one part
    make mutants ARGS="--commit v0.1.0 --out before.jsonl"  in the code and tests of another commit

The faults are cosmic-ray's. They are put into a copy of a commit, never into the working tree. The tests nearest to the
code run first; only faults that these do not find go through the wider ones. The results are kept in a file, so that a
run that was stopped goes on where it was. The same seed draws the same faults, so two commits can be compared where the
code is the same.
"""

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

from cosmic_ray.commands.init import _all_work_items
from cosmic_ray.mutating import apply_mutation, mutate_code
from cosmic_ray.plugins import get_operator

ROOT = Path(__file__).resolve().parent.parent
PARTS = {
    "stats": (
        ["analysis/stats"],
        ["tests/analysis/stats"],
        ["tests/analysis", "--ignore=tests/analysis/rag", "--ignore=tests/analysis/experiments"],
    ),
    "assignments": (
        ["annotation/judging"],
        ["tests/annotation/judging"],
        ["tests/annotation", "tests/recruitment"],
    ),
    "runs": (["crowdrag/jobs"], ["tests/jobs"], ["tests/llm", "tests/webhooks", "tests/analysis/experiments"]),
    "access": (["crowdrag/studies/access.py"], ["tests/studies"], ["tests/api/test_matrix.py"]),
}
HUNG = 900


@contextmanager
def copy_of(commit):
    """Check a commit out into a folder of its own, with this checkout's installed packages."""
    with tempfile.TemporaryDirectory(prefix="crowdrag-mutants-") as folder:
        tree = Path(folder, "tree")
        subprocess.run(["git", "worktree", "add", "-q", "--detach", tree, commit], cwd=ROOT, check=True)
        try:
            (tree / ".venv").symlink_to((ROOT / ".venv").resolve())
            yield tree
        finally:
            subprocess.run(["git", "worktree", "remove", "--force", tree], cwd=ROOT, check=True)


def faults_in(tree, paths, size, seed):
    """Return a sample of the faults that can be put into the modules at these paths."""
    modules = sorted(
        module for path in paths for module in ([tree / path] if path.endswith(".py") else (tree / path).rglob("*.py"))
    )
    found = []
    for module in modules:
        for item in _all_work_items([module], {}):
            [spec] = item.mutations
            if "Decorator" not in spec.operator_name:  # without one, hardly anything runs
                found.append((str(module.relative_to(tree)), spec.operator_name, spec.occurrence, spec.start_pos[0]))
    found.sort()
    random.Random(seed).shuffle(found)
    return list(islice((fault for fault in found if is_code(tree, fault)), size))


def is_code(tree, fault):
    """Return whether Python reads the code with the fault in it: what it does not says nothing of the tests."""
    path, operator, occurrence, _line = fault
    try:
        compile(mutate_code((tree / path).read_text(), get_operator(operator)(), occurrence), path, "exec")
    except SyntaxError:
        return False
    return True


def passes(tree, arguments, marks):
    """Run some tests, and return whether all of them pass."""
    command = f".venv/bin/python -m pytest {arguments} -x -q -m '{marks}' -p no:cacheprovider --timeout 120"
    process = subprocess.Popen(
        ["bash", "-c", f"exec {command}"],
        cwd=tree,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        # Compiled code is known by its second: what was written twice in one would not be compiled anew.
        env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1"},
    )
    try:
        output, _ = process.communicate(timeout=HUNG)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return False
    if process.returncode not in (0, 1, 2, 3, 4):  # pytest itself was killed, or found no tests
        sys.exit(output.decode()[-2000:])
    return process.returncode == 0


def check(tree, part, *, size, seed, marks, out, depth):
    """Try the sample of one part; add a line for each fault to the file of results."""
    paths, *stages = PARTS[part]
    sample = faults_in(tree, paths, size, seed)
    known = {}
    if out.exists():
        for line in out.read_text().splitlines():
            result = json.loads(line)
            known[tuple(result["fault"])] = result
    for arguments in stages[:depth]:
        if not passes(tree, " ".join(arguments), marks):
            sys.exit(f"{part}: {' '.join(arguments)} fails without any fault, so it could not tell one")
    for number, fault in enumerate(sample, start=1):
        path, operator, occurrence, line = fault
        result = known.get(fault, {"part": part, "fault": fault, "killed_at": None, "passed": 0})
        if result["killed_at"] is not None or result["passed"] >= min(depth, len(stages)):
            known[fault] = result
            continue
        module = tree / path
        whole = module.read_text()
        try:
            apply_mutation(module, get_operator(operator)(), occurrence)
            for stage, arguments in enumerate(stages[:depth], start=1):
                if stage <= result["passed"]:
                    continue
                if not passes(tree, " ".join(arguments), marks):
                    result["killed_at"] = stage
                    break
                result["passed"] = stage
        finally:
            module.write_text(whole)
        known[fault] = result
        with out.open("a") as file:
            file.write(json.dumps(result) + "\n")
        verdict = "found" if result["killed_at"] else "NOT FOUND"
        print(f"{part} {number}/{len(sample)} {path}:{line} {operator}: {verdict}", flush=True)
    killed = sum(known[each]["killed_at"] is not None for each in sample)
    print(f"{part}: {killed} of {len(sample)} found ({killed / len(sample):.0%})", flush=True)


def main():
    """Print the share of faults that were found, for each part."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--part", choices=PARTS, action="append")
    parser.add_argument("--sample", type=int, default=50, help="faults in each part")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--commit", default="HEAD")
    parser.add_argument(
        "--marks", default="not soak and not extended", help="tests to run; those of `make test` by default"
    )
    parser.add_argument("--out", type=Path, default=Path("mutants.jsonl"))
    parser.add_argument("--depth", type=int, default=2, help="1: the nearest tests alone")
    asked = parser.parse_args()
    out = asked.out.resolve()
    with copy_of(asked.commit) as tree:
        for part in asked.part or PARTS:
            check(tree, part, size=asked.sample, seed=asked.seed, marks=asked.marks, out=out, depth=asked.depth)


if __name__ == "__main__":
    main()
