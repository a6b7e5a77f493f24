"""Places for servers that tests start."""

import contextlib
import socket


def free_ports(count):
    """The first of several free ports in a row."""
    while True:
        with contextlib.ExitStack() as stack:
            first = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
            port = first.getsockname()[1]
            with contextlib.suppress(OSError, OverflowError):
                for i in range(1, count):
                    stack.enter_context(socket.create_server(("127.0.0.1", port + i)))
                return port
