import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ENTRIES, type EntryName } from '../lib/entries.ts';
import { type Bundle, bundle, type Format } from './bundle.ts';
import { CommandError } from './command-error.ts';
import { main } from './main.ts';

const RUNS = 15;
const KILOBYTE = 1_024;
const LARGEST_SHOWN = 6;
const FORMATS: readonly Format[] = ['esm', 'cjs'];

/** Starts a bundle as Lambda would, and returns the processor time in milliseconds. */
const STARTER = `
import { createRequire } from 'node:module';
const [, file] = process.argv;
const before = process.cpuUsage();
if (file.endsWith('.cjs')) createRequire(import.meta.url)(file);
else await import(file);
const { user, system } = process.cpuUsage(before);
console.log((user + system) / 1_000);
process.exit(0);
`;

/** The variables that the functions expect. They make no call before their first event. */
const ENVIRONMENT = {
  APUS_TABLE_NAME: 'table',
  APUS_SESSIONS_TABLE_NAME: 'sessions',
  APUS_FAN_OUT_QUEUE_URL: 'https://sqs.us-east-1.amazonaws.com/1/fan-out.fifo',
  APUS_TIMER_QUEUE_URL: 'https://sqs.us-east-1.amazonaws.com/1/timers',
  APUS_DEAD_LETTER_QUEUE_URL: 'https://sqs.us-east-1.amazonaws.com/1/dead-letters',
  APUS_MANAGEMENT_ENDPOINT: 'https://a.execute-api.us-east-1.amazonaws.com/mqtt',
  APUS_IDENTITY: JSON.stringify({
    authenticators: [{ jwt: { secretArn: 'arn:aws:secretsmanager:us-east-1:1:secret:a' } }],
  }),
  APUS_KAFKA: JSON.stringify({ name: 'a', in: [{ topic: 'a', to: 'a/{key}' }] }),
  APUS_IOT_CORE: JSON.stringify([{ name: 'a', in: [{ filter: 'a/#' }] }]),
  APUS_RULES: JSON.stringify([{ name: 'a', filter: 'a', to: { publish: { topic: 'b' } } }]),
  APUS_RULE_QUEUE_URL: 'https://sqs.us-east-1.amazonaws.com/1/rules.fifo',
  APUS_METRICS_NAMESPACE: 'Apus',
  APUS_USAGE_BUCKET: 'usage',
  APUS_USAGE_EXPORT: 'csv',
  BREAKER_API_ID: 'a',
  BREAKER_STAGE_NAME: 'mqtt',
  BREAKER_FRAMES_PER_SECOND: '1',
  BREAKER_BURST_FRAMES: '1',
  BREAKER_EVENT_SOURCE_MAPPING_IDS: 'a',
  AWS_REGION: 'us-east-1',
  AWS_ACCESS_KEY_ID: 'a',
  AWS_SECRET_ACCESS_KEY: 'a',
  AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true',
};

const run = promisify(execFile);

await main(measureColdStart);

/**
 * Sizes of the bundles, and how long they take to start: the median of several runs, in processor time, which other
 * programs affect less.
 */
async function measureColdStart(args: readonly string[]): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'apus-cold-start-'));
  try {
    for (const name of entryNames(args)) {
      for (const format of FORMATS) await measure(folder, name, format);
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** All functions, or the named ones. */
function entryNames(args: readonly string[]): readonly EntryName[] {
  const known = Object.keys(ENTRIES) as EntryName[];
  const unknown = args.find((name) => !known.some((each) => each === name));
  if (unknown !== undefined)
    throw new CommandError(`"${unknown}" is no function: there are ${known.join(', ')}.`);
  return args.length === 0 ? known : known.filter((name) => args.includes(name));
}

async function measure(folder: string, name: EntryName, format: Format): Promise<void> {
  const made = await bundle(name, format);
  const file = join(folder, `${name}.${format === 'esm' ? 'mjs' : 'cjs'}`);
  await writeFile(file, made.code);
  const times: number[] = [];
  for (let index = 0; index < RUNS; index += 1) times.push(await start(file));
  times.sort((a, b) => a - b);
  const median = times[Math.floor(RUNS / 2)] ?? 0;
  console.log(
    `${name} (${format}): ${sizesOf(made)}, starts in ${median.toFixed(0)} ms of ${process.version}`,
  );
  if (format === 'esm') console.log(`  ${largestOf(made)}`);
}

async function start(file: string): Promise<number> {
  const args = ['--input-type=module', '--eval', STARTER, '--', file];
  const { stdout } = await run(process.execPath, args, { env: { PATH: process.env.PATH, ...ENVIRONMENT } });
  return Number(stdout.trim().split('\n').at(-1));
}

function sizesOf({ code, gzipBytes }: Bundle): string {
  return `${kilobytes(code.length)} KB, ${kilobytes(gzipBytes)} KB compressed`;
}

function largestOf({ packages }: Bundle): string {
  return packages
    .slice(0, LARGEST_SHOWN)
    .map(([name, bytes]) => `${name} ${kilobytes(bytes)}`)
    .join(', ');
}

function kilobytes(bytes: number): string {
  return Math.round(bytes / KILOBYTE).toLocaleString('en');
}
