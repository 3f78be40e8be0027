import type { IConnackPacket, MqttClient, Packet } from 'mqtt';
import type { Batch } from '../protocol.ts';
import type {
  ConnectionPhase,
  ConnectionProfile,
  ConnectionStatus,
  Door,
  GatewayTraffic,
  KeepTrouble,
  Outcome,
  PublishRequest,
  Secrets,
  SessionFacts,
  Subscription,
  Trouble,
} from '../types.ts';
import { Batcher } from './batcher.ts';
import { detectDoor, doorOfUrl, troubleOfUrl, withToken } from './doors.ts';
import { DropWatch } from './drop-watch.ts';
import { endClient } from './end-client.ts';
import type { HostEnvironment } from './environment.ts';
import { FrameRecorder } from './frame-recorder.ts';
import { MessageKeeper } from './message-keeper.ts';
import { sessionFacts } from './mqtt-properties.ts';
import { openClient } from './open-client.ts';
import { Publisher } from './publisher.ts';
import { StatusBoard } from './status-board.ts';
import { StreamWatch } from './stream-watch.ts';
import { SubscriptionKeeper } from './subscription-keeper.ts';
import { BAD_METHOD, renewalMethod, showToken } from './token-renewal.ts';
import { TrafficMeter } from './traffic-meter.ts';
import { asReasonCode, isPassing, trouble, troubleOf } from './troubles.ts';
import { WireRecorder } from './wire-recorder.ts';

export interface ConnectionReports {
  status(status: ConnectionStatus): void;
  batch(batch: Batch): void;
  /** Messages that were stored during an earlier visit. */
  kept(batch: Batch): void;
  keepTrouble(kind: KeepTrouble): void;
}

/** The state from one `open` to the next. */
interface Opened {
  readonly profile: ConnectionProfile;
  /** Its token may be renewed. */
  secrets: Secrets;
  /** Whether CONNECT names the method with which AUTH shows another token. */
  isRenewable: boolean;
  readonly packetBytesMax: number;
  readonly keeper: SubscriptionKeeper;
  readonly publisher: Publisher;
  readonly streams: StreamWatch;
}

/** One connection in the worker: it carries out the user's commands, and reports the state that the page shows. */
export class HostConnection {
  readonly #environment: HostEnvironment;
  readonly #batcher: Batcher;
  readonly #keeper: MessageKeeper | undefined;
  readonly #frames: FrameRecorder;
  readonly #traffic = new TrafficMeter();
  readonly #board: StatusBoard;
  readonly #dropWatch = new DropWatch();
  #opened: Opened | undefined;
  #client: MqttClient | undefined;
  /** Since when no message can have come; undefined before the first connection, and while there is one. */
  #awaySinceMs: number | undefined;
  #cancelRetry = (): void => {};

