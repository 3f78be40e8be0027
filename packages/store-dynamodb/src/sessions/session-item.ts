import {
  type Attachment,
  BindingRank,
  type ConnectionId,
  type Identity,
  NEVER_EXPIRES,
  type SessionRecord,
  type WillDue,
} from '@apus/broker';
import type { Will } from '@apus/mqtt';
import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { WILL_BYTES_MAX } from '../limits.ts';
import { placesOfItem } from '../presence/session-rooms.ts';
import { ItemTooLargeError } from '../table/errors.ts';
import type { Key } from '../table/keys.ts';
import { fromJson, type Item, numberOf, text, textOf, toJson } from '../table/values.ts';
import { type Opening, SessionSnapshot } from './session-ref.ts';

/*
 * A session item. `i` incarnation (empty: removed, and the item is here for the wills in it), `o` nonce of the open
 * that made it what it is, `c` connection (absent while offline), `l` last connection, `a` attached at, `r` attachment
 * and identity, `rs` until when a session that has expired may be resumed, `y` the owner's name and `yr` how firmly
 * the client identifier is bound to it (both absent: stored before sessions had owners), `x` expiry in seconds, `z`
 * detached at (0: attached), `u` continues until, `n` tenant and client identifier where the key could not hold them
 * whole, `ep` how often it was opened, which fences a CONNECT that is late. The will of the last connection: `w`
 * (empty: none), `wd` due at, `wr` 1 when a return withdraws it, `wm` the message id under which it has been begun.
 * `ow`: wills of earlier connections that are owed, by connection, each with its identity `r`. `rm` and `rl`: its
 * rooms (presence/session-rooms.ts). `rt`: filters of replays that are noted. `pi`, `pl`, `pa`, `pr`, `px`, `pz` are `i`, `l`, `a`, `r`, `x`, `z` as they were
 * before the last open; `po` is the connection whose will that open has left owed.
 */

/** Later than any moment: for a session that is connected, or never expires. */
export const FOREVER_MS = 9e15;

/** The value of an attribute that is empty but has to exist. */
export const NONE = '';

export interface StoredConnection {
  readonly attachment: Attachment;
  readonly identity: Identity;
}

/** Undefined: it was not read, or the session was removed. `holder` is also undefined without a connection. */
export function holderOfItem(item: Item): {
  readonly identity: Identity | undefined;
  readonly holder: string | undefined;
} {
  const json = textOf(item, 'r');
  if (json === undefined || textOf(item, 'i') === NONE) return { identity: undefined, holder: undefined };
  const { attachment, identity } = fromJson(json) as StoredConnection;
  return { identity, holder: textOf(item, 'c') === undefined ? undefined : attachment.holder };
}

/** The parts of a key, if the key has only their beginning and a hash. */
export function nameValue({ p }: Key, ...names: readonly string[]): AttributeValue | undefined {
  return p.endsWith(['', ...names].join('\0')) ? undefined : text(JSON.stringify(names));
}

/** The tenant and client identifier of a session's item. Undefined: the item is no session's. */
export function nameOf(item: Item): { readonly tenant: string; readonly clientId: string } | undefined {
  const [kind, tenant, clientId] = textOf(item, 'p')?.split('\0') ?? [];
  if (kind !== 'S' || tenant === undefined || clientId === undefined) return undefined;
  const name = textOf(item, 'n');
  if (name === undefined) return { tenant, clientId };
  const [wholeTenant, wholeClientId] = JSON.parse(name) as [string, string];
  return { tenant: wholeTenant, clientId: wholeClientId };
}

export function connectionJson({ attachment, identity }: StoredConnection): string {
  return toJson({ attachment, identity });
}

export function willJson(will: Will | undefined): string {
  if (will === undefined) return NONE;
  const json = toJson(will);
  if (json.length > WILL_BYTES_MAX) throw new ItemTooLargeError('a will', json.length, WILL_BYTES_MAX);
  return json;
}

/** A will that is owed, as its connection is not the last of its session any more. */
export function owedWillValue(
  json: string,
  identity: Identity,
  messageId: string | undefined,
): AttributeValue {
  const begun = messageId !== undefined && { m: text(messageId) };
  return { M: { w: text(json), r: text(toJson(identity)), ...begun } };
}

/** The identity of an unknown client: it may do nothing. */
function unknownIdentity(tenant: string): Identity {
  return { tenant, name: '', rules: [] };
}

