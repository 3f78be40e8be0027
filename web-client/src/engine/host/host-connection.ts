import type { Statistics } from '@apus/client';
import type { IConnackPacket, MqttClient, Packet } from 'mqtt';
import { IDLE_STATUS } from '../idle-status.ts';
import { STATUS_INTERVAL_MS } from '../limits.ts';
import type { Batch } from '../protocol.ts';
import type {
  BurstProgress,
  BurstRequest,
  ConnectionPhase,
  ConnectionProfile,
  ConnectionStatus,
  Door,
  Outcome,
  PublishRequest,
  Secrets,
  SessionFacts,
  Subscription,
  Trouble,
} from '../types.ts';
import { Batcher } from './batcher.ts';
import { startBurst } from './burst.ts';
import { detectDoor, doorOfUrl, troubleOfUrl, withToken } from './doors.ts';
import type { HostEnvironment } from './environment.ts';
import { sessionFacts } from './mqtt-properties.ts';
import { openClient } from './open-client.ts';
import { Publisher } from './publisher.ts';
import { SubscriptionKeeper } from './subscription-keeper.ts';
import { TrafficMeter } from './traffic-meter.ts';
import { asReasonCode, isPassing, trouble, troubleOf } from './troubles.ts';
import { WireRecorder } from './wire-recorder.ts';

/** After this long without a clean end the socket is closed all the same. */
const END_TIMEOUT_MS = 3_000;

export interface ConnectionReports {
  status(status: ConnectionStatus): void;
  batch(batch: Batch): void;
}

interface Opened {
  readonly profile: ConnectionProfile;
  readonly secrets: Secrets;
  readonly keeper: SubscriptionKeeper;
  readonly publisher: Publisher;
}

/** One connection in the worker: from what its owner wants to what the page shows. */
export class HostConnection {
  readonly #environment: HostEnvironment;
  readonly #reports: ConnectionReports;
  readonly #batcher: Batcher;
  readonly #traffic = new TrafficMeter();
  #opened: Opened | undefined;
  #client: MqttClient | undefined;
  #statistics: Statistics | undefined;
  #phase: ConnectionPhase = 'idle';
  #door: Door | undefined;
  #session: SessionFacts | undefined;
  #trouble: Trouble | undefined;
  #attempts = 0;
  #retryAtMs: number | undefined;
  #cancelRetry = (): void => {};
  #cancelStatus: (() => void) | undefined;

  constructor(environment: HostEnvironment, reports: ConnectionReports) {
    this.#environment = environment;
    this.#reports = reports;
    this.#batcher = new Batcher(reports.batch, environment.later);
  }

