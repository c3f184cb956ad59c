// Parses and validates the server's JSON messages. Invalid values are dropped.

/** An element to append to its parent. */
export interface AppendedElement {
  parent: string;
  id: string;
  html: string;
}

/** Page update caused by an event. */
export interface PageUpdate {
  seq: number;
  title: string;
  announce: string | undefined;
  replace: ReadonlyMap<string, string>;
  append: readonly AppendedElement[];
}

/** New text of a running turn. */
export interface LiveTextUpdate {
  turn: string;
  offset: number;
  text: string;
}

/** The fragments of the page as of an event. */
export interface PageSnapshot {
  seq: number;
  last: number;
  title: string;
  html: ReadonlyMap<string, string>;
}

/** A stop on the timeline of the replay. */
export interface TimelineStop {
  seq: number;
  at: number;
  label: string;
  turn: string | undefined;
}

/** Result of an action form. */
export interface ActionOutcome {
  ok: boolean;
  message: string;
}

type JsonObject = Readonly<Record<string, unknown>>;

const asObject = (value: unknown): JsonObject =>
  typeof value === "object" && value !== null ? (value as JsonObject) : {};
const asString = (value: unknown): string => (typeof value === "string" ? value : "");
const asNonEmptyString = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" ? value : undefined;
const asInteger = (value: unknown): number | undefined =>
  Number.isSafeInteger(value) ? (value as number) : undefined;
const asArray = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

const asStringMap = (value: unknown): ReadonlyMap<string, string> =>
  new Map(
    Object.entries(asObject(value)).filter((entry): entry is [string, string] => typeof entry[1] === "string"),
  );

/** Parses JSON. Returns `undefined` on error. */
export function parseJson(data: unknown): unknown {
  try {
    return typeof data === "string" ? JSON.parse(data) : undefined;
  } catch {
    return undefined;
  }
}

export function parsePageUpdate(value: unknown): PageUpdate | undefined {
  const { seq, title, announce, replace, append } = asObject(value);
  const parsedSeq = asInteger(seq);
  if (parsedSeq === undefined) return undefined;
  const elements = asArray(append)
    .map(asObject)
    .map(({ parent, id, html }) => ({ parent: asString(parent), id: asString(id), html: asString(html) }))
    .filter(({ parent, id }) => parent !== "" && id !== "");
  return { seq: parsedSeq, title: asString(title), announce: asNonEmptyString(announce), replace: asStringMap(replace), append: elements };
}

export function parseLiveText(value: unknown): LiveTextUpdate | undefined {
  const { turn, offset, text } = asObject(value);
  const start = asInteger(offset);
  if (start === undefined || start < 0 || asString(turn) === "") return undefined;
  return { turn: asString(turn), offset: start, text: asString(text) };
}

export function parseSnapshot(value: unknown): PageSnapshot | undefined {
  const { seq, last, title, html } = asObject(value);
  const parsedSeq = asInteger(seq);
  if (parsedSeq === undefined) return undefined;
  return { seq: parsedSeq, last: asInteger(last) ?? parsedSeq, title: asString(title), html: asStringMap(html) };
}

export function parseTimeline(value: unknown): TimelineStop[] {
  return asArray(value)
    .map(asObject)
    .flatMap(({ seq, at, label, turn }) => {
      const parsedSeq = asInteger(seq);
      return parsedSeq === undefined
        ? []
        : [{ seq: parsedSeq, at: asInteger(at) ?? 0, label: asString(label), turn: asNonEmptyString(turn) }];
    });
}

/** Parses the response to an action form. `ok` is the success of the HTTP status. */
export function parseOutcome(ok: boolean, value: unknown): ActionOutcome {
  const { says, next } = asObject(value);
  const parts = [asString(says) || (ok ? "Done." : "That was refused."), ok ? "" : asString(next)];
  return { ok, message: parts.join(" ").trim() };
}
