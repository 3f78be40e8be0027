import { membersOf, text } from '../../engine/read-members.ts';
import { readStored, writeStored } from '../../state/stored.ts';

const KEY = 'apus.searches';

/** Connections whose search is stored, the newest; a longer search is not. */
const SEARCHES_MAX = 20;
const CHARACTERS_MAX = 4_096;

/** The search among the topics of a connection at the last visit. */
export function keptSearch(connectionId: string): string {
  return text(membersOf(readStored(KEY))?.[connectionId]) ?? '';
}

export function keepSearch(connectionId: string, query: string): void {
  const { [connectionId]: _before, ...others } = membersOf(readStored(KEY)) ?? {};
  const kept = query === '' || query.length > CHARACTERS_MAX ? [] : [[connectionId, query]];
  writeStored(KEY, Object.fromEntries([...Object.entries(others), ...kept].slice(-SEARCHES_MAX)));
}
