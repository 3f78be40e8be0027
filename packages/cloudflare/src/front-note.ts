import type { Identity } from '@apus/broker';
import type { HubPeer } from './own-tenant.ts';

/**
 * The header with which the Worker in front tells a hub of the client, in JSON that is percent-encoded. The Worker makes the
 * requests of a hub anew, with the headers that it names, so no client sends it.
 */
const HEADER = 'apus-front';

/** The caller of the API: an operator for a tenant, or the key of a backend. */
export type ApiNote =
  | { readonly tenant: string }
  | { readonly tenant: string; readonly caller: Identity; readonly host: string | undefined };

export function noteHeaders(note: HubPeer | ApiNote): Readonly<Record<string, string>> {
  return { [HEADER]: encodeURIComponent(JSON.stringify(note)) };
}

export function connectNoteIn(request: Request): HubPeer {
  return JSON.parse(noteIn(request)) as HubPeer;
}

export function apiNoteIn(request: Request): ApiNote {
  return JSON.parse(noteIn(request)) as ApiNote;
}

function noteIn({ headers }: Request): string {
  const text = headers.get(HEADER);
  if (text === null) throw new Error('a hub takes requests of the Worker in front alone');
  return decodeURIComponent(text);
}
