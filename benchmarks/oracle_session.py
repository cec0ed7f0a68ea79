"""What a frame costs an oracle's caller: in a session, and by running from power-on each time.

``python benchmarks/oracle_session.py`` starts a server on a free loopback port and asks it. A step is what a caller
does for a frame: set-keys, run-frame, framebuffer, audio.
"""

import os
import statistics
import subprocess
import sys
import threading
import time
from pathlib import Path

from grader.oracle.client import Client

ROOT = Path(__file__).parent.parent
ROM = ROOT / "test_roms" / "pinewood.nes"
REPLAY = (ROOT / "replays" / "pinewood-gameplay.txt").read_text()


def milliseconds(call, times):
    taken = []
    for _ in range(times):
        begun = time.perf_counter()
        call()
        taken.append((time.perf_counter() - begun) * 1000)
    return statistics.median(taken)


def main():
    environment = {**os.environ, "ORACLE_TOKEN": "token"}
    command = [sys.executable, "-m", "grader.oracle.cli", "serve", str(ROM.parent), "--port", "0", "--rate", "1e6",
               "--burst", "1000000"]  # fmt: skip
    server = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
    try:
        url = server.stdout.readline().split()[-1]
        client = Client(url, "token")
        session = client.start(ROM.name)["id"]

        def step():
            client.set_keys(session, 0)
            client.run_frame(session)
            client.raw(session, "framebuffer")
            client.raw(session, "audio")

        print("frame   step in a session   from power-on")
        at = 0
        for frame in (100, 1000, 5000):
            client.run_frame(session, frame - at)
            live = milliseconds(step, 60)
            at = frame + 60
            options = {"frames": frame, "replay": REPLAY, "dump": "final", "audio": True, "from": frame - 1}
            again = milliseconds(lambda options=options: list(client.run(ROM.name, options)), 3)
            print(f"{frame:5}   {live:11.2f} ms   {again:12.1f} ms   ({again / live:.0f} times)")
        print(f"run-frame alone: {milliseconds(lambda: client.run_frame(session), 200):.2f} ms")
        print(f"info (no frame): {milliseconds(lambda: client.session_info(session), 200):.2f} ms")
        begun = time.perf_counter()
        client.run_frame(session, 1000)
        one = 1000 / (time.perf_counter() - begun)
        print(f"1000 frames in a call: {one:.0f} frames/s")
        cores = os.cpu_count()
        clients = [Client(url, "token") for _ in range(cores)]
        sessions = [client.start(ROM.name)["id"] for client in clients]
        threads = [threading.Thread(target=c.run_frame, args=(s, 1000)) for c, s in zip(clients, sessions)]
        begun = time.perf_counter()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        many = 1000 * cores / (time.perf_counter() - begun)
        print(f"{cores} sessions at once: {many:.0f} frames/s ({many / one:.2f} times one)")
    finally:
        server.terminate()
        server.wait()


if __name__ == "__main__":
    main()