  constructor(id: string, environment: HostEnvironment, reports: ConnectionReports) {
    const { now, later, kept: store } = environment;
    this.#environment = environment;
    this.#keeper =
      store && new MessageKeeper({ id, store, now, later, show: reports.kept, trouble: reports.keepTrouble });
    this.#batcher = new Batcher(reports.batch, later, this.#keeper);
    this.#frames = new FrameRecorder(this.#batcher, now);
    this.#board = new StatusBoard({
      now,
      later,
      traffic: (atMs) => this.#traffic.sample(atMs, this.#batcher.skipped, this.#gatewayTraffic()),
      subscriptions: (atMs) => this.#opened?.keeper.states(atMs) ?? {},
      tell: reports.status,
    });
  }

  open(profile: ConnectionProfile, secrets: Secrets, packetBytesMax = Number.POSITIVE_INFINITY): void {
    this.#letGo(false);
    const { now } = this.#environment;
    const { protocolVersion } = profile;
    const keeper = new SubscriptionKeeper({ protocolVersion, now, changed: () => this.#board.tell() });
    const streams = new StreamWatch({ now, mark: (mark) => this.#batcher.mark(mark) });
    const publisher = new Publisher(now);
    const isRenewable = true;
    this.#opened = { profile, secrets, isRenewable, packetBytesMax, keeper, publisher, streams };
    this.#board.note({ attempts: 0 });
    keeper.set(profile.subscriptions);
    void this.#begin();
  }

  close(withWill: boolean): void {
    this.#letGo(withWill);
    this.#become('idle');
  }

  cut(): void {
    this.#client?.stream.destroy();
  }

  renew(token: string): void {
    if (this.#opened === undefined) return;
    this.#opened.secrets = { ...this.#opened.secrets, token };
    // The transport of the gateway door asks for the token, and shows it.
    if (this.#client !== undefined && this.#board.facts.door === 'node') showToken(this.#client, token);
  }

  retry(): void {
    if (this.#board.facts.phase !== 'waiting') return;
    if (this.#client !== undefined) this.#client.reconnect();
    else this.#tryAgain();
  }

  setSubscriptions(subscriptions: readonly Subscription[]): void {
    this.#opened?.keeper.set(subscriptions);
    this.#dropWatch.watch(subscriptions);
  }

  publish(request: PublishRequest): Promise<Outcome> {
    const client = this.#client;
    if (this.#opened !== undefined && client?.connected === true) {
      const { publisher, packetBytesMax } = this.#opened;
      const told = this.#board.facts.session?.maximumPacketSizeBytes;
      return publisher.publish(client, request, told ?? packetBytesMax);
    }
    const offline = trouble('offline', this.#environment.now());
    return Promise.resolve({ ok: false, reasonCode: undefined, trouble: offline, durationMs: 0 });
  }

  async keep(isKept: boolean): Promise<void> {
    await (isKept ? this.#keeper?.start() : this.#keeper?.stop());
  }

  async forget(): Promise<void> {
    await this.#keeper?.forget();
  }

  taken(): void {
    this.#batcher.taken();
  }

  async #begin(): Promise<void> {
    const opened = this.#opened;
    if (opened === undefined) return;
    const { url, door, tokenParameter } = opened.profile;
    const wrong = troubleOfUrl(url, this.#environment.now());
    if (wrong !== undefined) {
      this.#fail(wrong);
      return;
    }
    let answer: Door | Trouble | undefined = door === 'auto' ? doorOfUrl(url) : door;
    if (answer === undefined) {
      this.#become('detecting');
      answer = await detectDoor(withToken(url, tokenParameter, opened.secrets.token), this.#environment);
      if (opened !== this.#opened) return;
    }
    if (typeof answer === 'string') this.#connect(opened, answer);
    else this.#missed(answer);
  }

  #connect(opened: Opened, door: Door): void {
    const { profile, keeper, publisher } = opened;
    const recorder = new WireRecorder({
      batcher: this.#batcher,
      traffic: this.#traffic,
      protocolVersion: profile.protocolVersion,
      now: this.#environment.now,
      subscriptionsOf: (topic, properties, bytes) => keeper.count(topic, properties, bytes),
      closed: (code, reason) => this.#closed(code, reason),
      packetReceived: (packet) => this.#packetReceived(publisher, packet),
      frames: door === 'gateway' ? this.#frames : undefined,
      takeNotice: (topic, payload, atMs) => this.#takeNotice(topic, payload, atMs),
    });
    this.#board.note({ door });
    this.#become('connecting');
    const client = openClient(opened, door, recorder, this.#environment);
    this.#client = client;
    opened.streams.attach(client);
    // A client that was dropped still emits events for a while.
    const ours = (listener: () => void): void => {
      if (client === this.#client) listener();
    };
    client.on('connect', (connack) => ours(() => this.#connected(opened, client, connack)));
    client.on('reconnect', () => ours(() => this.#retried()));
    client.on('close', () => ours(() => this.#lost()));
    client.on('error', (error) => ours(() => this.#failedBy(error)));
  }

  #gatewayTraffic(): GatewayTraffic | undefined {
    if (this.#board.facts.door !== 'gateway') return undefined;
    this.#frames.matchDroppedPubacks();
    return this.#frames.totals;
  }

  #connected({ profile, keeper }: Opened, client: MqttClient, connack: IConnackPacket): void {
    const { clientId, keepAliveSeconds, sessionExpiryIntervalSeconds: sessionExpirySeconds } = profile;
    const asked = { clientId, keepAliveSeconds, sessionExpirySeconds };
    const session = sessionFacts(connack, asked, this.#environment.now());
    this.#board.note({ session, trouble: undefined, attempts: 0 });
    this.#become('connected');
    this.#markAbsence(session);
    keeper.connected(client, connack.sessionPresent, session.subscriptionIdentifiersAvailable);
    if (profile.hearsOfDrops !== false) this.#dropWatch.connected(client, session.userProperties);
    this.#dropWatch.watch(keeper.wanted);
  }

  #markAbsence({ connectedAtMs: atMs, sessionPresent }: SessionFacts): void {
    const fromMs = this.#awaySinceMs;
    this.#awaySinceMs = undefined;
    const readsStreams = this.#opened?.streams.isReading;
    if (fromMs !== undefined)
      this.#batcher.mark({ kind: 'away', atMs, fromMs, sessionPresent, readsStreams });
  }

  #takeNotice(topic: string, payload: Uint8Array, atMs: number): boolean {
    const mark = this.#dropWatch.read(topic, payload, atMs);
    if (mark === undefined) return false;
    this.#traffic.dropped += mark.count;
    this.#batcher.mark(mark);
    return true;
  }

  #retried(): void {
    this.#board.note({ attempts: this.#board.facts.attempts + 1 });
    this.#become('connecting');
  }

  #packetReceived(publisher: Publisher, packet: Packet): void {
    publisher.packetReceived(packet);
    if (packet.cmd === 'connack') {
      const version = this.#opened?.profile.protocolVersion ?? 5;
      const code = packet.reasonCode ?? packet.returnCode ?? 0;
      if (code !== 0) this.#noteReason(asReasonCode(code, version), packet.properties?.reasonString);
    } else if (packet.cmd === 'disconnect') {
      const said = this.#noteReason(packet.reasonCode ?? 0, packet.properties?.reasonString);
      if (!isPassing(said)) this.#fail(said);
    }
  }

  #noteReason(code: number, reasonString: string | undefined): Trouble {
    const said = trouble('reason', this.#environment.now(), code, reasonString);
    this.#board.note({ trouble: said });
    return said;
  }

  /** Handles an error of mqtt.js or the transport. An error from the server itself is more exact and stays. */
  #failedBy(error: unknown): void {
    const said = troubleOf(error, this.#environment.now(), this.#opened?.profile.protocolVersion ?? 5);
    // The transport also reports a packet that it did not send: that does not end the connection.
    if (this.#client?.connected === true && said.kind === 'transport') return;
    const { trouble: known, phase } = this.#board.facts;
    const best = known?.kind === 'reason' ? known : said;
    // mqtt.js gives up after a CONNACK that refuses.
    const opened = this.#opened;
    if (said.code === BAD_METHOD && opened !== undefined && renewalMethod(opened) !== undefined) {
      // Another broker than Apus: it takes the token, and not the method.
      opened.isRenewable = false;
      this.#dropClient();
      this.#board.note({ trouble: undefined });
      void this.#begin();
    } else if (said.kind === 'reason' && phase !== 'connected') this.#missed(best);
    else this.#board.set({ trouble: best });
  }

  #closed(code: number, reason: string): void {
    const { phase, trouble: known } = this.#board.facts;
    // 1006 is a browser's code for an unreachable server; on an open connection it means less.
    const told = code === 1006 && phase === 'connected' ? undefined : code;
    this.#board.note({ trouble: known ?? trouble('closed', this.#environment.now(), told, String(reason)) });
  }

  /** mqtt.js has lost its stream and tries again, if it was told to. */
  #lost(): void {
    this.#connectionLost();
    const { phase, retryAtMs, trouble: known } = this.#board.facts;
    if (phase === 'failed' || phase === 'idle' || retryAtMs !== undefined) return;
    const { now } = this.#environment;
    const said = known ?? trouble('closed', now());
    const periodMs = this.#client?.options.reconnectPeriod ?? 0;
    if (this.#opened?.profile.reconnect !== true || periodMs === 0) this.#fail(said);
    else this.#waitFor(said, periodMs);
  }

  /** The host has to make another attempt: mqtt.js has not begun, or has given up. */
  #missed(said: Trouble): void {
    const { profile } = this.#opened ?? {};
    if (profile?.reconnect !== true || !isPassing(said)) {
      this.#fail(said);
      return;
    }
    this.#dropClient();
    this.#waitFor(said, profile.reconnectPeriodMs);
    this.#cancelRetry = this.#environment.later(() => this.#tryAgain(), profile.reconnectPeriodMs);
  }

  #tryAgain(): void {
    this.#cancelRetry();
    this.#board.note({ attempts: this.#board.facts.attempts + 1 });
    void this.#begin();
  }

  #fail(said: Trouble): void {
    this.#connectionLost();
    this.#dropClient();
    this.#board.note({ trouble: said });
    this.#become('failed');
  }

  #waitFor(said: Trouble, delayMs: number): void {
    this.#board.note({ trouble: said });
    this.#become('waiting', this.#environment.now() + delayMs);
  }

  /** The connection has ended: callers that wait for an answer are told so. */
  #connectionLost(): void {
    if (this.#client !== undefined) this.#noteUnanswered('unknown');
    this.#opened?.keeper.lost();
    this.#opened?.publisher.lost();
    this.#dropWatch.lost();
    this.#board.note({ session: undefined });
  }

  #dropClient(): void {
    const client = this.#client;
    this.#client = undefined;
    if (client !== undefined) this.#noteUnanswered('lost');
    client?.end(true);
  }

  /** Updates the state of unanswered publishes. mqtt.js sends them again, as long as there is a client. */
  #noteUnanswered(state: 'unknown' | 'lost'): void {
    this.#batcher.outcome({ packetId: undefined, state, code: undefined, detail: '' });
  }

  /** Sends DISCONNECT, if a connection is open. */
  #letGo(withWill: boolean): void {
    this.#connectionLost();
    this.#cancelRetry();
    const client = this.#client;
    const version = this.#opened?.profile.protocolVersion ?? 5;
    if (client !== undefined) this.#noteUnanswered('lost');
    this.#client = undefined;
    this.#opened = undefined;
    this.#board.note({ trouble: undefined });
    if (client !== undefined) endClient(client, withWill, version, this.#environment.later);
  }

  #become(phase: ConnectionPhase, retryAtMs?: number): void {
    if (this.#board.facts.phase === 'connected') this.#awaySinceMs = this.#environment.now();
    if (phase !== 'waiting') this.#cancelRetry();
    this.#board.set({ phase, retryAtMs });
  }
}
