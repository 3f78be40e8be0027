import type { StreamLine, StreamMessageLine } from '@apus/api';
import type { Operator } from '../operate/operator.ts';
import type { Command } from './command.ts';
import { type Flags, UsageError, type Values } from './flags.ts';
import { BROKER_FLAGS, operating, operatorFrom } from './operate-flags.ts';
import { printLine } from './print.ts';

const MESSAGES: Flags = {
  topic: {
    value: 'TOPIC',
    short: 't',
    help: '`messages`: of this topic. Not needed where the filter of the stream is one topic.',
  },
  since: {
    value: 'POSITION|TIME',
    help: '`messages`: behind this position, or from this time on, in milliseconds since 1970 or as 2026-11-24T12:00:00Z; with --reverse before it.',
  },
  limit: { value: 'N', help: '`messages`: at most this many, up to 1000.', default: '100' },
  reverse: { help: '`messages`: the newest first.' },
};

export const stream: Command = {
  name: 'stream',
  summary: 'Lists the streams of a broker, topics whose messages it keeps, and what is in them.',
  usage: 'list|messages NAME [--topic TOPIC] [FLAGS]',
  description:
    'Examples: apus stream list\n          apus stream messages chat --topic chat/room-7 --limit 50 --reverse',
  flags: {
    Messages: MESSAGES,
    Output: { json: { help: 'Prints each as a line of JSON.' } },
    Broker: BROKER_FLAGS,
  },
  async run(values) {
    const [action, ...names] = values.positionals;
    const [name] = names;
    const isList = action === 'list' && names.length === 0;
    const isMessages = action === 'messages' && names.length === 1;
    if (!isList && !isMessages)
      throw new UsageError('`apus stream` takes `list`, or `messages` and the name of a stream, and flags.');
    if (isList) values.refuse(MESSAGES, 'is for `apus stream messages`.');
    const limit = limitFrom(values);
    const operator = operatorFrom(values);
    await operating(async () => {
      if (name === undefined) await list(operator, values);
      else await showMessages(operator, name, limit, values);
    });
    return 0;
  },
};

const PAGE_LENGTH_MAX = 1000;

function limitFrom(values: Values): number | undefined {
  const limit = values.count('limit');
  if (limit === undefined || (limit >= 1 && limit <= PAGE_LENGTH_MAX)) return limit;
  throw new UsageError(`--limit takes a number from 1 to ${PAGE_LENGTH_MAX}, not "${limit}".`);
}

async function list(operator: Operator, values: Values): Promise<void> {
  const line = values.isSet('json') ? JSON.stringify : lineOf;
  for (const each of await operator.streams()) printLine(line(each));
}

async function showMessages(
  operator: Operator,
  name: string,
  limit: number | undefined,
  values: Values,
): Promise<void> {
  const { messages, next } = await operator.streamMessages(name, {
    topic: values.text('topic'),
    since: values.text('since'),
    limit,
    ...(values.isSet('reverse') && { reverse: true }),
  });
  const line = values.isSet('json') ? JSON.stringify : messageLineOf;
  for (const each of messages) printLine(line(each));
  if (next !== null) console.error(`There are more: --since ${next}`);
}

function lineOf({
  name,
  topic_filter,
  topics,
  messages,
  bytes,
  keep_seconds,
  messages_max,
}: StreamLine): string {
  return [
    name,
    topic_filter,
    `${messages} messages of ${topics} topics, ${bytes} bytes`,
    `hands out ${messages_max} of a topic for ${keep_seconds} s`,
  ].join('  ');
}

function messageLineOf({ position, published_at, key, topic, payload }: StreamMessageLine): string {
  const text = Buffer.from(payload, 'base64').toString();
  return [published_at, position, topic, ...(key === null ? [] : [`key ${key}`]), text].join('  ');
}
