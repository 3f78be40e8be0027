import {
  type AppendOptions,
  isExpired,
  type Message,
  type MessageId,
  messageBytes,
  Page,
  type PageLimit,
  pageOf,
  type StreamAppended,
  type StreamDeclaration,
  type StreamEntry,
  type StreamFigures,
  type StreamSince,
  type StreamStore,
  type StreamTail,
  type StreamTopicTail,
} from '@apus/broker';
import { matches } from '@apus/mqtt';
import { DiskError, messageCodec } from '@apus/store-disk';
import type { Engine, Script } from '../engine.ts';
import { GIVEN_UP } from '../journal.ts';
import {
  STREAM_ALLOCATED_MAX,
  STREAM_BYTES_READ_MAX,
  STREAM_ENTRY_BYTES,
  STREAM_MESSAGES_READ_MAX,
  STREAM_SLACK_MS,
  STREAM_TOPICS_STEP,
  STREAM_VALUES_MAX,
  STREAM_VALUES_STEP,
  TENANT_STREAM_BYTES_MAX,
  TENANT_STREAMS_SHARE,
} from '../limits.ts';
import type { Membership } from '../membership.ts';
import { entryOf, type Found, textsOf, unlessFull } from './answers.ts';
import { GatheredAppends } from './gathered-appends.ts';
import { APPEND, FIGURES, FIND, LIFE, READ, ROTATE, SINCE, SWEEP, TAIL, TAILS, VALUES } from './scripts.ts';

type Argument = string | number | Buffer;

/** Names the keys of a stream of a tenant. */
type StreamName = Pick<StreamDeclaration, 'name' | 'keepSeconds'>;

/** For calls that know only the topic. */
const NO_STREAM: StreamName = { name: '', keepSeconds: 0 };

