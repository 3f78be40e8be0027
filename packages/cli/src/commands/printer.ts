import type { IPublishPacket, MqttClient } from 'mqtt';
import { NotTaken } from './connection-watch.ts';

/**
 * Prints up to `count` messages to standard output. A message is acknowledged when standard output has taken it: one
 * that is not printed comes again to the next connection of the session.
 */
export class Printer {
  /** Resolves when `count` messages are printed and acknowledged, or those that had begun at `stop`. */
  readonly done: Promise<void>;
  /** Resolves at `stop`. */
  readonly stopped: Promise<void>;
  /** Messages that standard output has taken. */
  printed = 0;
  readonly #format: (packet: IPublishPacket) => Buffer;
  /** Packet identifiers of messages that are printed, or wait for it, and are not acknowledged in full. */
  readonly #unacknowledged = new Set<number | undefined>();
  #left: number;
  #waiting = 0;
  #written: Promise<boolean> = Promise.resolve(true);
  #stop: () => void = () => {};
  #end: () => void = () => {};

  constructor(format: (packet: IPublishPacket) => Buffer, count = Number.POSITIVE_INFINITY) {
    this.#format = format;
    this.#left = count;
    this.stopped = new Promise((resolve) => {
      this.#stop = resolve;
    });
    this.done = new Promise((resolve) => {
      this.#end = resolve;
    });
    this.#endIfDone();
  }

  stop(): void {
    this.#left = 0;
    this.#stop();
    this.#endIfDone();
  }

  /** Call it before the client connects. */
  attach(client: MqttClient): void {
    // Set here, since mqtt.js ignores this option of its constructor below MQTT 5.
    client.options.customHandleAcks = (_topic, _payload, packet: IPublishPacket, acknowledge) =>
      void this.#take(client, packet, (isTaken) => acknowledge(isTaken ? 0 : new NotTaken()));
    client.handleMessage = (packet, done) => {
      if (packet.qos === 0) void this.#take(client, packet, () => done());
      else done();
    };
    client.on('packetreceive', (packet) => {
      if (packet.cmd === 'pubrel') this.#unacknowledged.delete(packet.messageId);
      if (packet.cmd === 'connack' && !packet.sessionPresent) this.#unacknowledged.clear();
    });
    const onKeepaliveTimeout = client.onKeepaliveTimeout.bind(client);
    client.onKeepaliveTimeout = () => {
      // The broker's answer to a ping waits behind a message that standard output has not taken.
      if (this.#waiting === 0) return onKeepaliveTimeout();
      client.sendPing();
      client.reschedulePing(true);
    };
  }

  async #take(client: MqttClient, packet: IPublishPacket, answer: (isTaken: boolean) => void): Promise<void> {
    const { stream } = client;
    this.#waiting += 1;
    const isTaken = await this.#print(packet);
    this.#waiting -= 1;
    // On another connection the packet identifier may be that of another message.
    if (client.connected && client.stream === stream) {
      if (packet.qos === 1) this.#unacknowledged.delete(packet.messageId);
      answer(isTaken);
    }
    this.#endIfDone();
  }

  /** Whether standard output has the message. */
  #print(packet: IPublishPacket): Promise<boolean> {
    const { qos, dup, messageId } = packet;
    const isRepeated = dup && this.#unacknowledged.has(messageId);
    if (isRepeated) return this.#written;
    if (this.#left === 0) return Promise.resolve(false);
    this.#left -= 1;
    if (qos > 0) this.#unacknowledged.add(messageId);
    this.#written = this.#written.then((isUsable) => isUsable && this.#write(packet));
    return this.#written;
  }

  /** After an error `main.ts` ends the process. */
  async #write(packet: IPublishPacket): Promise<boolean> {
    const error = await new Promise((resolve) => process.stdout.write(this.#format(packet), resolve));
    if (!error) this.printed += 1;
    return !error;
  }

  #endIfDone(): void {
    if (this.#left === 0 && this.#waiting === 0) this.#end();
  }
}
