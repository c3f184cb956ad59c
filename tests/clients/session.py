"""Plays a duel with the low-level session of the Python SDK, which opens with the `initialize`
handshake that most hosts still use.

`python session.py DEBATE`
"""

import asyncio
import json

from duel import Duel, server
from mcp import ClientSession, stdio_client


async def main():
    async with stdio_client(server()) as (read, write), ClientSession(read, write) as session:
        await session.initialize()
        print(json.dumps(await Duel(session).play("python session")))


asyncio.run(main())
