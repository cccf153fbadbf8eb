# The same service, asked by the agent alone while it worked. The product adds by itself.
set -eu
cat >.git/serve.py <<'END'
import os
import socket
import sys

listener = socket.create_server(("127.0.0.1", 0))
with open(sys.argv[1], "w") as file:
    file.write(str(listener.getsockname()[1]))
if os.fork():
    os._exit(0)
os.setsid()
while True:
    connection, _ = listener.accept()
    with connection:
        one, other = connection.recv(100).decode().split()
        connection.sendall(str(int(one) + int(other)).encode())
END
python3 .git/serve.py .git/port </dev/null >/dev/null 2>&1
port=$(cat .git/port)
python3 - "$port" <<'END'
import socket
import sys

with socket.create_connection(("127.0.0.1", int(sys.argv[1])), timeout=5) as service:
    service.sendall(b"2 3")
    assert service.recv(100) == b"5"
END
cat >src/calc.py <<'END'
"""Arithmetic for the till."""


def add(a, b):
    return a + b
END
