import { FRAMES_BYTES_MAX, FRAMES_MAX } from '../limits.ts';
import type { FrameLog, LoggedFrame } from '../types.ts';
import { BoundedLog, type LogLimits } from './bounded-log.ts';
import type { Schedule } from './frames.ts';

/** A frame and the MQTT bytes that it holds. */
export type FrameFields = LoggedFrame & { readonly byteLength: number };

const LIMITS: LogLimits = { countMax: FRAMES_MAX, bytesMax: FRAMES_BYTES_MAX };

/** The last text frames, in both directions. */
export class BoundedFrameLog extends BoundedLog<FrameFields> implements FrameLog {
  constructor(limits = LIMITS, schedule?: Schedule) {
    super(limits, ({ byteLength }) => byteLength, schedule);
  }

  newest(): readonly LoggedFrame[] {
    const { size, end } = this.ring;
    return Array.from({ length: size }, (_, index) => this.ring.at(end - 1 - index) as LoggedFrame);
  }

  /** Some numbers are missing: the page was too busy to take their frames. */
  withNumber(number: number): LoggedFrame | undefined {
    return this.ring.find(number, (frame) => frame.number);
  }

  append(frames: readonly FrameFields[]): void {
    for (const frame of frames) this.push(frame);
    if (frames.length > 0) this.changed();
  }
}
