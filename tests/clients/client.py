"""Plays a duel with the high-level client of the Python SDK, which probes with `server/discover`
and speaks 2026-07-28, a protocol without a handshake.

`python client.py DEBATE`
"""

import asyncio
import json

from duel import Duel, server
from mcp import Client


async def main():
    async with Client(server()) as client:
        print(json.dumps(await Duel(client).play("python client")))


asyncio.run(main())
