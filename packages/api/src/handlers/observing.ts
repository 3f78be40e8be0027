import { isIP } from 'node:net';
import { type Awaitable, DROP_NAMES, type DropCounts, type DropReason } from '@apus/broker';
import { validateTopicFilter } from '@apus/mqtt';
import { type ApiRequest, type Asked, entryOfEach } from '../handler.ts';
import { ApiProblem } from '../problem.ts';
import {
  type Alarm,
  type ClientEvent,
  type DroppingClient,
  type MonitorSample,
  type SlowSubscription,
  TRACE_SECONDS_MAX,
  TRACE_TYPES,
  type TraceLog,
  type TraceQuestion,
  type TraceStatus,
} from '../schemas/observing.ts';
import { timeOf } from '../time.ts';

/** Clients of one answer. */
const CLIENTS_MAX = 100;

/** Events of one answer. */
const EVENTS_MAX = 200;

const DAY_SECONDS = 86_400;

const TRACE_BYTES_MAX = 4_096;

/** A client whose queue is not empty. */
export interface SlowClient extends Omit<SlowSubscription, 'node' | 'timespan' | 'last_update_time'> {
  readonly publishedAtMs: number;
}

export interface DroppingSession {
  readonly clientId: string;
  readonly counts: DropCounts;
  readonly grewAtMs: number | undefined;
}

/** What a node remembers for its operator. */
export interface Observed {
  slowest(tenant: string, limit: number): Awaitable<readonly SlowClient[]>;
  dropping(tenant: string, limit: number): readonly DroppingSession[];
  latest(seconds: number): readonly MonitorSample[];
  events(tenant: string, clientId: string | undefined, limit: number): readonly ClientEvent[];
  alarms(isActive: boolean): readonly Omit<Alarm, 'node'>[];
  clearAlarms(): void;
  traces(tenant: string): readonly TraceStatus[];
  /** False: there are as many as there may be, or one of this name. */
  startTrace(tenant: string, question: TraceQuestion): boolean;
  /** False: there is none of this name. */
  removeTrace(tenant: string, name: string): boolean;
  readTrace(tenant: string, name: string, position: number): TraceLog | undefined;
}

export interface ObservingFacts {
  readonly nodeName: string;
  now(): number;
  /** @throws {ApiProblem} where nothing is kept between two requests */
  observed(): Observed;
}

interface Data<T> {
  readonly data: readonly T[];
}

/** The best of the lists of all processes. */
function mergedBy<T>(compare: (one: T, other: T) => number, max: number) {
  return (entries: readonly object[]): Data<T> => ({
    data: (entries as readonly Data<T>[])
      .flatMap(({ data }) => data)
      .sort(compare)
      .slice(0, max),
  });
}

/** The order of times in ISO 8601. What a process tells of one millisecond keeps its order. */
function inTime(one: string, other: string): number {
  return one === other ? 0 : one < other ? -1 : 1;
}

