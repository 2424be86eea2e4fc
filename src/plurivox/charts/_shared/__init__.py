"""What several charts share: theme, panels, names as text, text shown when the pointer is over a mark, files of figures."""
