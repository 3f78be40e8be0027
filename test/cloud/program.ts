import { connect as connectInTextFrames, createTransport, type TransportEvent } from '@apus/client';
import type { InProcessEmulator } from '@apus/emulated-aws';
import * as mqtt from 'mqtt';

/** Events of its client that a program notices, without messages. */
const EVENTS = ['connect', 'reconnect', 'close', 'disconnect', 'offline', 'error', 'end'] as const;

type Socket = InstanceType<InProcessEmulator['WebSocket']>;

/** A program with stock mqtt.js, through the transport. */
export class Program {
  readonly mqtt: mqtt.MqttClient;
  readonly received: string[] = [];
  readonly noticed: string[] = [];
  readonly events: TransportEvent[] = [];
  /** While set, no handshake succeeds. */
  isOffline = false;
  readonly #statistics: { readonly connections: number };
  readonly #sockets: Socket[] = [];

  constructor(emulator: InProcessEmulator, name: string, options: mqtt.IClientOptions = {}) {
    const sockets = this.#sockets;
    const reach = (subprotocols: readonly string[] = []) => (this.isOffline ? ['no network'] : subprotocols);
    const transport = createTransport({
      WebSocket: class extends emulator.WebSocket {
        constructor(url: string, subprotocols?: readonly string[]) {
          super(url, reach(subprotocols));
          sockets.push(this);
        }
      },
      page: {},
      onEvent: (event) => this.events.push(event),
    });
    this.#statistics = transport.statistics;
    this.mqtt = connectInTextFrames(
      mqtt,
      emulator.url,
      { protocolVersion: 5, clientId: name, ...options },
      transport,
    );
    this.mqtt.on('message', (topic, payload) => this.received.push(`${topic} ${payload.toString()}`));
    for (const name of EVENTS) this.mqtt.on(name, () => this.noticed.push(name));
  }

  get connections(): number {
    return this.#statistics.connections;
  }

  /** Of the socket that it has opened last. */
  get connectionId(): string {
    return this.#sockets.at(-1)?.connectionId ?? '';
  }

  told(type: TransportEvent['type']): number {
    return this.events.filter((event) => event.type === type).length;
  }

  /** Payloads that have come on this topic. */
  of(topic: string): string[] {
    return this.received.flatMap((each) =>
      each.startsWith(`${topic} `) ? [each.slice(topic.length + 1)] : [],
    );
  }
}
