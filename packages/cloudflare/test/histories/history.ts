import type { Log } from '@apus/broker';
import { encodePacket, type Packet, PacketDecoder, Violation } from '@apus/mqtt';
import { Random } from '@apus/simulation';
import { vi } from 'vitest';
import { type Action, Cast, pick, turns } from '../../../store-disk/test/histories/cast.ts';
import type { HistoryClient } from '../../../store-disk/test/histories/client.ts';
import { Hub, type HubOptions } from '../../src/index.ts';
import { SimulatedObject, SimulatedSocket, STALE } from '../object/simulated-object.ts';

const NOW_MS = 1_800_000_000_000;
/** Of choices that the broker makes: the same draws give the same history. */
const SEED = 1;
const WAIT_MS = 12_000;
/** At rest: all wills that are due come within that. */
const WAITS_AT_REST = 8;
const FAULTS_APART_MAX = 8;
const CALM_STEPS_MAX = 8_000;
/** Timers that run before an object may sleep. */
const TIMERS_MAX = 50;
/** So many packets come in two pieces. */
const CUT_PACKETS_SHARE = 4;

/** How much earlier or later it is for the next object: the clocks of two machines differ. */
const CLOCK_STEPS_MS = [0, 2_000, -2_000] as const;
const SLEEPS_WEIGHT = 4;
const NEW = { isCut: false, isOpen: false };

/** A client's connection, as the network has it. */
interface Connection {
  readonly client: HistoryClient;
  readonly socket: SimulatedSocket;
  readonly decoder: PacketDecoder;
  /** Frames on their way to the hub. */
  readonly outbound: ArrayBuffer[];
  /** Packets that the client has received and not looked at. */
  readonly inbound: Packet[];
  /** The client has gone, and the hub has not been told yet. */
  isCut: boolean;
  /** CONNACK has come. */
  isOpen: boolean;
}

/** A hub whose object another has replaced, and which goes on with what it has begun. */
interface Twin {
  readonly hub: Hub;
  readonly connections: readonly Connection[];
}

/**
 * A history of one hub over a simulated object. Each frame, each commit, each timer and the alarm comes when a draw says
 * so. Connections are cut; the object loses its memory, is reset before or after a commit, and has a twin for a while;
 * alarms are late, come twice, or never.
 */
export class HubHistory {
  readonly violations: string[] = [];
  /** The packets that clients have received. */
  readonly frames: string[] = [];
  readonly #cast = new Cast(true);
  readonly #current = new Map<HistoryClient, Connection>();
  readonly #connections = new Set<Connection>();
  #object = new SimulatedObject(true);
  #hub: Hub | undefined;
  #twin: Twin | undefined;
  #isEnding = false;
  #packets = 0;
  #resets = 0;
  readonly #options: HubOptions;

  /** @param attachmentBytesMax beyond it the state of a link goes into rows */
  constructor(attachmentBytesMax?: number) {
    const fail = (event: string, fields?: object) => {
      const text = `${event}: ${JSON.stringify(fields)}`;
      if (!text.includes(STALE) && !text.includes('DiskError')) this.violations.push(text);
    };
    const log: Log = { debug: () => {}, info: () => {}, warn: () => {}, error: fail };
    this.#options = { log, attachmentBytesMax };
  }

