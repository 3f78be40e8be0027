import type { ConnectionId, OpenedSession, OpenSession } from '@apus/broker';
import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { DECISIONS_MAX } from '../limits.ts';
import { ContentionError, InDoubtError } from '../table/errors.ts';
import { sessionItemKey } from '../table/keys.ts';
import { Pauses } from '../table/retry.ts';
import type { Table, Written } from '../table/table.ts';
import { type Item, number, numberOf, text, textOf, VERSION } from '../table/values.ts';
import {
  connectionJson,
  FOREVER_MS,
  hasWill,
  identityOf,
  NONE,
  nameValue,
  owedWillsOf,
  owedWillValue,
  recordOf,
  willJson,
} from './session-item.ts';
import { SessionSnapshot } from './session-ref.ts';

/**
 * How the session is opened. `clean`: a new incarnation in any case. `begin`: a new one, since no session continues.
 * `replace`: a new one in the place of another owner's session, which yields. `continue`: the present one. `resume`:
 * the present one, without a CONNECT.
 */
type Mode = 'clean' | 'begin' | 'replace' | 'continue' | 'resume';

/** The session keeps its incarnation. */
const isSame = (mode: Mode): boolean => mode === 'continue' || mode === 'resume';

/** A will that was found when the session was opened, and what becomes of it. */
interface SeenWill {
  readonly item: Item;
  readonly connectionId: ConnectionId;
  readonly isOwed: boolean;
}

/** The next write assumes that a session continues or not, and that a will is there or not. The first is a guess. */
interface Guess {
  readonly mode: Mode;
  readonly will: SeenWill | undefined;
}

/**
 * Opening is one conditional write, which returns the item as it was before:
 *
 *     CONNECT(A)                        CONNECT(B)
 *     open: connection := A, o := a
 *                                       open: connection := B, o := b, answer: A stood there
 *     (its answer was lost) open again: `o` is b, so A takes over from B.
 *     Had B not come, `o` would be a: A has won already, and the item's own copy of
 *     its past says what it had replaced.
 *
 * The same write withdraws the will in the item, or moves it to those that are owed. Its condition names the will as
 * it was read, so the will has not changed since:
 *
 *     CONNECT(B)                        will timer of A
 *     reads: A's will stands, withdraw it
 *                                       beginWill: under message id m
 *     open: fails, the will has been begun. Again: it is owed, under m
 *
 * A wrong guess costs one more write. If it is unknown whether a write was made, the next attempt is a write of its
 * own, with a new incarnation:
 *
 *     CONNECT(A), Clean Start             CONNECT(B), Clean Start
 *     open: incarnation := a; no answer
 *                                        open: incarnation := b; A's is to be discarded
 *     (were it to open again as a …)
 *     subscribes
 *                                        … B would discard the subscription
 */
export async function openSession(
  table: Table,
  request: OpenSession,
): Promise<OpenedSession | 'owned-by-another'> {
  const nonce = table.settings.randomId();
  const mode = firstModeOf(request);
  let guess: Guess = { mode, will: undefined };
  for (let decisions = 0; decisions < DECISIONS_MAX; decisions += 1) {
    const { ok, old, incarnation } = await writeAnswered(table, request, guess, nonce);
    const owed = guess.will?.isOwed === true ? guess.will.connectionId : undefined;
    if (ok) return opened(request, isSame(guess.mode) ? textOf(old, 'i') : incarnation, owed, old, 'now');
    if (old !== undefined && textOf(old, 'o') === nonce) {
      const first = opened(request, textOf(old, 'i'), textOf(old, 'po') || undefined, old, 'before');
      return withWill(first, request, guess.will);
    }
    const next = guessFrom(request, old);
    if (next === 'owned-by-another') return next;
    guess = next;
  }
  throw new ContentionError('the session', DECISIONS_MAX);
}

function firstModeOf({ resumes, cleanStart, expirySeconds }: OpenSession): Mode {
  if (resumes !== undefined) return 'resume';
  if (cleanStart) return 'clean';
  return expirySeconds > 0 ? 'continue' : 'begin';
}

/**
 * The lost answer was the answer to this guess: every other guess has failed. So the item held the will that the guess
 * names, and has no other trace of it.
 */
function withWill(first: OpenedSession, request: OpenSession, seen: SeenWill | undefined): OpenedSession {
  const before = seen && recordOf(seen.item, request.tenant, request.clientId);
  if (first.previous === undefined || before === undefined) return first;
  const { will, willDue } = before;
  return { ...first, previous: { ...first.previous, will, willDue } };
}

