import type { Packet, UserProperties } from '@apus/mqtt';
import { MemoryStreams } from '@apus/store-memory';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../test/support/runs.ts';
import { numberedMessage } from '../contract/samples.ts';
import {
  type MatchedFilter,
  type Message,
  placedMessage,
  readStreams,
  type StreamAppended,
  type StreamDeclaration,
  StreamFeed,
  type StreamStore,
  type StreamTail,
} from '../src/index.ts';
import { FakeDoor, type FakeLink } from './support/fake-door.ts';
import { flowsRun, HeldReads } from './support/held-reads.ts';

const TENANT = 'default';
const LATEST: UserProperties = [['stream-offset', 'latest']];

/** A program that reads, and what its position said at the beginning. */
class Program {
  readonly link: FakeLink;
  readonly #seen = new Map<string, number[]>();
  readonly #begins = new Map<string, number>();
  readonly #isWild: boolean;
  isCut = false;
  hasBegun = false;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(link: FakeLink, isWild: boolean) {
    this.link = link;
    this.#isWild = isWild;
    link.take();
  }

  /** A door handles the events of one link in turn. */
  inTurn(does: () => Promise<void>): void {
    this.#turn = this.#turn.then(does);
  }

  get idle(): Promise<unknown> {
    return this.#turn;
  }

  look(): void {
    for (const packet of this.link.take()) {
      if (packet.type === 'suback') this.#begin(packet.properties.userProperties ?? []);
      else if (packet.type === 'publish') this.#note(packet);
      else if (packet.type === 'disconnect') this.isCut = true;
    }
  }

  /** Each topic's numbers, which rise by one from where the program began. */
  seen(topic: string): readonly number[] {
    const seen = this.#seen.get(topic) ?? [];
    const first = (this.#begins.get(topic) ?? 0) + 1;
    expect(seen, topic).toEqual(seen.map((_, index) => first + index));
    return seen;
  }

  /** The number behind which it has seen nothing. */
  at(topic: string): number {
    return this.seen(topic).at(-1) ?? this.#begins.get(topic) ?? 0;
  }

  #begin(told: UserProperties): void {
    this.hasBegun = true;
    for (const name of ['stream-position', 'stream-after'])
      for (const [key, value] of told) {
        if (key !== name) continue;
        const [position = '', topic = 's/a'] = this.#isWild ? value.split(' ') : [value];
        this.#begins.set(topic, Number(position.split('-')[1]));
      }
  }

  #note({ topic, properties }: Packet & { type: 'publish' }): void {
    const position = properties.userProperties?.find(([name]) => name === 'stream-position')?.[1];
    this.#seen.set(topic, [...(this.#seen.get(topic) ?? []), Number(position?.split('-')[1])]);
  }
}

/** One process whose clients read, and others that append to the same log and hand their messages to it. */
class Process {
  readonly log: StreamStore;
  readonly held: HeldReads;
  readonly door: FakeDoor;
  readonly feed: StreamFeed;
  readonly programs: Program[] = [];
  readonly #declared: readonly StreamDeclaration[];
  readonly #starts = new Map<string, number>();
  readonly #publisher: FakeLink;
  #ids = 0;
  /** Messages on their way to this process. */
  readonly coming: Message[] = [];

  static async open(messagesMax = 1000): Promise<Process> {
    const declared = readStreams([{ name: 's', topicFilter: 's/#', messagesMax }], 'streams');
    const log = new MemoryStreams();
    const starts = new Map<string, number>();
    const held = new HeldReads(
      new Proxy<StreamStore>(log, {
        get: (target, name) => {
          const method = Reflect.get(target, name) as unknown;
          if (name === 'tail')
            return (...call: Parameters<StreamStore['tail']>) => ({
              ...(log.tail(...call) as StreamTail),
              start: starts.get(call[2]) ?? 0,
            });
          return typeof method === 'function' ? method.bind(target) : method;
        },
      }),
      ['append', 'read', 'tail', 'topics'],
    );
    const feed = new StreamFeed((tenant, topic) => {
      return door.stores.subscriptions.match(tenant, topic) as readonly MatchedFilter[];
    });
    const streams = { declared, store: held.store, isShared: true, feed };
    const door: FakeDoor = new FakeDoor({ streams });
    return new Process(log, held, door, feed, starts, declared.all, await door.connect({ clientId: 'p' }));
  }

  private constructor(
    log: StreamStore,
    held: HeldReads,
    door: FakeDoor,
    feed: StreamFeed,
    starts: Map<string, number>,
    declared: readonly StreamDeclaration[],
    publisher: FakeLink,
  ) {
    this.log = log;
    this.held = held;
    this.door = door;
    this.feed = feed;
    this.#starts = starts;
    this.#declared = declared;
    this.#publisher = publisher;
  }

