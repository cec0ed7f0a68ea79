"""What every worker needs, imported once in the process that the workers are forked from (``parallel.start_early``).

Of use nowhere else: it takes Ctrl-C away from the process that imports it.
"""

import contextlib
import signal

signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent's to handle, and this process ends with the parent

with contextlib.suppress(Exception):  # whatever is wrong, the worker that needs it says so
    import grader.grade  # noqa: F401
