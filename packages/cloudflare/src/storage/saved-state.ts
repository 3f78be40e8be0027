import type { Connection, LinkState } from '@apus/broker';

/** Work waits that a turn, or a client that did not read, has put off. */
export function isUnfinished(state: LinkState): boolean {
  return state.phase === 'connected' && (state.isDraining || state.replays.length > 0);
}

type SessionOf = (tenant: string, clientId: string) => Connection['session'] | undefined;

/** The state with another session; undefined if there is none. */
export function stateWith(state: LinkState, sessionOf: SessionOf): LinkState | undefined {
  if (state.phase !== 'connected') return state;
  const { tenant, clientId } = state.connection.session;
  const session = sessionOf(tenant, clientId);
  return session && { ...state, connection: { ...state.connection, session } };
}

/** A session as it is saved. */
export const nameOf: SessionOf = (tenant, clientId) => ({
  ...{ tenant, clientId },
  ...{ key: '', incarnation: '', attachment: undefined },
});
