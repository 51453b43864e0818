import os
import time

import grpc


def connect(directory, endpoint):
    """Returns a channel with the files of this moment. It keeps them, also for later connections."""
    # A kubelet replaces the directory that the files are links into.
    at = os.path.dirname(os.path.realpath(os.path.join(directory, "tls.crt")))

    def read(name):
        with open(os.path.join(at, name), "rb") as file:
            return file.read()

    credentials = grpc.ssl_channel_credentials(read("ca.crt"), read("tls.key"), read("tls.crt"))
    return grpc.secure_channel(endpoint, credentials)


class Client:
    """Calls one endpoint, and after an error the next one, with a new channel and the files read again."""

    def __init__(self, directory, endpoints):
        self._directory = directory
        self._endpoints = endpoints
        self._at = 0
        self._channel = None

    def call(self, method, request, patience=1):
        """Tries again until this many seconds after the first error."""
        until = None
        while True:
            try:
                if self._channel is None:
                    endpoint = self._endpoints[self._at % len(self._endpoints)]
                    self._channel = connect(self._directory, endpoint)
                return self._channel.unary_unary(method)(request, timeout=3)
            except (grpc.RpcError, OSError):
                until = until or time.monotonic() + patience
                if time.monotonic() >= until:
                    raise
            self._at += 1
            if self._channel is not None:
                self._channel.close()
                self._channel = None
            time.sleep(0.02)
