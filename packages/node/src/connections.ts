import type { ConnectionId } from '@apus/broker';
import { LinkConnections } from '@apus/door';

/** The prefix that tells connections of a node from those of the gateway, which end with `=`. */
export const CONNECTION_ID_PREFIX = 'node-';

export class NodeConnections extends LinkConnections {
  /** Whether it is, or was, a connection of this process. */
  owns(connectionId: ConnectionId): boolean {
    return connectionId.startsWith(CONNECTION_ID_PREFIX);
  }
}
