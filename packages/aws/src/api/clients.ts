import { ApiProblem, type ClientFacts, fitsClient, type KnownClient, NODE_NAME } from '@apus/api';
import { KICK, QUOTA_NAMES, type SessionRecord } from '@apus/broker';
import type { SweepPosition, SweptSession } from '@apus/store-dynamodb';
import type { HasTime } from '../operator/ban.ts';
import { isSession } from '../operator/table-walk.ts';
import type { ApiContext } from './context.ts';
import { cursorOf, positionOf } from './pages.ts';

/** Sessions, connected or not. A list says what a walk over the table reads; one client says more. */
export function clientFacts(context: ApiContext, hasTime: HasTime): ClientFacts {
  const { sessions, subscriptions, enforcement } = context;
  return {
    nodeName: NODE_NAME,
    async clients(tenant, filter, { limit, after }) {
      // Here an empty name stands for any.
      const [clientId, username] = [filter.clientId || undefined, filter.username || undefined];
      const from = keyOf(positionOf(after));
      const isWanted = (session: SweptSession) =>
        session.tenant === tenant && (username === undefined || session.identity?.name === username);
      const { found, next } =
        clientId === undefined
          ? await walk(context, hasTime, isWanted, limit, from)
          : { found: [await sessions.get(tenant, clientId)].flatMap((each) => (each ? ofRecord(each) : [])) };
      const entries = found.filter(({ clientId: id, identity, door }) =>
        fitsClient({ ...filter, username }, id, identity?.name, door !== null),
      );
      return { entries, next: cursorOf(next) };
    },
    async client(tenant, clientId) {
      const record = await sessions.get(tenant, clientId);
      if (record === undefined) return undefined;
      const held = await subscriptions.list(record.session);
      return { ...ofRecord(record), record, subscriptions: held.length, quotas: quotasOf(record) };
    },
    endClient: (tenant, clientId) => enforcement.expel({ tenant, clientId }, KICK),
  };
}

/** Sessions of the table from a position on, as far as the limit or the time allows. */
async function walk(
  { scan }: ApiContext,
  hasTime: HasTime,
  isWanted: (session: SweptSession) => boolean,
  limit: number,
  from: SweepPosition | undefined,
): Promise<{ readonly found: readonly KnownClient[]; readonly next?: SweepPosition | undefined }> {
  const found: KnownClient[] = [];
  let next = from;
  do {
    const page = await scan.page(0, 1, next, true);
    found.push(...page.found.filter(isSession).filter(isWanted).map(ofSwept));
    next = page.next;
  } while (next !== undefined && found.length < limit && hasTime());
  return { found, next };
}

function ofRecord({ session, identity, attachment, attachedAtMs }: SessionRecord): KnownClient {
  const door = attachment === undefined ? null : 'gateway';
  return { clientId: session.clientId, identity, door, attachedAtMs };
}

function ofSwept({ clientId, identity, connectionId, attachedAtMs }: SweptSession): KnownClient {
  return { clientId, identity, door: connectionId === undefined ? null : 'gateway', attachedAtMs };
}

/** A key of the table from a cursor, which may be any text. @throws {ApiProblem} */
function keyOf(position: unknown): SweepPosition | undefined {
  if (position === undefined || position === null) return undefined;
  const { p, s } = position as Partial<Record<'p' | 's', unknown>>;
  if (typeof p === 'string' && typeof s === 'string') return { p, s };
  throw new ApiProblem('BAD_REQUEST', 'after is meta.next of the page before.');
}

function quotasOf({ identity: { quotas = {} } }: SessionRecord) {
  return Object.fromEntries(
    Object.entries(quotas).filter(([name]) => QUOTA_NAMES.some((each) => each === name)),
  );
}
