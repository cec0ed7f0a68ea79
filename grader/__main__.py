"""``grader`` and ``python -m grader``.

Worker processes import the main module again: this one costs them nothing.
"""


def main() -> None:
    """Run the command line."""
    from grader.cli import main as run

    run()


if __name__ == "__main__":
    main()
