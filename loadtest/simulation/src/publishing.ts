import { FRAME_BYTES_MAX } from '@apus/cost';
import type { FanOutWorkers } from './fan-out-workers.ts';
import type { Frames } from './frames.ts';
import type { Model } from './model.ts';

/** Subscribers in the head item of a filter: the frame serves them itself (docs/data-model.md). */
export const INLINE_RECIPIENTS = 12;

/** PUBLISH beside its payload: fixed header, topic of 24 bytes, packet id, MQTT 5's property length. */
export const PACKET_OVERHEAD_BYTES = 31;
/** A clock, a marker, and a PUBACK in base64. */
const REPLY_BYTES = 23;

/** A publisher that waits for a reply, with the times of messages that it has published meanwhile. */
interface Outstanding {
  readonly gathered: number[];
  /** How often its connection was lost before. */
  readonly losses: number;
}

/** A client returns at a random time from one second to 2, 4, 8 … 120 (docs/text-frames.md, section 8). */
const RETURN_MS = { least: 1_000, most: 120_000 };

/** Publishers with one frame in flight each: messages published meanwhile leave in one frame. */
export class Publishing {
  readonly #model: Model;
  readonly #frames: Frames;
  readonly #workers: FanOutWorkers;
  readonly #busy = new Map<number, Outstanding>();
  readonly #packetBytes: number;
  readonly #packetsMax: number;

  constructor(model: Model, frames: Frames, workers: FanOutWorkers) {
    this.#model = model;
    this.#frames = frames;
    this.#workers = workers;
    this.#packetBytes = model.workload.payloadBytes + PACKET_OVERHEAD_BYTES;
    this.#packetsMax = Math.max(1, Math.floor(FRAME_BYTES_MAX / this.#packetBytes));
  }

  publish(publisher: number): void {
    const { loop } = this.#model;
    this.#model.backlog.unanswered += 1;
    this.#model.count((tally) => {
      tally.published += 1;
    });
    const outstanding = this.#busy.get(publisher);
    if (outstanding === undefined) this.#send(publisher, [loop.nowMs], 0);
    else outstanding.gathered.push(loop.nowMs);
  }

  #send(publisher: number, publishedAtMs: readonly number[], losses: number): void {
    const { workload } = this.#model;
    const now = publishedAtMs.slice(0, this.#packetsMax);
    const outstanding: Outstanding = { gathered: publishedAtMs.slice(this.#packetsMax), losses };
    this.#busy.set(publisher, outstanding);
    this.#frames.receive({
      use: {
        calls: 1,
        // Reads the connection, and a head item for each shape that matches the topic.
        reads: 1 + workload.shapes,
        writes: 0,
        isHotTopic: workload.topics === 1,
      },
      replyBytes: REPLY_BYTES,
      work: (then) => this.#accept(publisher, now, then),
      onEnd: (isAnswered) => {
        if (isAnswered) this.#answered(publisher, now, outstanding);
        else this.#lost(publisher, now, outstanding);
      },
    });
  }

  #answered(publisher: number, publishedAtMs: readonly number[], { gathered }: Outstanding): void {
    const { loop } = this.#model;
    this.#model.backlog.unanswered -= publishedAtMs.length;
    for (const atMs of publishedAtMs) {
      this.#model.count((tally) => tally.acknowledgeMs.add(loop.nowMs - atMs));
    }
    this.#busy.delete(publisher);
    if (gathered.length > 0) this.#send(publisher, gathered, 0);
  }

  /**
   * The gateway has closed the connection, or the frame's fate is unknown: the publisher sends QoS 1 again when it is
   * back.
   */
  #lost(publisher: number, publishedAtMs: readonly number[], { gathered, losses }: Outstanding): void {
    const { loop, random, workload } = this.#model;
    const most = Math.min(RETURN_MS.most, RETURN_MS.least * 2 ** (losses + 1));
    const isSentAgain = workload.qos === 1;
    if (!isSentAgain) {
      this.#model.backlog.unanswered -= publishedAtMs.length;
      this.#model.count((tally) => {
        tally.deliveriesLost += publishedAtMs.length * workload.recipients;
      });
    }
    loop.after(RETURN_MS.least + random.next() * (most - RETURN_MS.least), () => {
      const again = isSentAgain ? [...publishedAtMs, ...gathered] : gathered;
      this.#busy.delete(publisher);
      if (again.length > 0) this.#send(publisher, again, losses + 1);
    });
  }

  /** The limits of the publisher and of its tenant are looked at before anything leaves. */
  #accept(publisher: number, publishedAtMs: readonly number[], then: (isDone: boolean) => void): void {
    const { limits, loop, workload } = this.#model;
    if (!limits.takeFrame(publisher, publishedAtMs.length, loop.nowMs)) {
      this.#model.count((tally) => {
        tally.framesOverLimit += 1;
      });
      then(false);
      return;
    }
    const taken = publishedAtMs.filter(() =>
      limits.takeDeliveries(publisher, workload.recipients, loop.nowMs),
    );
    const refused = publishedAtMs.length - taken.length;
    this.#model.count((tally) => {
      tally.publishesOverLimit += refused;
      tally.deliveriesLost += refused * workload.recipients;
    });
    if (taken.length === 0) then(true);
    else this.#distribute(taken, then);
  }

  /** The frame posts to the subscribers in the head item, and leaves the others to workers before the reply. */
  #distribute(publishedAtMs: readonly number[], then: (isDone: boolean) => void): void {
    const { recipients } = this.#model.workload;
    const inline = Math.min(recipients, INLINE_RECIPIENTS);
    let left = inline + (recipients > inline ? 1 : 0);
    let isDone = true;
    const one = (isGood: boolean) => {
      isDone &&= isGood;
      left -= 1;
      if (left === 0) then(isDone);
    };
    if (recipients > inline) this.#workers.accept(recipients - inline, publishedAtMs, one);
    const { times, loop } = this.#model;
    const bytes = pushBytes(this.#packetBytes * publishedAtMs.length);
    for (let index = 0; index < inline; index += 1) {
      loop.after(this.#model.cpu(index === 0 ? 0 : times.postCpuMs), () => {
        this.#model.post(bytes, (isSent) => {
          for (const atMs of publishedAtMs) deliver(this.#model, atMs, isSent);
          // A connection that refuses is closed, or loses a QoS 0 message: the publisher is answered all the same.
          one(true);
        });
      });
    }
  }
}

/** Base64 of MQTT bytes. */
export function pushBytes(mqttBytes: number): number {
  return Math.ceil(mqttBytes / 3) * 4;
}

/** One message has reached one recipient, or never will. */
export function deliver(model: Model, publishedAtMs: number, isSent: boolean): void {
  const { loop } = model;
  model.count((tally) => {
    if (isSent) {
      tally.delivered += 1;
      tally.deliveryMs.add(loop.nowMs - publishedAtMs);
    } else tally.deliveriesLost += 1;
  });
}
