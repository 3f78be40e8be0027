import { reasonOf } from '@apus/broker';
import { type PublishPacket, type QoS, ReasonCode } from '@apus/mqtt';
import mqtt, {
  type IClientOptions,
  type IConnackPacket,
  type IPublishPacket,
  type IStore,
  type MqttClient,
} from 'mqtt';
import type { MqttBridgeConfiguration } from '../configuration/mqtt.ts';
import { remoteOf } from '../configuration/mqtt.ts';
import { fromRemote, toRemote } from './properties.ts';
import { type AwsCredentials, SignedUrl } from './signed-url.ts';

export interface RemoteHandlers {
  /**
   * Handles a message. The remote broker gets its acknowledgement when the promise resolves; at QoS 2 `released`
   * follows.
   */
  received(packet: PublishPacket): Promise<void>;
  /** Handles PUBREL: the identifier may be used again when the promise resolves. */
  released(packetId: number): Promise<void>;
  up(isSessionPresent: boolean): Promise<void>;
  down(why: string | undefined): void;
  /** There is room again for waiting messages. */
  ready(): void;
}

/** The other broker has the message, or says that it will not take it. */
export interface RemoteAnswer {
  readonly reasonCode: number;
}

type StoreCallback = (error: undefined, packet: IPublishPacket) => void;

interface Waiting {
  readonly packet: PublishPacket;
  readonly finish: (answer: RemoteAnswer | Error) => void;
}

/** The time until the next attempt to connect. */
const RECONNECT_MS = 1_000;
const CONNECT_TIMEOUT_MS = 10_000;
/** The Receive Maximum for the other broker: in MQTT 5 it sends no more unacknowledged messages than this. */
export const REMOTE_RECEIVE_MAXIMUM = 100;
/**
 * Most messages, and bytes of them, that wait to be written; further messages of QoS 1 and 2 wait in the session's
 * queue.
 */
const WAITING_MAX = 1_000;
const WAITING_BYTES_MAX = 1024 * 1024;
/** Bytes of a PUBLISH besides its topic, payload and user properties: an upper estimate. */
const HEADER_BYTES = 512;

/** The connection to the other broker, by mqtt.js. */
export class Remote {
  readonly #configuration: MqttBridgeConfiguration;
  readonly #handlers: RemoteHandlers;
  readonly #waiting: Waiting[] = [];
  #waitingBytes = 0;
  #inflight = 0;
  #client: MqttClient | undefined;
  #connack: IConnackPacket['properties'];
  #isUp = false;
  #wasFull = false;
  #isStopped = false;
  #lastError: string | undefined;
  readonly #signedUrl: SignedUrl | undefined;
  #signingError: string | undefined;

  /** @param credentials of AWS, for a signed URL */
  constructor(
    configuration: MqttBridgeConfiguration,
    handlers: RemoteHandlers,
    credentials = credentialsOfProcess,
  ) {
    this.#configuration = configuration;
    this.#handlers = handlers;
    const { signing, url } = configuration;
    this.#signedUrl = signing && new SignedUrl(url, signing.region, credentials);
  }

