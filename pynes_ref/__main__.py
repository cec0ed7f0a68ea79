"""``python -m pynes_ref``: the ``pynes-ref`` command."""

from .cli import main

if __name__ == "__main__":
    main()
