"""Load for a Redis server on a Unix socket: clients in threads, then work in the background, then its end.

Usage: redis_load.py SOCKET CLIENTS REQUESTS
"""

import socket
import sys
import threading
import time


class Client:
    """One connection; commands are sent in batches, and every reply is read."""

    def __init__(self, path):
        self.socket = connect(path)
        self.replies = self.socket.makefile("rb")

    def send(self, *commands):
        """Sends commands at once and returns their replies."""
        self.socket.sendall(b"".join(encoded(command) for command in commands))
        return [self.reply() for _ in commands]

    def reply(self):
        """Reads one reply."""
        line = self.replies.readline()
        if not line.endswith(b"\r\n"):
            raise SystemExit("the server closed the connection")
        kind, rest = line[:1], line[1:-2]
        if kind == b"-":
            raise SystemExit(f"the server says {rest.decode()}")
        if kind == b"$":
            size = int(rest)
            return None if size < 0 else self.replies.read(size + 2)[:-2]
        if kind == b"*":
            return [self.reply() for _ in range(int(rest))]
        return rest


def connect(path):
    """Connects as soon as the server listens."""
    for _ in range(600):
        client = socket.socket(socket.AF_UNIX)
        try:
            client.connect(path)
            return client
        except OSError:
            client.close()
            time.sleep(0.1)
    raise SystemExit(f"nobody listens at {path}")


def encoded(command):
    """A command in the protocol."""
    words = [word if isinstance(word, bytes) else str(word).encode() for word in command]
    parts = [b"*%d\r\n" % len(words)]
    parts += [b"$%d\r\n%s\r\n" % (len(word), word) for word in words]
    return b"".join(parts)


def work(path, number, requests, failures):
    """What one client does."""
    try:
        client = Client(path)
        for i in range(requests):
            key, shared = f"key:{number}:{i % 50}", f"shared:{i % 10}"
            found = client.send(
                ("SET", key, "x" * (i % 300)),
                ("GET", key),
                ("LPUSH", shared, i),
                ("LTRIM", shared, 0, 99),
                ("ZADD", "scores", i, f"{number}:{i}"),
                ("UNLINK", f"key:{number}:{(i + 25) % 50}"),
                ("EXPIRE", key, 100),
            )[1]
            if found != b"x" * (i % 300):
                raise SystemExit(f"{key} has another value")
    except (SystemExit, OSError) as error:
        failures.append(error)


def main(path, clients, requests):
    """All of it; the exit status says whether the server answered well."""
    failures = []
    threads = [
        threading.Thread(target=work, args=(path, number, requests, failures))
        for number in range(clients)
    ]
    for thread in threads:
        thread.start()
    control = Client(path)
    control.send(("BGREWRITEAOF",))
    for thread in threads:
        thread.join()
    control.send(("UNLINK", "scores"), ("FLUSHALL", "ASYNC"))
    while b"aof_rewrite_in_progress:1" in control.send(("INFO", "persistence"))[0]:
        time.sleep(0.1)
    control.socket.sendall(encoded(("SHUTDOWN", "NOSAVE")))
    control.replies.read()
    if failures:
        raise SystemExit(f"{len(failures)} clients failed: {failures[0]}")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