export const observingHandlers = {
  listSlowSubscriptions: entryOfEach(
    async (facts: ObservingFacts, { tenant }): Promise<Data<SlowSubscription>> => {
      const nowMs = facts.now();
      const slowest = await facts.observed().slowest(tenant, CLIENTS_MAX);
      return {
        data: slowest.map(({ publishedAtMs, ...client }) => ({
          ...{ node: facts.nodeName, ...client },
          timespan: Math.max(0, nowMs - publishedAtMs),
          last_update_time: nowMs,
        })),
      };
    },
    mergedBy<SlowSubscription>((one, other) => other.timespan - one.timespan, CLIENTS_MAX),
  ),
  listDroppingClients: entryOfEach(
    ({ nodeName, observed }: ObservingFacts, { tenant }): Data<DroppingClient> => ({
      data: observed()
        .dropping(tenant, CLIENTS_MAX)
        .map((session) => droppingOf(nodeName, session)),
    }),
    mergedBy<DroppingClient>((one, other) => other.dropped - one.dropped, CLIENTS_MAX),
  ),
  getMonitor: entryOfEach(
    ({ observed }: ObservingFacts, { query }) => ({ data: observed().latest(secondsIn(query)) }),
    (entries) => addedUp((entries as readonly Data<MonitorSample>[]).flatMap(({ data }) => data)),
  ),
  listClientEvents: entryOfEach(
    ({ nodeName, observed }: ObservingFacts, { tenant, query }): Data<ClientEvent> => ({
      data: observed()
        .events(tenant, query.get('clientid') ?? undefined, EVENTS_MAX)
        .map((event) => ({ node: nodeName, ...event })),
    }),
    mergedBy<ClientEvent>((one, other) => inTime(other.last_at, one.last_at), EVENTS_MAX),
  ),
  listAlarms: entryOfEach(
    ({ nodeName, observed }: ObservingFacts, { query }): Data<Alarm> => ({
      data: observed()
        .alarms(isActivated(query))
        .map((alarm) => ({ node: nodeName, ...alarm })),
    }),
    mergedBy<Alarm>((one, other) => inTime(other.activate_at, one.activate_at), EVENTS_MAX),
  ),
  clearAlarms: entryOfEach(
    ({ observed }: ObservingFacts) => {
      observed().clearAlarms();
      return {};
    },
    () => undefined,
  ),
  listTraces: entryOfEach(
    ({ observed }: ObservingFacts, { tenant }): Data<TraceStatus> => ({ data: observed().traces(tenant) }),
    // Each process runs the same ones.
    (entries) => ({
      data: uniqueByName((entries as readonly Data<TraceStatus>[]).flatMap(({ data }) => data)),
    }),
  ),
  startTrace: {
    ...entryOfEach(({ observed }: ObservingFacts, { tenant, query }) => {
      const question = questionIn(Object.fromEntries(query));
      if (!observed().startTrace(tenant, question)) throw new ApiProblem('TOO_MANY', TOO_MANY_TRACES);
      return observed()
        .traces(tenant)
        .find(({ name }) => name === question.name) as TraceStatus;
    }, firstOf),
    /** Other processes are asked by a query. */
    async asQuery(request: ApiRequest): Promise<URLSearchParams> {
      const body = await request.json('A trace', TRACE_BYTES_MAX);
      const { name, type, value, seconds } = questionIn(body);
      return new URLSearchParams({ name, type, value, seconds: String(seconds) });
    },
  },
  removeTrace: entryOfEach(
    ({ observed }: ObservingFacts, asked) => {
      if (observed().removeTrace(asked.tenant, nameIn(asked))) return {};
      throw noTrace(asked);
    },
    () => undefined,
  ),
  getTraceLog: entryOfEach(
    ({ nodeName, observed }: ObservingFacts, asked): object => {
      const found = observed().readTrace(asked.tenant, nameIn(asked), positionIn(asked.query, nodeName));
      if (found === undefined) throw noTrace(asked);
      return {
        ...found,
        lines: found.lines.map((line) => ({ ...line, node: nodeName })),
        position: { [nodeName]: found.position },
      };
    },
    (entries) => {
      const logs = entries as readonly (Omit<TraceLog, 'position'> & { readonly position: object })[];
      const lines = logs.flatMap((each) => each.lines).sort((one, other) => inTime(one.at, other.at));
      const position = JSON.stringify(Object.assign({}, ...logs.map((each) => each.position)));
      const left_out = logs.reduce((sum, each) => sum + each.left_out, 0);
      return { ...logs[0], lines, position, left_out };
    },
  ),
};

const TOO_MANY_TRACES = 'A node has five traces at a time, each under its own name: delete one first.';

function droppingOf(node: string, { clientId, counts, grewAtMs }: DroppingSession): DroppingClient {
  const by = Object.entries(DROP_NAMES).map(
    ([why, name]) => [`dropped.${name}`, counts[why as DropReason] ?? 0] as const,
  );
  const dropped = by.reduce((sum, [, count]) => sum + count, 0);
  const last_dropped_at = timeOf(grewAtMs);
  return { node, clientid: clientId, dropped, ...Object.fromEntries(by), last_dropped_at } as DroppingClient;
}

