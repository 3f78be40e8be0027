import type { Environment } from '@apus/aws';
import {
  createIotCoreHandler,
  createKafkaHandler,
  readIotCoreSources,
  readKafkaMappings,
} from '@apus/bridges/testing';
import { DEFAULT_LIMITS } from '@apus/broker';
import { subscribe } from '../../support/text-client.ts';
import type { FunctionParts } from './functions.ts';
import { type BenchOperation, connected, PAYLOAD } from './operation.ts';
import type { World } from './world.ts';

const SILENT = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const CONTEXT = { getRemainingTimeInMillis: () => 30_000 };
const { topicLevelsMax } = DEFAULT_LIMITS;
const CROSSES = { topicLevelsMax, log: SILENT, published: () => {} };

const SOURCES = readIotCoreSources(
  [{ name: 'things', iotCore: {}, in: [{ filter: 'things/#' }] }],
  'the bench',
);
const RECORDS = 'prices';
const KAFKA = {
  name: 'prices',
  in: [{ topic: RECORDS, to: `${RECORDS}/{key}` }],
};

/** A failure is reported, as it would not be the ordinary case. */
export function bridgeFunctions(
  environment: Environment,
  { failed, sleep }: Pick<FunctionParts, 'failed' | 'sleep'>,
) {
  const crosses = { ...CROSSES, environment, skipped: () => failed('a message was left out') };
  const iotCore = createIotCoreHandler({ ...crosses, sources: SOURCES });
  const mappings = readKafkaMappings(JSON.stringify(KAFKA), 'the bench');
  const kafka = createKafkaHandler({ ...crosses, mappings, sleep });
  return {
    iotCore: (event: Parameters<typeof iotCore>[0]) => iotCore(event, CONTEXT),
    kafka: (event: Parameters<typeof kafka>[0]) => kafka(event, CONTEXT),
  };
}

/** This many messages from another broker, in one event, each for one subscriber. */
function fromElsewhere(
  name: string,
  topic: string,
  messages: number,
  bring: (world: World) => Promise<void>,
): BenchOperation {
  return {
    name,
    deliveries: messages,
    floor: { in: 0, out: messages },
    // Only the world that counts has their functions.
    isTimed: true,
    async prepare(world) {
      const subscriber = await connected(world);
      await subscriber.exchange(subscribe(topic));
      return async () => {
        await bring(world);
        await world.quiet();
        let received = 0;
        while (received < messages) received += (await subscriber.nextPush()).packets.length;
      };
    },
  };
}

/** An IoT rule puts the messages that its SQL selects into the queue. */
export const FROM_IOT_CORE = fromElsewhere('a message of AWS IoT Core, to 1', 'things/lamp', 1, (world) =>
  world.bring('iot-core', {
    topic: 'things/lamp',
    payload: Buffer.from(PAYLOAD).toString('base64'),
    hops: '',
    contentType: '',
  }),
);

const record = (offset: number) => ({
  topic: RECORDS,
  partition: 0,
  offset,
  key: Buffer.from('eurusd').toString('base64'),
  value: Buffer.from(PAYLOAD).toString('base64'),
  headers: [],
});

const recordsOf = (count: number) => ({
  eventSource: 'aws:kafka',
  records: { [`${RECORDS}-0`]: Array.from({ length: count }, (_, offset) => record(offset)) },
});

export const FROM_KAFKA = [1, 10].map((count) =>
  fromElsewhere(
    count === 1 ? 'a record of Kafka, to 1' : `${count} records of Kafka in an event, each to 1`,
    `${RECORDS}/eurusd`,
    count,
    (world) => world.bring('kafka', recordsOf(count)),
  ),
);