function guessFrom(request: OpenSession, item: Item | undefined): Guess | 'owned-by-another' {
  const mode = modeFor(request, item);
  if (mode === 'owned-by-another') return mode;
  if (item === undefined || !hasWill(item)) return { mode, will: undefined };
  const previous = recordOf(item, request.tenant, request.clientId);
  // A will that has been begun is finished, and so is any will in an item that is kept for its wills.
  const isOwed =
    item.wm !== undefined ||
    previous === undefined ||
    request.isWillOwed(previous, isSame(mode), request.nowMs);
  return { mode, will: { item, connectionId: textOf(item, 'l') ?? NONE, isOwed } };
}

function modeFor(request: OpenSession, item: Item | undefined): Mode | 'owned-by-another' {
  const continues = (numberOf(item, 'u') ?? 0) > request.nowMs;
  const isOwn = textOf(item, 'y') === request.identity.name;
  if (request.resumes !== undefined) return isResumable(request, item) ? 'resume' : 'owned-by-another';
  const isHeld = continues || item?.c !== undefined;
  if (!isOwn && isHeld && (numberOf(item, 'yr') ?? 0) >= request.bindingRank) return 'owned-by-another';
  if (request.cleanStart) return 'clean';
  if (!continues) return 'begin';
  return isOwn ? 'continue' : 'replace';
}

/** Its last connection is the one to be resumed, and has ended not long ago; and it is not leaving its rooms. */
function isResumable({ resumes, identity, nowMs }: OpenSession, item: Item | undefined): boolean {
  const untilMs = Math.max(numberOf(item, 'u') ?? 0, numberOf(item, 'rs') ?? 0);
  return (
    textOf(item, 'i') === resumes?.incarnation &&
    textOf(item, 'l') === resumes?.from &&
    textOf(item, 'rl') !== resumes?.from &&
    textOf(item, 'y') === identity.name &&
    item?.c === undefined &&
    untilMs > nowMs
  );
}

/** Repeats the write until an answer comes, each time with another incarnation. */
async function writeAnswered(
  table: Table,
  request: OpenSession,
  guess: Guess,
  nonce: string,
): Promise<Written & { readonly incarnation: string }> {
  const pauses = new Pauses('UpdateItem', table.settings);
  for (;;) {
    const incarnation = table.settings.randomId();
    try {
      return { ...(await write(table, request, guess, nonce, incarnation)), incarnation };
    } catch (error) {
      if (!(error instanceof InDoubtError)) throw error;
      await pauses.next(error);
    }
  }
}

/** The item is not the work of an earlier attempt of this same open, whose answer was lost. */
const IS_NOT_MINE = '(attribute_not_exists(o) OR o <> :nonce)';

const IS_OWN = 'y = :owner';

/** The session is the owner's own, or another owner's that yields, or it has expired without a connection. */
const MAY_BE_TAKEN = `(${IS_OWN} OR (attribute_not_exists(yr) OR yr < :rank) OR (attribute_not_exists(c) AND u <= :now))`;

/** The condition of each mode, over the attributes that `session-item.ts` lists. */
const CONDITIONS: Readonly<Record<Mode, readonly string[]>> = {
  clean: [IS_NOT_MINE, MAY_BE_TAKEN],
  begin: [IS_NOT_MINE, '(attribute_not_exists(u) OR u <= :now)', MAY_BE_TAKEN],
  replace: [IS_NOT_MINE, '(attribute_not_exists(y) OR y <> :owner)', MAY_BE_TAKEN],
  continue: [IS_NOT_MINE, 'u > :now', IS_OWN],
  resume: [
    IS_NOT_MINE,
    '(u > :now OR rs > :now)',
    IS_OWN,
    'i = :incarnation',
    'l = :from',
    'attribute_not_exists(c)',
    '(attribute_not_exists(rl) OR rl <> :from)',
  ],
};

async function write(
  table: Table,
  request: OpenSession,
  { mode, will: seen }: Guess,
  nonce: string,
  incarnation: string,
) {
  const { tenant, clientId } = request;
  const key = sessionItemKey(tenant, clientId);
  const name = nameValue(key, tenant, clientId);
  const change = seen === undefined ? NO_WILL : willChangeOf(seen, tenant);
  const set = [...assignments(mode), ...change.set, ...(name === undefined ? [] : ['n = :name'])];
  const remove = ['t', 'wm', 'wd', 'wr', 'rs', 'rl', ...(isSame(mode) ? [] : ['rt'])];
  return await table.update(key, `SET ${set.join(', ')} REMOVE ${remove.join(', ')}`, {
    condition: [...CONDITIONS[mode], ...change.conditions].join(' AND '),
    ...(change.names !== undefined && { names: change.names }),
    values: {
      ...valuesOf(request, nonce),
      ':owed': text(seen?.isOwed === true ? seen.connectionId : NONE),
      ...change.values,
      ...(name !== undefined && { ':name': name }),
      ...(mode !== 'continue' && { ':incarnation': text(request.resumes?.incarnation ?? incarnation) }),
    },
    returnsOld: true,
    once: true,
  });
}

