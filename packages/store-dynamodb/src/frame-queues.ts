import type { QueueStore, SessionRef } from '@apus/broker';
import type { Bodies } from './bodies.ts';
import type { FrameCache } from './frame-cache.ts';
import type { Leavings } from './leavings.ts';
import type { Table } from './table.ts';

/** Queues that gather what a frame does, and write it at its end. */
export interface FrameQueues extends QueueStore {
  length(session: SessionRef): Promise<number>;
  commit(): Promise<void>;
  endFrame(): void;
}

/** Makes the queues over a table. */
export type MakeQueues = (table: Table, bodies: Bodies, leavings: Leavings, frame: FrameCache) => FrameQueues;
