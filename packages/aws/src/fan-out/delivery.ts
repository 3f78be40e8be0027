import type { ConnectionId } from '@apus/broker';
import type { OnUnfinished } from '../connections/lost-connections.ts';
import { Frame } from '../frames/frame.ts';

/** Frames on their way to one connection. */
export interface Delivery {
  readonly connectionId: ConnectionId;
  readonly tenant: string;
  /** Where it is posted: the connection, or the one that its session has moved to. */
  to: ConnectionId;
  /** The connection, and those that its session has moved to. Frames for any of them join the delivery. */
  readonly names: Set<ConnectionId>;
  frames: readonly Frame[];
  /** The next frame. */
  index: number;
  /** How often the next frame was refused. */
  tries: number;
  /** The share of all posts that were refused when it was refused last. */
  share: number;
  /** Called when the time is out: each slice of the delivery has to come again. */
  onUnfinished: readonly OnUnfinished[];
}

/** Leaves only the packets that no queue holds: the queue of the session sends the others on its new connection. */
export function keepUnkept(delivery: Delivery): void {
  const unkept = leftOf(delivery).map(({ unkept }) => unkept);
  delivery.frames = unkept.filter(({ length }) => length > 0).map(Frame.of);
  delivery.index = 0;
}

/** The frames that have not been sent. */
export function leftOf({ frames, index }: Delivery): readonly Frame[] {
  return frames.slice(index);
}

export function mustArrive(delivery: Delivery): boolean {
  return leftOf(delivery).some((frame) => frame.mustArrive);
}

export function packetsIn(frames: readonly Frame[]): number {
  return frames.reduce((sum, { packets }) => sum + packets, 0);
}
