import { GATEWAY_QUOTAS, type Quotas } from '@apus/broker';
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

export type QuotaScopeName = keyof typeof SCOPE_TEXTS;
export type QuotaName = keyof typeof QUOTA_TEXTS;
type QuotaSetting = `${QuotaScopeName}${Capitalize<QuotaName>}`;

export const QUOTA_SCOPES = Object.keys(SCOPE_TEXTS) as readonly QuotaScopeName[];
export const QUOTA_NAMES = Object.keys(QUOTA_TEXTS) as readonly QuotaName[];

/** `identity`, `framesPerSecondMax` → `identityFramesPerSecondMax`. */
export function quotaSetting(scope: QuotaScopeName, name: QuotaName): QuotaSetting {
  return `${scope}${name.charAt(0).toUpperCase()}${name.slice(1)}` as QuotaSetting;
}

/** `limits.sessionsMax` bounds the sessions of all together. */
const QUOTA_PRESETS: { readonly [S in QuotaScopeName]: Partial<Quotas> } = GATEWAY_QUOTAS;

/** A setting for each quota that there is, with its default. */
export const QUOTA_SETTINGS = Object.fromEntries(
  QUOTA_SCOPES.flatMap((scope) =>
    QUOTA_NAMES.filter((name) => QUOTA_PRESETS[scope][name] !== undefined).map((name): [string, Setting] => [
      quotaSetting(scope, name),
      {
        kind: 'count',
        value: 'COUNT',
        help: `${QUOTA_TEXTS[name]} ${SCOPE_TEXTS[scope]}. 0: any number.`,
        preset: String(QUOTA_PRESETS[scope][name]),
      },
    ]),
  ),
) as Record<QuotaSetting, Setting>;
