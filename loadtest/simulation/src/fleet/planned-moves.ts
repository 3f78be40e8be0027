import { EventLoop } from '../event-loop.ts';
import type { Quotas } from '../quotas.ts';
import { Random } from '../random.ts';
import { TokenBucket } from '../token-bucket.ts';
import { RETURN_SECONDS_MAX } from './fleet.ts';
import { laterWaitsOf, reconnectWaitMs } from './reconnect-waits.ts';
import type { FleetWorkload } from './workload.ts';

/** A session moves after this share of its connection's life, at random between the two (packages/client/src/limits.ts). */
export const MOVE_FROM = 0.75;
export const MOVE_UNTIL = 0.96;

/** How long a move waits that the gateway has refused (packages/client/src/limits.ts). */
export const MOVE_AGAIN_MS = 60_000;

/** The handshakes of a fleet whose connections have nearly the same age. */
export interface PlannedHandshakes {
  /** The most within one second. */
  readonly peak: number;
  readonly refused: number;
  /** Seconds since the first client connected. */
  readonly firstSeconds: number;
  readonly lastSeconds: number;
}

interface Plan {
  readonly ageMs: (random: Random) => number;
  /** The wait after this many refused tries. */
  readonly againMs: (refused: number, random: Random) => number;
}

/** Each session moves at a random age before the gateway's cut. */
export function plannedMoves(workload: FleetWorkload, quotas: Quotas): PlannedHandshakes {
  const lifeMs = workload.connectionSeconds * 1_000;
  return handshakesOf(workload, quotas, {
    ageMs: (random) => lifeMs * (MOVE_FROM + (MOVE_UNTIL - MOVE_FROM) * random.next()),
    againMs: () => MOVE_AGAIN_MS,
  });
}

/** No session moves: the gateway cuts each connection at the same age, and its client reconnects. */
export function cutsForAge(workload: FleetWorkload, quotas: Quotas): PlannedHandshakes {
  const rule = { ...laterWaitsOf(workload), firstWaitSeconds: 0 };
  return handshakesOf(workload, quotas, {
    ageMs: () => workload.connectionSeconds * 1_000,
    againMs: (refused, random) => reconnectWaitMs(refused + 1, rule, () => random.next()),
  });
}

function handshakesOf(
  { clients, connectedWithinSeconds, connectionSeconds, seed }: FleetWorkload,
  { newConnectionsPerSecond }: Quotas,
  { ageMs, againMs }: Plan,
): PlannedHandshakes {
  const random = new Random(seed);
  const loop = new EventLoop();
  const connections = new TokenBucket(newConnectionsPerSecond, Math.max(1, newConnectionsPerSecond));
  let firstMs = Number.POSITIVE_INFINITY;
  let lastMs = 0;
  const open = (refused: number) => {
    firstMs = Math.min(firstMs, loop.nowMs);
    lastMs = loop.nowMs;
    if (!connections.take(loop.nowMs)) loop.after(againMs(refused + 1, random), () => open(refused + 1));
  };
  for (let client = 0; client < clients; client += 1) {
    loop.after(random.next() * connectedWithinSeconds * 1_000 + ageMs(random), () => open(0));
  }
  loop.run((connectedWithinSeconds + connectionSeconds + RETURN_SECONDS_MAX) * 1_000);
  return {
    peak: connections.peakPerSecond,
    refused: connections.refused,
    firstSeconds: firstMs / 1_000,
    lastSeconds: lastMs / 1_000,
  };
}
