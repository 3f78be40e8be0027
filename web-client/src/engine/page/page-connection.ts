import { BoundedFrameLog } from '../log/frame-log.ts';
import { BoundedMessageLog } from '../log/message-log.ts';
import { BoundedPacketLog } from '../log/packet-log.ts';
import type { Batch } from '../protocol.ts';
import type {
  ConnectionProfile,
  LiveConnection,
  Outcome,
  PublishRequest,
  Secrets,
  Subscription,
} from '../types.ts';
import type { Line } from './line.ts';
import { readFrames, readLinks, readMessages, readPackets } from './read-batch.ts';

/** A connection on the page: its logs, and commands to the worker. */
export class PageConnection implements LiveConnection {
  readonly id: string;
  readonly messages = new BoundedMessageLog();
  readonly packets = new BoundedPacketLog();
  readonly frames = new BoundedFrameLog();
  readonly #line: Line;

  constructor(id: string, line: Line) {
    this.id = id;
    this.#line = line;
    // Cleared messages do not come back.
    this.messages.onClear(() => this.forgetKept());
  }

  /** @param packetBytesMax the largest packet that the server is known to take, where CONNACK does not say */
  open(profile: ConnectionProfile, secrets: Secrets, packetBytesMax?: number): void {
    this.#line.send({ type: 'open', id: this.id, profile, secrets, packetBytesMax });
  }

  /** @param withWill whether the server has to publish the will nevertheless */
  close(withWill = false): void {
    this.#line.send({ type: 'close', id: this.id, withWill });
  }

  /** Loses the connection without a DISCONNECT. */
  cut(): void {
    this.#line.send({ type: 'cut', id: this.id });
  }

  /** Shows the server another token without ending the session, or has the next connection do so. */
  renew(token: string): void {
    this.#line.send({ type: 'renew', id: this.id, token });
  }

  /** Makes the next attempt now, without waiting. */
  retry(): void {
    this.#line.send({ type: 'retry', id: this.id });
  }

  setSubscriptions(subscriptions: readonly Subscription[]): void {
    this.#line.send({ type: 'subscriptions', id: this.id, subscriptions });
  }

  /**
   * Sets whether its messages stay across a reload.
   *
   * @returns resolves when the stored ones are in the log
   */
  keep(isKept: boolean): Promise<void> {
    return this.#line.keep(this.id, isKept);
  }

  /** Deletes the stored messages; the log stays. */
  forgetKept(): void {
    this.#line.send({ type: 'forget', id: this.id });
  }

  publish(request: PublishRequest): Promise<Outcome> {
    return this.#line.publish(this.id, request);
  }

  /** Messages that stayed across a reload. */
  takeKept(batch: Batch): void {
    this.messages.append(readMessages(this.id, batch), batch.marks, batch.outcomes);
  }

  take(batch: Batch): void {
    this.packets.append(readPackets(batch));
    this.frames.append(readFrames(batch));
    readLinks(batch, (packetId, frame) => this.packets.link(packetId, frame));
    this.messages.append(readMessages(this.id, batch), batch.marks, batch.outcomes);
    this.#line.send({ type: 'taken', id: this.id });
  }
}
