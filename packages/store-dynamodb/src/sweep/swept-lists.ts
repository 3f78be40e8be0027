import { shapeOf } from '@apus/mqtt';
import { subscriptionsOf } from '../sessions/session-list.ts';
import { shortHash } from '../table/keys.ts';
import { type Item, textOf } from '../table/values.ts';
import type { SessionName } from './scan.ts';

/** A session with subscriptions, which may have ended. */
export interface SweptList extends SessionName {
  readonly kind: 'list';
  readonly incarnation: string;
}

/** Hashes of the filter shapes of some subscriptions of a session, if they were asked for. */
export interface SweptShapes {
  readonly kind: 'shapes';
  readonly tenant: string;
  readonly hashes: readonly string[];
}

/** A session that has ended uses the shapes of its list until the list is removed. */
export function shapesIn(item: Item): SweptShapes | undefined {
  const [kind, tenant] = textOf(item, 'p')?.split('\0') ?? [];
  const subscriptions = kind === 'I' ? subscriptionsOf([item]) : [];
  if (tenant === undefined || subscriptions.length === 0) return undefined;
  return {
    kind: 'shapes',
    tenant,
    hashes: subscriptions.map((each) => shortHash(shapeOf(each.topicFilter))),
  };
}

/** A list with a TTL belongs to a session that ends with its connection: its entries are ignored after that. */
export function listOf(item: Item): SweptList | undefined {
  const [kind, tenant, incarnation, clientId, ...cut] = textOf(item, 'p')?.split('\0') ?? [];
  if (kind !== 'I' || tenant === undefined || incarnation === undefined || clientId === undefined)
    return undefined;
  return item.t === undefined && cut.length === 0
    ? { kind: 'list', tenant, clientId, incarnation }
    : undefined;
}
