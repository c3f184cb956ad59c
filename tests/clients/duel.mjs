// The duel both Node clients play as the host, and what must be left of it afterwards.
//
// Every step goes through `client`: list(), call(tool, arguments), read(uri) and
// prompt(name, arguments), each giving the result as the protocol has it.

export const TOPIC = "Should we use sqlx or rusqlite?";
const STEPS = 20;
const RULING = {
  winner: "A",
  confidence: 0.7,
  scores: { A: 70, B: 60 },
  reasoning: "It was shown in T1 and never answered.",
  cites: ["T1"],
  quality: { disagreement: "high", evidence: "medium", depth: "low" },
  agreements: [{ point: "files are slow", evidence: "T2" }],
  disagreements: [{ point: "locks", A: "short", B: "long" }],
  unresolved: ["How long is a lock held?"],
  recommendation: "Use one file and measure the lock.",
};

export function expect(holds, what) {
  if (!holds) throw new Error(what);
}

/** One duel, the host in all three seats. */
export class Duel {
  calls = 0;
  claims = [];
  speeches = [];
  turns = [];

  constructor(client) {
    this.client = client;
  }

  /** Plays and checks the whole duel; gives what the script prints. */
  async play() {
    // Once the tools are listed, the SDK holds every result against its output schema.
    const tools = (await this.client.list()).tools.map((tool) => tool.name);
    const seats = { proposer: "host", challenger: "host", judge: "host" };
    let state = await this.call("start_debate", { topic: TOPIC, rounds: 2, ...seats });
    while (["your_turn", "paused"].includes(state.status)) {
      expect(this.calls < STEPS, `the duel does not end: ${JSON.stringify(state)}`);
      state = await this.answer(state);
    }
    expect(state.status === "completed", `the duel stopped: ${JSON.stringify(state)}`);
    await this.checkTools(state.debate_id);
    await this.checkRest();
    const { status, verdict } = state;
    return { tools, turns: this.turns, status, winner: verdict.winner, calls: this.calls };
  }

  /** Does what is due. */
  async answer({ status, debate_id, round, due }) {
    const place = { debate_id, turn: due.turn };
    if (status === "paused") return this.call("continue_round", place);
    this.turns.push(due.turn);
    if (due.role === "Judge") return this.call("verdict", { ...place, ruling: RULING });
    const speech = { ...place, speech: this.speech(due.role, round) };
    this.speeches.push(speech);
    return this.call("continue_round", speech);
  }

  /** Prose and one claim, which answers the claim made before it. */
  speech(role, round) {
    const own = `${role[0]}${round}`;
    const claim = {
      id: own,
      text: `${own} holds.`,
      evidence: [`documented behaviour of ${own}`],
      answers: this.claims.slice(-1),
    };
    this.claims.push(own);
    const block = JSON.stringify({ claims: [claim], concedes: [], resolves: [] });
    return `${own} holds, and it decides the matter.\n\n\`\`\`claims\n${block}\n\`\`\`\n`;
  }

  /** The duel is on record, and a turn can be taken only once. */
  async checkTools(debate_id) {
    const summary = await this.call("summarize", { debate_id });
    expect(summary.status === "completed", `the summary says ${summary.status}`);
    const listed = JSON.stringify(await this.call("list_debates", {}));
    expect(listed.includes(debate_id), `${debate_id} is not listed: ${listed}`);
    await this.call("show_debate", { debate_id, part: "transcript" });
    const [first] = this.speeches;
    await this.call("continue_round", first);
    const other = { ...first, speech: `On second thoughts: ${first.speech}` };
    const refused = await this.send("continue_round", other);
    expect(refused.isError, "a taken turn was taken again with another speech");
  }

  /** The resource and the prompt that go with the tools. */
  async checkRest() {
    const last = await this.client.read("debate://last");
    expect(last.contents.some((part) => part.text), "debate://last is empty");
    const prompt = await this.client.prompt("debate", { topic: TOPIC });
    expect(prompt.messages.length > 0, "the prompt has no messages");
  }

  /** The structured result of a call that must succeed; it must come as text too. */
  async call(tool, args) {
    const result = await this.send(tool, args);
    const text = result.content.map((part) => part.text ?? "").join("");
    expect(!result.isError, `${tool} failed: ${text}`);
    expect(text, `${tool} gave no text`);
    return result.structuredContent;
  }

  async send(tool, args) {
    this.calls += 1;
    return this.client.call(tool, args);
  }
}
