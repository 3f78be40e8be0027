import {
  type Attachment,
  type Identity,
  NEVER_EXPIRES,
  type OpenSession,
  type SessionRecord,
} from '@apus/broker';
import type { Will } from '@apus/mqtt';
import { ItemTooLargeError } from './errors.ts';
import { WILL_BYTES_MAX } from './limits.ts';
import { type QueuePhase, SessionSnapshot } from './session-ref.ts';
import { fromJson, type Item, numberOf, textOf, toJson } from './values.ts';

/*
 * A session item. `i` incarnation, `o` nonce of the open that made it what it is, `c` connection (absent while
 * offline), `l` last connection, `r` attachment and identity, `x` expiry in seconds, `z` detached at (0: attached),
 * `u` continues until, `w` will (empty: none), `q` queue phase, `rn` and `rb` what left the queue.
 * `pi`, `pr`, `px`, `pz`, `pw` are `i`, `r`, `x`, `z`, `w` as they were before the last open, and `pc` the connection.
 */

/** Later than any moment: a session that does not expire, or has its connection. */
export const FOREVER_MS = 9e15;

/** An attribute that has to be there has nothing to say. */
export const NONE = '';

interface Settled {
  readonly attachment: Attachment;
  readonly identity: Identity;
}

const PHASES: Readonly<Record<string, QueuePhase>> = {
  S: 'settling',
  D: 'draining',
  L: 'live',
  X: 'crowded',
};

export const LETTER_OF: Readonly<Record<QueuePhase, string>> = {
  settling: 'S',
  draining: 'D',
  live: 'L',
  crowded: 'X',
};

export function settledJson({ attachment, identity }: OpenSession): string {
  return toJson({ attachment, identity });
}

export function willJson(will: Will | undefined): string {
  if (will === undefined) return NONE;
  const json = toJson(will);
  if (json.length > WILL_BYTES_MAX) throw new ItemTooLargeError('a will', json.length, WILL_BYTES_MAX);
  return json;
}

export function willOf(json: string | undefined): Will | undefined {
  return json === undefined || json === NONE ? undefined : (fromJson(json) as Will);
}

/** Until when a session continues whose connection has ended; not beyond the connection with expiry 0 [MQTT-4.1.0-2]. */
export function continuesUntilMs(expirySeconds: number, detachedAtMs: number): number {
  if (expirySeconds === NEVER_EXPIRES) return FOREVER_MS;
  return expirySeconds === 0 ? 0 : detachedAtMs + expirySeconds * 1_000;
}

/** The record of an item as it stands, or as it stood before the last `open`. */
export function recordOf(
  item: Item,
  tenant: string,
  clientId: string,
  when: 'now' | 'before' = 'now',
): SessionRecord | undefined {
  const at = (name: string) => (when === 'now' ? name : `p${name}`);
  const incarnation = textOf(item, at('i')) ?? NONE;
  if (incarnation === NONE) return undefined;
  const { attachment: settled, identity } = fromJson(textOf(item, at('r')) ?? '{}') as Settled;
  const detachedAtMs = numberOf(item, at('z')) ?? 0;
  const attachment = detachedAtMs === 0 ? settled : undefined;
  const standing = when === 'now' ? standingOf(item) : undefined;
  return {
    session: new SessionSnapshot({ tenant, clientId, incarnation }, attachment, standing),
    attachment,
    expirySeconds: numberOf(item, at('x')) ?? 0,
    identity,
    will: willOf(textOf(item, at('w'))),
    detachedAtMs: detachedAtMs === 0 ? undefined : detachedAtMs,
  };
}

function standingOf(item: Item) {
  return {
    phase: PHASES[textOf(item, 'q') ?? ''] ?? 'draining',
    removed: numberOf(item, 'rn') ?? 0,
    removedBytes: numberOf(item, 'rb') ?? 0,
  } as const;
}
