"""The metrics: pure functions of pictures and sound (NumPy, SciPy and Numba only)."""
