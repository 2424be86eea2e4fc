"""Web: the studio, in which people give soft labels. `create_app` makes it; `plurivox studio` opens it."""
