import { connect as connectThroughGateway } from '@apus/client';
import mqtt, { type IClientOptions, type IPublishPacket, type MqttClient, type Packet } from 'mqtt';
import type { PortalServer } from '../document/portal-document.ts';
import { ANSWER_MS_MAX } from '../limits.ts';
import { USER_NAME } from '../snippets/snippet.ts';
import { ended, type Refusal, refusal, TryError } from './try-error.ts';

export interface Credentials {
  readonly username: string;
  readonly password: string;
}

export interface TryListener {
  message(topic: string, payload: Uint8Array, marks: Marks): void;
  /** The connection has ended; undefined: without a reason. */
  ended(why: Refusal | undefined): void;
}

export interface Marks {
  readonly isRetained: boolean;
  /** From the history of a stream. */
  readonly isPast: boolean;
}

/** The events of a connection until its caller ends it. */
type Ending = { reason: Refusal | undefined; isOurs: boolean };

/** Reason codes from here on mean refusals. */
const FAILURE = 0x80;

/** A client for a few messages of the visitor: it does not reconnect. */
export class TryClient {
  readonly #client: MqttClient;
  readonly #ending: Ending;

  private constructor(client: MqttClient, ending: Ending) {
    this.#client = client;
    this.#ending = ending;
  }

  /** @throws {TryError} */
  static async open(
    server: PortalServer,
    credentials: Credentials,
    listener: TryListener,
  ): Promise<TryClient> {
    const client = openClient(server, credentials);
    const ending: Ending = { reason: undefined, isOurs: false };
    client.on('packetreceive', (packet) => {
      ending.reason = endedBy(packet) ?? ending.reason;
    });
    client.on('message', (topic, payload, packet) => listener.message(topic, payload, marksOf(packet)));
    try {
      await connected(client, ending);
    } catch (error) {
      client.end(true);
      throw error;
    }
    // An error is followed by the end of the connection.
    client.on('error', () => client.end(true));
    client.on('close', () => {
      client.end(true);
      if (!ending.isOurs) listener.ended(ending.reason);
      ending.isOurs = true;
    });
    return new TryClient(client, ending);
  }

  /** @throws {TryError} */
  async subscribe(filter: string, rewind: string | undefined): Promise<void> {
    const properties = rewind === undefined ? {} : { properties: { userProperties: { rewind } } };
    await this.#answer<void>((done) =>
      this.#client.subscribe(filter, { qos: 1, ...properties }, (error, _granted, packet) => {
        const code = (packet?.granted ?? []).map(Number).find((each) => each >= FAILURE);
        done(error === null && code === undefined ? undefined : refusal(error, code, packet), undefined);
      }),
    );
  }

  async unsubscribe(filter: string): Promise<void> {
    await this.#answer<void>((done) => this.#client.unsubscribe(filter, () => done(undefined, undefined)));
  }

  /**
   * Resolves with PUBACK's reason code, below 0x80.
   * @throws {TryError}
   */
  async publish(topic: string, payload: string, contentType: string): Promise<number> {
    return await this.#answer<number>((done) =>
      this.#client.publish(topic, payload, { qos: 1, properties: { contentType } }, (error, packet) => {
        const code = packet !== undefined && 'reasonCode' in packet ? packet.reasonCode : undefined;
        done(error ? refusal(error, undefined, packet) : undefined, code ?? 0);
      }),
    );
  }

  end(): void {
    this.#ending.isOurs = true;
    this.#client.end();
  }

  /** The answer to a packet, unless the connection ends first or the broker is silent. */
  #answer<T>(send: (done: (refused: Refusal | undefined, value: T) => void) => void): Promise<T> {
    return new Promise((resolve, reject) => {
      const fail = (error: TryError) => {
        clearTimeout(timer);
        this.#client.off('close', close);
        reject(error);
      };
      const close = () => fail(new TryError(ended(this.#ending.reason)));
      const timer = setTimeout(() => fail(new TryError({ is: 'silent' })), ANSWER_MS_MAX);
      this.#client.once('close', close);
      send((refused, value) => {
        if (refused !== undefined) return fail(new TryError(refused));
        clearTimeout(timer);
        this.#client.off('close', close);
        resolve(value);
      });
    });
  }
}

function openClient(server: PortalServer, { username, password }: Credentials): MqttClient {
  const options: IClientOptions = { protocolVersion: 5, reconnectPeriod: 0, connectTimeout: ANSWER_MS_MAX };
  const isToken = password !== '' && username === '';
  // There the token has to be in the handshake: most gateway doors accept no password.
  if (server.door === 'gateway' && isToken)
    return connectThroughGateway(mqtt, server.url, options, { token: () => password });
  const named = username === '' && password === '' ? {} : { username: username || USER_NAME, password };
  const all = { ...options, ...named };
  return server.door === 'gateway'
    ? connectThroughGateway(mqtt, server.url, all)
    : mqtt.connect(server.url, all);
}

function connected(client: MqttClient, ending: Ending): Promise<void> {
  return new Promise((resolve, reject) => {
    const finish = (refused?: Refusal) => {
      clearTimeout(timer);
      if (refused === undefined) resolve();
      else reject(new TryError(refused));
    };
    const timer = setTimeout(() => finish({ is: 'silent' }), ANSWER_MS_MAX);
    client.once('connect', () => finish());
    client.once('error', (error) => finish(refusal(error, undefined, undefined, ending.reason)));
    client.once('close', () => finish(ended(ending.reason)));
  });
}

/** CONNACK and DISCONNECT give the reason. */
function endedBy(packet: Packet): Refusal | undefined {
  if (packet.cmd !== 'connack' && packet.cmd !== 'disconnect') return undefined;
  const code = packet.reasonCode ?? 0;
  if (packet.cmd === 'connack' && code < FAILURE) return undefined;
  return { is: 'refused', code, reason: packet.properties?.reasonString };
}

function marksOf({ retain, properties }: IPublishPacket): Marks {
  const kind = properties?.userProperties?.['stream-kind'];
  return { isRetained: retain, isPast: kind !== undefined };
}
