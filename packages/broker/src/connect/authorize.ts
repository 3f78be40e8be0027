import type { Awaitable } from '../model/flow.ts';
import type { Identity, Peer } from '../model/identity.ts';
import type { Connection } from '../model/link.ts';
import type { Authorizer, PublishTerms, SubscribeTerms } from '../ports/index.ts';
import { authorizedTopic } from '../publish/delayed.ts';

/**
 * Topics of the server itself (section 4.7.2), and all below them: `$SYS/#` matches `$SYS`, too. No rule lets a client
 * publish to them.
 */
const RESERVED = ['$SYS', '$occupancy'] as const;

/** Whether a client may publish to a topic. `topic` is the topic name, after a Topic Alias has been resolved. */
export function mayPublish(
  { ports }: { readonly ports: { readonly authorizer: Authorizer } },
  identity: Identity,
  clientId: string,
  topicName: string,
  terms: PublishTerms,
): Awaitable<boolean> {
  if (topicName.startsWith('$') && RESERVED.some((topic) => isAtOrBelow(topicName, topic))) return false;
  return ports.authorizer.mayPublish(identity, clientId, authorizedTopic(topicName), terms);
}

/** Whether `TOPIC/#` matches the name. */
function isAtOrBelow(topicName: string, topic: string): boolean {
  return topicName === topic || topicName.startsWith(`${topic}/`);
}

/**
 * Whether rules still let out what has waited for its reader since SUBSCRIBE: a message of its queue or of a stream by
 * its topic, or a page of retained messages by the filter. Without a QoS, one of any is enough [SEC-WAY-4].
 */
export function mayReceive(
  { ports }: { readonly ports: { readonly authorizer: Authorizer } },
  { identity, session }: Pick<Connection, 'identity' | 'session'>,
  topic: string,
  { qos, shareGroup }: Partial<SubscribeTerms> = {},
): Awaitable<boolean> {
  return ports.authorizer.maySubscribe(identity, session.clientId, topic, { qos, shareGroup });
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
