"""`python -m plurivox`: the same as `plurivox`."""

from plurivox.cli.main import main

if __name__ == "__main__":
    main()