  /** Plays one step for each draw, and then goes on without faults until nothing is left to do. */
  async play(draws: readonly number[]): Promise<void> {
    const random = new Random(SEED);
    const choices = vi.spyOn(Math, 'random').mockImplementation(() => random.next());
    vi.useFakeTimers({ now: NOW_MS, toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'] });
    try {
      await this.#play(draws);
    } finally {
      vi.useRealTimers();
      choices.mockRestore();
    }
  }

  async #play(draws: readonly number[]): Promise<void> {
    await this.#calm();
    const faultWeight = 1 / (1 + ((draws[0] ?? 0) % FAULTS_APART_MAX));
    for (const draw of draws) {
      const actions = [...this.#ordinary(), ...this.#cast.publishing(), ...this.#faults(faultWeight)];
      await this.#step(pick(actions, draw));
      if (this.violations.length > 0) return;
    }
    this.#endTwin();
    await this.#calm();
    this.#isEnding = true;
    for (const mortal of this.#cast.mortals) {
      const connection = this.#current.get(mortal);
      if (connection !== undefined) this.#cut(connection);
    }
    await this.#calm();
    this.violations.push(...this.#cast.check(), ...this.#leftOvers());
  }

  #leftOvers(): string[] {
    const keys = [...this.#object.rows.keys()];
    const left = keys.filter((key) => 'crqi'.includes(key[0] ?? ''));
    const spilled = keys.filter((key) => key.startsWith('y'));
    const excess = spilled.length > this.#current.size ? spilled : [];
    return [...left, ...excess].map((key) => `the storage still has ${key}`);
  }

  async #step({ run }: Action): Promise<void> {
    try {
      run();
    } catch (error) {
      this.violations.push(String(error));
    }
    await turns();
    // Those of a twin: it would find that it is none any more.
    if (this.#hub === undefined) vi.clearAllTimers();
    this.#object.endEvent();
    if (this.#object.abortedBecause !== undefined) this.#reset(false);
  }

  /** Reads from the storage with the first event after the memory was lost. */
  get #awake(): Hub {
    this.#hub ??= new Hub(this.#object, this.#options, this.#object.alarmAtMs);
    return this.#hub;
  }

  #connect(client: HistoryClient): void {
    const socket = new SimulatedSocket();
    const decoder = new PacketDecoder({ maximumPacketSize: 65_536, role: 'client' });
    const connection: Connection = { client, socket, decoder, outbound: [], inbound: [], ...NEW };
    const hub = this.#awake;
    this.#object.acceptWebSocket(socket);
    hub.accepted(socket, { address: '192.0.2.1' });
    this.#connections.add(connection);
    this.#current.set(client, connection);
    client.connect();
  }

  /** The network cuts the connection: frames under way are lost, and the hub hears of it later. */
  #cut(connection: Connection): void {
    connection.isCut = true;
    this.#current.delete(connection.client);
    connection.client.cut();
  }

  /** The hub has closed it: a client that waits too long before CONNECT. */
  #ended(connection: Connection): void {
    if (connection.isOpen) this.violations.push(`a connection of ${connection.client.clientId} was closed`);
    this.#cut(connection);
  }