/** Logs of topics in the engine, which all processes share: appends of one turn are one step of the engine. */
export class ValkeyStreams implements StreamStore {
  readonly #engine: Engine;
  readonly #membership: Membership;
  readonly #run = Math.floor(Math.random() * 36 ** 8).toString(36);
  readonly #bytesMaxGiven: number;
  readonly #declared: readonly StreamDeclaration[];
  /** How often a stream was swept because there was no room. */
  #sweeps = 0;
  #bytesMax: number;
  #opened = 0;
  readonly #appends = new GatheredAppends((tenant, stream, nowMs, args) =>
    this.#appendAll(tenant, stream, nowMs, args),
  );

  /**
   * @param bytesMax bytes of the streams of one tenant; 0: a share of the engine's memory
   * @param declared all streams: one whose topics are over has to give room to the others
   */
  constructor(
    engine: Engine,
    membership: Membership,
    bytesMax = 0,
    declared: readonly StreamDeclaration[] = [],
  ) {
    this.#engine = engine;
    this.#membership = membership;
    this.#bytesMaxGiven = bytesMax;
    this.#declared = declared;
    this.#bytesMax = bytesMax || TENANT_STREAM_BYTES_MAX;
  }

  /** Does nothing: a cluster has no gateway door. */
  set stableAfterMs(_ms: number | undefined) {}

  /** Notes whether the engine keeps all data over a restart, and how much it may have. Call it after each connect. */
  async connected(): Promise<void> {
    const share = (await this.#engine.memoryBytesMax()) * TENANT_STREAMS_SHARE;
    this.#bytesMax = this.#bytesMaxGiven || share || TENANT_STREAM_BYTES_MAX;
    await this.#ask(LIFE, '', NO_STREAM, 0, [(await this.#engine.keepsAll()) ? 1 : 0]);
  }

  async append(
    tenant: string,
    stream: StreamDeclaration,
    message: Message,
    { key, nowMs, isForced, holder = '', origin }: AppendOptions,
  ): Promise<StreamAppended | 'full' | 'contended' | 'repeated'> {
    const stored = Buffer.from(messageCodec.encode(message));
    const bytes = stored.length + Buffer.byteLength(key ?? '') + STREAM_ENTRY_BYTES;
    const args = [
      message.topic,
      this.#nextEpoch(),
      isForced ? 1 : 0,
      message.id,
      stored,
      bytes,
      key === undefined ? 0 : 1,
      key ?? '',
      message.payload.length === 0 ? 1 : 0,
      message.expiresAtMs ?? 0,
      holder,
      origin?.source ?? '',
      origin?.number ?? 0,
      origin?.behind ?? '',
    ];
    const answer = await this.#appends.append(tenant, stream, nowMs, args, bytes).catch(unlessFull);
    if (answer === 'full' || answer === 1) return 'full';
    if (answer === 2) return 'repeated';
    if (answer === 3) return 'contended';
    const [epoch, number, ts, found, itsKey] = answer as [Buffer, Buffer, Buffer, Buffer?, Buffer?];
    if (found !== undefined)
      return { entry: entryOf(epoch.toString(), [number, ts, found, itsKey]), isFound: true };
    return { entry: { epoch: epoch.toString(), number: Number(number), tsMs: Number(ts), key, message } };
  }

  async findAppended(tenant: string, topic: string, id: MessageId): Promise<StreamAppended | undefined> {
    const answer = await this.#ask(FIND, tenant, NO_STREAM, 0, [topic, id]);
    if (answer === 0) return undefined;
    const [epoch, ...found] = answer as [Buffer, ...Found];
    return { entry: entryOf(epoch.toString(), found) };
  }

  async tail(
    tenant: string,
    stream: StreamDeclaration,
    topic: string,
    nowMs: number,
    holder = '',
  ): Promise<StreamTail | 'full'> {
    const args = [topic, this.#nextEpoch(), stream.topicsMax, holder, this.#countedMax];
    const answer = await this.#call(TAIL, tenant, stream, nowMs, args).catch(unlessFull);
    if (answer === 'full') return 'full';
    const [epoch = '', last, start] = textsOf(answer);
    return { epoch, last: Number(last), start: Number(start) };
  }

  async firstKept(
    tenant: string,
    stream: StreamDeclaration,
    { topic, last }: StreamTopicTail,
    from: number,
    nowMs: number,
  ): Promise<number> {
    const answer = await this.#since(tenant, stream, topic, '', nowMs);
    return Math.max(from, answer === undefined ? last + 1 : Number(answer[0]));
  }

  async since(
    tenant: string,
    stream: StreamDeclaration,
    { topic, last }: StreamTopicTail,
    tsMs: number,
    nowMs: number,
  ): Promise<StreamSince> {
    const answer = await this.#since(tenant, stream, topic, tsMs, nowMs);
    if (answer === undefined) return { number: last + 1, isComplete: false };
    return { number: Number(answer[0]), isComplete: answer[1] === 1 };
  }

  async read(
    tenant: string,
    topic: string,
    epoch: string,
    after: number,
    { messages, bytes }: PageLimit,
  ): Promise<readonly StreamEntry[] | 'lost'> {
    const limits = [
      Math.max(1, Math.min(messages, STREAM_MESSAGES_READ_MAX)),
      Math.min(bytes, STREAM_BYTES_READ_MAX),
    ];
    const answer = await this.#ask(READ, tenant, NO_STREAM, 0, [topic, epoch, after, ...limits]);
    if (answer === 0) return 'lost';
    return (answer as Found[]).map((found) => entryOf(epoch, found));
  }

  async lastValues(
    tenant: string,
    stream: StreamDeclaration,
    tail: StreamTopicTail,
    after: number,
    limit: PageLimit,
    nowMs: number,
  ): Promise<readonly StreamEntry[] | 'lost'> {
    if (!stream.snapshot) {
      const found = await this.#lastOfHistory(tenant, stream, tail, nowMs);
      const isMeant = ({ number, message }: StreamEntry) =>
        number > after && message.payload.length > 0 && !isExpired(message, nowMs);
      return pageOf(found.filter(isMeant), limit);
    }
    const { topic, epoch, last } = tail;
    const most = [
      Math.min(limit.messages, STREAM_VALUES_STEP),
      Math.min(limit.bytes, STREAM_BYTES_READ_MAX),
    ] as const;
    const page = new Page<StreamEntry>(limit);
    for (let at = after; ; ) {
      const answer = await this.#ask(VALUES, tenant, stream, 0, [topic, epoch, at, last, ...most]);
      if (answer === 0) return 'lost';
      const [isLast, found] = answer as [number, Found[]];
      for (const each of found) {
        const entry = entryOf(epoch, each);
        at = entry.number;
        if (isExpired(entry.message, nowMs)) continue;
        const bytes = messageBytes(entry.message);
        if (!page.hasRoom(bytes)) return page.entries;
        page.add(entry, bytes);
      }
      const isFull = page.messagesLeft === 0 || limit.bytes <= STREAM_BYTES_READ_MAX;
      if (isLast === 1 || (isFull && page.entries.length > 0)) return page.entries;
    }
  }

  async topics(
    tenant: string,
    stream: StreamDeclaration,
    topicFilter: string,
    countMax: number,
    nowMs: number,
  ): Promise<readonly StreamTopicTail[] | 'too-many'> {
    const tails: StreamTopicTail[] = [];
    for await (const topics of this.#names(tenant, stream, topicFilter)) {
      const args = [this.#nextEpoch(), ...topics];
      const fields = textsOf(await this.#ask(TAILS, tenant, stream, nowMs, args));
      for (let at = 0; at < fields.length; at += 4) {
        const [topic = '', epoch = '', last, start] = fields.slice(at, at + 4);
        if (tails.length === countMax) return 'too-many';
        tails.push({ topic, epoch, last: Number(last), start: Number(start) });
      }
    }
    return tails;
  }

  async newEpoch(tenant: string, topic: string): Promise<string | undefined> {
    const epoch = this.#nextEpoch();
    return (await this.#ask(ROTATE, tenant, NO_STREAM, 0, [topic, epoch])) === 1 ? epoch : undefined;
  }

  async figures(tenant: string, stream: StreamDeclaration): Promise<StreamFigures> {
    let [topics, messages, bytes] = [0, 0, 0];
    for await (const names of this.#names(tenant, stream, '#')) {
      const [count, sum] = textsOf(await this.#ask(FIGURES, tenant, stream, 0, names));
      topics += names.length;
      messages += Number(count);
      bytes += Number(sum);
    }
    return { topics, messages, bytes };
  }

  /** Topics that the filter matches, in steps of at least one. */
  async *#names(tenant: string, { name }: StreamName, topicFilter: string): AsyncGenerator<string[]> {
    const prefix = topicFilter.split(/\/?[+#]/, 1)[0] ?? '';
    const end = Buffer.concat([Buffer.from(`[${prefix}`), Buffer.from([0xff])]);
    const key = this.#streamKey('names', tenant, name);
    let start = `[${prefix}`;
    for (;;) {
      const found = await this.#engine.client.zrangebylex(key, start, end, 'LIMIT', 0, STREAM_TOPICS_STEP);
      const matched = found.filter((topic) => matches(topicFilter, topic));
      if (matched.length > 0) yield matched;
      const last = found.at(-1);
      if (last === undefined || found.length < STREAM_TOPICS_STEP) return;
      start = `(${last}`;
    }
  }

  async #since(
    tenant: string,
    stream: StreamDeclaration,
    topic: string,
    tsMs: number | '',
    nowMs: number,
  ): Promise<[Buffer, number?] | undefined> {
    const args = [topic, this.#nextEpoch(), ...limitsOf(stream), tsMs];
    const answer = await this.#ask(SINCE, tenant, stream, nowMs, args);
    return answer === 0 ? undefined : (answer as [Buffer, number?]);
  }

  async #lastOfHistory(
    tenant: string,
    stream: StreamDeclaration,
    tail: StreamTopicTail,
    nowMs: number,
  ): Promise<StreamEntry[]> {
    const values = new Map<string, StreamEntry>();
    let after = (await this.firstKept(tenant, stream, tail, 1, nowMs)) - 1;
    while (after < tail.last) {
      const limit = { messages: tail.last - after, bytes: STREAM_BYTES_READ_MAX };
      const page = await this.read(tenant, tail.topic, tail.epoch, after, limit);
      if (page === 'lost' || page.length === 0) break;
      for (const entry of page) {
        values.delete(entry.key ?? '');
        values.set(entry.key ?? '', entry);
        after = entry.number;
      }
    }
    return [...values.values()];
  }

  /** @throws {DiskError} if the other processes have given this one up */
  async #appendAll(
    tenant: string,
    stream: StreamDeclaration,
    nowMs: number,
    args: readonly Argument[],
  ): Promise<readonly unknown[]> {
    const { topicsMax, snapshot } = stream;
    const ofAll = [topicsMax, ...limitsOf(stream), snapshot ? 1 : 0, STREAM_VALUES_MAX, STREAM_SLACK_MS];
    const answer = await this.#ask(APPEND, tenant, stream, nowMs, [...ofAll, this.#countedMax, ...args]);
    if (answer === 0) throw new DiskError(GIVEN_UP);
    const answers = answer as readonly unknown[];
    if (answers.includes(1)) await this.#sweep(tenant, nowMs);
    return answers;
  }

  /** @throws {DiskError} if the other processes have given this one up */
  async #call(
    script: Script,
    tenant: string,
    stream: StreamName,
    nowMs: number,
    args: readonly Argument[],
  ): Promise<unknown> {
    const answer = await this.#ask(script, tenant, stream, nowMs, args);
    if (answer === 0) throw new DiskError(GIVEN_UP);
    if (answer !== 1) return answer;
    await this.#sweep(tenant, nowMs);
    return 'full';
  }

  /** There was no room: a stream forgets topics that are over. */
  async #sweep(tenant: string, nowMs: number): Promise<void> {
    const next = this.#declared[this.#sweeps % this.#declared.length];
    this.#sweeps += 1;
    if (next !== undefined) await this.#ask(SWEEP, tenant, next, nowMs, []);
  }

  async #ask(
    script: Script,
    tenant: string,
    { name, keepSeconds }: StreamName,
    nowMs: number,
    args: readonly Argument[],
  ): Promise<unknown> {
    const { membersKey, me } = this.#membership;
    const ofStream = ['used', 'names', 'since'].map((part) => this.#streamKey(part, tenant, name));
    const base = this.#engine.key('stream', tenant.length, tenant, '');
    const keepMs = keepSeconds * 1000 + STREAM_SLACK_MS;
    return await this.#engine.run(
      script,
      [
        ...[membersKey, this.#engine.key('stream-life'), ...ofStream],
        this.#engine.key('stream-bytes', tenant.length, tenant),
      ],
      [me, nowMs, base, keepMs, ...args],
    );
  }

  /** What the scripts count of a tenant, at most. */
  get #countedMax(): number {
    return this.#bytesMax / STREAM_ALLOCATED_MAX;
  }

  #streamKey(part: string, tenant: string, name: string): string {
    return this.#engine.key('streams', part, tenant.length, tenant, name);
  }

  /** A name that no process has used before. */
  #nextEpoch(): string {
    this.#opened += 1;
    return `${this.#run}${this.#opened.toString(36).padStart(4, '0')}`;
  }
}

function limitsOf({ messagesMax, bytesMax, keepSeconds }: StreamDeclaration): number[] {
  return [messagesMax, bytesMax, keepSeconds * 1000];
}
