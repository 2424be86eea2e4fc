"""What commands are made of: flags, base classes, output."""
