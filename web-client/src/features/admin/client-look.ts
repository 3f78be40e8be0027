import type { ClientDetails, SubscriptionLine } from '@apus/api';

/** The figures of one answer and of the one before: rates are their difference. */
export interface ClientLook {
  readonly atMs: number;
  readonly client: ClientDetails;
  readonly subscriptions: readonly SubscriptionLine[];
}

/** The growth of a connection's counter each second; undefined if another connection has begun meanwhile. */
export function perSecond(
  before: ClientLook | undefined,
  now: ClientLook,
  name: 'recv_msg' | 'send_msg',
): number | undefined {
  const [earlier, later] = [before?.client[name], now.client[name]];
  if (before === undefined || earlier == null || later == null) return undefined;
  if (before.client.connected_at !== now.client.connected_at || now.atMs <= before.atMs) return undefined;
  return ((later - earlier) * 1_000) / (now.atMs - before.atMs);
}
