import type { StreamDeclaration } from '@apus/broker';
import { covers } from '@apus/mqtt';
import type { ServerDescription, TopicDescription, Topics } from './topics.ts';

/** The parts of the document that the topics file does not contain. */
export interface DocumentContext {
  readonly tenant: string;
  /** The servers to list if the file names none. */
  readonly servers: readonly ServerDescription[];
  readonly streams: readonly StreamDeclaration[];
  /** An example: a payload that a client has published. Undefined: none is known, or none may be shown. */
  readonly sampleOf: (topic: TopicDescription) => unknown;
}

type Json = Readonly<Record<string, unknown>>;

/**
 * The topics of a tenant as an AsyncAPI document, version 3.0. It describes the broker: the broker receives the
 * messages that clients publish, and sends those that clients subscribe to.
 */
export function asyncApiOf(file: Topics, context: DocumentContext): Json {
  const own = file.topics.filter(({ tenants }) => tenants === undefined || tenants.includes(context.tenant));
  const others = context.streams.filter(
    ({ topicFilter }) => !own.some((each) => covers(topicFilter, each.topicFilter)),
  );
  const channels = [...own.map((topic) => describedChannel(topic, context)), ...others.map(streamChannel)];
  const named = channels.map((channel, index) => [`topic${index + 1}`, channel] as const);
  return {
    asyncapi: '3.0.0',
    info: {
      title: file.title,
      version: file.version,
      ...defined({ description: file.description, 'x-apus-token': file.token }),
    },
    defaultContentType: 'application/json',
    servers: Object.fromEntries((file.servers.length > 0 ? file.servers : context.servers).map(serverOf)),
    channels: Object.fromEntries(named.map(([id, { channel }]) => [id, channel])),
    operations: Object.fromEntries(
      named.flatMap(([id, { publish, subscribe }]) => operationsOf(id, publish, subscribe)),
    ),
    components: {
      securitySchemes: {
        token: { type: 'userPassword', description: file.token ?? 'The token is the password.' },
      },
    },
  };
}

interface Channel {
  readonly channel: Json;
  readonly publish: string | undefined;
  readonly subscribe: string | undefined;
}

function describedChannel(topic: TopicDescription, { streams, sampleOf }: DocumentContext): Channel {
  const stream = streams.find(({ topicFilter }) => covers(topicFilter, topic.topicFilter));
  const sample = sampleOf(topic);
  const examples = [
    ...topic.examples.map((payload) => ({ payload })),
    ...(sample === undefined
      ? []
      : [{ name: 'received', summary: 'The newest that has come.', payload: sample }]),
  ];
  return {
    publish: topic.publish,
    subscribe: topic.subscribe,
    channel: {
      address: topic.topic,
      title: topic.title,
      ...defined({ description: topic.description }),
      ...withMembers('parameters', parametersOf(topic)),
      messages: {
        message: {
          title: topic.title,
          contentType: topic.contentType,
          ...defined({ payload: topic.payload }),
          ...(examples.length > 0 && { examples }),
        },
      },
      ...(topic.checkPayload && { 'x-apus-checked': true }),
      ...(stream !== undefined && { 'x-apus-stream': streamOf(stream) }),
    },
  };
}

function parametersOf(topic: TopicDescription): Json {
  return Object.fromEntries(
    Object.entries(topic.parameters).map(([name, each]) => [name, defined({ ...each })]),
  );
}

/** A stream without a description: only its filter is known. */
function streamChannel(stream: StreamDeclaration): Channel {
  const parameters: Record<string, Json> = {};
  const levels = stream.topicFilter.split('/').map((level, index) => {
    if (level !== '+' && level !== '#') return level;
    const name = level === '+' ? `level${index + 1}` : 'rest';
    parameters[name] = {
      description: level === '+' ? 'One level.' : 'Any number of levels, with "/" between.',
    };
    return `{${name}}`;
  });
  return {
    publish: undefined,
    subscribe: 'Clients whose rules allow it.',
    channel: {
      address: levels.join('/'),
      title: stream.name,
      ...withMembers('parameters', parameters),
      messages: { message: { title: stream.name } },
      'x-apus-stream': streamOf(stream),
    },
  };
}

function streamOf({ name, topicFilter, keepSeconds, messagesMax, snapshot }: StreamDeclaration): Json {
  return { name, topicFilter, keepSeconds, messagesMax, snapshot };
}

function operationsOf(id: string, publish: string | undefined, subscribe: string | undefined) {
  const reference = {
    channel: { $ref: `#/channels/${id}` },
    messages: [{ $ref: `#/channels/${id}/messages/message` }],
  };
  return [
    ...(publish === undefined
      ? []
      : [[`${id}Publish`, { action: 'receive', summary: publish, ...reference }] as const]),
    ...(subscribe === undefined
      ? []
      : [[`${id}Subscribe`, { action: 'send', summary: subscribe, ...reference }] as const]),
  ];
}

function serverOf({ name, url, door, isOpen = false }: ServerDescription): readonly [string, Json] {
  const { host, pathname, protocol } = new URL(url);
  return [
    name,
    {
      host,
      pathname,
      protocol: protocol.slice(0, -1),
      protocolVersion: '5.0',
      description:
        door === 'gateway' ? 'MQTT through API Gateway: with the Apus transport.' : 'MQTT over WebSocket.',
      ...(!isOpen && { security: [{ $ref: '#/components/securitySchemes/token' }] }),
      'x-apus-door': door,
    },
  ];
}

function withMembers(name: string, members: Json): Json {
  return Object.keys(members).length === 0 ? {} : { [name]: members };
}

function defined(members: Json): Json {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}
