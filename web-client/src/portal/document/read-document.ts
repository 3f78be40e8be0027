import { EXAMPLE_LENGTH_MAX, EXAMPLES_MAX, NAME_LENGTH_MAX, TEXT_LENGTH_MAX, TOPICS_MAX } from '../limits.ts';
import { type Fields, fieldsOf, listOf, numberOf, textOf } from './fields.ts';
import type {
  PortalDocument,
  PortalExample,
  PortalParameter,
  PortalServer,
  PortalStream,
  PortalTopic,
} from './portal-document.ts';

/** Reads an AsyncAPI 3 document. Invalid members are omitted. Undefined: it is no such document. */
export function readDocument(root: unknown): PortalDocument | undefined {
  const document = fieldsOf(root);
  if (document === undefined || !(textOf(document.asyncapi, NAME_LENGTH_MAX) ?? '').startsWith('3.'))
    return undefined;
  const info = fieldsOf(document.info) ?? {};
  const channels = Object.entries(fieldsOf(document.channels) ?? {});
  const words = wordsOfOperations(document.operations);
  return {
    title: textOf(info.title, NAME_LENGTH_MAX) ?? '',
    version: textOf(info.version, NAME_LENGTH_MAX) ?? '',
    description: textOf(info.description, TEXT_LENGTH_MAX),
    token: textOf(info['x-apus-token'], TEXT_LENGTH_MAX),
    servers: Object.entries(fieldsOf(document.servers) ?? {}).flatMap(serverOf),
    topics: channels
      .slice(0, TOPICS_MAX)
      .flatMap(([id, channel]) => topicOf(fieldsOf(channel), words.get(`#/channels/${id}`))),
    leftOut: Math.max(channels.length - TOPICS_MAX, 0),
    root,
  };
}

interface Words {
  publish?: string;
  subscribe?: string;
}

/** By the reference to the channel. The broker receives what clients publish. */
function wordsOfOperations(operations: unknown): ReadonlyMap<string, Words> {
  const found = new Map<string, Words>();
  for (const operation of Object.values(fieldsOf(operations) ?? {})) {
    const { action, summary, channel } = fieldsOf(operation) ?? {};
    const reference = textOf(fieldsOf(channel)?.$ref, NAME_LENGTH_MAX);
    if (reference === undefined) continue;
    const words = found.get(reference) ?? {};
    const text = textOf(summary, TEXT_LENGTH_MAX) ?? '';
    if (action === 'receive') words.publish = text;
    if (action === 'send') words.subscribe = text;
    found.set(reference, words);
  }
  return found;
}

function serverOf([name, given]: [string, unknown]): PortalServer[] {
  const { host, pathname, protocol, security, 'x-apus-door': door } = fieldsOf(given) ?? {};
  const url = `${textOf(protocol, NAME_LENGTH_MAX)}://${textOf(host, NAME_LENGTH_MAX)}${textOf(pathname, NAME_LENGTH_MAX) ?? ''}`;
  if (!/^wss?:\/\//.test(url) || !URL.canParse(url)) return [];
  return [
    {
      name: name.slice(0, NAME_LENGTH_MAX),
      url: new URL(url).href,
      door: door === 'gateway' ? 'gateway' : 'node',
      asksForToken: listOf(security).length > 0,
    },
  ];
}

function topicOf(channel: Fields | undefined, words: Words = {}): PortalTopic[] {
  const address = textOf(channel?.address, TEXT_LENGTH_MAX);
  if (channel === undefined || address === undefined) return [];
  const message = fieldsOf(Object.values(fieldsOf(channel.messages) ?? {})[0]) ?? {};
  const stream = streamOf(channel['x-apus-stream']);
  const contentType = textOf(message.contentType, NAME_LENGTH_MAX);
  return [
    {
      address,
      title: textOf(channel.title, NAME_LENGTH_MAX) ?? address,
      description: textOf(channel.description, TEXT_LENGTH_MAX),
      parameters: parametersOf(address, fieldsOf(channel.parameters) ?? {}, stream),
      contentType: contentType ?? 'application/json',
      schema: message.payload,
      examples: listOf(message.examples).slice(0, EXAMPLES_MAX).flatMap(exampleOf),
      isChecked: channel['x-apus-checked'] === true,
      stream,
      publish: words.publish,
      subscribe: words.subscribe,
    },
  ];
}

const PARAMETER = /^\{([A-Za-z0-9_-]{1,64})\}$/;

function parametersOf(
  address: string,
  described: Fields,
  stream: PortalStream | undefined,
): readonly PortalParameter[] {
  const levels = address.split('/');
  const filter = stream?.topicFilter.split('/') ?? [];
  return levels.flatMap((level, index) => {
    const name = PARAMETER.exec(level)?.[1];
    if (name === undefined) return [];
    const fields = Object.hasOwn(described, name) ? fieldsOf(described[name]) : undefined;
    const given = textsOf(fields?.enum);
    return [
      {
        name,
        description: textOf(fields?.description, TEXT_LENGTH_MAX),
        values: given.length > 0 ? given : textsOf(fields?.examples),
        isEnum: given.length > 0,
        isRest: index === levels.length - 1 && index === filter.length - 1 && filter[index] === '#',
      },
    ];
  });
}

function exampleOf(given: unknown): PortalExample[] {
  const fields = fieldsOf(given);
  if (fields === undefined || !('payload' in fields)) return [];
  const payload = jsonOf(fields.payload);
  if (payload === undefined || payload.length > EXAMPLE_LENGTH_MAX) return [];
  const label = textOf(fields.summary, NAME_LENGTH_MAX) ?? textOf(fields.name, NAME_LENGTH_MAX);
  return [{ label, payload }];
}

/** Undefined if it is nested too deeply. */
export function jsonOf(value: unknown, indent?: number): string | undefined {
  try {
    return JSON.stringify(value, undefined, indent);
  } catch {
    return undefined;
  }
}

function streamOf(given: unknown): PortalStream | undefined {
  const fields = fieldsOf(given);
  const name = textOf(fields?.name, NAME_LENGTH_MAX);
  if (fields === undefined || name === undefined) return undefined;
  return {
    name,
    topicFilter: textOf(fields.topicFilter, TEXT_LENGTH_MAX) ?? '',
    keepSeconds: numberOf(fields.keepSeconds),
    messagesMax: numberOf(fields.messagesMax),
    isSnapshot: fields.snapshot === true,
  };
}

function textsOf(given: unknown): readonly string[] {
  return listOf(given)
    .slice(0, EXAMPLES_MAX)
    .flatMap((each) => textOf(each, NAME_LENGTH_MAX) ?? []);
}
