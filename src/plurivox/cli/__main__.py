"""`python -m plurivox.cli` runs the command line without the installed `plurivox` script."""

from plurivox.cli.main import main

main()
