import { Alarm, type Timers } from './environment.ts';
import { WAITING_BYTES_HIGH } from './limits.ts';
import { bodyOf, concat, typeOf } from './packet.ts';
import { PacketSplitter } from './packet-splitter.ts';
import * as PacketType from './packet-type.ts';
import { mayPass } from './session-facts.ts';
import type { GatewaySocket } from './web-socket.ts';

/** Bytes that are gathered in one message. A larger piece leaves alone, as it was written. */
const GATHERED_BYTES_MAX = 65_536;

/** No event of a WebSocket says that it has sent what was given to it. */
const LOOK_MS = 25;

interface BinaryPorts {
  readonly timers: Timers;
  /** CONNACK accepts. */
  readonly connected: () => void;
  /** CONNACK refuses for a reason that may pass. */
  readonly comeBack: () => void;
  /** Hands bytes to the library. */
  readonly deliver: (bytes: Uint8Array<ArrayBuffer>) => void;
  /** Called soon after `isFull` was true. */
  readonly drained: () => void;
}

/**
 * MQTT in binary messages, for a server that chooses the subprotocol `mqtt`: the bytes of the library as they are. Its
 * pieces of one turn leave together, since a server may count messages.
 */
export class BinaryWire {
  readonly #ports: BinaryPorts;
  readonly #alarm: Alarm;
  #socket: GatewaySocket | undefined;
  #gathered: Uint8Array[] = [];
  #bytes = 0;
  /** Until CONNACK: a server or a proxy may cut it into several messages. */
  #splitter: PacketSplitter | undefined = new PacketSplitter();

  constructor(ports: BinaryPorts) {
    this.#ports = ports;
    this.#alarm = new Alarm(ports.timers);
  }

  /** The server has chosen this wire. */
  get isOpen(): boolean {
    return this.#socket !== undefined;
  }

  open(socket: GatewaySocket | undefined): void {
    this.#socket = socket;
    this.flush();
  }

  /** The bytes are copied: the application may use its payload's memory again. */
  write(bytes: Uint8Array): void {
    if (this.#bytes + bytes.length > GATHERED_BYTES_MAX) this.flush();
    if (this.#gathered.length === 0) this.#ports.timers.defer(() => this.flush());
    this.#gathered.push(bytes.slice());
    this.#bytes += bytes.length;
  }

  /** Sends what waits, once the socket is open. */
  flush(): void {
    if (this.#socket === undefined || this.#bytes === 0) return;
    this.#socket.send(concat(this.#gathered.splice(0)));
    this.#bytes = 0;
  }

  /** Whether so much waits that the library must not write. If so, it calls `drained` soon. */
  isFull(): boolean {
    const isFull = (this.#socket?.bufferedAmount ?? 0) >= WAITING_BYTES_HIGH;
    if (isFull) this.#alarm.set(LOOK_MS, this.#ports.drained);
    return isFull;
  }

  /** The library has paused: a socket of `ws` lets its server wait, others cannot. */
  pause(isPaused: boolean): void {
    if (isPaused) this.#socket?.pause?.();
    else this.#socket?.resume?.();
  }

  receive(data: ArrayBuffer): void {
    const bytes = new Uint8Array(data);
    const packets = this.#splitter?.push(bytes) ?? [];
    const connack = packets.find((packet) => typeOf(packet.bytes) === PacketType.CONNACK);
    if (connack !== undefined) this.#answered(connack.bytes);
    this.#ports.deliver(bytes);
  }

  #answered(connack: Uint8Array): void {
    this.#splitter = undefined;
    const code = connack[bodyOf(connack) + 1];
    if (code === 0) this.#ports.connected();
    else if (code !== undefined && mayPass(code)) this.#ports.comeBack();
  }

  stop(): void {
    this.#alarm.clear();
  }
}
