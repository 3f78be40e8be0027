import { BAN_KINDS } from '@apus/broker';
import { answer, json, type Operation, parameter } from '../operation.ts';
import { list, oneOf, QOS, ref, text } from '../schema.ts';
import { CLIENT_ID, notFound, PAGING } from './parameters.ts';

const ban = {
  as: parameter('The kind of name.', oneOf(BAN_KINDS)),
  who: parameter('Whom it names.', text()),
} as const;

export const clientOperations = {
  listClients: {
    method: 'GET',
    path: '/clients',
    tag: 'Clients',
    summary: 'Lists clients that are connected, and sessions that wait for theirs.',
    query: {
      ...PAGING,
      clientid: parameter('Of this client identifier.', text()),
      like_clientid: parameter('Whose client identifier has this part.', text()),
      username: parameter('Of this name.', text()),
      conn_state: parameter('In this state.', oneOf(['connected', 'disconnected'])),
    },
    answers: { 200: answer('A page of clients.', ref('ClientPage')) },
    scope: 'tenant',
  },
  getClient: {
    method: 'GET',
    path: '/clients/:clientid',
    tag: 'Clients',
    summary: 'Describes one client.',
    parameters: CLIENT_ID,
    answers: { 200: answer('The client.', ref('ClientDetails')), 404: notFound },
    scope: 'tenant',
  },
  endClient: {
    method: 'DELETE',
    path: '/clients/:clientid',
    tag: 'Clients',
    summary: 'Disconnects a client (0x98). Its session stays as long as it asked for.',
    parameters: CLIENT_ID,
    answers: { 204: answer('The client is gone.'), 404: notFound },
    scope: 'tenant',
  },
  listClientSubscriptions: {
    method: 'GET',
    path: '/clients/:clientid/subscriptions',
    tag: 'Clients',
    summary: 'Lists the subscriptions of one client.',
    parameters: CLIENT_ID,
    answers: { 200: answer('All of them.', list(ref('Subscription'))), 404: notFound },
    scope: 'tenant',
  },
  listSubscriptions: {
    method: 'GET',
    path: '/subscriptions',
    tag: 'Clients',
    summary: 'Lists subscriptions.',
    description:
      'A deployment goes over a part of its sessions for each page: a page may have fewer entries than its limit, or none, and another behind it.',
    query: {
      ...PAGING,
      clientid: parameter('Of this client.', text()),
      topic: parameter('With this topic filter.', text()),
      match_topic: parameter('Whose filter matches this topic.', text()),
      qos: parameter('Granted at this QoS.', QOS),
      share_group: parameter('Of this share group.', text()),
    },
    answers: { 200: answer('A page of subscriptions.', ref('SubscriptionPage')) },
    scope: 'tenant',
  },
  listTopics: {
    method: 'GET',
    path: '/topics',
    tag: 'Clients',
    summary: 'Lists the topic filters that have subscribers, each once.',
    query: PAGING,
    answers: {
      200: answer('A page of topic filters.', ref('TopicPage')),
      501: answer('A deployment has too many sessions to look through all of them.', ref('Problem')),
    },
    scope: 'tenant',
  },
  listBans: {
    method: 'GET',
    path: '/banned',
    tag: 'Bans',
    summary: 'Lists whom the broker keeps out. The ban of an address is for all tenants.',
    query: {
      ...PAGING,
      ...Object.fromEntries(BAN_KINDS.map((kind) => [kind, parameter(`The ban of this ${kind}.`, text())])),
    },
    answers: { 200: answer('A page of bans.', ref('BanPage')) },
    scope: 'tenant',
  },
  addBan: {
    method: 'POST',
    path: '/banned',
    tag: 'Bans',
    summary:
      'Keeps out a client, a name, an address or a token. Clients whom it names are gone with the answer.',
    body: json(ref('NewBan')),
    answers: {
      200: answer('The ban.', ref('Ban')),
    },
    scope: 'tenant',
  },
  removeBan: {
    method: 'DELETE',
    path: '/banned/:as/:who',
    tag: 'Bans',
    summary: 'Takes a ban back.',
    parameters: ban,
    answers: { 204: answer('It is taken back.'), 404: notFound },
    scope: 'tenant',
  },
  clearBans: {
    method: 'DELETE',
    path: '/banned',
    tag: 'Bans',
    summary: 'Takes all bans back: those of the tenant, and those of addresses.',
    answers: { 204: answer('There are none any more.') },
    scope: 'tenant',
  },
} as const satisfies Readonly<Record<string, Operation>>;
