import { QUOTA_NAMES } from '@apus/broker';
import { count, nullable, object, oneOf, time, type ValueOf } from '../schema.ts';

export const boundSchemas = {
  Breaker: object({
    state: oneOf(['closed', 'tripped'], 'Tripped: clients send next to nothing, and work waits.'),
    since: nullable(time('When it tripped. Null: it is closed.')),
    closes_at: nullable(
      time(
        'The first look at this time or later closes it; there is one every ten minutes. Null: it is closed, or stays tripped until it is reset.',
      ),
    ),
    frames_per_second_max: count('Frames a second that all clients together may send now.'),
    messages_per_minute_max: count('Messages of the gateway in a minute; one more trips the breaker.'),
    messages_last_minute: nullable(
      count('Messages of the gateway in the minute from `last_minute_at`. Null: CloudWatch has none.'),
    ),
    last_minute_at: nullable(time()),
  }),
  Quota: object({
    scope: oneOf(
      ['identity', 'tenant', 'broker'],
      'The holder: one identity, unless it has quotas of its own; the tenant; or all tenants together.',
    ),
    name: oneOf(QUOTA_NAMES),
    max: count(),
    used: nullable(
      count(
        'What is held now, or came in the last minute. Null: not counted here, or the scope is each identity, which counts for itself.',
      ),
    ),
  }),
};

export type BreakerLine = ValueOf<(typeof boundSchemas)['Breaker']>;
export type QuotaLine = ValueOf<(typeof boundSchemas)['Quota']>;
