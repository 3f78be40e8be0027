import type { Context } from './context.ts';
import type { Awaitable } from './flow.ts';
import type { Identity } from './ports/index.ts';

/** Topics of the server itself (section 4.7.2); no client speaks for it, whatever its rules are. */
const RESERVED_PREFIX = '$SYS/';

/** Whether a client may publish to a topic. Its real name: an alias has been resolved before. */
export function mayPublish(
  { ports }: Context,
  identity: Identity,
  clientId: string,
  topicName: string,
): Awaitable<boolean> {
  return !topicName.startsWith(RESERVED_PREFIX) && ports.authorizer.mayPublish(identity, clientId, topicName);
}
