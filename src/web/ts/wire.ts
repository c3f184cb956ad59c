// Parses and validates the server's JSON messages. Invalid values are dropped.

/** An element to append to its parent. */
export interface Appended {
  parent: string;
  id: string;
  html: string;
}

/** Page update caused by an event. */
export interface Fragments {
  seq: number;
  title: string;
  announce: string | undefined;
  replace: ReadonlyMap<string, string>;
  append: readonly Appended[];
}

/** New text of a running turn. */
export interface Live {
  turn: string;
  offset: number;
  text: string;
}

/** The fragments of the page as of an event. */
export interface Moment {
  seq: number;
  last: number;
  title: string;
  html: ReadonlyMap<string, string>;
}

/** A stop on the timeline of the replay. */
export interface Stop {
  seq: number;
  at: number;
  label: string;
  turn: string | undefined;
}

/** Result of an action form. */
export interface Outcome {
  ok: boolean;
  said: string;
}

type Fields = Readonly<Record<string, unknown>>;

const fields = (value: unknown): Fields =>
  typeof value === "object" && value !== null ? (value as Fields) : {};
const text = (value: unknown): string => (typeof value === "string" ? value : "");
const optional = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" ? value : undefined;
const whole = (value: unknown): number | undefined =>
  Number.isSafeInteger(value) ? (value as number) : undefined;
const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

const pieces = (value: unknown): ReadonlyMap<string, string> =>
  new Map(
    Object.entries(fields(value)).filter((entry): entry is [string, string] => typeof entry[1] === "string"),
  );

/** Parses JSON. Returns `undefined` on error. */
export function parsed(data: unknown): unknown {
  try {
    return typeof data === "string" ? JSON.parse(data) : undefined;
  } catch {
    return undefined;
  }
}

export function fragments(value: unknown): Fragments | undefined {
  const { seq, title, announce, replace, append } = fields(value);
  const number = whole(seq);
  if (number === undefined) return undefined;
  const appended = list(append)
    .map(fields)
    .map(({ parent, id, html }) => ({ parent: text(parent), id: text(id), html: text(html) }))
    .filter(({ parent, id }) => parent !== "" && id !== "");
  return { seq: number, title: text(title), announce: optional(announce), replace: pieces(replace), append: appended };
}

export function live(value: unknown): Live | undefined {
  const { turn, offset, text: words } = fields(value);
  const from = whole(offset);
  if (from === undefined || from < 0 || text(turn) === "") return undefined;
  return { turn: text(turn), offset: from, text: text(words) };
}

export function moment(value: unknown): Moment | undefined {
  const { seq, last, title, html } = fields(value);
  const number = whole(seq);
  if (number === undefined) return undefined;
  return { seq: number, last: whole(last) ?? number, title: text(title), html: pieces(html) };
}

export function stops(value: unknown): Stop[] {
  return list(value)
    .map(fields)
    .flatMap(({ seq, at, label, turn }) => {
      const number = whole(seq);
      return number === undefined
        ? []
        : [{ seq: number, at: whole(at) ?? 0, label: text(label), turn: optional(turn) }];
    });
}

/** Parses the response to an action form. `ok` is the success of the HTTP status. */
export function outcome(ok: boolean, value: unknown): Outcome {
  const { says, next } = fields(value);
  const said = [text(says) || (ok ? "Done." : "That was refused."), ok ? "" : text(next)];
  return { ok, said: said.join(" ").trim() };
}
