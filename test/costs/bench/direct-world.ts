import type { ProxyResult } from '@apus/aws';
import {
  DeleteMessageBatchCommand,
  ReceiveMessageCommand,
  type ReceiveMessageResult,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import { readServerFrame } from '../../support/server-frame.ts';
import { type Fields, Mailbox, type Push, type Reply } from '../../support/text-client.ts';
import { composeFunctions, type FunctionParts, type Functions, QUEUES } from './functions.ts';
import { decodePackets, encodePackets } from './packets.ts';
import { type BenchClient, OFFER, protocolsWith, type World } from './world.ts';

const BATCH_ENTRIES_MAX = 10;
const FUNCTION_MS = 30_000;

/** One invocation: its function, and the processor time that it took. */
export interface Invocation {
  readonly cpuMs: number;
}

export interface DirectServices {
  readonly dynamo: FunctionParts['dynamo'];
  readonly sqs: SQSClient;
  readonly queueUrl: FunctionParts['queueUrl'];
  /** Posts to connections. Each post also reaches the client of this world. */
  readonly poster: FunctionParts['poster'];
  /** Random numbers for the samplers, from 0 to 1. */
  readonly random: () => number;
  /**
   * The clock that times invocations, in milliseconds.
   * @default the machine's
   */
  readonly stopwatch?: () => number;
}

/** Frames and their replies, as a direct world sees them. */
export interface DirectTally {
  messagesIn: number;
  messagesOut: number;
  posts: number;
  invocations: number;
  bytesOut: number;
  cpuMs: number;
  /** The duration of an invocation, or of several together. */
  elapsedMs: number;
}

const NOTHING: DirectTally = {
  messagesIn: 0,
  messagesOut: 0,
  posts: 0,
  invocations: 0,
  bytesOut: 0,
  cpuMs: 0,
  elapsedMs: 0,
};

const BILLED_MESSAGE_BYTES = 32_768;

/**
 * The same functions without a gateway: the world calls the handlers directly with each event, one after another, and
 * counts their posts. So a hundred thousand recipients need no sockets, and a handler's time is not shared.
 */
export class DirectWorld implements World {
  readonly failures: string[] = [];
  readonly #services: DirectServices;
  readonly #mailboxes = new Map<string, Mailbox<Push>>();
  readonly #clock = { nowMs: Date.UTC(2026, 0, 1), now: () => this.#clock.nowMs };
  #functions: Functions;
  #connections = 0;
  #ids = 0;
  /** Work that no caller awaits. */
  #told: Promise<unknown> = Promise.resolve();
  #last: Promise<unknown> = Promise.resolve();
  #tally: DirectTally = { ...NOTHING };

  constructor(services: DirectServices) {
    this.#services = services;
    this.#functions = this.#compose();
  }

  get stores(): Functions['stores'] {
    return this.#functions.stores;
  }

  get tally(): Readonly<DirectTally> {
    return this.#tally;
  }

  get nowMs(): number {
    return this.#clock.nowMs;
  }

  async open(): Promise<BenchClient> {
    return await this.#open(['mqtt-text-v1.1', 'mqtt-text-v1']);
  }

  async openWith(connect: Fields): Promise<BenchClient> {
    return await this.#open(protocolsWith(connect));
  }

  async #open(protocols: readonly string[]): Promise<BenchClient> {
    this.#connections += 1;
    const connectionId = `connection-${String(this.#connections).padStart(6, '0')}`;
    const pushes = new Mailbox<Push>('a push');
    this.#mailboxes.set(connectionId, pushes);
    const requestContext = this.#context(connectionId);
    const headers = { 'Sec-WebSocket-Protocol': protocols.join(', ') };
    await this.#invoke(() => this.#functions.routes.connect({ requestContext, headers }));
    const frame = (marker: string, packets: readonly Fields[]) =>
      this.#frame(connectionId, bodyOf(marker, packets));
    return {
      exchange: async (...packets) => replyOf(await frame('.', packets)),
      tell: (...packets) => {
        this.#told = frame(',', packets);
      },
      live: () => {},
      move: async (ticket) => {
        const reply = replyOf(await this.#frame(connectionId, `~${ticket}`));
        await this.#disconnected(connectionOf(ticket));
        return reply;
      },
      resume: async (ticket) => replyOf(await this.#frame(connectionId, `~!${ticket}`)),
      nextPush: async () => {
        if (pushes.size === 0) await this.quiet();
        return await pushes.next();
      },
      close: (code) => {
        this.#told = this.#disconnected(connectionId, code);
      },
      vanish: async () => {
        await this.#disconnected(connectionId);
      },
    };
  }

  async quiet(): Promise<void> {
    await this.#told;
    await this.#pump(QUEUES.fanOut, (event) => this.#functions.fanOut(event, CONTEXT));
    await this.#pump(QUEUES.timers, (event) => this.#functions.timers(event, CONTEXT));
  }

  async pass(milliseconds: number): Promise<void> {
    this.#clock.nowMs += milliseconds;
    await this.quiet();
  }

  /** A sleep makes time pass. */
  whileTimePasses<T>(waiting: Promise<T>): Promise<T> {
    return waiting;
  }

  bring(): Promise<void> {
    throw new Error('no function for messages from elsewhere is in this world');
  }

  coolDown(): void {
    this.#functions = this.#compose();
  }

  reset(): void {
    this.#tally = { ...NOTHING };
  }

  async stop(): Promise<void> {}

  #compose(): Functions {
    const { dynamo, sqs, queueUrl, poster, random } = this.#services;
    return composeFunctions({
      dynamo,
      sqs,
      queueUrl,
      random,
      poster: this.#heard(poster),
      clock: this.#clock,
      sleep: async (ms) => {
        this.#clock.nowMs += ms;
      },
      randomId: () => `id-${String(this.#ids++).padStart(9, '0')}`,
      failed: (what) => this.failures.push(what),
      postsPerSecond: 1_000_000,
    });
  }

  /** A poster that counts its posts and passes them to the clients here. */
  #heard(poster: FunctionParts['poster']): FunctionParts['poster'] {
    const hear = (connectionId: string, text: string) => {
      this.#tally.posts += 1;
      this.#countOut(text);
      const mailbox = this.#mailboxes.get(connectionId);
      if (mailbox === undefined) return;
      const bytes = Buffer.from(text, 'base64');
      mailbox.push({
        bytes,
        get packets() {
          return decodePackets(bytes);
        },
      });
    };
    return {
      post: async (connectionId, frame, mayRepeat) => {
        hear(connectionId, typeof frame === 'string' ? frame : frame.text);
        return await poster.post(connectionId, frame, mayRepeat);
      },
      attempt: async (connectionId, frame) => {
        hear(connectionId, frame.text);
        return await poster.attempt(connectionId, frame);
      },
      delete: (connectionId) => poster.delete(connectionId),
      get: (connectionId) => poster.get(connectionId),
    };
  }

  async #frame(connectionId: string, body: string): Promise<string> {
    this.#tally.messagesIn += Math.max(1, Math.ceil(body.length / BILLED_MESSAGE_BYTES));
    const requestContext = this.#context(connectionId);
    const { routes } = this.#functions;
    const result = await this.#invoke<ProxyResult>(() => routes.default({ requestContext, body }, CONTEXT));
    const reply = result.body ?? '';
    if (reply !== '') this.#countOut(reply);
    return reply;
  }

  async #disconnected(connectionId: string, disconnectStatusCode?: number): Promise<void> {
    const requestContext = {
      ...this.#context(connectionId),
      ...(disconnectStatusCode !== undefined && { disconnectStatusCode }),
    };
    await this.#invoke(() => this.#functions.routes.disconnect({ requestContext }));
  }

  #countOut(text: string): void {
    this.#tally.messagesOut += Math.max(1, Math.ceil(text.length / BILLED_MESSAGE_BYTES));
    this.#tally.bytesOut += text.length;
  }

  /** Runs one handler after another, so that a measurement never covers the work of two. */
  #invoke<T>(handle: () => Promise<T>): Promise<T> {
    const invocation = this.#last.then(() => this.#measure(handle));
    this.#last = invocation.catch(() => {});
    return invocation;
  }

  async #measure<T>(handle: () => Promise<T>): Promise<T> {
    const before = process.cpuUsage();
    const { stopwatch = () => performance.now() } = this.#services;
    const beganAtMs = stopwatch();
    try {
      return await handle();
    } finally {
      const { user, system } = process.cpuUsage(before);
      this.#tally.cpuMs += (user + system) / 1_000;
      this.#tally.elapsedMs += stopwatch() - beganAtMs;
      this.#tally.invocations += 1;
    }
  }

  /** Acts as an event source mapping, one batch at a time. */
  async #pump(name: string, handle: Functions['fanOut'] | Functions['timers']): Promise<void> {
    const { sqs, queueUrl } = this.#services;
    const QueueUrl = queueUrl(name);
    for (;;) {
      const received: ReceiveMessageResult = await sqs.send(
        new ReceiveMessageCommand({
          QueueUrl,
          MaxNumberOfMessages: BATCH_ENTRIES_MAX,
          MessageSystemAttributeNames: ['All'],
        }),
      );
      const { Messages = [] } = received;
      if (Messages.length === 0) return;
      const Records = Messages.map(({ MessageId = '', ReceiptHandle = '', Body = '', Attributes = {} }) => ({
        messageId: MessageId,
        receiptHandle: ReceiptHandle,
        body: Body,
        attributes: Attributes,
      }));
      const { batchItemFailures } = await this.#invoke(() => handle({ Records } as never, CONTEXT));
      if (batchItemFailures.length > 0)
        throw new Error(`${name} was handed ${batchItemFailures.length} back`);
      const Entries = Messages.map(({ ReceiptHandle }, index) => ({ Id: String(index), ReceiptHandle }));
      await sqs.send(new DeleteMessageBatchCommand({ QueueUrl, Entries }));
    }
  }

  #context(connectionId: string) {
    return {
      connectionId,
      routeKey: '$default',
      eventType: 'MESSAGE',
      requestId: `request-${this.#ids++}`,
      apiId: 'bench',
      stage: 'mqtt',
      domainName: 'bench',
      connectedAt: this.#clock.nowMs,
      requestTimeEpoch: this.#clock.nowMs,
      identity: { sourceIp: '127.0.0.1' },
    } as const;
  }
}

const CONTEXT = { getRemainingTimeInMillis: () => FUNCTION_MS };

function replyOf(text: string): Reply {
  const frame = readServerFrame(text);
  if (frame.kind !== 'reply') throw new Error(`expected a reply, not ${text.slice(0, 100)}`);
  return { ...frame, packets: decodePackets(frame.bytes) };
}

function bodyOf(marker: string, packets: readonly Fields[]): string {
  const offer = packets[0]?.cmd === 'connect' ? OFFER : '';
  return `${offer}${marker}${encodePackets(packets).toString('base64')}`;
}

/** The connection that a ticket names. */
function connectionOf(ticket: string): string {
  return ticket.slice(0, ticket.lastIndexOf('.'));
}
