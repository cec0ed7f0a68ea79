"""``grader`` and ``python -m grader``.

Worker processes import the main module again: this one costs them nothing.
"""

import sys


def main() -> None:
    """Run the command line."""
    if sys.argv[1:] and sys.argv[1].split(":")[0] == "pynes_ref" and "--help" not in sys.argv:
        from grader import parallel

        # Grading our own console: the workers' one loads while this process still imports its command line (0.2 s).
        parallel.start_early(core=True)
    from grader.cli import main as run

    run()


if __name__ == "__main__":
    main()
