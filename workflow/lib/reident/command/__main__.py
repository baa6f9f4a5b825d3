"""`python -m reident.command`: the command `reident` where it is not installed."""

import sys

from reident.command import main

if __name__ == "__main__":
    sys.exit(main())
