"""How long the command takes to start, against a bare interpreter, in turns."""

import subprocess
import sys
import time
from pathlib import Path
from statistics import median

ROUNDS = 31
PATCH = str(Path(sys.executable).parent / "patch")
COMMANDS = {
    "python -c pass": [sys.executable, "-c", "pass"],
    "patch --version": [PATCH, "--version"],
    "patch --help": [PATCH, "--help"],
    "patch fix --help": [PATCH, "fix", "--help"],
}


def main() -> None:
    """Print the table."""
    taken: dict[str, list[float]] = {name: [] for name in COMMANDS}
    for _ in range(ROUNDS):
        for name, argv in COMMANDS.items():
            started = time.perf_counter()
            subprocess.run(argv, stdout=subprocess.DEVNULL, check=True)
            taken[name].append(time.perf_counter() - started)
    base = median(taken["python -c pass"])
    print(f"{'command':<20}{'median ms':>12}{'ratio':>8}")
    for name, times in taken.items():
        print(f"{name:<20}{median(times) * 1000:>12.1f}{median(times) / base:>8.2f}")


if __name__ == "__main__":
    main()
