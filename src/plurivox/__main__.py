"""Run the command line: `python -m plurivox` is the same as `plurivox`."""

from plurivox.cli.main import main

if __name__ == "__main__":
    main()
