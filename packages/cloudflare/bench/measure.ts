import { parseArgs } from 'node:util';
import { type Broker, startBareBroker, startNodeBroker, startObjectBroker } from './brokers.ts';
import { fanOut, oneToOne } from './loads.ts';
import { heapOfSockets, profiledWakeUp, wakeUp } from './sleep.ts';

const HELP = `npm run bench:doors -- [--rounds NUMBER] [--only fan-out|one-to-one|wake|heap] [--sessions 1000,10000] | --profile LOAD

Measures the object door in workerd beside the node door, with the same core, in one run: processor time of each
broker's process, in turns. Prints the median of the rounds, and each of them. With --profile fan-out, one-to-one or wake it measures nothing, and prints the
functions of the hub that take the most time.
`;

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    only: { type: 'string', default: '' },
    sessions: { type: 'string', default: '1000,10000' },
    profile: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});
const rounds = Number(values.rounds);
const isAsked = (name: string): boolean => values.only === '' || values.only === name;

if (values.help) say(HELP);
else if (values.profile === 'wake') say(`${(await profiledWakeUp(1_000, 10 * rounds)).join('\n')}\n`);
else if (values.profile !== undefined) await profile(values.profile === 'fan-out' ? fanOut : oneToOne);
else await main();

async function profile(load: (broker: Broker) => Promise<number>): Promise<void> {
  const broker = await startObjectBroker(true);
  await load(broker);
  say(`${(await broker.profile(() => load(broker))).join('\n')}\n`);
  await broker.stop();
}

async function main(): Promise<void> {
  if (isAsked('fan-out')) await beside('fan-out 1 to 500, QoS 0, 200 bytes: us a delivery', fanOut);
  if (isAsked('one-to-one')) await beside('one to one, QoS 1, 200 bytes: us a message', oneToOne);
  if (isAsked('wake'))
    for (const sessions of values.sessions.split(',').map(Number)) {
      const found = await wakeUp(sessions, rounds);
      say(
        `wake-up with ${sessions} kept sessions, a filter each: ms of processor time ${told(found.publish)}\n`,
      );
      say(`  PINGREQ to the sleeping hub ${told(found.ping)}\n`);
    }
  if (isAsked('heap')) {
    const { emptyBytes, bytes } = await heapOfSockets(5_000);
    say(
      `5,000 sockets with a session and a filter: ${megabytes(bytes)} of heap, ${megabytes(emptyBytes)} without\n`,
    );
  }
}

/** The brokers take turns, so that a busy machine is as busy for both. */
async function beside(what: string, load: (broker: Broker) => Promise<number>): Promise<void> {
  const brokers = [await startNodeBroker(), await startObjectBroker(), await startBareBroker()];
  const found = new Map(brokers.map(({ name }) => [name, [] as number[]]));
  for (const broker of brokers) await load(broker);
  for (let round = 0; round < rounds; round += 1)
    for (const broker of brokers) found.get(broker.name)?.push(await load(broker));
  for (const broker of brokers) await broker.stop();
  const [node = [], object = [], bare = []] = found.values();
  const ratio = (of: readonly number[]) => told(of.map((us, index) => us / (node[index] ?? Number.NaN)));
  say(`${what}\n  node ${told(node)}\n  object ${told(object)}, ratio ${ratio(object)}\n`);
  say(`  an object that only passes frames on ${told(bare)}, ratio ${ratio(bare)}\n`);
}

function told(found: readonly number[]): string {
  const sorted = [...found].sort((a, b) => a - b);
  const median = sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
  return `${median.toFixed(1)} (${found.map((each) => each.toFixed(1)).join(', ')})`;
}

function megabytes(bytes: number): string {
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}

function say(text: string): void {
  process.stdout.write(text);
}
