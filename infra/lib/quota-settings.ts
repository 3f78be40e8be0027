import { GATEWAY_QUOTAS } from '@apus/broker';
import type { Setting } from './settings.ts';

/** Quotas of clients, each for an identity, a tenant, and all together. */
const QUOTA_TEXTS = {
  framesPerSecondMax: 'Frames a second',
  publishesPerSecondMax: 'PUBLISH packets a second',
  bytesPerSecondMax: 'Bytes a second',
  writesPerMinuteMax: 'Filters and kilobytes of retained messages a minute',
  deliveriesPerMinuteMax: 'Deliveries a minute',
  messagesPerMinuteMax: 'Messages a minute as the breaker counts them',
  connectionsMax: 'Connections',
  sessionsMax: 'Sessions',
  retainedMessagesMax: 'Retained messages',
  retainedBytesMax: 'Bytes of retained messages',
} as const;

const SCOPE_TEXTS = { identity: 'of one identity', tenant: 'of one tenant', broker: 'of all' } as const;

type QuotaSetting = `${keyof typeof SCOPE_TEXTS}${Capitalize<keyof typeof QUOTA_TEXTS>}`;

/**
 * A setting for each quota that there is, with its default: `identityFramesPerSecondMax`. `limits.sessionsMax` bounds
 * the sessions of all together.
 */
export const QUOTA_SETTINGS = Object.fromEntries(
  Object.entries(SCOPE_TEXTS).flatMap(([scope, whose]) => {
    const presets = new Map(Object.entries(GATEWAY_QUOTAS[scope as keyof typeof SCOPE_TEXTS]));
    return Object.entries(QUOTA_TEXTS).flatMap(([name, what]): readonly [string, Setting][] => {
      if (!presets.has(name)) return [];
      const [help, preset] = [`${what} ${whose}. 0: any number.`, String(presets.get(name))];
      const setting = `${scope}${name.charAt(0).toUpperCase()}${name.slice(1)}`;
      return [[setting, { kind: 'count', help, preset, prop: `quotas.${scope}.${name}` }]];
    });
  }),
) as Record<QuotaSetting, Setting & { readonly kind: 'count' }>;
