import type {
  Attachment,
  Delivery,
  Message,
  OpenedSession,
  SessionRecord,
  SessionRef,
  Stores,
} from '@apus/broker';
import { attachmentOf, detachOf, openedOf, openOf, ROOMY } from '@apus/broker/samples';
import type { DynamoStores } from '@apus/store-dynamodb';

export {
  attachmentOf,
  deliveryTo,
  messageId,
  numberedMessage as messageOf,
  ROOMY,
  subscriptionTo,
} from '@apus/broker/samples';

let names = 0;

/** A name that no other test has. */
export function unique(prefix: string): string {
  names += 1;
  return `${prefix}-${process.pid}-${names}`;
}

export const PAGE = { messages: 100, bytes: Number.POSITIVE_INFINITY };

const EXPIRY_SECONDS = 3600;

export async function open(
  stores: Stores,
  tenant: string,
  clientId: string,
  fields: { connectionId?: string; cleanStart?: boolean; attachment?: Partial<Attachment> } = {},
): Promise<OpenedSession> {
  const { connectionId = `${clientId}:1`, cleanStart = false } = fields;
  const attachment = attachmentOf(connectionId, fields.attachment);
  const request = openOf(clientId, { tenant, cleanStart, attachment, expirySeconds: EXPIRY_SECONDS });
  return openedOf(await stores.sessions.open(request));
}

/** The connection ends, and brought no will. */
export async function detach(
  stores: Stores,
  session: SessionRef,
  connectionId: string,
  expirySeconds = EXPIRY_SECONDS,
): Promise<SessionRecord | undefined> {
  return await stores.sessions.detach(detachOf(session, { connectionId, expirySeconds }));
}

/** Offers as a door does: ends connections of unknown state before it appends. Returns those that must fetch. */
export async function offerAsDoor(
  { queues }: Pick<DynamoStores, 'queues'>,
  message: Message,
  deliveries: readonly Delivery[],
  end: (connectionId: string) => unknown = () => {},
): Promise<readonly string[]> {
  const offered = await queues.offerAll([{ message, deliveries }], ROOMY);
  for (const connectionId of offered.uncertain) await end(connectionId);
  const { uncertain, unannounced } = await offered.append();
  for (const connectionId of uncertain) await end(connectionId);
  return unannounced;
}