/** The values of the item that are the same in each mode. */
function valuesOf(request: OpenSession, nonce: string): Record<string, AttributeValue> {
  const { attachment, identity, bindingRank, expirySeconds, will, nowMs, resumes } = request;
  return {
    ':nonce': text(nonce),
    ':none': text(NONE),
    ':zero': number(0),
    ':one': number(1),
    ':connection': text(attachment.connectionId),
    ':attached': number(nowMs),
    ':attachment': text(connectionJson(request)),
    ':owner': text(identity.name),
    ':rank': number(bindingRank),
    ':expiry': number(expirySeconds),
    ':until': number(expirySeconds === 0 ? 0 : FOREVER_MS),
    ':will': text(willJson(will)),
    ':version': number(VERSION),
    ':now': number(nowMs),
    ...(resumes !== undefined && { ':from': text(resumes.from) }),
  };
}

function assignments(mode: Mode): string[] {
  const before = [
    'pi = if_not_exists(i, :none)',
    'pl = if_not_exists(l, :none)',
    'pa = if_not_exists(a, :zero)',
    'pr = if_not_exists(r, :none)',
    'px = if_not_exists(x, :zero)',
    'pz = if_not_exists(z, :zero)',
    'po = :owed',
  ];
  const after = [
    'o = :nonce',
    'c = :connection',
    'l = :connection',
    'a = :attached',
    'r = :attachment',
    'y = :owner',
    'yr = :rank',
    'x = :expiry',
    'z = :zero',
    'u = :until',
    'w = :will',
    'v = :version',
    'ep = if_not_exists(ep, :zero) + :one',
  ];
  return [...before, ...after, ...(isSame(mode) ? [] : ['i = :incarnation'])];
}

/** The part of the write that changes the will in the item. */
interface WillChange {
  readonly set: readonly string[];
  readonly conditions: readonly string[];
  readonly names?: Record<string, string>;
  readonly values: Readonly<Record<string, AttributeValue>>;
}

const NO_WILL: WillChange = {
  set: [],
  conditions: ['(attribute_not_exists(w) OR w = :none)'],
  values: {},
};

function willChangeOf({ item, connectionId, isOwed }: SeenWill, tenant: string): WillChange {
  const messageId = textOf(item, 'wm');
  const stands = 'w <> :none';
  const isOfSameConnection = 'l = :last';
  const isAsAttached = 'z = :detached';
  const isAsBegun = messageId === undefined ? 'attribute_not_exists(wm)' : 'wm = :begun';
  const same = [stands, isOfSameConnection, isAsAttached, isAsBegun];
  const values = {
    ':last': text(connectionId),
    ':detached': number(numberOf(item, 'z') ?? 0),
    ...(messageId !== undefined && { ':begun': text(messageId) }),
  };
  if (!isOwed) return { set: [], conditions: same, values };
  const moved = owedWillValue(textOf(item, 'w') ?? NONE, identityOf(item, tenant), messageId);
  if (owedWillsOf(item) === undefined) {
    const isFirst = 'attribute_not_exists(ow)';
    const first = { M: { [connectionId]: moved } };
    return { set: ['ow = :moved'], conditions: [...same, isFirst], values: { ...values, ':moved': first } };
  }
  return {
    set: ['ow.#last = :moved'],
    conditions: [...same, 'attribute_exists(ow)'],
    names: { '#last': connectionId },
    values: { ...values, ':moved': moved },
  };
}

/** `when`: whether the item has the previous session in its present fields, or in its past ones. */
function opened(
  { tenant, clientId, attachment }: OpenSession,
  incarnation: string | undefined,
  owedWillOf: ConnectionId | undefined,
  item: Item | undefined,
  when: 'now' | 'before',
): OpenedSession {
  const previous = item && recordOf(item, tenant, clientId, when);
  return {
    session: new SessionSnapshot({ tenant, clientId, incarnation: incarnation ?? NONE }, attachment, {
      opening: {
        epoch: (numberOf(item, 'ep') ?? 0) + (when === 'now' ? 1 : 0),
        isNew: previous?.session.incarnation !== incarnation,
      },
    }),
    present: previous?.session.incarnation === incarnation,
    previous,
    owedWillOf,
  };
}
