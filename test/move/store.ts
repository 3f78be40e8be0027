import { CLOSE, type Mutation, NONE, type State } from './world.ts';

/*
 * The single reads and writes of the store and of the gateway, each of which is one step, with the conditions of
 * packages/store-dynamodb/src/sessions.
 */

export type Without = (mutation: Mutation) => boolean;

/** The content of a connection's item: nothing, a live connection, or an ended one. */
export type Found = 'nothing' | 'connected' | { readonly movedTo: number; readonly wasConnected: boolean };

export function loadLink({ links }: State, connection: number): Found {
  const { isConnected, hasEnded, movedTo } = linkAt(links, connection);
  if (hasEnded) return { movedTo, wasConnected: isConnected };
  return isConnected ? 'connected' : 'nothing';
}

/** `links.end`: returns the connection's state before. */
export function endLink(state: State, connection: number): Found {
  const found = loadLink(state, connection);
  linkAt(state.links, connection).hasEnded = true;
  return found;
}

/** `links.move`. */
export function moveLink(state: State, from: number, to: number, without: Without): boolean {
  const link = linkAt(state.links, from);
  const isOpen = link.isConnected && !link.hasEnded;
  if (!isOpen && link.movedTo !== to && !without('move-twice')) return false;
  link.hasEnded = true;
  link.movedTo = to;
  return true;
}

/** `links.adopt` and `links.save`. */
export function saveLink(state: State, connection: number, without: Without): boolean {
  const link = linkAt(state.links, connection);
  if (link.hasEnded && !without('adopt-after-end')) return false;
  link.hasEnded = false;
  link.isConnected = true;
  return true;
}

/** `links.keep`: 'kept', 'full', or the connection on which the session has continued. */
export function keepIn(state: State, connection: number, message: number, keptMax: number, without: Without) {
  const link = linkAt(state.links, connection);
  if (link.movedTo !== NONE && !without('open-buffer')) return link.movedTo;
  if (link.kept.length >= keptMax) return 'full';
  link.kept.push(message);
  return 'kept';
}

/** `links.keep` with nothing: the connection on which the session has continued, if it has. */
export function noteMissed(state: State, connection: number): number {
  const link = linkAt(state.links, connection);
  if (link.movedTo === NONE) link.hasMissed = true;
  return link.movedTo;
}

/** `links.resume`. */
export function resumeLink(state: State, from: number, to: number) {
  const link = linkAt(state.links, from);
  if (!link.isConnected || !link.hasEnded || (link.movedTo !== NONE && link.movedTo !== to)) return undefined;
  link.movedTo = to;
  return { kept: [...link.kept], hasMissed: link.hasMissed };
}

/** `sessions.detach`. */
export function detach({ session }: State, connection: number) {
  if (session.connection !== connection) return;
  session.connection = NONE;
  if (session.will === 'stands') session.will = 'due';
}

/** `subscriptions.moved`, of one filter: only where its entry carries one of the connections `from`, which are bits. */
export function repoint(state: State, filter: number, from: number, to: number, without: Without) {
  const entry = state.entries[filter] ?? NONE;
  if ((entry !== NONE && (from >> entry) & 1) || without('blind-entries')) state.entries[filter] = to;
}

/** DeleteConnection: what was posted before arrives before the close frame. */
export function cut(state: State, connection: number) {
  if (state.sockets[connection] === 'open') state.queues[connection]?.push(CLOSE);
  if (state.sockets[connection] !== 'none') state.sockets[connection] = 'closed';
}

/** False: 410. */
export function post(state: State, connection: number, message: number): boolean {
  const socket = state.sockets[connection];
  if (socket === 'open') state.queues[connection]?.push(message);
  return socket === 'open' || socket === 'half-open';
}

function linkAt(links: State['links'], connection: number): State['links'][number] {
  const link = links[connection];
  if (link === undefined) throw new Error(`there is no connection ${connection}`);
  return link;
}
