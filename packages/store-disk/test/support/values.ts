import { type OpenSession, rulesOfLists } from '@apus/broker';
import { openOf as openOfTenant } from '@apus/broker/samples';

export {
  attachmentOf,
  deliveryTo,
  detachOf,
  messageId,
  NOW_MS,
  numberedMessage as messageOf,
  openedOf,
  ROOMY,
} from '@apus/broker/samples';

export const TENANT = 'tenant';
export const PAGE = { messages: 1000, bytes: Number.POSITIVE_INFINITY };

/** By a client whose identity has rules: they have to come back from the disk. */
export function openOf(clientId: string, fields: Partial<OpenSession> = {}): OpenSession {
  const identity = { tenant: TENANT, name: 'somebody', rules: rulesOfLists(['a/#'], []) };
  return openOfTenant(clientId, { tenant: TENANT, identity, ...fields });
}
