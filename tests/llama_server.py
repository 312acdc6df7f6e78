"""Serves a GGUF file with llama.cpp on the loopback interface until its standard input ends. Needs xllamacpp.

Arguments: the file, the name it is served under. Prints the address once it listens.
"""

from __future__ import annotations

import socket
import sys


def main() -> None:
    import xllamacpp

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    params = xllamacpp.CommonParams()
    params.model.path = sys.argv[1]
    params.model_alias = {sys.argv[2]}
    params.port = port  # the host is 127.0.0.1 unless told otherwise
    params.n_parallel = 2
    params.n_ctx = 2 * 4096
    server = xllamacpp.Server(params)
    print(f"{server.listening_address}/v1", flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
