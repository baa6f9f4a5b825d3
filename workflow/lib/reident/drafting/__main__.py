"""`python -m reident.drafting`: the command `reident` where it is not installed."""

import sys

from reident.drafting.command import main

if __name__ == "__main__":
    sys.exit(main())
