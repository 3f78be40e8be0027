import { FRAMES_BYTES_MAX, FRAMES_MAX } from '../limits.ts';
import type { FrameLog, LoggedFrame } from '../types.ts';
import { FrameListeners, type Schedule } from './frames.ts';
import { Ring } from './ring.ts';

export interface FrameLogLimits {
  readonly framesMax: number;
  readonly bytesMax: number;
}

/** A frame and the MQTT bytes that it holds. */
export type FrameFields = LoggedFrame & { readonly byteLength: number };

/** The last text frames, in both directions. */
export class BoundedFrameLog implements FrameLog {
  readonly limits: FrameLogLimits;
  readonly #ring: Ring<FrameFields>;
  readonly #listeners: FrameListeners;
  #bytes = 0;
  #changes = 0;

  constructor(
    limits: FrameLogLimits = { framesMax: FRAMES_MAX, bytesMax: FRAMES_BYTES_MAX },
    schedule?: Schedule,
  ) {
    this.limits = limits;
    this.#ring = new Ring(limits.framesMax);
    this.#listeners = new FrameListeners(schedule);
  }

  get size(): number {
    return this.#ring.size;
  }

  get changes(): number {
    return this.#changes;
  }

  newest(): readonly LoggedFrame[] {
    const { size, end } = this.#ring;
    return Array.from({ length: size }, (_, index) => this.#ring.at(end - 1 - index) as LoggedFrame);
  }

  /** Some numbers are missing: the page was too busy to take their frames. */
  withNumber(number: number): LoggedFrame | undefined {
    return this.#ring.find(number, (frame) => frame.number);
  }

  append(frames: readonly FrameFields[]): void {
    if (frames.length === 0) return;
    for (const frame of frames) {
      if (this.#ring.isFull) this.#evict();
      this.#ring.push(frame);
      this.#bytes += frame.byteLength;
      while (this.#bytes > this.limits.bytesMax && this.#ring.size > 1) this.#evict();
    }
    this.#changed();
  }

  clear(): void {
    this.#ring.clear();
    this.#bytes = 0;
    this.#changed();
  }

  onFrame(listener: () => void): () => void {
    return this.#listeners.add(listener);
  }

  #changed(): void {
    this.#changes += 1;
    this.#listeners.changed();
  }

  #evict(): void {
    this.#bytes -= this.#ring.shift()?.byteLength ?? 0;
  }
}
