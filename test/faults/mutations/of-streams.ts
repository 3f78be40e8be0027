import { LiveReader } from '@apus/broker';
import type { DynamoDbFaults } from '@apus/emulated-aws';
import { DynamoStreams } from '@apus/store-dynamodb/testing';
import { vi } from 'vitest';
import type { Alterations } from '../../cloud/options.ts';
import { alteredWrites, isWriteOf, type WriteInput } from '../altered-dynamo.ts';
import type { StreamTopic } from '../steps.ts';
import { READERS } from '../stream-readers.ts';
import { appends, inOrder, newcomers, readerReturns } from './directed-steps.ts';
import { ALL_INLINE, KILLS, LATE, type Mutation, slowly, UNBROKEN } from './mutation.ts';

/** A tile is written this long after its append was answered. */
const LATE_MS = 50;

/** How slow the write of a session's list of subscriptions is. */
const LIST_MS_MAX = 1_000;

/** The name of a log is a time: the sort key of a tile begins with it, that of the root does not. */
const FIRST_DIGIT = '0';

/** The reader whose session outlives its connections. */
const KEPT_READER = READERS.findIndex(({ sessionExpirySeconds = 0 }) => sessionExpirySeconds > 0);

/** Lets the SUBSCRIBEs of two connections change places. */
const SLOW_LISTS: DynamoDbFaults = {
  latencyMs: ({ operation, key }) =>
    operation === 'UpdateItem' && key?.s?.S === 'list' ? LIST_MS_MAX * Math.random() : 0,
};

const on = (topic: StreamTopic, everyMs = 60) =>
  inOrder(
    appends({ topic, everyMs, durationMs: 5_000 }),
    readerReturns(400, 5_000),
    newcomers({ topic, everyMs: 500, durationMs: 5_000 }),
  );

/** Mutations of the way of a stream's message from its publisher to its readers. */
export const OF_STREAMS: readonly Mutation[] = [
  {
    name: 'an append is acknowledged before it is stored',
    alterations: { dynamo: answeredBefore((input) => isWriteOf(input, 'L', FIRST_DIGIT)) },
    steps: on('feed/a'),
    rates: KILLS,
    finds: ['lost', 'place', 'order'],
  },
  {
    name: 'stream-recovered is said true over messages that are handed out no more',
    install: () => {
      const { firstKept, read } = DynamoStreams.prototype;
      const floors = new Map<string, number>();
      vi.spyOn(DynamoStreams.prototype, 'firstKept').mockImplementation(async function (
        this: DynamoStreams,
        ...call
      ) {
        const [, , tail, from] = call;
        floors.set(tail.topic, await firstKept.apply(this, call));
        return from;
      });
      vi.spyOn(DynamoStreams.prototype, 'read').mockImplementation(async function (
        this: DynamoStreams,
        ...call
      ) {
        const page = await read.apply(this, call);
        const floor = floors.get(call[1]) ?? 0;
        return page === 'lost' ? page : page.filter(({ number }) => number >= floor);
      });
    },
    steps: on('short/a'),
    finds: ['lost'],
  },
  {
    name: 'the readers of a message are looked up before it has its place',
    alterations: {
      cloud: ({ streams }) => {
        if (streams !== undefined) Object.assign(streams, { isShared: false });
      },
    },
    steps: on('feed/a'),
    store: slowly(30),
    rates: LATE,
    finds: ['lost'],
  },
  {
    name: 'the readers of a session stay behind where it moves',
    install: () => {
      vi.spyOn(LiveReader.prototype, 'takes').mockImplementation(function (this: LiveReader, { attachment }) {
        return attachment?.connectionId === this.connectionId;
      });
    },
    steps: appends({ topic: 'feed/a', everyMs: 60, durationMs: 9_000 }),
    durationMs: 10_000,
    inlineSubscribersMax: ALL_INLINE,
    rates: UNBROKEN,
    finds: ['lost'],
  },
  {
    name: 'a late SUBSCRIBE replaces the reader of the next connection',
    alterations: {
      dynamo: alteredWrites(({ ConditionExpression: condition }) =>
        condition?.includes(':own)') === true ? 'attribute_exists(#entry)' : condition,
      ),
    },
    // The second loss comes while the reader subscribes after the first one. A third would bring it back.
    steps: inOrder(
      appends({ topic: 'feed/a', everyMs: 300, durationMs: 5_000 }),
      readerReturns(1_150, 2_300, [KEPT_READER]),
    ),
    store: SLOW_LISTS,
    rates: UNBROKEN,
    finds: ['lost'],
  },
];

/** DynamoDB's answer comes before the write. */
function answeredBefore(isMeant: (input: WriteInput) => boolean): NonNullable<Alterations['dynamo']> {
  return (client) => {
    const send = async (command: { readonly input: object }, ...others: unknown[]) => {
      const write = () => (client.send as (...all: unknown[]) => Promise<unknown>)(command, ...others);
      if (!('Item' in command.input) || !isMeant(command.input as WriteInput)) return await write();
      setTimeout(() => void write().catch(() => {}), LATE_MS);
      return { $metadata: {} };
    };
    return { send: send as typeof client.send };
  };
}
