"""Building blocks of the commands, on top of click: base classes, parameters, output, errors."""
