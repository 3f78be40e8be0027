import { createSecureContext, type SecureContext } from 'node:tls';
import { type ClockName, type Ledger, microsBetween, Recorder } from '../measure/index.ts';
import {
  type ClientPlan,
  clientsOf,
  messagesPerStream,
  type Plan,
  planOf,
  type Size,
} from '../scenario/plan.ts';
import type { Scenario } from '../scenario/scenario.ts';
import { openBinaryWire } from './binary-wire.ts';
import { type Credentials, FastClient } from './fast-client.ts';
import { type PacedStream, Pacer } from './pacer.ts';
import { isStreamUrl, openStreamWire } from './stream-wire.ts';
import { openTextWire } from './text-wire.ts';
import { type Door, FrameTotals } from './wire.ts';

/** Timers are no finer than a millisecond; messages that are due within the same one are sent together. */
const TICK_MS = 1;

/** The transport of the gateway door waits for the reply to DISCONNECT, and a loaded broker may be slow. */
const LEAVING_MS_MAX = 6_000;
const LEAVING_LOOK_MS = 20;

/** The assignment of one process of the generator. Plain JSON. */
export interface Assignment {
  readonly scenario: Scenario;
  readonly size: Size;
  /** The URL of the broker, or of each of its processes: clients use them in turn. */
  readonly urls: readonly string[];
  /**
   * Addresses of this machine from which clients connect in turn: each has its own ports.
   * @default the system chooses
   */
  readonly localAddresses?: readonly string[];
  readonly door: Door;
  readonly worker: number;
  readonly workers: number;
  /** Number of this machine's first process among those of all parts of the run. */
  readonly firstWorker: number;
  readonly runTag: number;
  readonly clock: ClockName;
  readonly credentials: Credentials & { readonly token?: string | undefined };
  /** The authority that signed the certificate of a `tls://` broker, in PEM. @default those of Node.js */
  readonly certificateAuthority?: string | undefined;
}

/** The progress of a process. */
export interface Progress {
  /** Clients that are connected and subscribed, that have failed, and their total. */
  readonly ready: number;
  readonly failed: number;
  readonly clients: number;
  /** And not refused. */
  readonly sent: number;
  readonly received: number;
  /** Messages that were sent and not acknowledged, or wait to be sent. */
  readonly underWay: number;
  readonly isPublished: boolean;
}

/** One process's share of a run: it connects its clients, publishes when told to, and counts. */
export class LoadWorker {
  readonly #assignment: Assignment;
  readonly #plan: Plan;
  readonly #recorder: Recorder;
  readonly #frames = new FrameTotals();
  readonly #clients: { readonly plan: ClientPlan; readonly client: FastClient }[] = [];
  readonly #planned: readonly ClientPlan[];
  readonly #secureContext: SecureContext | undefined;
  #ready = 0;
  #failed = 0;
  #pacers: readonly Pacer[] = [];
  #loopsUntilMicros = 0;
  #timers: NodeJS.Timeout[] = [];
  #isLeaving = false;

  constructor(assignment: Assignment) {
    const {
      scenario,
      size,
      runTag,
      worker,
      workers,
      firstWorker,
      clock,
      certificateAuthority: ca,
    } = assignment;
    this.#assignment = assignment;
    this.#plan = planOf(scenario, size);
    this.#secureContext = ca === undefined ? undefined : createSecureContext({ ca });
    this.#planned = [...clientsOf(this.#plan, worker, workers)];
    this.#recorder = new Recorder({ runTag, worker: firstWorker + worker, clock });
    if (assignment.door === 'gateway') this.#recorder.frames = () => this.#frames.sum();
  }

