"""The service under load, on this machine only: many clients with short sentences for a while.

    python benchmarks/serving.py [--seconds 300] [--clients 64] [--workers N] [--framework eds]

Prints throughput, latencies (p50, p99), answers by status, processor time by process, and the memory of the service at
the start and at the end; before and after that, the same of ``perin parse`` on a file of the same sentences.  Where
other work goes on, throughput says little and the ratio of processor times is what to look at.  The clients share the
machine with the service, so they are as light as can be: requests are made beforehand, and only status and length of an
answer are read.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

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
FILE_SENTENCES = 4000
LENGTH = re.compile(rb"content-length: (\d+)")
RETRY = re.compile(rb"retry-after: (\d+)")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--framework", default="eds")
    options = parser.parse_args()
    files = [parse_a_file(options.framework, options.workers)]
    command = [sys.executable, "-m", "perin", "serve", "--port", "0", "--models", "eng"]
    with tempfile.TemporaryFile("w+") as log:
        service = subprocess.Popen([*command, "--workers", str(options.workers)], stderr=log)
        try:
            port = address(log, service)
            before, used = memory(service.pid), processor_time(service.pid)
            statuses, latencies, seconds = asyncio.run(load(port, options))
            after, spent = memory(service.pid), processor_time(service.pid)
        finally:
            service.terminate()
            service.wait(60)
    files.append(parse_a_file(options.framework, options.workers))
    for when, (speed, milliseconds) in zip(("before", "after"), files, strict=True):
        print(f"perin parse, a file, {when}: {speed:.1f} sentences/s, {milliseconds:.2f} ms processor time a sentence")
    file_speed, file_time = (sum(column) / len(files) for column in zip(*files, strict=True))
    latencies.sort()
    speed = len(latencies) / seconds
    print(f"perin serve, {options.clients} clients, {seconds:.0f} s: {speed:.1f} sentences/s")
    print(f"latency: p50 {1000 * at(latencies, 0.5):.0f} ms, p99 {1000 * at(latencies, 0.99):.0f} ms")
    print("answers:", ", ".join(f"{status}: {count}" for status, count in sorted(statuses.items())))
    web, workers = (1000 * (end - start) / len(latencies) for start, end in zip(used, spent, strict=True))
    own = 1000 * time.process_time() / len(latencies)
    print(f"processor time of a sentence: {web:.2f} ms web, {workers:.2f} ms workers, {own:.2f} ms clients")
    share = 100 * speed / file_speed
    print(f"throughput: {share:.0f} % of the file's; by processor time {100 * file_time / (web + workers + own):.0f} %")
    print(
        f"memory of the service: {before:.0f} MB when ready, {after:.0f} MB at the end; exit code {service.returncode}"
    )


def parse_a_file(framework: str, threads: int) -> tuple[float, float]:
    """Sentences a second of ``perin parse`` and the milliseconds of processor time of one.

    Loading does not count: it is the time of a long file less that of a short one.
    """
    with tempfile.TemporaryDirectory() as folder:
        times, used = [], []
        for count in (len(SENTENCES), FILE_SENTENCES):
            source = Path(folder, f"{count}.txt")
            source.write_text("".join(SENTENCES[n % len(SENTENCES)] + "\n" for n in range(count)), encoding="utf-8")
            start, begun = time.monotonic(), children_time()
            command = [sys.executable, "-m", "perin", "parse", "--model", "eng", "--framework", framework]
            command += ["--threads", str(threads), "-i", str(source), "-o", str(Path(folder, "out.mrp"))]
            subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
            times.append(time.monotonic() - start)
            used.append(children_time() - begun)
        count = FILE_SENTENCES - len(SENTENCES)
        return count / (times[1] - times[0]), 1000 * (used[1] - used[0]) / count


def children_time() -> float:
    """Processor time of all processes that this one has started and seen end."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def address(log: TextIO, service: subprocess.Popen[bytes]) -> int:
    """The port that the service listens on, once it is ready."""
    for _ in range(1200):
        log.seek(0)
        if found := re.search(r"ready at http://\S+:(\d+)/", log.read()):
            return int(found[1])
        if service.poll() is not None:
            break
        time.sleep(0.1)
    raise SystemExit("the service did not start")


async def load(port: int, options: argparse.Namespace) -> tuple[Counter[str], list[float], float]:
    """Ask as fast as answers come; a client that gets 429 waits as long as it is told."""
    statuses: Counter[str] = Counter()
    latencies: list[float] = []
    requests = [request(sentence, options.framework) for sentence in SENTENCES]
    start = time.monotonic()
    end = start + options.seconds

    async def client(number: int) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        while time.monotonic() < end:
            number += 1
            begun = time.monotonic()
            writer.write(requests[number % len(requests)])
            head = (await reader.readuntil(b"\r\n\r\n")).lower()
            status = head.split(b" ", 2)[1].decode()
            await reader.readexactly(int(LENGTH.search(head)[1]))  # type: ignore[index]
            statuses[status] += 1
            if status == "200":
                latencies.append(time.monotonic() - begun)
            elif status == "429":
                await asyncio.sleep(float(RETRY.search(head)[1]))  # type: ignore[index]
        writer.close()

    for result in await asyncio.gather(*map(client, range(options.clients)), return_exceptions=True):
        if result is not None:
            statuses[type(result).__name__] += 1
    return statuses, latencies, time.monotonic() - start


def request(sentence: str, framework: str) -> bytes:
    body = json.dumps({"text": sentence, "frameworks": [framework]}).encode()
    head = "POST /v1/parse HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body


def processes(pid: int) -> Iterator[tuple[int, Path]]:
    """A process and its children, in /proc."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
        except (OSError, IndexError):
            continue
        if pid in (int(folder.name), parent):
            yield int(folder.name), folder


def processor_time(pid: int) -> tuple[float, float]:
    """Seconds of processor time of a process and of its children."""
    own = children = 0.0
    for number, folder in processes(pid):
        fields = (folder / "stat").read_text().rpartition(")")[2].split()
        seconds = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        own, children = (own + seconds, children) if number == pid else (own, children + seconds)
    return own, children


def memory(pid: int) -> float:
    """Megabytes that a process and its children have in memory."""
    statuses = [(folder / "status").read_text() for _, folder in processes(pid)]
    return sum(int(found[1]) for status in statuses if (found := re.search(r"VmRSS:\s+(\d+)", status))) / 1024


def at(ordered: list[float], part: float) -> float:
    return ordered[min(int(part * len(ordered)), len(ordered) - 1)] if ordered else float("nan")


if __name__ == "__main__":
    main()
