import { createHash } from 'node:crypto';
import type { Ban, BanKind, Identity } from '@apus/broker';

/*
 * The name, credential, address and time of issue of a connection, as short as bans need them: the holder stands in
 * each entry of a session that keeps nothing, and eight entries share a write unit.
 *
 *     NNNNNNNNN.TTTTTT.HHHHHHHHH.IIIIII     absent fields at the end are left out
 */

/**
 * Characters of the base64 of a name's or an address's hash. A client may choose these: finding one with the hash of
 * another client's takes 2^54 attempts.
 */
const CHOSEN_LENGTH = 9;

/**
 * Characters for the id of a token, which its issuer chooses. With a thousand bans, one connection in 60 million is
 * banned by mistake.
 */
const ISSUED_LENGTH = 6;

const SEPARATOR = '.';

/** Undefined: the connection has nothing that a ban could name. */
export function holderOf(
  { name, tokenId, issuedAtMs }: Identity,
  host: string | undefined,
): string | undefined {
  const parts = [
    name === '' ? '' : fingerprintOf('username', name),
    tokenId === undefined ? '' : fingerprintOf('token', tokenId),
    host === undefined ? '' : fingerprintOf('peerhost', host),
    name === '' || issuedAtMs === undefined ? '' : Math.floor(issuedAtMs / 1_000).toString(36),
  ];
  while (parts.at(-1) === '') parts.pop();
  return parts.length === 0 ? undefined : parts.join(SEPARATOR);
}

export interface Holder {
  readonly username: string;
  readonly token: string;
  readonly peerhost: string;
  /** 0: unknown. */
  readonly issuedAtMs: number;
}

export function readHolder(holder: string): Holder {
  const [username = '', token = '', peerhost = '', issued = ''] = holder.split(SEPARATOR);
  return { username, token, peerhost, issuedAtMs: issued === '' ? 0 : Number.parseInt(issued, 36) * 1_000 };
}

/** The part of a holder that a ban names. Not for client identifiers, which are known in full. */
export function fingerprintOfBan({ as, who }: Pick<Ban, 'as' | 'who'>): string {
  return fingerprintOf(as, who);
}

function fingerprintOf(kind: BanKind, text: string): string {
  const length = kind === 'token' ? ISSUED_LENGTH : CHOSEN_LENGTH;
  return createHash('sha256').update(text).digest('base64url').slice(0, length);
}
