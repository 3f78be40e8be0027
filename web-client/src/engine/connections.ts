import { BoundedMessageLog } from './log/message-log.ts';
import { BoundedPacketLog } from './log/packet-log.ts';
import type { BurstProgress, BurstRequest, LiveConnection, Outcome, PublishRequest } from './types.ts';

class PageConnection implements LiveConnection {
  readonly id: string;
  readonly messages = new BoundedMessageLog();
  readonly packets = new BoundedPacketLog();

  constructor(id: string) {
    this.id = id;
  }

  publish(_request: PublishRequest): Promise<Outcome> {
    return Promise.resolve({ ok: false, reasonCode: undefined, problem: 'not connected', durationMs: 0 });
  }

  burst(_request: BurstRequest, onProgress: (progress: BurstProgress) => void): () => void {
    onProgress({ sent: 0, failed: 0, done: true });
    return () => {};
  }
}

const byId = new Map<string, PageConnection>();

/** The connections of the page, one for each profile. */
export const connections = {
  get(id: string): LiveConnection {
    let connection = byId.get(id);
    if (connection === undefined) {
      connection = new PageConnection(id);
      byId.set(id, connection);
    }
    return connection;
  },
};
