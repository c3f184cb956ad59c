"""The duel both Python clients play as the host, and what must be left of it afterwards.

Every step goes through `client`: a connected `mcp.Client` or `mcp.ClientSession`, whose calls have
the same names.
"""

import json
import os
import sys

from mcp import StdioServerParameters
from mcp.types import PromptReference

TOPIC = "Should we use sqlx or rusqlite?"
STEPS = 20
RULING = {
    "winner": "A",
    "confidence": 0.7,
    "scores": {"A": 70, "B": 60},
    "reasoning": "It was shown in T1 and never answered.",
    "cites": ["T1"],
    "quality": {"disagreement": "high", "evidence": "medium", "depth": "low"},
    "agreements": [{"point": "files are slow", "evidence": "T2"}],
    "disagreements": [{"point": "locks", "A": "short", "B": "long"}],
    "unresolved": ["How long is a lock held?"],
    "recommendation": "Use one file and measure the lock.",
}


class Surprise(Exception):
    """The server did something else than the contract says."""


def expect(holds, what):
    if not holds:
        raise Surprise(what)


def server():
    """How to start the server: the SDK hands on only a few variables by itself."""
    return StdioServerParameters(command=sys.argv[1], args=["mcp"], env=dict(os.environ))


class Duel:
    """One duel, the host in all three seats."""

    def __init__(self, client):
        self.client = client
        self.calls = 0
        self.claims = []
        self.speeches = []
        self.turns = []

    async def play(self, name):
        """Plays and checks the whole duel; gives what the script prints."""
        # Once the tools are listed, the SDK holds every result against its output schema.
        tools = [tool.name for tool in (await self.client.list_tools()).tools]
        seats = dict.fromkeys(("proposer", "challenger", "judge"), "host")
        state = await self.call("start_debate", topic=TOPIC, rounds=2, **seats)
        while state["status"] in ("your_turn", "paused"):
            expect(self.calls < STEPS, f"the duel does not end: {state}")
            state = await self.answer(state)
        expect(state["status"] == "completed", f"the duel stopped: {state}")
        await self.check_tools(state["debate_id"])
        await self.check_rest()
        return {
            "client": name,
            "protocol": self.client.protocol_version,
            "tools": tools,
            "turns": self.turns,
            "status": state["status"],
            "winner": state["verdict"]["winner"],
            "calls": self.calls,
        }

    async def answer(self, state):
        """Does what is due."""
        due = state["due"]
        place = {"debate_id": state["debate_id"], "turn": due["turn"]}
        if state["status"] == "paused":
            return await self.call("continue_round", **place)
        self.turns.append(due["turn"])
        if due["role"] == "Judge":
            return await self.call("verdict", **place, ruling=RULING)
        speech = self.speech(due["role"], state["round"])
        self.speeches.append({**place, "speech": speech})
        return await self.call("continue_round", **place, speech=speech)

    def speech(self, role, round):
        """Prose and one claim, which answers the claim made before it."""
        own = f"{role[0]}{round}"
        claim = {
            "id": own,
            "text": f"{own} holds.",
            "evidence": [f"documented behaviour of {own}"],
            "answers": self.claims[-1:],
        }
        self.claims.append(own)
        block = json.dumps({"claims": [claim], "concedes": [], "resolves": []})
        return f"{own} holds, and it decides the matter.\n\n```claims\n{block}\n```\n"

    async def check_tools(self, debate_id):
        """The duel is on record, and a turn can be taken only once."""
        summary = await self.call("summarize", debate_id=debate_id)
        expect(summary["status"] == "completed", f"the summary says {summary['status']}")
        listed = await self.call("list_debates")
        expect(debate_id in json.dumps(listed), f"{debate_id} is not listed: {listed}")
        await self.call("show_debate", debate_id=debate_id, part="transcript")
        first = self.speeches[0]
        await self.call("continue_round", **first)
        other = {**first, "speech": f"On second thoughts: {first['speech']}"}
        refused = await self.send("continue_round", other)
        expect(refused.is_error, "a taken turn was taken again with another speech")

    async def check_rest(self):
        """The resource, the prompt and the completion that go with the tools."""
        last = await self.client.read_resource("debate://last")
        expect(any(part.text for part in last.contents), "debate://last is empty")
        prompt = await self.client.get_prompt("debate", {"topic": TOPIC})
        expect(prompt.messages, "the prompt has no messages")
        begun = {"name": "topic", "value": TOPIC[:6]}
        found = await self.client.complete(PromptReference(name="debate"), begun)
        expect(TOPIC in found.completion.values, "the topic of before is not suggested")

    async def call(self, tool, **arguments):
        """The structured result of a call that must succeed; it must come as text too."""
        result = await self.send(tool, arguments)
        text = "".join(part.text for part in result.content if part.type == "text")
        expect(not result.is_error, f"{tool} failed: {text}")
        expect(text, f"{tool} gave no text")
        return result.structured_content

    async def send(self, tool, arguments):
        self.calls += 1
        return await self.client.call_tool(tool, arguments)