  connect(): void {
    const client = mqtt.connect(this.#configuration.url, this.#options());
    // Stores QoS 2 messages when they come. `message` gets QoS 0 and 1 when they come, and QoS 2 with PUBREL.
    client.handleMessage = (packet, done) => {
      const answered =
        packet.qos === 2
          ? this.#handlers.released(packet.messageId ?? 0)
          : this.#handlers.received(publishOf(packet));
      answered.then(() => done(), ignore);
    };
    client.on('connect', (connack) => void this.#connected(connack));
    // Sets the bit of the protocol version that mosquitto's bridges set: mqtt.js has no option for it.
    client.on('packetsend', (packet) => {
      if (packet.cmd === 'connect' && this.#configuration.isBridgeMode)
        Object.assign(packet, { bridgeMode: true });
    });
    client.on('error', (error) => {
      this.#lastError = reasonOf(error);
    });
    client.on('disconnect', ({ reasonCode, properties }) => {
      this.#lastError = properties?.reasonString ?? `the other broker has sent DISCONNECT ${reasonCode ?? 0}`;
    });
    client.on('close', () => {
      this.#isUp = false;
      this.#handlers.down(this.#signingError ?? this.#lastError);
      this.#lastError = undefined;
      if (!this.#isStopped) void this.#sign();
    });
    client.on('reconnect', () => queueMicrotask(() => this.#watch(client)));
    void this.#sign().then(() => {
      // mqtt.js cannot end a client that has not begun to connect.
      if (this.#isStopped) return;
      this.#client = client;
      client.connect();
      this.#watch(client);
    });
  }

  /** mqtt.js does not report some errors of its stream, such as a WebSocket that is answered with 403. */
  #watch({ stream }: MqttClient): void {
    stream.once('error', (error) => {
      this.#lastError ??= reasonOf(error);
    });
  }

  /** Makes the URL for the next connection, which begins a second after the end of the present one. */
  async #sign(): Promise<void> {
    try {
      await this.#signedUrl?.refresh();
      this.#signingError = undefined;
    } catch (error) {
      this.#signingError = `the address cannot be signed: ${reasonOf(error)}`;
    }
  }

  /** Whether the remote takes another message. If not, it calls `ready` once it does. */
  isReady(): boolean {
    const isReady =
      this.#isUp && this.#waiting.length < WAITING_MAX && this.#waitingBytes < WAITING_BYTES_MAX;
    if (!isReady) this.#wasFull = true;
    return isReady;
  }

  /** Messages that the remote has taken and the other broker has not acknowledged. */
  get unacknowledged(): number {
    return this.#inflight + this.#waiting.length;
  }

  /**
   * Resolves when the other broker has the message; at QoS 0, when it has been written. Rejects when its fate can no
   * longer be known.
   */
  publish(packet: PublishPacket): Promise<RemoteAnswer> {
    return new Promise((resolve, reject) => {
      const finish = (answer: RemoteAnswer | Error) =>
        answer instanceof Error ? reject(answer) : resolve(answer);
      this.#waiting.push({ packet, finish });
      this.#waitingBytes += bytesOf(packet);
      this.#pump();
    });
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#isUp = false;
    const client = this.#client;
    if (client === undefined) return;
    // With `manualConnect`, mqtt.js forgets that a client ends before its stream has closed, and connects it again.
    client.options.reconnectPeriod = 0;
    await client.endAsync(true);
  }

  #options(): IClientOptions {
    const { protocolVersion, clientId, username, password, keepAliveSeconds, tls, alpnProtocol } =
      this.#configuration;
    const { sessionExpirySeconds: sessionExpiryInterval } = this.#configuration;
    const receiveMaximum = REMOTE_RECEIVE_MAXIMUM;
    const signedUrl = this.#signedUrl;
    return {
      ...{ protocolVersion, clientId, clean: false, keepalive: keepAliveSeconds, resubscribe: false },
      ...{ reconnectPeriod: RECONNECT_MS, connectTimeout: CONNECT_TIMEOUT_MS, queueQoSZero: false },
      // mqtt.js gives up after a CONNACK that refuses. But the other broker may be busy, or its operator may correct
      // the cause.
      reconnectOnConnackError: true,
      manualConnect: true,
      ...(signedUrl !== undefined && { transformWsUrl: () => signedUrl.current }),
      ...(username !== undefined && { username }),
      ...(password !== undefined && { password }),
      ...(protocolVersion === 5 && { properties: { sessionExpiryInterval, receiveMaximum } }),
      ...(alpnProtocol !== undefined && { ALPNProtocols: [alpnProtocol] }),
      ...(tls?.ca !== undefined && { ca: tls.ca }),
      ...(tls?.certificate !== undefined && { cert: tls.certificate }),
      ...(tls?.key !== undefined && { key: tls.key }),
      incomingStore: this.#incomingStore(),
    };
  }

  /**
   * mqtt.js calls `put` with a QoS 2 message before it sends PUBREC, and delivers it at PUBREL, from memory. If the
   * process died in between, the message would be lost. So `put` delivers it here, and the result of `get` stands for
   * its release.
   */
  #incomingStore(): IStore {
    const store = {
      put: (packet: IPublishPacket, done: () => void) => {
        this.#handlers.received(publishOf(packet)).then(() => done(), ignore);
        return store;
      },
      get: ({ messageId = 0 }: IPublishPacket, done: StoreCallback) => {
        done(undefined, {
          cmd: 'publish',
          topic: '',
          payload: '',
          qos: 2,
          messageId,
          dup: false,
          retain: false,
        });
        return store;
      },
      del: (packet: IPublishPacket, done: StoreCallback) => {
        done(undefined, packet);
        return store;
      },
      createStream: () => {
        throw new Error('what has been received is not sent again');
      },
      close: (done: () => void) => done(),
    } as unknown as IStore;
    return store;
  }

  async #connected(connack: IConnackPacket): Promise<void> {
    this.#connack = connack.properties;
    this.#lastError = undefined;
    try {
      await this.#handlers.up(connack.sessionPresent);
      await this.#subscribe();
    } catch (error) {
      this.#lastError = reasonOf(error);
      // The state of the session is unchanged: the next connection tries again.
      this.#client?.stream.destroy();
      return;
    }
    if (this.#client?.connected !== true) return;
    this.#isUp = true;
    this.#pump();
    this.#handlers.ready();
  }

  async #subscribe(): Promise<void> {
    const isV5 = this.#configuration.protocolVersion === 5;
    const { traits } = this.#configuration;
    const options = isV5 && { nl: traits.honoursNoLocal, rap: true, rh: 1 };
    const asked = this.#configuration.in.map((mapping) => [
      remoteOf(mapping),
      { qos: this.#limited(mapping.qos), ...options },
    ]);
    for (let start = 0; start < asked.length; start += traits.topicFiltersMax) {
      const some = Object.fromEntries(asked.slice(start, start + traits.topicFiltersMax));
      const granted = (await this.#client?.subscribeAsync(some)) ?? [];
      const refused = granted.filter(({ qos }) => (qos as number) >= 0x80);
      if (refused.length > 0)
        throw new Error(
          `the other broker refuses the subscription to ${refused.map(({ topic }) => topic).join(', ')}`,
        );
    }
  }

