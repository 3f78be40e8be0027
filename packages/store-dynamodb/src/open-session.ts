import type { OpenedSession, OpenSession } from '@apus/broker';
import { ContentionError } from './errors.ts';
import { sessionItemKey } from './keys.ts';
import { DECISIONS_MAX } from './limits.ts';
import { FOREVER_MS, NONE, recordOf, settledJson, willJson } from './session-item.ts';
import { SessionSnapshot } from './session-ref.ts';
import type { Table } from './table.ts';
import { type Item, number, numberOf, text, textOf, VERSION } from './values.ts';

/** `clean`: a new incarnation whatever stands there; `begin`: one where no session continues; `continue`: none. */
type Mode = 'clean' | 'begin' | 'continue';

/**
 * Take-over is one conditional write, whose answer is what stood there before:
 *
 *     CONNECT(A)                        CONNECT(B)
 *     open: connection := A, o := a
 *                                       open: connection := B, o := b, answer: A stood there
 *     (its answer was lost) open again:
 *     `o` is b: A takes over from B. Had B not come, `o` would be a: A has won already,
 *     and finds in the item's own memory what it had replaced.
 *
 * Whether a session continues is guessed, as it cannot be decided within a write; a wrong guess costs one more.
 */
export async function openSession(table: Table, request: OpenSession): Promise<OpenedSession> {
  const nonce = table.settings.randomId();
  const incarnation = table.settings.randomId();
  let mode: Mode = request.cleanStart ? 'clean' : request.expirySeconds > 0 ? 'continue' : 'begin';
  for (let decisions = 0; decisions < DECISIONS_MAX; decisions += 1) {
    const { ok, old } = await write(table, request, mode, nonce, incarnation);
    if (ok) return opened(request, mode === 'continue' ? textOf(old, 'i') : incarnation, old, 'now');
    if (old !== undefined && textOf(old, 'o') === nonce)
      return opened(request, textOf(old, 'i'), old, 'before');
    if (mode !== 'clean') mode = (numberOf(old, 'u') ?? 0) > request.nowMs ? 'continue' : 'begin';
  }
  throw new ContentionError('the session', DECISIONS_MAX);
}

async function write(table: Table, request: OpenSession, mode: Mode, nonce: string, incarnation: string) {
  const { tenant, clientId, attachment, expirySeconds, will, nowMs } = request;
  const isNotMine = '(attribute_not_exists(o) OR o <> :nonce)';
  const continues = 'u > :now';
  const hasEnded = '(attribute_not_exists(u) OR u <= :now)';
  const condition = {
    clean: isNotMine,
    begin: `${isNotMine} AND ${hasEnded}`,
    continue: `${isNotMine} AND ${continues}`,
  }[mode];
  return await table.update(sessionItemKey(tenant, clientId), `SET ${assignments(mode)} REMOVE t`, {
    condition,
    values: {
      ':nonce': text(nonce),
      ':none': text(NONE),
      ':zero': number(0),
      ':connection': text(attachment.connectionId),
      ':settled': text(settledJson(request)),
      ':expiry': number(expirySeconds),
      ':until': number(expirySeconds === 0 ? 0 : FOREVER_MS),
      ':will': text(willJson(will)),
      ':version': number(VERSION),
      ':phase': text(mode === 'continue' ? 'S' : 'L'),
      ...(mode !== 'clean' && { ':now': number(nowMs) }),
      ...(mode !== 'continue' && { ':incarnation': text(incarnation) }),
    },
    returnsOld: true,
  });
}

function assignments(mode: Mode): string {
  const before = [
    'pi = if_not_exists(i, :none)',
    'pr = if_not_exists(r, :none)',
    'px = if_not_exists(x, :zero)',
    'pz = if_not_exists(z, :zero)',
    'pw = if_not_exists(w, :none)',
  ];
  const after = [
    'o = :nonce',
    'c = :connection',
    'l = :connection',
    'r = :settled',
    'x = :expiry',
    'z = :zero',
    'u = :until',
    'w = :will',
    'v = :version',
    // A session that continues may have to be sent something; in a new one nothing waits.
    'q = :phase',
  ];
  const anew = ['i = :incarnation', 'rn = :zero', 'rb = :zero'];
  return [...before, ...after, ...(mode === 'continue' ? [] : anew)].join(', ');
}

/** `when`: whether the item tells what stood there as its present or as its past. */
function opened(
  { tenant, clientId, attachment }: OpenSession,
  incarnation: string | undefined,
  item: Item | undefined,
  when: 'now' | 'before',
): OpenedSession {
  const previous = item && recordOf(item, tenant, clientId, when);
  return {
    session: new SessionSnapshot({ tenant, clientId, incarnation: incarnation ?? NONE }, attachment),
    present: previous?.session.incarnation === incarnation,
    previous,
  };
}
