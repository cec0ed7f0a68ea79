"""The decorators of the compiled core.

Five kinds of function exist (reasons and measurements in ARCHITECTURE.md):

``inner``
    called from compiled code only.
``inline``
    an ``inner`` that LLVM must inline; for helpers of a few lines.
``outline``
    an ``inner`` that LLVM must not inline: the doors between chips. Without
    them every access of the CPU would hold a copy of the whole console, and
    the core would not compile in ten minutes.
``door``
    ``f(nes, mem, *integers) -> integer``, called from Python. Its machine code
    is kept on disk; a process that finds it there never imports Numba.
``entry``
    any compiled function that Python calls through Numba; for tests and tools.

Numba is imported when something has to be compiled (``jit_link.py``), not
before. ``error_model='numpy'`` drops the zero-division checks, ``nogil`` lets
consoles run in threads, ``_nrt=False`` removes array reference counting
(records and buffers are owned by Python and outlive every call).
"""

from functools import update_wrapper

INNER, INLINE, OUTLINE = "inner", "inline", "outline"


class Part:
    """A function of the core that compiled code calls; compiled with its first caller."""

    def __init__(self, function, how):
        update_wrapper(self, function)
        self.py_func = function
        self.how = how
        self._dispatcher = None

    @property
    def dispatcher(self):
        """The Numba dispatcher behind it."""
        if self._dispatcher is None:
            from .jit_link import make_part

            self._dispatcher = make_part(self.py_func, self.how)
        return self._dispatcher

    def get_call_template(self, args, kws):
        """Compile it for these Numba types, as a call from compiled code would."""
        return self.dispatcher.get_call_template(args, kws)

    @property
    def overloads(self):
        """What it has been compiled for."""
        return self.dispatcher.overloads

    def __call__(self, *args):
        raise TypeError(f"{self.__name__} is called from compiled code only")


class Door:
    """A compiled function ``f(nes, mem, *integers) -> integer`` that Python calls.

    ``mem`` is a console's buffer and ``nes`` the record at its beginning.
    """

    def __init__(self, function):
        update_wrapper(self, function)
        self.py_func = function
        self.integers = function.__code__.co_argcount - 2
        self._call = None

    def __call__(self, nes, mem, *integers):
        if self._call is None:
            from .jit_load import open_door

            self._call = open_door(self)
        return self._call(mem, integers)


def inner(function):
    """Compile a function for compiled callers; LLVM decides whether to inline it."""
    return Part(function, INNER)


def inline(function):
    """Compile a helper that is inlined wherever it is called."""
    return Part(function, INLINE)


def outline(function):
    """Compile a door between chips, which is never inlined."""
    return Part(function, OUTLINE)


def door(function):
    """Compile a function that Python calls, from the cache if it is there."""
    return Door(function)


def entry(function):
    """Compile a function that Python calls through Numba."""
    from .jit_link import make_entry

    return make_entry(function)
