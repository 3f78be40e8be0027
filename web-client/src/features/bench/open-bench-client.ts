import { connect, createTransport } from '@apus/client';
import type { IClientOptions, ISubscriptionGrant, MqttClient, Packet } from 'mqtt';
import { clientOptions } from '../../engine/host/client-options.ts';
import { detectDoor, doorOfUrl, troubleOfUrl, withToken } from '../../engine/host/doors.ts';
import type { HostEnvironment } from '../../engine/host/environment.ts';
import { asBuffer } from '../../engine/host/mqtt-properties.ts';
import { trouble, troubleOf } from '../../engine/host/troubles.ts';
import type { ConnectionProfile, Door, Qos, Secrets, Trouble } from '../../engine/types.ts';
import type { BenchClient } from './bench-run.ts';

/** The server of a run. */
export interface BenchTarget {
  readonly profile: ConnectionProfile;
  readonly secrets: Secrets;
}

/** Reason codes from here on mean failures. */
const FAILURE = 0x80;

/** Detects the door of the server, once for all connections of a run. */
export async function doorOf(
  { profile, secrets }: BenchTarget,
  environment: HostEnvironment,
): Promise<Door | Trouble> {
  const wrong = troubleOfUrl(profile.url, environment.now());
  if (wrong !== undefined) return wrong;
  const known = profile.door === 'auto' ? doorOfUrl(profile.url) : profile.door;
  const url = withToken(profile.url, profile.tokenParameter, secrets.token);
  return known ?? (await detectDoor(url, environment));
}

/** A separate connection: a clean session without a will, which does not reconnect. */
export function openBenchClient(
  target: BenchTarget,
  door: Door,
  clientId: string,
  environment: HostEnvironment,
): Promise<BenchClient | Trouble> {
  const client = clientOf(target, door, clientId, environment);
  const { protocolVersion } = target.profile;
  return new Promise((resolve) => {
    let said: Trouble | undefined;
    client.on('error', (error) => {
      said ??= troubleOf(error, environment.now(), protocolVersion);
    });
    client.on('close', () => {
      client.end(true);
      resolve(said ?? trouble('closed', environment.now()));
    });
    client.on('connect', () =>
      resolve(new MqttBenchClient(client, environment.now, protocolVersion, () => said)),
    );
  });
}

function clientOf(
  { profile, secrets }: BenchTarget,
  door: Door,
  clientId: string,
  { mqtt, WebSocket, openSocket }: HostEnvironment,
): MqttClient {
  const plain: ConnectionProfile = {
    ...profile,
    clientId,
    cleanStart: true,
    reconnect: false,
    sessionExpiryIntervalSeconds: undefined,
    will: undefined,
  };
  const options: IClientOptions = clientOptions(plain, secrets);
  if (door === 'node') {
    const url = withToken(profile.url, profile.tokenParameter, secrets.token);
    return mqtt.connect(url, { ...options, createWebsocket: (address, names) => openSocket(address, names) });
  }
  const { token } = secrets;
  const transport = createTransport({
    WebSocket,
    tokenParameter: profile.tokenParameter,
    ...(token === undefined || token === '' ? {} : { token: () => token }),
  });
  return connect(mqtt, profile.url, options, transport);
}

class MqttBenchClient implements BenchClient {
  readonly #client: MqttClient;
  readonly #now: () => number;
  readonly #protocolVersion: number;
  readonly #said: () => Trouble | undefined;
  #disconnected: Trouble | undefined;
  #isEnding = false;

  constructor(
    client: MqttClient,
    now: () => number,
    protocolVersion: number,
    said: () => Trouble | undefined,
  ) {
    this.#client = client;
    this.#now = now;
    this.#protocolVersion = protocolVersion;
    this.#said = said;
    client.on('packetreceive', (packet: Packet) => {
      if (packet.cmd !== 'disconnect') return;
      this.#disconnected = trouble('reason', now(), packet.reasonCode ?? 0, packet.properties?.reasonString);
    });
  }

  subscribe(filter: string, qos: Qos): Promise<Trouble | undefined> {
    return new Promise((resolve) => {
      this.#client.subscribe(filter, { qos }, (error, granted?: ISubscriptionGrant[]) => {
        const code = granted?.[0]?.qos ?? 0;
        if (error !== null) resolve(troubleOf(error, this.#now(), this.#protocolVersion));
        else resolve(code >= FAILURE ? trouble('reason', this.#now(), code) : undefined);
      });
    });
  }

  publish(topic: string, payload: Uint8Array, qos: Qos, done: (isOk: boolean) => void): void {
    this.#client.publish(topic, asBuffer(payload), { qos }, (error) => done(!error));
  }

  onMessage(listener: (payload: Uint8Array) => void): void {
    this.#client.on('message', (_topic, payload) => listener(payload));
  }

  onLost(listener: (trouble: Trouble) => void): void {
    this.#client.on('close', () => {
      if (!this.#isEnding) listener(this.#disconnected ?? this.#said() ?? trouble('closed', this.#now()));
    });
  }

  end(): void {
    this.#isEnding = true;
    this.#client.end(false);
  }
}
