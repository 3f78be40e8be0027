import {
  BAN_KINDS,
  BAN_TEXT_LENGTH_MAX,
  BAN_WHO_LENGTH_MAX,
  DROP_NAMES,
  QUOTA_NAMES,
  type Quotas,
  type Rule,
} from '@apus/broker';
import {
  closedObject,
  count,
  flag,
  list,
  nullable,
  object,
  oneOf,
  QOS,
  ref,
  type Schema,
  text,
  time,
  type ValueOf,
} from '../schema.ts';
import { ended } from './users.ts';

type DropName = (typeof DROP_NAMES)[keyof typeof DROP_NAMES];

const dropped = Object.fromEntries(
  Object.values(DROP_NAMES).map((name) => [`send_msg.dropped.${name}`, nullable(count())]),
) as Record<`send_msg.dropped.${DropName}`, Schema<number | null>>;

const client = {
  node: text(),
  clientid: text(),
  username: nullable(text('Null: an anonymous client.')),
  connected: flag(),
  token_id: nullable(text('Id of its token, or name of its API key.')),
  connected_at: time('When its newest connection began.'),
  disconnected_at: nullable(time()),
  connected_seconds: nullable(count()),
  door: nullable(oneOf(['node', 'gateway', 'object'], 'Null: it is not connected.')),
  ip_address: nullable(text('Of a client at the node door.')),
  port: nullable(count()),
  proto_name: oneOf(['MQTT']),
  proto_ver: nullable(oneOf([3, 4, 5], 'Protocol level: 5, 4 for MQTT 3.1.1, or 3 for MQTT 3.1.')),
  keepalive: nullable(count('Seconds.')),
  recv_maximum: nullable(count()),
  expiry_interval: nullable(count('Seconds that the session stays without a connection.')),
  subscriptions_cnt: nullable(count()),
  mqueue_len: nullable(count('Messages that wait.')),
  mqueue_dropped: nullable(count('Messages of QoS 1 and 2 for which the queue was full.')),
  'send_msg.dropped': nullable(count('Messages that did not reach it.')),
  ...dropped,
  will: nullable(text('Topic of its will.')),
};

const carried = (what: string) => nullable(count(`${what} Of a connection of the node door.`));

export const clientSchemas = {
  Rule: object(
    {
      effect: oneOf(['allow', 'deny']),
      action: oneOf(['publish', 'subscribe', 'all']),
      topicFilters: list(text()),
      'qos?': list(QOS),
      'retain?': flag(),
      'share?': { oneOf: [flag(), list(text())] },
    },
    'A right of an identity, or its denial: docs/rules.md.',
  ),
  Quotas: {
    ...object(Object.fromEntries(QUOTA_NAMES.map((name) => [`${name}?`, count()]))),
    description: 'Bounds by their names; 0 stands for any number.',
  },
  Client: object(
    client,
    'A client that is connected, or a session that waits for its client. Null: the door does not say; a list of a deployment says who is there, and one client says more.',
  ),
  ClientDetails: object(
    {
      ...client,
      'connection_id?': nullable(text('As the log names its connection. At a node.')),
      inflight_cnt: nullable(count('Messages that it has not acknowledged.')),
      recv_msg: carried('Messages from it.'),
      recv_oct: carried('Bytes from it.'),
      send_msg: carried('Messages to it.'),
      send_oct: carried('Bytes to it.'),
      identity: object({
        source: nullable(text('Which authenticator named it.')),
        client_ids: nullable(list(text(), 'Patterns of the client identifiers that it may use.')),
        rules: nullable(list(ref<Rule>('Rule'))),
        issued_at: nullable(time()),
        expires_at: nullable(time()),
        token_id: nullable(text()),
        key_id: nullable(text()),
      }),
      quotas: ref<Partial<Quotas>>('Quotas'),
    },
    'A client with its window, its traffic, its identity and its quotas.',
  ),
  Subscription: object({
    node: text(),
    clientid: text(),
    topic: text('Topic filter; that of a share group begins with $share/GROUP/.'),
    qos: QOS,
    nl: oneOf([0, 1], 'No Local.'),
    rap: oneOf([0, 1], 'Retain As Published.'),
    id: nullable(count('Subscription Identifier.')),
  }),
  Topic: object({ topic: text('Topic filter.'), node: text() }),
  Ban: object({
    as: oneOf(BAN_KINDS, 'The kind of name.'),
    who: text(),
    by: text('The author.'),
    reason: text(),
    at: time(),
    until: text('RFC 3339, or infinity.'),
    'issued_before?': time('It holds for credentials that were issued before.'),
    ...ended,
  }),
  NewBan: closedObject({
    as: oneOf(BAN_KINDS),
    who: text('A client identifier, a name, an IP address, or the id of a token.', {
      minLength: 1,
      maxLength: BAN_WHO_LENGTH_MAX,
    }),
    'by?': nullable(text(undefined, { maxLength: BAN_TEXT_LENGTH_MAX })),
    'reason?': nullable(text(undefined, { maxLength: BAN_TEXT_LENGTH_MAX })),
    'at?': moment('RFC 3339, or seconds since 1970.'),
    'until?': moment('RFC 3339, seconds since 1970, or infinity.'),
    'issued_before?': moment('With the kind username alone.'),
  }),
};

type Schemas = typeof clientSchemas;
export type Client = ValueOf<Schemas['Client']>;
export type ClientDetails = ValueOf<Schemas['ClientDetails']>;
export type SubscriptionLine = ValueOf<Schemas['Subscription']>;
export type TopicLine = ValueOf<Schemas['Topic']>;
export type BanLine = ValueOf<Schemas['Ban']>;

function moment(description: string): Schema {
  return { type: ['string', 'number', 'null'], description };
}