  /** Connects the clients at the scenario's rate, this process's share of it. */
  connect(): void {
    const { scenario, workers, size } = this.#assignment;
    const perSecond = scenario.connectsPerSecond / workers / size.part.of;
    const window = scenario.connectWindow ?? Number.POSITIVE_INFINITY;
    const startedAtMs = performance.now();
    let begun = 0;
    const tick = (): void => {
      const due = Math.min(
        this.#planned.length,
        Math.floor(((performance.now() - startedAtMs) / 1_000) * perSecond) + 1,
      );
      const room = Math.min(due, this.#ready + this.#failed + window);
      for (; begun < room && !this.#isLeaving; begun += 1) {
        const plan = this.#planned[begun];
        if (plan !== undefined) this.#begin(plan);
      }
      if (begun < this.#planned.length && !this.#isLeaving) this.#after(TICK_MS, tick);
    };
    tick();
    this.#keepAlive();
  }

  /** Publishes from a moment on, in the clock of the run. */
  publish(startMicros: number): void {
    if (this.#plan.isClosedLoop) {
      this.#publishInLoops(startMicros);
      return;
    }
    this.#pacers = this.#plan.groups.flatMap((group) => {
      const { publish, streams } = group;
      if (publish === undefined) return [];
      const paced = this.#clients
        .filter(({ plan }) => plan.group === group)
        .flatMap(({ plan, client }) => plan.topics.map((_, topic) => pacedStream(plan, client, topic)));
      const schedule = { startMicros, streams, perSecond: publish.perSecond };
      return [new Pacer(schedule, paced, messagesPerStream(this.#plan, publish.perSecond))];
    });
    this.#tick();
  }

  progress(): Progress {
    return {
      ready: this.#ready,
      failed: this.#failed,
      clients: this.#planned.length,
      sent: this.#recorder.sent - this.#recorder.refused,
      received: this.#recorder.received,
      underWay: this.#clients.reduce((sum, { client }) => sum + client.underWay, 0),
      isPublished:
        this.#pacers.every((pacer) => pacer.isDone) && this.#recorder.now() >= this.#loopsUntilMicros,
    };
  }

  /** The reasons of failed connections, by sentence. */
  get problems(): ReadonlyMap<string, number> {
    return this.#recorder.problems;
  }

  /** Disconnects all clients, waits until they are gone, a few seconds at most, and returns the ledger. */
  async finish(): Promise<Ledger> {
    this.#isLeaving = true;
    for (const timer of this.#timers.splice(0)) clearTimeout(timer);
    for (const { client } of this.#clients) client.leave();
    const untilMs = performance.now() + LEAVING_MS_MAX;
    while (this.#clients.some(({ client }) => !client.isOver) && performance.now() < untilMs)
      await new Promise((resolve) => setTimeout(resolve, LEAVING_LOOK_MS));
    return this.#recorder.ledger();
  }

  #publishInLoops(startMicros: number): void {
    const seconds = this.#assignment.size.seconds;
    const delayMs = microsBetween(this.#recorder.now(), startMicros) / 1_000;
    this.#loopsUntilMicros = startMicros + seconds * 1_000_000;
    this.#after(delayMs, () => {
      for (const { client } of this.#clients) client.beginLoop();
    });
    this.#after(delayMs + seconds * 1_000, () => {
      for (const { client } of this.#clients) client.endLoop();
    });
  }

  #begin(plan: ClientPlan): void {
    const { urls, localAddresses = [], door, credentials, runTag, scenario } = this.#assignment;
    const { token, ...login } = credentials;
    const url = inTurn(urls, plan.index) ?? '';
    const localAddress = inTurn(localAddresses, plan.index);
    const openBytes = isStreamUrl(url) ? openStreamWire : openBinaryWire;
    const open = door === 'gateway' ? openTextWire : openBytes;
    const secureContext = this.#secureContext;
    const client = new FastClient({
      plan,
      scenario,
      clientId: `load-${runTag}-${plan.index}`,
      credentials: login,
      recorder: this.#recorder,
      openWire: (events) => open({ url, localAddress, secureContext, frames: this.#frames, token }, events),
      answered: (isReady) => {
        if (isReady) this.#ready += 1;
        else this.#failed += 1;
      },
    });
    this.#clients.push({ plan, client });
    client.connect();
  }

  #tick(): void {
    const nowMicros = this.#recorder.now();
    for (const pacer of this.#pacers) pacer.sendDue(nowMicros);
    if (!this.#isLeaving && this.#pacers.some((pacer) => !pacer.isDone))
      this.#after(TICK_MS, () => this.#tick());
  }

  #keepAlive(): void {
    const { keepAliveSeconds } = this.#assignment.scenario;
    // The transport of the gateway door sends its own heartbeats.
    if (keepAliveSeconds === 0 || this.#assignment.door === 'gateway') return;
    this.#after(keepAliveSeconds * 500, () => {
      for (const { client } of this.#clients) client.keepAlive();
      this.#keepAlive();
    });
  }

  #after(milliseconds: number, act: () => void): void {
    const timer = setTimeout(() => {
      this.#timers = this.#timers.filter((each) => each !== timer);
      act();
    }, milliseconds);
    this.#timers.push(timer);
  }
}

function inTurn(all: readonly string[], turn: number): string | undefined {
  return all[turn % all.length];
}

function pacedStream(plan: ClientPlan, client: FastClient, topic: number): PacedStream {
  return {
    place: plan.member * plan.topics.length + topic,
    send: (dueMicros) => client.publish(topic, dueMicros),
  };
}
