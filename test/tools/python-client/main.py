"""Writes one key after the other into etcd until it gets SIGTERM: see agent/test/clients/support/writing-client.ts."""

import argparse
import json
import os
import shutil
import signal
import tempfile
import time

import grpc
from connect import Client

parser = argparse.ArgumentParser()
for name in ("endpoints", "directory", "prefix", "reads"):
    parser.add_argument(f"--{name}", required=True)
arguments = parser.parse_args()

stopped = False


def stop(*_):
    global stopped
    stopped = True


def field(number, value):
    """One field of bytes shorter than 128, in Protocol Buffers."""
    return bytes([number << 3 | 2, len(value)]) + value


def report(**line):
    print(json.dumps(line), flush=True)


def write(client):
    written = failed = n = 0
    last, longest = time.monotonic(), 0
    while not stopped:
        key = f"{arguments.prefix}{n}"
        n += 1
        try:
            client.call("/etcdserverpb.KV/Put", field(1, key.encode()) + field(2, b"x"))
        except grpc.RpcError as error:
            failed += 1
            report(key=key, error=error.details())
        else:
            written += 1
            longest, last = max(longest, time.monotonic() - last), time.monotonic()
            if written % 10 == 0:
                report(written=written)
        time.sleep(0.02)
    report(written=written, failed=failed, longestGap=round(longest * 1000))


signal.signal(signal.SIGTERM, stop)
endpoints = [url.removeprefix("https://") for url in arguments.endpoints.split(",")]
with tempfile.TemporaryDirectory() as kept:
    # A client that reads nothing again has the files of its start.
    for name in ("ca.crt", "tls.crt", "tls.key"):
        shutil.copy(os.path.join(arguments.directory, name), kept)
    write(Client(arguments.directory if arguments.reads == "all" else kept, endpoints))