/** Samples of the same time at several processes, as one. */
function addedUp(samples: readonly MonitorSample[]): readonly MonitorSample[] {
  const byTime = new Map<number, MonitorSample>();
  for (const sample of samples) {
    const other: Readonly<Record<string, number>> = byTime.get(sample.time_stamp) ?? {};
    const sums = Object.entries(sample).map(([name, count]) => [name, count + (other[name] ?? 0)] as const);
    const { time_stamp } = sample;
    byTime.set(time_stamp, { ...Object.fromEntries(sums), time_stamp } as unknown as MonitorSample);
  }
  return [...byTime.values()].sort((one, other) => one.time_stamp - other.time_stamp);
}

function secondsIn(query: URLSearchParams): number {
  const given = query.get('latest') ?? '3600';
  const seconds = /^[1-9]\d{0,4}$/.test(given) ? Number(given) : DAY_SECONDS + 1;
  if (seconds > DAY_SECONDS)
    throw new ApiProblem('BAD_REQUEST', `latest is a whole number of seconds from 1 to ${DAY_SECONDS}.`);
  return seconds;
}

function isActivated(query: URLSearchParams): boolean {
  const given = query.get('activated') ?? 'true';
  if (given !== 'true' && given !== 'false')
    throw new ApiProblem('BAD_REQUEST', 'activated is true or false.');
  return given === 'true';
}

/** @throws {ApiProblem} with the field that is wrong */
function questionIn(value: unknown): TraceQuestion {
  const { name, type, value: of, seconds = TRACE_SECONDS_MAX, ...others } = fieldsOf(value);
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw wrongTrace(`A trace has no field "${unknown.slice(0, 50)}".`);
  if (typeof name !== 'string' || !/^[A-Za-z0-9_-]{1,32}$/.test(name))
    throw wrongTrace('name has up to 32 letters, digits, "_" and "-".');
  const known = TRACE_TYPES.find((each) => each === type);
  if (known === undefined) throw wrongTrace(`type is one of ${TRACE_TYPES.join(', ')}.`);
  if (typeof of !== 'string' || of === '' || of.length > 1_024)
    throw wrongTrace('value is a text of 1 to 1024 characters.');
  const problem = known === 'topic' ? validateTopicFilter(of)?.reason : undefined;
  if (problem !== undefined) throw wrongTrace(problem);
  if (known === 'ip_address' && isIP(of) === 0) throw wrongTrace('value is an IP address, without a port.');
  const length = Number(seconds);
  if (!Number.isInteger(length) || length < 1 || length > TRACE_SECONDS_MAX)
    throw wrongTrace(`seconds is a whole number from 1 to ${TRACE_SECONDS_MAX}.`);
  return { name, type: known, value: of, seconds: length };
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) throw wrongTrace('A trace is a JSON object.');
  return { ...value };
}

function wrongTrace(message: string): ApiProblem {
  return new ApiProblem('BAD_REQUEST', message);
}

/** The number of lines that this process has given already. */
function positionIn(query: URLSearchParams, nodeName: string): number {
  try {
    const positions: unknown = JSON.parse(query.get('position') ?? '{}');
    const position = fieldsOf(positions)[nodeName] ?? 0;
    if (typeof position === 'number' && position >= 0) return position;
  } catch {
    // Told below.
  }
  throw new ApiProblem('BAD_REQUEST', 'position is the one of the answer before.');
}

function nameIn({ parameters }: Asked): string {
  return parameters.name ?? '';
}

function noTrace(asked: Asked): ApiProblem {
  return new ApiProblem('NOT_FOUND', `There is no trace ${JSON.stringify(nameIn(asked))}.`);
}

function uniqueByName(traces: readonly TraceStatus[]): readonly TraceStatus[] {
  return [...new Map(traces.map((each) => [each.name, each])).values()];
}

function firstOf(entries: readonly object[]): object {
  return entries[0] ?? {};
}