  /** Another process appends, and hands the message over; `isLost`: it dies before. */
  append(topic: string, isLost = false): number {
    this.#ids += 1;
    const message = numberedMessage(this.#ids, { topic, qos: 0 });
    const options = { key: undefined, nowMs: this.door.nowMs, isForced: false };
    const { entry } = this.log.append(TENANT, this.#stream, message, options) as StreamAppended;
    if (!isLost) this.coming.push(placedMessage(entry));
    return entry.number;
  }

  publish(topic: string): void {
    void this.door.publish(this.#publisher, topic, 'own');
  }

  newEpoch(topic: string): void {
    this.#starts.set(topic, this.last(topic));
    void this.log.newEpoch(TENANT, topic);
  }

  last(topic: string): number {
    return this.#tail(topic).last;
  }

  epoch(topic: string): string {
    return this.#tail(topic).epoch;
  }

  /** One of the messages on their way comes. */
  async come(index = 0, isTwice = false): Promise<void> {
    const at = index % Math.max(1, this.coming.length);
    const [message] = isTwice ? this.coming.slice(at, at + 1) : this.coming.splice(at, 1);
    if (message === undefined) return;
    const matched = (await this.door.stores.subscriptions.match(TENANT, message.topic)) ?? [];
    await this.door.broker.relay(TENANT, message, matched);
  }

  async read(topicFilter: string, userProperties = LATEST): Promise<Program> {
    const link = await this.door.connect({ clientId: `r${this.programs.length}` });
    const program = new Program(link, topicFilter.endsWith('#'));
    this.programs.push(program);
    program.inTurn(() => this.door.subscribe(link, topicFilter, 0, { properties: { userProperties } }));
    await flowsRun();
    return program;
  }

  async handleAll(): Promise<void> {
    await flowsRun();
    while (this.held.isWaiting) await this.held.answer();
    for (const program of this.programs) {
      await program.idle;
      program.look();
    }
  }

  #tail(topic: string): StreamTail {
    return this.log.tail(TENANT, this.#stream, topic, this.door.nowMs) as StreamTail;
  }

  get #stream(): StreamDeclaration {
    const [stream] = this.#declared;
    if (stream === undefined) throw new Error('there is no stream');
    return stream;
  }
}

describe('Readers of a process to which others hand what they have appended', () => {
  const reading = async (messagesMax?: number) => {
    const here = await Process.open(messagesMax);
    const program = await here.read('s/a');
    await here.handleAll();
    return { here, program };
  };

  it('are sent messages in the order of their numbers, although they come in another one', async () => {
    const { here, program } = await reading();
    for (let count = 0; count < 3; count += 1) here.append('s/a');
    await here.come(2);
    await here.handleAll();
    expect(program.seen('s/a')).toEqual([1, 2, 3]);
    await here.come();
    await here.come();
    await here.handleAll();
    expect(program.seen('s/a')).toEqual([1, 2, 3]);
  });

  it('are sent a message once that comes twice', async () => {
    const { here, program } = await reading();
    here.append('s/a');
    await here.come(0, true);
    await here.come();
    await here.handleAll();
    expect(program.seen('s/a')).toEqual([1]);
  });

  it('are sent a message whose process died before it handed it over, with the next one', async () => {
    const { here, program } = await reading();
    here.append('s/a', true);
    await here.handleAll();
    expect(program.seen('s/a')).toEqual([]);
    here.append('s/a');
    await here.come();
    await here.handleAll();
    expect(program.seen('s/a')).toEqual([1, 2]);
  });

  it('are sent a message that the process itself has appended behind one that has not come', async () => {
    const { here, program } = await reading();
    here.append('s/a');
    here.publish('s/a');
    await here.handleAll();
    expect(program.seen('s/a')).toEqual([1, 2]);
  });

  it('that join while messages are on their way are sent none twice, and the others miss none', async () => {
    const { here, program } = await reading();
    here.append('s/a');
    here.append('s/a');
    const late = await here.read('s/a');
    await here.handleAll();
    expect([program.at('s/a'), late.at('s/a')]).toEqual([2, 2]);
    await here.come();
    await here.come();
    here.append('s/a');
    await here.come();
    await here.handleAll();
    expect(program.seen('s/a')).toEqual([1, 2, 3]);
    expect(late.seen('s/a')).toEqual([3]);
  });

  it('go on in another epoch, and a late message of the former one changes nothing', async () => {
    const { here, program } = await reading();
    here.append('s/a');
    here.append('s/a');
    here.newEpoch('s/a');
    here.append('s/a');
    await here.come(0);
    await here.come(1);
    await here.come(0);
    await here.handleAll();
    here.append('s/a');
    await here.come();
    await here.handleAll();
    expect(program.seen('s/a')).toEqual([1, 2, 3, 4]);
  });

  it('are told when messages are not kept any more that have not come', async () => {
    const { here, program } = await reading(10);
    for (let count = 0; count < 40; count += 1) here.append('s/a', count < 39);
    await here.come();
    await here.handleAll();
    expect(program.seen('s/a')).toEqual([]);
    expect(program.isCut).toBe(true);
  });

  it('are not misled by a position that another process makes up', async () => {
    const { here, program } = await reading();
    const position = `${here.epoch('s/a')}-900`;
    here.coming.push(
      numberedMessage(1, { topic: 's/a', properties: { userProperties: [['stream-position', position]] } }),
    );
    await here.come();
    await here.handleAll();
    here.append('s/a');
    await here.come();
    await here.handleAll();
    expect(program.seen('s/a')).toEqual([1]);
  });

  it('are all it keeps: a topic without readers is forgotten', async () => {
    const { here, program } = await reading();
    here.append('s/a');
    await here.come();
    expect(here.feed.size).toBe(1);
    await here.door.cut(program.link);
    here.append('s/a');
    await here.come();
    expect(here.feed.size).toBe(0);
  });

  it('see each number once and in order, whenever messages and answers come and links are full', async () => {
    const topic = fc.constantFrom('s/a', 's/b');
    const step = fc.oneof(
      {
        weight: 4,
        arbitrary: fc.record({ does: fc.constant('append' as const), topic, isLost: fc.boolean() }),
      },
      {
        weight: 5,
        arbitrary: fc.record({ does: fc.constant('come' as const), at: fc.nat(9), isTwice: fc.boolean() }),
      },
      { weight: 2, arbitrary: fc.record({ does: fc.constant('publish' as const), topic }) },
      { weight: 6, arbitrary: fc.record({ does: fc.constant('answer' as const), at: fc.nat(2) }) },
      {
        weight: 1,
        arbitrary: fc.record({
          does: fc.constant('read' as const),
          filter: fc.constantFrom('s/a', 's/#'),
          from: fc.constantFrom<UserProperties>(LATEST, [['rewind', '2']], [['stream-offset', 'earliest']]),
        }),
      },
      {
        weight: 1,
        arbitrary: fc.record({ does: fc.constant('link' as const), at: fc.nat(4), isReady: fc.boolean() }),
      },
      { weight: 1, arbitrary: fc.record({ does: fc.constant('epoch' as const), topic }) },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 80 }), fc.boolean(), async (steps, hasEpochs) => {
        const here = await Process.open();
        for (const each of steps) {
          if (each.does === 'append') here.append(each.topic, each.isLost);
          else if (each.does === 'come') await here.come(each.at, each.isTwice);
          else if (each.does === 'publish') here.publish(each.topic);
          else if (each.does === 'answer') await here.held.answer(each.at);
          else if (each.does === 'read') await here.read(each.filter, each.from);
          else if (each.does === 'epoch') {
            // Readers that are behind are ended by it, as at one process.
            if (hasEpochs) here.newEpoch(each.topic);
          } else setReady(here, each.at, each.isReady);
        }
        for (const program of here.programs) setReady(here, here.programs.indexOf(program), true);
        await here.handleAll();
        // With the next message each reader gets all that were lost before.
        for (const name of ['s/a', 's/b']) here.append(name);
        while (here.coming.length > 0) await here.come(here.coming.length - 1);
        await here.handleAll();
        for (const program of here.programs) {
          if (program.isCut && hasEpochs) continue;
          expect(program.isCut).toBe(false);
          expect(program.at('s/a')).toBe(here.last('s/a'));
          if (program.seen('s/b').length > 0) expect(program.at('s/b')).toBe(here.last('s/b'));
        }
      }),
      {
        numRuns: runs(1000),
        examples: [
          [BEGUN_WHILE_JOINING, false],
          [ANSWERED_LATE, false],
        ],
      },
    );
  });
});

/** One reader has found the topics when s/b begins, another finds it, and its second message overtakes its first. */
const BEGUN_WHILE_JOINING = [
  { does: 'append' as const, topic: 's/a' as const, isLost: false },
  { does: 'append' as const, topic: 's/a' as const, isLost: false },
  { does: 'read' as const, filter: 's/#' as const, from: LATEST },
  { does: 'append' as const, topic: 's/b' as const, isLost: false },
  { does: 'read' as const, filter: 's/#' as const, from: LATEST },
  { does: 'come' as const, at: 0, isTwice: false },
];

/** The second reader has found the first message when the first reader's answer comes, which has none. */
const ANSWERED_LATE = [
  { does: 'read' as const, filter: 's/a' as const, from: LATEST },
  { does: 'append' as const, topic: 's/a' as const, isLost: false },
  { does: 'read' as const, filter: 's/a' as const, from: LATEST },
  { does: 'answer' as const, at: 1 },
];

function setReady(here: Process, index: number, isReady: boolean): void {
  const program = here.programs[index];
  if (program === undefined) return;
  program.link.isReady = isReady;
  if (isReady) program.inTurn(async () => await here.door.broker.drain(program.link));
}
