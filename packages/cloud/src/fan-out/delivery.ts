import type { ConnectionId } from '@apus/broker';
import type { OnUnfinished } from '../connections/lost-connections.ts';
import { Frame } from '../frames/frame.ts';

/** Frames on their way to one connection. */
export interface Delivery {
  readonly connectionId: ConnectionId;
  readonly tenant: string;
  /** Where it is posted: there, or where the session has moved to. */
  to: ConnectionId;
  /** The connection, and those that its session has moved to: frames for any of them join the delivery. */
  readonly names: Set<ConnectionId>;
  frames: readonly Frame[];
  /** The one that is next. */
  index: number;
  /** How often that one was refused. */
  tries: number;
  /** The share of all posts that was refused then. */
  share: number;
  /** Called when the time is out: each slice that the delivery belongs to has to come again. */
  onUnfinished: readonly OnUnfinished[];
}

/** Leaves only the packets that no queue holds: the new connection's queue sends the others anew. */
export function keepUnkept(delivery: Delivery): void {
  const unkept = leftOf(delivery).map(({ unkept }) => unkept);
  delivery.frames = unkept.filter(({ length }) => length > 0).map(Frame.of);
  delivery.index = 0;
}

/** Frames that have not been sent. */
export function leftOf({ frames, index }: Delivery): readonly Frame[] {
  return frames.slice(index);
}

export function mustArrive(delivery: Delivery): boolean {
  return leftOf(delivery).some((frame) => frame.mustArrive);
}

export function packetsIn(frames: readonly Frame[]): number {
  return frames.reduce((sum, { packets }) => sum + packets, 0);
}
