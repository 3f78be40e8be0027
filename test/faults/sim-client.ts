import { DISCONNECT_CODE } from '@apus/aws';
import { connect as connectInTextFrames } from '@apus/client';
import type { InProcessEmulator } from '@apus/emulated-aws';
import * as mqtt from 'mqtt';
import type { End } from './steps.ts';
import type { Trace } from './trace.ts';

export interface SimClientOptions {
  readonly clientId: string;
  /** @default none: its name is the client identifier */
  readonly username?: string;
  /** 0: the session ends with its connection. */
  readonly sessionExpirySeconds: number;
  readonly receiveMaximum?: number;
  readonly will?: (connection: number) => NonNullable<mqtt.IClientOptions['will']>;
  /** It does not return by itself. */
  readonly isSingle?: boolean;
  /**
   * It supports only `mqtt-text-v1`, as a transport without extensions.
   * @default false
   */
  readonly offersNothing?: boolean;
  /**
   * mqtt.js subscribes again by itself, as by default.
   * @default false
   */
  readonly resubscribes?: boolean;
  /**
   * Clean Start.
   * @default true if the session ends with its connection
   */
  readonly isClean?: boolean;
}

export interface SimClientEvents {
  readonly message?: (topic: string, payload: string, isRetained: boolean) => void;
  /** A PUBLISH of this client was acknowledged with success: the server has to deliver it. */
  readonly acknowledged?: (topic: string, payload: string) => void;
  /** A PUBLISH of this client was sent again, on a later connection. */
  readonly sentAgain?: (topic: string, payload: string) => void;
  /** CONNACK has come. */
  readonly connected?: (connection: number, sessionPresent: boolean) => void;
  /** The connection has ended, as far as the client knows. `isDisconnect`: DISCONNECT was answered. */
  readonly ended?: (connection: number, isDisconnect: boolean) => void;
  /** The connection was lost, and the transport tries to resume; it has resumed; or messages may be missing. */
  readonly told?: (what: 'lost' | 'resumed' | 'gap') => void;
  /** Called with each violation by the server. */
  readonly wronged?: (what: string) => void;
}

type Socket = InstanceType<InProcessEmulator['WebSocket']>;

/** The longest wait. Reconnects are fast: the interesting events happen while clients are connected. */
const RANDOM_MAX = 0.1;

