import { authorizedTopic } from './delayed.ts';
import type { Awaitable } from './flow.ts';
import type { Authorizer, Identity, Peer, PublishTerms } from './ports/index.ts';

/** Topics of the server itself (section 4.7.2). No rule lets a client publish to them. */
const RESERVED_PREFIXES = ['$SYS/', '$occupancy/'] as const;

/** Whether a client may publish to a topic. `topic` is the topic name, after a Topic Alias has been resolved. */
export function mayPublish(
  { ports }: { readonly ports: { readonly authorizer: Authorizer } },
  identity: Identity,
  clientId: string,
  topicName: string,
  terms: PublishTerms,
): Awaitable<boolean> {
  if (topicName.startsWith('$') && RESERVED_PREFIXES.some((prefix) => topicName.startsWith(prefix)))
    return false;
  return ports.authorizer.mayPublish(identity, clientId, authorizedTopic(topicName), terms);
}

/** The identity with the address of its client, if the authorizer asks for addresses. */
export function withHost(
  { ports }: { readonly ports: { readonly authorizer: Authorizer } },
  identity: Identity,
  { host }: Peer,
): Identity {
  const isWanted = ports.authorizer.asksForHost === true && host !== undefined && host !== identity.host;
  return isWanted ? { ...identity, host } : identity;
}
