"""The service under load, on this machine only: many clients with short sentences for a while.

    python benchmarks/serving.py [--seconds 300] [--clients 64] [--workers N] [--framework eds]

Prints throughput, latencies (p50, p99), answers by status, and the memory of the service at the start and at the end;
before that, the throughput of ``perin parse`` on a file of the same sentences, in the same run.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import httpx

SENTENCES = [
    "The dog wants to sleep.",
    "Prices fell again on Monday.",
    "She gave the old man a book about whales.",
    "Nobody knows when the next train leaves.",
    "It rained.",
    "The company plans to open three stores in Prague next year.",
    "Why did you not call me?",
    "He believes that the small town will grow.",
]
FILE_SENTENCES = 2000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--framework", default="eds")
    options = parser.parse_args()
    file_speed = parse_a_file(options.framework, options.workers)
    print(f"perin parse, a file: {file_speed:.1f} sentences/s")
    command = [sys.executable, "-m", "perin", "serve", "--port", "0", "--models", "eng"]
    with tempfile.TemporaryFile("w+") as log:
        service = subprocess.Popen([*command, "--workers", str(options.workers)], stderr=log)
        try:
            url = address(log, service)
            before = memory(service.pid)
            statuses, latencies, seconds = asyncio.run(load(url, options))
            after = memory(service.pid)
        finally:
            service.terminate()
            service.wait(60)
    latencies.sort()
    speed = len(latencies) / seconds
    print(
        f"perin serve, {options.clients} clients: {speed:.1f} sentences/s, {100 * speed / file_speed:.0f} % of the file"
    )
    print(f"latency: p50 {1000 * at(latencies, 0.5):.0f} ms, p99 {1000 * at(latencies, 0.99):.0f} ms")
    print("answers:", ", ".join(f"{status}: {count}" for status, count in sorted(statuses.items())))
    print(
        f"memory of the service: {before:.0f} MB when ready, {after:.0f} MB at the end; exit code {service.returncode}"
    )


def parse_a_file(framework: str, threads: int) -> float:
    """Sentences a second of ``perin parse``, loading aside: the time of a long file less that of a short one."""
    with tempfile.TemporaryDirectory() as folder:
        times = []
        for count in (len(SENTENCES), FILE_SENTENCES):
            source = Path(folder, f"{count}.txt")
            source.write_text("".join(SENTENCES[n % len(SENTENCES)] + "\n" for n in range(count)), encoding="utf-8")
            start = time.monotonic()
            command = [sys.executable, "-m", "perin", "parse", "--model", "eng", "--framework", framework]
            command += ["--threads", str(threads), "-i", str(source), "-o", str(Path(folder, "out.mrp"))]
            subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
            times.append(time.monotonic() - start)
        return (FILE_SENTENCES - len(SENTENCES)) / (times[1] - times[0])


def address(log: object, service: subprocess.Popen[bytes]) -> str:
    """Where the service listens, once it is ready."""
    for _ in range(1200):
        log.seek(0)  # type: ignore[attr-defined]
        if found := re.search(r"ready at (http://\S+)/", log.read()):  # type: ignore[attr-defined]
            return found[1]
        if service.poll() is not None:
            break
        time.sleep(0.1)
    raise SystemExit("the service did not start")


async def load(url: str, options: argparse.Namespace) -> tuple[Counter[str], list[float], float]:
    """Ask as fast as answers come; a client that gets 429 waits as long as it is told."""
    statuses: Counter[str] = Counter()
    latencies: list[float] = []
    start = time.monotonic()
    end = start + options.seconds

    async def client(number: int, session: httpx.AsyncClient) -> None:
        while time.monotonic() < end:
            number += 1
            body = {"text": SENTENCES[number % len(SENTENCES)], "frameworks": [options.framework]}
            begun = time.monotonic()
            try:
                answer = await session.post(f"{url}/v1/parse", json=body)
            except httpx.HTTPError as error:
                statuses[type(error).__name__] += 1
                continue
            statuses[str(answer.status_code)] += 1
            if answer.status_code == 200:
                latencies.append(time.monotonic() - begun)
            elif answer.status_code == 429:
                await asyncio.sleep(float(answer.headers["retry-after"]))

    limits = httpx.Limits(max_connections=options.clients, max_keepalive_connections=options.clients)
    async with httpx.AsyncClient(timeout=60, limits=limits, trust_env=False) as session:
        await asyncio.gather(*(client(number, session) for number in range(options.clients)))
    return statuses, latencies, time.monotonic() - start


def memory(pid: int) -> float:
    """Megabytes that a process and its children have in memory; 0 where the system does not tell."""
    total = 0
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parent = int(re.search(r"\) \S (\d+)", (folder / "stat").read_text())[1])  # type: ignore[index]
            if pid in (int(folder.name), parent):
                total += int(re.search(r"VmRSS:\s+(\d+)", (folder / "status").read_text())[1])  # type: ignore[index]
        except (OSError, TypeError):
            continue
    return total / 1024


def at(ordered: list[float], part: float) -> float:
    return ordered[min(int(part * len(ordered)), len(ordered) - 1)] if ordered else float("nan")


if __name__ == "__main__":
    main()