/** mqtt.js over Apus's transport, as in an application, with all faults of a device and its network. */
export class SimClient {
  readonly name: string;
  readonly mqtt: mqtt.MqttClient;
  /** Connections that have begun. */
  connections = 0;
  /** Moves of the session to another connection. */
  moves = 0;
  /** Connections that were lost, and whose session went on over another. */
  resumes = 0;
  readonly #emulator: InProcessEmulator;
  readonly #events: SimClientEvents;
  readonly #options: SimClientOptions;
  readonly #trace: Trace;
  readonly #stores = {
    incomingStore: new mqtt.Store({ clean: false }),
    outgoingStore: new mqtt.Store({ clean: false }),
  };
  /** The packet that was sent last under a packet identifier. */
  readonly #sent = new Map<number, { readonly topic: string; readonly payload: string }>();
  /** Open connections: the first is the present one, the second the target of a move. */
  readonly #sockets = new Set<Socket>();
  #isAnswered = false;
  readonly #unacknowledged = new Set<number>();

  constructor(emulator: InProcessEmulator, options: SimClientOptions, events: SimClientEvents, trace: Trace) {
    this.name = options.username ?? options.clientId;
    this.#emulator = emulator;
    this.#options = options;
    this.#events = events;
    this.#trace = trace;
    this.mqtt = this.#connect();
    this.#listen();
  }

  /** The id that the gateway gave to the present connection. */
  get connectionId(): string | undefined {
    const [socket] = this.#sockets;
    return socket?.connectionId;
  }

  get hasUnsent(): boolean {
    return this.mqtt.queue.length > 0 || Object.keys(this.mqtt.outgoing).length > 0;
  }

  /** mqtt.js keeps a message until it is acknowledged, over any number of connections. */
  publish(topic: string, payload: string, options: mqtt.IClientPublishOptions): void {
    this.mqtt.publish(topic, payload, options, () => {});
  }

  async subscribe(filter: string, qos: 1 | 2): Promise<number | undefined> {
    return await new Promise((resolve) => {
      this.mqtt.subscribe(filter, { qos }, (_error, _grants, packet) => {
        const code = packet?.granted[0];
        resolve(typeof code === 'number' ? code : undefined);
      });
    });
  }

  end(how: End): void {
    this.#trace.add(`${this.name}: ${how}`, [this.name]);
    const { connectionId } = this;
    if (how === 'disconnect') this.mqtt.end();
    else if (connectionId !== undefined) this.#break(how, connectionId);
  }

  /** Closes after DISCONNECT, or drops a connection that hangs. */
  return(): void {
    if (this.mqtt.disconnecting || this.mqtt.disconnected) this.mqtt.reconnect(this.#stores);
  }

  /** Ends for good, without a DISCONNECT. */
  stop(): void {
    this.mqtt.end(true);
  }

  #break(how: Exclude<End, 'disconnect'>, connectionId: string): void {
    switch (how) {
      case 'cut':
        this.#emulator.cutConnection(connectionId);
        break;
      case 'vanish':
        this.#emulator.loseConnection(connectionId, true);
        break;
      case 'unplug':
        this.#emulator.loseConnection(connectionId, false);
        break;
      case 'closed-with-4001':
        // Bypasses the transport, which would close in this way only in place of DISCONNECT.
        for (const socket of this.#sockets)
          this.#emulator.WebSocket.prototype.close.call(socket, DISCONNECT_CODE);
        break;
      case 'closed-by-gateway':
        this.#emulator.closeConnection(connectionId, 1001, 'Going away');
        break;
    }
  }

  #connect(): mqtt.MqttClient {
    const { clientId, username, sessionExpirySeconds, receiveMaximum, isSingle = false } = this.#options;
    const { resubscribes = false } = this.#options;
    const { isClean = sessionExpirySeconds === 0 } = this.#options;
    const options: mqtt.IClientOptions = {
      protocolVersion: 5,
      clientId,
      ...(username !== undefined && { username }),
      clean: isClean,
      resubscribe: resubscribes,
      properties: {
        ...(sessionExpirySeconds > 0 && { sessionExpiryInterval: sessionExpirySeconds }),
        ...(receiveMaximum !== undefined && { receiveMaximum }),
      },
      ...(isSingle && { reconnectPeriod: 0 }),
      ...this.#stores,
      // Called for each connection: for options that differ each time.
      transformWsUrl: (url, current) => {
        this.connections += 1;
        const will = this.#options.will?.(this.connections);
        if (will !== undefined) current.will = will;
        return url;
      },
    };
    return connectInTextFrames(mqtt, this.#emulator.url, options, {
      WebSocket: this.#webSocketClass(),
      random: () => RANDOM_MAX * Math.random(),
      page: {},
      onEvent: ({ type }) => {
        if (type === 'resuming') this.#events.told?.('lost');
        if (type === 'gap' || type === 'resumed') this.#events.told?.(type);
        if (type === 'moved') this.moves += 1;
        else if (type === 'resumed') this.resumes += 1;
        else return;
        this.#trace.add(`${this.name}: has ${type}`, [this.name]);
      },
    });
  }

  /** The emulator's socket class, so that the network can be cut, and a close after DISCONNECT's reply be seen. */
  #webSocketClass(): InProcessEmulator['WebSocket'] {
    const opened = (socket: Socket): void => {
      this.#sockets.add(socket);
      socket.addEventListener('close', () => this.#sockets.delete(socket));
    };
    const closing = (socket: Socket): void => {
      const [first] = this.#sockets;
      if (socket === first) this.#isAnswered = true;
    };
    const { offersNothing = false } = this.#options;
    const hear = (text: unknown): void => {
      if (text === '?') this.#events.wronged?.(`${this.name} was nudged, and had not offered that`);
    };
    return class extends this.#emulator.WebSocket {
      constructor(url: string, subprotocols?: readonly string[]) {
        super(url, offersNothing ? ['mqtt-text-v1'] : subprotocols);
        opened(this);
        if (offersNothing) this.addEventListener('message', ({ data }) => hear(data));
      }

      override close(code?: number, reason?: string): void {
        // The transport closes only when DISCONNECT has been answered; a connection that it gives up it terminates.
        closing(this);
        super.close(code, reason);
      }
    };
  }

  #listen(): void {
    const { message, acknowledged, connected, ended } = this.#events;
    this.mqtt.on('error', () => {});
    this.mqtt.on('connect', ({ sessionPresent }) => {
      this.#trace.add(`${this.name}: CONNACK, connection ${this.connections}`, [this.name]);
      connected?.(this.connections, sessionPresent);
    });
    this.mqtt.on('close', () => {
      this.#unacknowledged.clear();
      this.#trace.add(`${this.name}: connection ${this.connections} is over`, [this.name]);
      ended?.(this.connections, this.#isAnswered);
      this.#isAnswered = false;
    });
    this.mqtt.on('message', (topic, payload, { retain }) => {
      const text = payload.toString();
      this.#trace.add(`${this.name}: receives ${topic}=${text}`, [`${topic}=${text}`]);
      message?.(topic, text, retain);
    });
    this.mqtt.on('packetsend', (packet) => this.#packetSent(packet));
    this.mqtt.on('packetreceive', (packet) => {
      this.#packetReceived(packet);
      const sent = acknowledgedId(packet);
      const publish = sent === undefined ? undefined : this.#sent.get(sent);
      if (publish === undefined) return;
      this.#trace.add(`${this.name}: ${packet.cmd} of ${publish.topic}=${publish.payload}`, [
        `${publish.topic}=${publish.payload}`,
      ]);
      acknowledged?.(publish.topic, publish.payload);
    });
  }

  #packetSent(packet: mqtt.Packet): void {
    if (packet.messageId === undefined) return;
    if (packet.cmd === 'puback' || packet.cmd === 'pubcomp') this.#unacknowledged.delete(packet.messageId);
    if (packet.cmd !== 'publish') return;
    const payload = packet.payload.toString();
    const before = this.#sent.get(packet.messageId);
    if (before?.topic === packet.topic && before.payload === payload)
      this.#events.sentAgain?.(packet.topic, payload);
    this.#sent.set(packet.messageId, { topic: packet.topic, payload });
    this.#trace.add(`${this.name}: sends ${packet.topic}=${payload}${packet.dup ? ' again' : ''}`, [
      `${packet.topic}=${payload}`,
    ]);
  }

  /** Receive Maximum [MQTT-3.3.4-9]. */
  #packetReceived(packet: mqtt.Packet): void {
    if (packet.cmd !== 'publish' || packet.messageId === undefined) return;
    this.#unacknowledged.add(packet.messageId);
    const { receiveMaximum } = this.#options;
    if (receiveMaximum !== undefined && this.#unacknowledged.size > receiveMaximum)
      this.#events.wronged?.(`${this.name} got more than ${receiveMaximum} messages unacknowledged`);
  }
}

/** An answer after which the server has to deliver the message. PUBCOMP adds nothing to PUBREC. */
function acknowledgedId(packet: mqtt.Packet): number | undefined {
  if (packet.cmd !== 'puback' && packet.cmd !== 'pubrec') return undefined;
  return (packet.reasonCode ?? 0) < 0x80 ? packet.messageId : undefined;
}
