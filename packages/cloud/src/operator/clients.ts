import type { Identity, SessionRecord, SessionStore } from '@apus/broker';
import type { DynamoSweepScan, SweepPosition, SweptSession } from '@apus/store-dynamodb';
import { OperatorRequestError } from './request-error.ts';
import { isSession } from './table-walk.ts';

/** A session as the operator sees it. */
export interface ClientEntry {
  readonly tenant: string;
  readonly clientId: string;
  /** Null: an anonymous client. */
  readonly username: string | null;
  /** The id of its token, or of its API key. */
  readonly token: string | null;
  readonly isConnected: boolean;
  /** RFC 3339. */
  readonly connectedAt: string | null;
}

export interface ClientListing {
  readonly clients: readonly ClientEntry[];
  /** The next request gives it as `after`; undefined after the last page. */
  readonly next?: SweepPosition | undefined;
}

export interface ClientQuery {
  /** @default all */
  readonly tenant: string | undefined;
  readonly clientId: string | undefined;
  readonly username: string | undefined;
  readonly limit: number;
  readonly after: unknown;
}

export function isInState({ isConnected }: ClientEntry, state: 'connected' | 'disconnected'): boolean {
  return isConnected === (state === 'connected');
}

/** The first sessions of the table, or those after the previous listing, as far as the limit or the time allows. */
export async function listClients(
  scan: DynamoSweepScan,
  query: ClientQuery,
  hasTime: () => boolean,
): Promise<ClientListing> {
  const clients: ClientEntry[] = [];
  let next = positionOf(query.after);
  do {
    const page = await scan.page(0, 1, next, true);
    clients.push(
      ...page.found
        .filter(isSession)
        .filter((swept) => fits(swept, query))
        .map(entryOf),
    );
    next = page.next;
  } while (next !== undefined && clients.length < query.limit && hasTime());
  return { clients, ...(next !== undefined && { next }) };
}

/** One client, without a walk over the table. */
export async function oneClient(
  sessions: Pick<SessionStore, 'get'>,
  tenant: string,
  clientId: string,
): Promise<ClientListing> {
  const record = await sessions.get(tenant, clientId);
  return { clients: record === undefined ? [] : [entryOfRecord(record)] };
}

function fits({ tenant, identity }: SweptSession, query: ClientQuery): boolean {
  if (query.tenant !== undefined && tenant !== query.tenant) return false;
  return query.username === undefined || identity?.name === query.username;
}

function entryOf({ tenant, clientId, identity, connectionId, attachedAtMs }: SweptSession): ClientEntry {
  return {
    tenant,
    clientId,
    ...namesOf(identity),
    isConnected: connectionId !== undefined,
    connectedAt: rfc3339(attachedAtMs),
  };
}

function entryOfRecord({ session, identity, attachment, attachedAtMs }: SessionRecord): ClientEntry {
  return {
    tenant: session.tenant,
    clientId: session.clientId,
    ...namesOf(identity),
    isConnected: attachment !== undefined,
    connectedAt: rfc3339(attachedAtMs),
  };
}

function namesOf(identity: Identity | undefined): Pick<ClientEntry, 'username' | 'token'> {
  return { username: identity?.name || null, token: identity?.tokenId ?? null };
}

/** A key of the table from a request, which may contain anything. */
function positionOf(after: unknown): SweepPosition | undefined {
  if (after === undefined || after === null) return undefined;
  const { p, s } = after as Partial<Record<'p' | 's', unknown>>;
  if (typeof p === 'string' && typeof s === 'string') return { p, s };
  throw new OperatorRequestError('"after" is the "next" of the answer before.');
}

function rfc3339(atMs: number): string {
  return new Date(atMs).toISOString();
}
