import { Frames } from '../frames.ts';
import { Model, type StoreUse } from '../model.ts';
import type { Quotas } from '../quotas.ts';
import type { ServiceTimes } from '../service-times.ts';
import { workloadFrom } from '../workload.ts';
import { bufferCapacity, MessagesAway, packetBytesOf } from './messages-away.ts';
import { laterWaitsOf, type ReconnectRule } from './reconnect-waits.ts';
import { ReturningClient } from './returning-client.ts';
import { KEPT_LOSS_USE, LOSS_USE, MARK_LOST_USE } from './uses.ts';
import type { FleetWorkload } from './workload.ts';

/** The ways to return. With the first and the last the session ends with its connection, or after its grace period. */
export const WAYS = ['reconnect', 'kept session', 'resume'] as const;
export type Way = (typeof WAYS)[number];

/** The longest return; then the run is over. */
export const RETURN_SECONDS_MAX = 7_200;

export interface FleetOptions {
  readonly way: Way;
  readonly firstWaitSeconds: number;
  readonly quotas: Quotas;
  readonly times: ServiceTimes;
}

const LOSSES: { readonly [W in Way]: StoreUse } = {
  reconnect: LOSS_USE,
  'kept session': KEPT_LOSS_USE,
  resume: MARK_LOST_USE,
};

/** A fleet that is cut at one moment, and what its clients share while they come back. */
export class Fleet {
  readonly model: Model;
  readonly frames: Frames;
  readonly way: Way;
  readonly rule: ReconnectRule;
  readonly resumeMs: number;
  readonly capacity: number;
  readonly packetBytes: number;
  readonly clients: readonly ReturningClient[];
  /** By the quota of new connections. */
  handshakesRefused = 0;

  constructor(workload: FleetWorkload, { way, firstWaitSeconds, quotas, times }: FleetOptions) {
    const { clients, messageEverySeconds, resumeSeconds, seed } = workload;
    const traffic = {
      connections: clients,
      messagesPerSecond: clients / messageEverySeconds,
      warmUpSeconds: 0,
      seed,
    };
    this.model = new Model(workloadFrom(traffic), quotas, times, 0);
    this.frames = new Frames(this.model);
    this.way = way;
    this.rule = { ...laterWaitsOf(workload), firstWaitSeconds };
    this.resumeMs = resumeSeconds * 1_000;
    this.capacity = bufferCapacity(workload);
    this.packetBytes = packetBytesOf(workload);
    const intervalMs = messageEverySeconds * 1_000;
    // Drawn first, so that the messages are the same in every way.
    const offsets = Array.from({ length: clients }, () => this.model.random.next() * intervalMs);
    this.clients = offsets.map((ms) => new ReturningClient(this, new MessagesAway(ms, intervalMs)));
  }

  /** Cuts all connections, and ends when all clients are back or the time is over. */
  run(): void {
    for (const client of this.clients) {
      this.lose(LOSSES[this.way]);
      client.comeBack();
    }
    this.model.loop.run(RETURN_SECONDS_MAX * 1_000);
  }

  /** `$disconnect`. If no function is free for it, a publisher or the sweep does its work later. */
  lose(use: StoreUse): void {
    this.frames.receive({
      kind: 'loss',
      use,
      replyBytes: 0,
      onEnd: (isDone) => {
        if (!isDone) this.bill(use.reads, use.writes);
      },
    });
  }

  /** Units that other clients use for the fleet. */
  bill(reads: number, writes: number): void {
    this.model.count((tally) => {
      tally.readUnits += reads;
      tally.writeUnits += writes;
    });
  }
}
