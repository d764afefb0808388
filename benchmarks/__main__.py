"""`python -m benchmarks [--instances N]`: measure, and print one table."""

import argparse
import asyncio

from benchmarks.burst import burst
from benchmarks.decoding import decoding
from benchmarks.scraping import scraping


def main() -> None:
    """Run all measurements, the cheap one first."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks")
    parser.add_argument("--instances", type=int, default=300, help="how many Instances at once")
    asked = parser.parse_args()
    for line in decoding():
        print(line, flush=True)
    for line in asyncio.run(scraping()):
        print(line, flush=True)
    for line in asyncio.run(burst(asked.instances)):
        print(line)


main()
