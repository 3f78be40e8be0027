import { Alarm, type Timers } from '../environment.ts';
import { ABNORMAL, HELD_BYTES_MAX } from '../limits.ts';
import { type MqttSocket, mqttSocket, ReadyState, type SocketEnd } from '../mqtt-socket.ts';
import { SocketFaces } from '../socket-faces.ts';
import type { Carrier, CarrierHandler } from './carrier.ts';
import type { Opening } from './opening.ts';

/** The time to send what waits, and to be answered. */
const CLOSING_MS = 5_000;

/** The socket that mqtt.js is given, over the carrier that opens. */
export class FallbackSocket implements SocketEnd, CarrierHandler {
  readonly socket: MqttSocket;
  readonly #faces: SocketFaces;
  readonly #alarm: Alarm;
  readonly #told: (carrier: Carrier) => void;
  #opening: Opening | undefined;
  #carrier: Carrier | undefined;
  #readyState: number = ReadyState.CONNECTING;

  /** @param told which carrier is used */
  constructor(timers: Timers, told: (carrier: Carrier) => void) {
    this.#faces = new SocketFaces(timers);
    this.#alarm = new Alarm(timers);
    this.#told = told;
    this.socket = mqttSocket(this.#faces, this);
  }

  /** @param open begins to open a carrier for this socket */
  open(open: () => Opening): void {
    if (this.readyState === ReadyState.CONNECTING) this.#opening = open();
  }

  get readyState(): number {
    return this.#readyState;
  }

  get bufferedAmount(): number {
    return this.#carrier?.bufferedAmount ?? 0;
  }

  write(data: ArrayBuffer | ArrayBufferView, sent: (error?: Error) => void): void {
    if (this.readyState !== ReadyState.OPEN) sent(new Error('The socket is not open.'));
    else this.#carrier?.send(bytesOf(data), sent);
  }

  pause(isPaused: boolean): void {
    this.#faces.pause(isPaused);
    this.#carrier?.pause(isPaused);
  }

  close(): void {
    if (this.readyState === ReadyState.CONNECTING) this.terminate();
    if (this.readyState !== ReadyState.OPEN) return;
    this.#readyState = ReadyState.CLOSING;
    this.#alarm.set(CLOSING_MS, () => this.terminate());
    this.#carrier?.close();
  }

  terminate(): void {
    this.#opening?.stop();
    this.#carrier?.terminate();
    this.closed(ABNORMAL, '');
  }

  opened(carrier: Carrier): void {
    this.#carrier = carrier;
    this.#readyState = ReadyState.OPEN;
    this.#told(carrier);
    this.#faces.open();
  }

  received(bytes: Uint8Array): void {
    if (this.readyState === ReadyState.CLOSED) return;
    // mqtt.js gets the whole buffer.
    this.#faces.message(bytes.slice());
    if (this.#faces.bytesWaiting > HELD_BYTES_MAX) this.terminate();
  }

  closed(code: number, reason: string): void {
    if (this.readyState === ReadyState.CLOSED) return;
    const wasOpen = this.#carrier !== undefined;
    this.#readyState = ReadyState.CLOSED;
    this.#alarm.clear();
    if (!wasOpen && reason !== '') this.#faces.error(new Error(reason));
    this.#faces.close(code, reason);
  }
}

function bytesOf(data: ArrayBuffer | ArrayBufferView): Uint8Array {
  return ArrayBuffer.isView(data)
    ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
    : new Uint8Array(data);
}
