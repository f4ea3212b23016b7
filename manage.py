#!/usr/bin/env python
"""`crowdrag` by its usual name in a Django project."""

from crowdrag.runtime.cli import main

if __name__ == "__main__":
    main()
