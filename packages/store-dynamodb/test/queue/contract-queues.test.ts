import type { Stores } from '@apus/broker';
import { queueStoreContract } from '@apus/broker/contract';
import { vi } from 'vitest';
import { NOW_MS, withService } from '../support/stores.ts';

// The walks make some ten thousand calls over HTTP.
vi.setConfig({ testTimeout: 600_000 });

const NOTHING = { messages: 0, bytes: 0 };

/** CONNECT of a session that continues dequeues before anything else is asked of it: here nothing yet. */
function connecting(stores: Stores): Stores {
  const { sessions, queues } = stores;
  const open = sessions.open.bind(sessions);
  sessions.open = async (request) => {
    const opened = await open(request);
    if (opened !== 'owned-by-another' && opened.present) await queues.next(opened.session, NOTHING, NOW_MS);
    return opened;
  };
  return stores;
}

await withService((service) => {
  queueStoreContract('DynamoDB', () => connecting(service.make()));
});
