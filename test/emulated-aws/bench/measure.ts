import { cpus, loadavg } from 'node:os';
import { CreateTableCommand, DynamoDBClient, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { createDynamoDb } from '../src/index.ts';

const TABLE = 'bench';
const WARM_UP_MS = 1_000;
const MEASURED_MS = 4_000;
/** Concurrent requests: enough that none waits for a turn of the event loop. */
const AT_ONCE = 100;
const KEYS = 10_000;

const dynamoDb = createDynamoDb({ seed: 1 });
const client = new DynamoDBClient(dynamoDb.clientConfig());
const handler = dynamoDb.requestHandler();
await client.send(
  new CreateTableCommand({
    TableName: TABLE,
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: [{ AttributeName: 'p', AttributeType: 'S' }],
    KeySchema: [{ AttributeName: 'p', KeyType: 'HASH' }],
  }),
);

const alone = await perCpuSecond(async (input) => {
  const { response } = await handler.handle({
    headers: { 'x-amz-target': 'DynamoDB_20120810.UpdateItem' },
    body: JSON.stringify(input),
  });
  if (response.statusCode !== 200) throw new Error(`UpdateItem was answered ${response.statusCode}`);
});
const behindSdk = await perCpuSecond((input) => client.send(new UpdateItemCommand(input)));

const machine = `${cpus()[0]?.model.trim()}, ${cpus().length} cores, load average ${loadavg()[0]?.toFixed(1)}`;
process.stdout.write(`${new Date().toISOString().slice(0, 10)}, Node.js ${process.versions.node}, ${machine}

| UpdateItem, conditional, 200 bytes | a CPU second |
|---|--:|
| the emulator by itself | ${alone.toLocaleString('en')} |
| behind AWS's SDK | ${behindSdk.toLocaleString('en')} |
`);

/**
 * Operations per second of processor time, so that other load on the machine matters little; rounded to three digits.
 */
async function perCpuSecond(send: (input: ReturnType<typeof inputOf>) => Promise<unknown>): Promise<number> {
  await sendFor(WARM_UP_MS, send);
  const before = process.cpuUsage();
  const sent = await sendFor(MEASURED_MS, send);
  const { user, system } = process.cpuUsage(before);
  return Number(((sent * 1_000_000) / (user + system)).toPrecision(3));
}

async function sendFor(
  ms: number,
  send: (input: ReturnType<typeof inputOf>) => Promise<unknown>,
): Promise<number> {
  const endsAt = performance.now() + ms;
  let sent = 0;
  while (performance.now() < endsAt) {
    await Promise.all(Array.from({ length: AT_ONCE }, (_, index) => send(inputOf((sent + index) % KEYS))));
    sent += AT_ONCE;
  }
  return sent;
}

/** A write like the broker's: it sets one value and adds to another, under a condition. */
function inputOf(key: number) {
  return {
    TableName: TABLE,
    Key: { p: { S: `connection-${key}` } },
    UpdateExpression: 'SET #v = :v ADD #n :one',
    ConditionExpression: 'attribute_not_exists(#gone)',
    ExpressionAttributeNames: { '#v': 'value', '#n': 'count', '#gone': 'gone' },
    ExpressionAttributeValues: { ':v': { S: 'x'.repeat(200) }, ':one': { N: '1' } },
  };
}
