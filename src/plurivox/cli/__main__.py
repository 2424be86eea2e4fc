"""`python -m plurivox.cli`: the command line without its script."""

from plurivox.cli.main import main

main()
