"""Operations on a study that are neither HTTP nor SQL."""