  open(profile: ConnectionProfile, secrets: Secrets): void {
    this.#letGo(false);
    const { now } = this.#environment;
    const keeper = new SubscriptionKeeper({
      protocolVersion: profile.protocolVersion,
      now,
      changed: () => this.#tell(),
    });
    this.#opened = { profile, secrets, keeper, publisher: new Publisher(now) };
    this.#trouble = undefined;
    this.#attempts = 0;
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

  retry(): void {
    if (this.#phase !== 'waiting') return;
    if (this.#client !== undefined) this.#client.reconnect();
    else this.#tryAgain();
  }

  setSubscriptions(subscriptions: readonly Subscription[]): void {
    this.#opened?.keeper.set(subscriptions);
  }

  publish(request: PublishRequest): Promise<Outcome> {
    const client = this.#client;
    if (this.#opened !== undefined && client?.connected === true)
      return this.#opened.publisher.publish(client, request);
    const offline = trouble('offline', this.#environment.now());
    return Promise.resolve({ ok: false, reasonCode: undefined, trouble: offline, durationMs: 0 });
  }

  burst(request: BurstRequest, progress: (progress: BurstProgress) => void): () => void {
    const { now, later } = this.#environment;
    return startBurst(request, { publish: (message) => this.publish(message), progress, now, later });
  }

  taken(): void {
    this.#batcher.taken();
  }

  async #begin(): Promise<void> {
    const opened = this.#opened;
    if (opened === undefined) return;
    const { profile, secrets } = opened;
    const { now } = this.#environment;
    const wrong = troubleOfUrl(profile.url, now());
    if (wrong !== undefined) {
      this.#fail(wrong);
      return;
    }
    const known = profile.door === 'auto' ? doorOfUrl(profile.url) : profile.door;
    let answer: Door | Trouble | undefined = known;
    if (answer === undefined) {
      this.#become('detecting');
      answer = await detectDoor(
        withToken(profile.url, profile.tokenParameter, secrets.token),
        this.#environment,
      );
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
    });
    this.#door = door;
    this.#become('connecting');
    const { client, statistics } = openClient(opened, door, recorder, this.#environment);
    this.#client = client;
    this.#statistics = statistics;
    const ours = (listener: () => void) => () => {
      if (client === this.#client) listener();
    };
    client.on('connect', (connack) => ours(() => this.#connected(opened, client, connack))());
    client.on(
      'reconnect',
      ours(() => this.#retried()),
    );
    client.on(
      'close',
      ours(() => this.#lost()),
    );
    client.on('error', (error) => ours(() => this.#failedBy(error))());
  }

  #connected({ profile, keeper }: Opened, client: MqttClient, connack: IConnackPacket): void {
    const { clientId, keepAliveSeconds, sessionExpiryIntervalSeconds: sessionExpirySeconds } = profile;
    const asked = { clientId, keepAliveSeconds, sessionExpirySeconds };
    this.#session = sessionFacts(connack, asked, this.#environment.now());
    this.#trouble = undefined;
    this.#attempts = 0;
    this.#become('connected');
    keeper.connected(client, connack.sessionPresent, this.#session.subscriptionIdentifiersAvailable);
  }

  #retried(): void {
    this.#attempts += 1;
    this.#become('connecting');
  }

  #packetReceived(publisher: Publisher, packet: Packet): void {
    publisher.packetReceived(packet);
    const atMs = this.#environment.now();
    const version = this.#opened?.profile.protocolVersion ?? 5;
    if (packet.cmd === 'connack') {
      const code = packet.reasonCode ?? packet.returnCode ?? 0;
      if (code === 0) return;
      this.#trouble = trouble('reason', atMs, asReasonCode(code, version), packet.properties?.reasonString);
    } else if (packet.cmd === 'disconnect') {
      const said = trouble('reason', atMs, packet.reasonCode ?? 0, packet.properties?.reasonString);
      this.#trouble = said;
      if (!isPassing(said)) this.#fail(said);
    }
  }

  /** An error of mqtt.js or the transport. What the server has said is known better already. */
  #failedBy(error: unknown): void {
    const { profile } = this.#opened ?? {};
    const said = troubleOf(error, this.#environment.now(), profile?.protocolVersion ?? 5);
    // The transport tells of a packet that it did not send, too: that has ended nothing.
    if (this.#client?.connected === true && said.kind === 'transport') return;
    if (this.#trouble?.kind !== 'reason') this.#trouble = said;
    // mqtt.js tries no more after a CONNACK that refuses.
    if (said.kind === 'reason' && this.#phase !== 'connected') this.#missed(this.#trouble ?? said);
    else this.#tell();
  }

  #closed(code: number, reason: string): void {
    // 1006 is what a browser says of a server that it cannot reach; of a connection that stood it means less.
    const told = code === 1006 && this.#phase === 'connected' ? undefined : code;
    this.#trouble ??= trouble('closed', this.#environment.now(), told, String(reason));
  }

  /** mqtt.js has lost its stream and will try again, if it was asked to. */
  #lost(): void {
    const { keeper, publisher, profile } = this.#opened ?? {};
    keeper?.lost();
    publisher?.lost();
    this.#session = undefined;
    if (this.#phase === 'failed' || this.#phase === 'idle' || this.#retryAtMs !== undefined) return;
    const periodMs = this.#client?.options.reconnectPeriod ?? 0;
    this.#trouble ??= trouble('closed', this.#environment.now());
    if (profile?.reconnect !== true || periodMs === 0) this.#fail(this.#trouble);
    else this.#become('waiting', this.#environment.now() + periodMs);
  }

  /** Another attempt is ours to make: mqtt.js has not begun, or has given up. */
  #missed(said: Trouble): void {
    const { profile } = this.#opened ?? {};
    this.#trouble = said;
    if (profile?.reconnect !== true || !isPassing(said)) {
      this.#fail(said);
      return;
    }
    const { now, later } = this.#environment;
    this.#dropClient();
    this.#become('waiting', now() + profile.reconnectPeriodMs);
    this.#cancelRetry = later(() => this.#tryAgain(), profile.reconnectPeriodMs);
  }

  #tryAgain(): void {
    this.#cancelRetry();
    this.#attempts += 1;
    void this.#begin();
  }

  #fail(said: Trouble): void {
    this.#opened?.keeper.lost();
    this.#opened?.publisher.lost();
    this.#dropClient();
    this.#trouble = said;
    this.#become('failed');
  }

  #dropClient(): void {
    const client = this.#client;
    this.#client = undefined;
    client?.end(true);
  }

  /** Says goodbye, as far as there is somebody to say it to. */
  #letGo(withWill: boolean): void {
    const client = this.#client;
    const { keeper, publisher, profile } = this.#opened ?? {};
    this.#cancelRetry();
    this.#client = undefined;
    this.#opened = undefined;
    this.#session = undefined;
    this.#trouble = undefined;
    keeper?.lost();
    publisher?.lost();
    if (client === undefined) return;
    if (withWill && profile?.protocolVersion !== 5) client.end(true);
    else if (client.connected) endCleanly(client, withWill, this.#environment);
    else client.end(true);
  }

  #become(phase: ConnectionPhase, retryAtMs?: number): void {
    this.#phase = phase;
    this.#retryAtMs = retryAtMs;
    if (phase !== 'waiting') this.#cancelRetry();
    this.#tell();
  }

  /** Tells the page, and again and again while there are rates to tell. */
  #tell(): void {
    const { now, later } = this.#environment;
    const atMs = now();
    this.#reports.status({
      ...IDLE_STATUS,
      phase: this.#phase,
      door: this.#door,
      session: this.#session,
      trouble: this.#trouble,
      attempts: this.#attempts,
      retryAtMs: this.#retryAtMs,
      traffic: this.#traffic.sample(atMs, this.#batcher.skipped, this.#statistics),
      subscriptions: this.#opened?.keeper.states(atMs) ?? {},
    });
    this.#cancelStatus?.();
    this.#cancelStatus =
      this.#opened === undefined ? undefined : later(() => this.#tell(), STATUS_INTERVAL_MS);
  }
}

function endCleanly(client: MqttClient, withWill: boolean, { later }: HostEnvironment): void {
  const cancel = later(() => client.stream.destroy(), END_TIMEOUT_MS);
  // 0x04: the server publishes the will all the same (3.14.2.1).
  client.end(false, withWill ? { reasonCode: 0x04 } : {}, () => cancel());
}
