import { answer, json, type Operation, parameter } from '../operation.ts';
import { count, flag, list, object, ref, text } from '../schema.ts';
import { LIMIT_DEFAULT, LIMIT_MAX, notFound, PAGING } from './parameters.ts';

const topic = { topic: parameter('Topic name.', text()) } as const;

const publishProblem = (description: string) => answer(description, ref('PublishProblem'));

const publishing = {
  202: publishProblem('Taken, and a message had no subscriber.'),
  400: publishProblem('A message cannot be read, or is none of MQTT.'),
  403: publishProblem('This caller may not publish this.'),
  413: publishProblem('A message, or the request, is too large.'),
  415: answer('The body is no application/json.', ref('Problem')),
  429: publishProblem('A quota is used up: Retry-After says when to come again.'),
  503: publishProblem('The broker is busy: Retry-After says when to come again.'),
} as const;

export const messageOperations = {
  publish: {
    method: 'POST',
    path: '/publish',
    tag: 'Messages',
    summary: 'Publishes a message.',
    body: json(ref('NewMessage')),
    roles: ['operator', 'backend'],
    answers: {
      200: answer('It has left for every subscriber.', ref('PublishReceipt')),
      ...publishing,
      202: answer('It was taken, and had no subscriber.', ref('PublishedToNone')),
    },
    scope: 'tenant',
  },
  publishBulk: {
    method: 'POST',
    path: '/publish/bulk',
    tag: 'Messages',
    summary: 'Publishes messages in their order. All are looked at before any is published.',
    body: json(list(ref('NewMessage'), undefined, { minItems: 1, maxItems: 100 })),
    roles: ['operator', 'backend'],
    answers: {
      200: answer('Each has left for every subscriber.', list(ref('PublishReceipt'))),
      ...publishing,
      202: answer('Some had no subscriber.', list(ref('PublishOutcome'))),
    },
    scope: 'tenant',
  },
  listRetained: {
    method: 'GET',
    path: '/mqtt/retainer/messages',
    tag: 'Messages',
    summary: 'Lists retained messages.',
    query: {
      ...PAGING,
      topic: parameter('A filter; by default # of all topics but those that begin with $.', text()),
    },
    answers: { 200: answer('A page of messages.', ref('RetainedMessagePage')) },
    scope: 'tenant',
  },
  getRetained: {
    method: 'GET',
    path: '/mqtt/retainer/message/:topic',
    tag: 'Messages',
    summary: 'Answers the message that is retained for a topic.',
    parameters: topic,
    answers: { 200: answer('The message.', ref('RetainedMessageWithPayload')), 404: notFound },
    scope: 'tenant',
  },
  removeRetained: {
    method: 'DELETE',
    path: '/mqtt/retainer/message/:topic',
    tag: 'Messages',
    summary: 'Forgets the message that is retained for a topic. No subscriber is told.',
    parameters: topic,
    answers: { 204: answer('It is forgotten.'), 404: notFound },
    scope: 'tenant',
  },
  streamEvents: {
    method: 'GET',
    path: '/events',
    tag: 'Messages',
    summary: 'Sends messages to a client as they are published, as Server-Sent Events.',
    description:
      'The caller shows a token as at a handshake, or a user name and password as Basic, and has the rights of that client. An event of the type `message` has an Event, of the type `gap` an EventGap: messages may be missing before the next event. The last has the type `end`, and a PublishFailure. With the header `Last-Event-ID` the events go on after that one, where streams keep all topics.',
    query: {
      topic: parameter(
        'A topic filter, as of a SUBSCRIBE. Once for each filter, 20 times at most. `+` stands for itself, `#` is `%23`.',
        text(),
      ),
      token: parameter('The token, for browsers, which can set no header.', text()),
    },
    roles: ['client'],
    answers: {
      200: {
        description: 'Events, until the client or the broker ends them.',
        content: {
          schema: { oneOf: [ref('Event'), ref('EventGap'), ref('PublishFailure')] },
          type: 'text/event-stream',
        },
      },
    },
    doors: ['node'],
    elsewhere:
      'A deployment holds no HTTP answer open: a function would be billed for the whole time of each stream. Subscribe over MQTT, with @apus/client.',
    scope: 'credential',
  },
  listStreams: {
    method: 'GET',
    path: '/streams',
    tag: 'Streams and rooms',
    summary: 'Lists streams, and what they hold.',
    roles: ['operator', 'backend'],
    answers: { 200: answer('All of them.', object({ data: list(ref('Stream')) })) },
    scope: 'tenant',
  },
  listStreamMessages: {
    method: 'GET',
    path: '/streams/:name/messages',
    tag: 'Streams and rooms',
    summary: 'Answers messages of one topic of a stream, a page at a time.',
    parameters: { name: parameter('Of the stream.', text()) },
    query: {
      topic: parameter('A topic of the stream; may be left out where the stream has one topic.', text()),
      since: parameter('A position (EPOCH-N), milliseconds since 1970, or a time.', text()),
      limit: parameter(
        'Messages of a page.',
        count(undefined, { minimum: 1, maximum: LIMIT_MAX, default: LIMIT_DEFAULT }),
      ),
      reverse: parameter('The newest first.', { ...flag(), default: false }),
    },
    roles: ['operator', 'backend'],
    answers: {
      200: answer('A page of messages.', ref('StreamPage')),
      404: notFound,
      410: answer('Messages behind this position are not kept any more.', ref('Problem')),
    },
    scope: 'tenant',
  },
  listMembers: {
    method: 'GET',
    path: '/presence/:room',
    tag: 'Streams and rooms',
    summary: 'Lists the members of a room as they are now.',
    parameters: { room: parameter('One level of a topic.', text()) },
    query: PAGING,
    roles: ['operator', 'backend'],
    answers: {
      200: answer('A page of members.', ref('MemberPage')),
      501: answer('This deployment keeps no presence.', ref('Problem')),
    },
    scope: 'tenant',
  },
} as const satisfies Readonly<Record<string, Operation>>;