  #limited(qos: QoS): QoS {
    return Math.min(qos, this.#connack?.maximumQoS ?? 2) as QoS;
  }

  /** Sends waiting messages while the other broker's Receive Maximum allows it. */
  #pump(): void {
    const windowMax = this.#connack?.receiveMaximum ?? REMOTE_RECEIVE_MAXIMUM;
    while (this.#isUp && this.#waiting.length > 0) {
      if (this.#inflight >= windowMax && (this.#waiting[0]?.packet.qos ?? 0) > 0) return;
      const next = this.#waiting.shift();
      if (next === undefined) return;
      this.#waitingBytes -= bytesOf(next.packet);
      this.#send(next);
    }
  }

  #send({ packet, finish }: Waiting): void {
    const { topic, payload, properties } = packet;
    const refusal = this.#refusalOf(packet);
    if (refusal !== undefined) {
      finish({ reasonCode: refusal });
      return;
    }
    const qos = this.#limited(packet.qos);
    const retain = packet.retain && this.#connack?.retainAvailable !== false;
    const isV5 = this.#configuration.protocolVersion === 5;
    const options = {
      ...{ qos, retain },
      ...(isV5 && { properties: toRemote(properties, properties.messageExpiryInterval) }),
    };
    this.#inflight += 1;
    this.#client?.publish(topic, payload as Buffer, options, (error) => {
      this.#inflight -= 1;
      finish(answerOf(error));
      this.#pump();
      this.#tellReady();
    });
  }

  /**
   * The reason why the other broker would close the connection for this packet: sent again, it would end every
   * connection.
   */
  #refusalOf(packet: PublishPacket): number | undefined {
    const { topicSlashesMax, topicBytesMax, payloadBytesMax } = this.#configuration.traits;
    const { topic, payload } = packet;
    const largest = this.#connack?.maximumPacketSize ?? Number.POSITIVE_INFINITY;
    if (bytesOf(packet) > largest || payload.length > payloadBytesMax) return ReasonCode.PacketTooLarge;
    const isTooLong =
      Buffer.byteLength(topic) > topicBytesMax || topic.split('/').length - 1 > topicSlashesMax;
    return isTooLong ? ReasonCode.TopicNameInvalid : undefined;
  }

  #tellReady(): void {
    if (!this.#wasFull || this.#waiting.length > WAITING_MAX / 2) return;
    if (!this.isReady()) return;
    this.#wasFull = false;
    this.#handlers.ready();
  }
}

/** Credentials as the AWS SDK finds them: environment, profile, role. The SDK is loaded only if they are needed. */
async function credentialsOfProcess(): Promise<AwsCredentials> {
  const { defaultProvider } = await import('@aws-sdk/credential-provider-node');
  return await defaultProvider()();
}

/** An error with a reason code is the other broker's answer; any other means that the connection gave up. */
function answerOf(error: Error | undefined | null): RemoteAnswer | Error {
  if (error === undefined || error === null) return { reasonCode: 0 };
  const code = (error as Error & { readonly code?: unknown }).code;
  if (typeof code !== 'number') return error;
  // The other broker had no message for PUBREL: it was released before.
  return { reasonCode: code === ReasonCode.PacketIdentifierNotFound ? 0 : code };
}

function publishOf({
  topic,
  payload,
  qos,
  retain,
  dup,
  messageId,
  properties,
}: IPublishPacket): PublishPacket {
  return {
    type: 'publish',
    topic,
    payload: typeof payload === 'string' ? Buffer.from(payload) : payload,
    ...{ qos, retain, dup },
    packetId: messageId ?? 0,
    properties: fromRemote(properties),
  };
}

function bytesOf({ topic, payload, properties }: PublishPacket): number {
  const { userProperties = [], contentType = '', responseTopic = '', correlationData } = properties;
  let bytes = HEADER_BYTES + payload.length + (correlationData?.length ?? 0);
  bytes += Buffer.byteLength(topic) + Buffer.byteLength(contentType) + Buffer.byteLength(responseTopic);
  for (const [name, value] of userProperties) bytes += Buffer.byteLength(name) + Buffer.byteLength(value) + 5;
  return bytes;
}

/** Never acknowledged: the other broker sends the message again on its next connection. */
function ignore(): void {}
