"""``python -m foxloop_trio``: the same as the command `foxloop-trio`."""

from .cli import main

if __name__ == "__main__":
    main()
