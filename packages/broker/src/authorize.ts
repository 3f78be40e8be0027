import type { Awaitable } from './flow.ts';
import type { Authorizer, Identity } from './ports/index.ts';

/** Topics of the server itself (section 4.7.2); no client speaks for it, whatever its rules are. */
const RESERVED_PREFIX = '$SYS/';

/** Whether a client may publish to a topic. Its real name: an alias has been resolved before. */
export function mayPublish(
  { ports }: { readonly ports: { readonly authorizer: Authorizer } },
  identity: Identity,
  clientId: string,
  topicName: string,
): Awaitable<boolean> {
  return !topicName.startsWith(RESERVED_PREFIX) && ports.authorizer.mayPublish(identity, clientId, topicName);
}