/** The identity of the item's present or last connection. */
export function identityOf(item: Item | undefined, tenant: string): Identity {
  const json = textOf(item, 'r');
  return json === undefined ? unknownIdentity(tenant) : (fromJson(json) as StoredConnection).identity;
}

/** The identity that brought the will that is owed. */
export function owedIdentityOf(owed: Item, tenant: string): Identity {
  const json = textOf(owed, 'r');
  return json === undefined ? unknownIdentity(tenant) : (fromJson(json) as Identity);
}

/** The owed wills by connection. Undefined: there has never been one. */
export function owedWillsOf(item: Item | undefined): Readonly<Record<ConnectionId, Item>> | undefined {
  const wills = item?.ow?.M;
  if (wills === undefined) return undefined;
  return Object.fromEntries(Object.entries(wills).map(([connectionId, { M = {} }]) => [connectionId, M]));
}

/** Whether the item has the will of its last connection. */
export function hasWill(item: Item | undefined): boolean {
  return (textOf(item, 'w') ?? NONE) !== NONE;
}

export function willOf(json: string | undefined): Will | undefined {
  return json === undefined || json === NONE ? undefined : (fromJson(json) as Will);
}

/** Until when a session with an ended connection continues; with expiry 0 not beyond the connection [MQTT-4.1.0-2]. */
export function continuesUntilMs(expirySeconds: number, detachedAtMs: number): number {
  if (expirySeconds === NEVER_EXPIRES) return FOREVER_MS;
  return expirySeconds === 0 ? 0 : detachedAtMs + expirySeconds * 1_000;
}

/** The record of an item as it is, or as it was before the last `open`: then without its will. */
export function recordOf(
  item: Item,
  tenant: string,
  clientId: string,
  when: 'now' | 'before' = 'now',
): SessionRecord | undefined {
  const at = (name: string) => (when === 'now' ? name : `p${name}`);
  const incarnation = textOf(item, at('i')) ?? NONE;
  if (incarnation === NONE) return undefined;
  const { attachment: last, identity } = fromJson(textOf(item, at('r')) ?? '{}') as StoredConnection;
  const detachedAtMs = numberOf(item, at('z')) ?? 0;
  const attachment = detachedAtMs === 0 ? last : undefined;
  const will = when === 'now' ? willOf(textOf(item, 'w')) : undefined;
  const rooms = placesOfItem(item, tenant, incarnation);
  return {
    session: new SessionSnapshot({ tenant, clientId, incarnation }, attachment, {
      ...(when === 'now' && { opening: openingOf(item) }),
    }),
    attachment,
    lastConnectionId: textOf(item, at('l')) ?? NONE,
    attachedAtMs: numberOf(item, at('a')) ?? 0,
    expirySeconds: numberOf(item, at('x')) ?? 0,
    identity,
    bindingRank: (numberOf(item, 'yr') ?? BindingRank.None) as BindingRank,
    will,
    willDue: will && willDueOf(item),
    detachedAtMs: detachedAtMs === 0 ? undefined : detachedAtMs,
    resumableUntilMs: when === 'now' ? numberOf(item, 'rs') : undefined,
    replays: replaysOf(item),
    hasRooms: rooms.length > 0,
    rooms,
  };
}

/** When the session ends for the broker: not before its will is due. Undefined: it is connected, or never ends. */
export function sessionEndsAtMs(item: Item): number | undefined {
  const detachedAtMs = numberOf(item, 'z') ?? 0;
  const expirySeconds = numberOf(item, 'x') ?? 0;
  if (detachedAtMs === 0 || expirySeconds === NEVER_EXPIRES) return undefined;
  return Math.max(detachedAtMs + expirySeconds * 1_000, numberOf(item, 'wd') ?? 0, numberOf(item, 'rs') ?? 0);
}

function replaysOf(item: Item): readonly string[] | undefined {
  const json = textOf(item, 'rt');
  return json === undefined ? undefined : (JSON.parse(json) as string[]);
}

function willDueOf(item: Item): WillDue | undefined {
  const atMs = numberOf(item, 'wd');
  return atMs === undefined ? undefined : { atMs, isWithdrawnByReturn: numberOf(item, 'wr') === 1 };
}

function openingOf(item: Item): Opening {
  return { epoch: numberOf(item, 'ep') ?? 0, isNew: textOf(item, 'pi') !== textOf(item, 'i') };
}