  #closed(connection: Connection): void {
    const { socket } = connection;
    this.#connections.delete(connection);
    socket.readyState = 2;
    this.#awake.closed(socket, 'the network has cut it');
    socket.readyState = 3;
  }

  /** The packet that the client sends next becomes frames. */
  #send({ client, outbound }: Connection): void {
    const packet = client.outbound.shift();
    if (packet === undefined) return;
    this.#packets += 1;
    const bytes = Uint8Array.from(encodePacket(packet, 5));
    const at = this.#packets % CUT_PACKETS_SHARE === 0 ? bytes.length >> 1 : 0;
    if (at > 0) outbound.push(bytes.slice(0, at).buffer);
    outbound.push(bytes.slice(at).buffer);
  }

  #read({ socket, decoder, inbound }: Connection): void {
    for (const packet of socket.sent.splice(0).flatMap((frame) => decoder.push(frame))) {
      if (packet instanceof Violation) this.violations.push(`the hub has sent: ${packet.reason}`);
      else if (packet.type !== 'pingresp') inbound.push(packet);
    }
  }

  #receive(client: HistoryClient, packet: Packet): void {
    this.frames.push(`${client.clientId} ${packet.type}`);
    try {
      client.receive(packet);
    } catch (error) {
      this.violations.push(String(error));
    }
  }

  /** Everything that may happen next, other than a fault. */
  #ordinary(): Action[] {
    const actions: Action[] = [];
    const add = (weight: number, run: () => void) => actions.push({ weight, run });
    if (this.#object.isBusy) add(8, () => this.#object.confirm());
    if (vi.getTimerCount() > 0) add(4, () => vi.advanceTimersToNextTimer());
    if (this.#isAlarmDue) add(1, () => this.#ring());
    for (const connection of this.#connections) {
      const { client, socket, outbound, inbound } = connection;
      if (connection.isCut) {
        add(4, () => this.#closed(connection));
        continue;
      }
      this.#read(connection);
      if (socket.readyState === 3 && inbound.length === 0) add(4, () => this.#ended(connection));
      if (inbound.length > 0)
        add(4, () => {
          const packet = inbound.shift();
          if (packet === undefined) return;
          connection.isOpen ||= packet.type === 'connack';
          this.#receive(client, packet);
        });
      if (client.outbound.length > 0 && outbound.length < 3) add(4, () => this.#send(connection));
      if (outbound.length > 0 && socket.readyState === 1)
        add(4, () => {
          const frame = outbound.shift();
          if (frame !== undefined) this.#awake.received(socket, frame);
        });
    }
    for (const client of this.#cast.clients) {
      const stays = this.#current.has(client) || (this.#isEnding && this.#cast.mortals.includes(client));
      if (!stays) add(3, () => this.#connect(client));
    }
    if (this.#twin !== undefined) add(1, () => this.#endTwin());
    return actions;
  }

  get #isAlarmDue(): boolean {
    return this.#object.alarmAtMs !== null && this.#object.alarmAtMs <= Date.now();
  }

  #ring(): void {
    void this.#object.storage.setAlarm(null);
    this.#awake.alarmRang();
  }

  #faults(weight: number): Action[] {
    const faults = [
      ...Array.from({ length: SLEEPS_WEIGHT }, () => () => this.#sleep()),
      () => this.#reset(false),
      () => this.#reset(true),
      () => this.#beginTwin(),
      ...[1, 2].map(() => () => vi.advanceTimersByTime(WAIT_MS)),
    ];
    if (this.#isAlarmDue) {
      faults.push(() => {
        this.#ring();
        this.#awake.alarmRang();
      });
      faults.push(() => void this.#object.storage.setAlarm(null));
    }
    const cuts = [...this.#current.values()].map((connection) => () => this.#cut(connection));
    return [...faults, ...cuts].map((run) => ({ weight, run }));
  }

  /** The object has been idle, and loses its memory. Its sockets stay. */
  #sleep(): void {
    for (let left = TIMERS_MAX; left > 0 && vi.getTimerCount() > 0; left -= 1) vi.advanceTimersToNextTimer();
    if (vi.getTimerCount() > 0) return;
    this.#object.endEvent();
    while (this.#object.isBusy) this.#object.confirm();
    this.#hub = undefined;
  }

  /** The object begins anew, and every socket of it is gone. */
  #reset(isDurable: boolean): void {
    this.#replace(isDurable);
    for (const connection of this.#connections) this.#lose(connection);
    this.#connections.clear();
    this.#resets += 1;
    vi.setSystemTime(Date.now() + (CLOCK_STEPS_MS[this.#resets % CLOCK_STEPS_MS.length] ?? 0));
  }

  #replace(isDurable: boolean): void {
    this.#object.endEvent();
    this.#object = this.#object.next(isDurable);
    this.#hub = undefined;
    vi.clearAllTimers();
  }

  #lose(connection: Connection): void {
    connection.socket.readyState = 3;
    if (!connection.isCut) this.#cut(connection);
  }

  /** Another object begins, and the one before has not noticed: it takes one more frame of each client. */
  #beginTwin(): void {
    if (this.#hub === undefined || this.#twin !== undefined) return;
    const [hub, connections] = [this.#hub, [...this.#connections]];
    this.#replace(true);
    this.#connections.clear();
    this.#twin = { hub, connections };
    for (const { socket, outbound, isCut } of connections) {
      const frame = outbound.shift();
      if (frame !== undefined && !isCut && socket.readyState === 1) hub.received(socket, frame);
    }
  }

  /** What the twin has sent arrives, and its sockets end. */
  #endTwin(): void {
    for (const connection of this.#twin?.connections ?? []) {
      if (!connection.isCut) {
        this.#read(connection);
        for (const packet of connection.inbound.splice(0)) this.#receive(connection.client, packet);
      }
      this.#lose(connection);
    }
    this.#twin = undefined;
  }

  /** Goes on until nothing is left to do. */
  async #calm(): Promise<void> {
    let waits = 0;
    for (let step = 0; step < CALM_STEPS_MAX; step += 1) {
      const actions = this.#ordinary();
      if (actions.length === 0 && waits === WAITS_AT_REST) return;
      const action = actions[step % actions.length] ?? { weight: 1, run: () => this.#wait() };
      if (actions.length === 0) waits += 1;
      await this.#step(action);
      if (this.violations.length > 0) return;
    }
    this.violations.push(`not at rest after ${CALM_STEPS_MAX} steps: ${this.#unrest()}`);
  }

  /** What goes on. */
  #unrest(): string {
    const { isBusy, alarmAtMs, isStale } = this.#object;
    const links = Array.from(this.#connections, ({ client, socket, outbound, inbound, isCut, isOpen }) => ({
      ...{ client: client.clientId, waiting: client.outbound.length, state: socket.readyState },
      ...{ outbound: outbound.length, inbound: inbound.map(({ type }) => type), isCut, isOpen },
    }));
    const timers = vi.getTimerCount();
    const alarmInMs = alarmAtMs === null ? null : alarmAtMs - Date.now();
    const frames = this.frames.slice(-20);
    return JSON.stringify({
      isBusy,
      isStale,
      timers,
      alarmInMs,
      hasTwin: this.#twin !== undefined,
      links,
      frames,
    });
  }

  /** Time passes, and a client sends PINGREQ: an alarm that was lost must not matter. */
  #wait(): void {
    vi.advanceTimersByTime(WAIT_MS);
    const [connection] = this.#current.values();
    connection?.outbound.push(Uint8Array.from(encodePacket({ type: 'pingreq' }, 5)).buffer);
  }
}
