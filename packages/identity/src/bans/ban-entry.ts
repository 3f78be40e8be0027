import {
  BAN_KINDS,
  BAN_TEXT_LENGTH_MAX,
  BAN_WHO_LENGTH_MAX,
  type Ban,
  type BanKind,
  type BanName,
} from '@apus/broker';
import { peerHostOf } from './peer-host.ts';

/** A ban, or the name of one, that cannot be read. The message is a sentence for its sender. */
export class BanEntryError extends Error {
  override readonly name = 'BanEntryError';
}

/** The tenant of the list, the default operator, and the time. */
export interface BanEntryContext {
  readonly tenant: string;
  readonly by: string;
  readonly nowMs: number;
}

/** A ban in the words of EMQX's `/api/v5/banned`; `issued_before` and the kind `token` are additions. */
export interface BanEntry {
  readonly as: BanKind;
  readonly who: string;
  readonly by: string;
  readonly reason: string;
  /** RFC 3339. */
  readonly at: string;
  /** RFC 3339, or `infinity`. */
  readonly until: string;
  /** RFC 3339. */
  readonly issued_before?: string;
}

const NEVER = 'infinity';
const FIELDS = ['as', 'who', 'by', 'reason', 'at', 'until', 'issued_before'];

/** RFC 3339 cannot write later years. */
const TIME_MS_MAX = Date.UTC(9999, 11, 31);

/**
 * Reads `{as, who, by?, reason?, at?, until?, issued_before?}`. Times are RFC 3339 or seconds since the epoch.
 *
 * @throws {BanEntryError}
 */
export function readBan(value: unknown, context: BanEntryContext): Ban {
  const fields = fieldsOf(value);
  const unknown = Object.keys(fields).find((name) => !FIELDS.includes(name));
  if (unknown !== undefined)
    throw new BanEntryError(`${JSON.stringify(unknown)} is not known here; there are ${FIELDS.join(', ')}.`);
  const name = readBanName(fields.as, fields.who, context.tenant);
  const untilMs = fields.until === NEVER ? undefined : timeOf('until', fields.until);
  const issuedBeforeMs = timeOf('issued_before', fields.issued_before);
  if (issuedBeforeMs !== undefined && name.as !== 'username')
    throw new BanEntryError(
      '"issued_before" is for the credentials of a name: it goes with "as": "username".',
    );
  if (untilMs !== undefined && untilMs <= context.nowMs) throw new BanEntryError('"until" is over already.');
  return {
    ...name,
    by: textOf('by', fields.by) ?? context.by,
    reason: textOf('reason', fields.reason) ?? '',
    atMs: timeOf('at', fields.at) ?? context.nowMs,
    ...(untilMs !== undefined && { untilMs }),
    ...(issuedBeforeMs !== undefined && { issuedBeforeMs }),
  };
}

/** @throws {BanEntryError} */
export function readBanName(as: unknown, who: unknown, tenant: string): BanName {
  const kind = BAN_KINDS.find((each) => each === as);
  if (kind === undefined) throw new BanEntryError(`"as" is ${BAN_KINDS.join(', ')}.`);
  if (typeof who !== 'string' || who === '' || who.length > BAN_WHO_LENGTH_MAX)
    throw new BanEntryError(`"who" is a string of 1 to ${BAN_WHO_LENGTH_MAX} characters.`);
  if (kind !== 'peerhost') return { as: kind, who, tenant };
  const host = peerHostOf(who);
  if (host === undefined) throw new BanEntryError(`"who" is an IP address, not ${JSON.stringify(who)}.`);
  return { as: kind, who: host, tenant: '' };
}

export function banEntryOf(ban: Ban): BanEntry {
  const { as, who, by, reason, atMs, untilMs, issuedBeforeMs } = ban;
  return {
    as,
    who,
    by,
    reason,
    at: rfc3339(atMs),
    until: untilMs === undefined ? NEVER : rfc3339(untilMs),
    ...(issuedBeforeMs !== undefined && { issued_before: rfc3339(issuedBeforeMs) }),
  };
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as Readonly<Record<string, unknown>>;
  throw new BanEntryError('A ban is a JSON object: {"as": "clientid", "who": "…"}.');
}

function textOf(name: string, value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'string' && value.length <= BAN_TEXT_LENGTH_MAX) return value;
  throw new BanEntryError(`"${name}" is a string of up to ${BAN_TEXT_LENGTH_MAX} characters.`);
}

function timeOf(name: string, value: unknown): number | undefined {
  if (value === undefined || value === null) return undefined;
  const ms =
    typeof value === 'number' ? value * 1_000 : typeof value === 'string' ? Date.parse(value) : Number.NaN;
  if (ms >= 0 && ms <= TIME_MS_MAX) return Math.floor(ms);
  throw new BanEntryError(`"${name}" is a time in RFC 3339 (2026-01-31T12:00:00Z) or in seconds since 1970.`);
}

function rfc3339(atMs: number): string {
  return new Date(atMs).toISOString();
}
