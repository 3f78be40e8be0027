import { readFileSync } from 'node:fs';
import { type GivenStream, readStreams } from '@apus/broker';
import { type IdentityConfiguration, parseIdentity, readIdentity } from '@apus/identity';
import {
  DEFAULT_NODE_LIMITS,
  LOG_FORMATS,
  LOG_LEVELS,
  type NodeTopics,
  type OpenBridges,
  type OpenCluster,
  stderrSink,
} from '@apus/node';
import { tuneCollector } from '../collector.ts';
import { type DoorsOptions, type RunningDoors, startDoors } from '../start-doors.ts';
import { TenantsFile } from '../tenants-file.ts';
import type { Given, Listening } from '../workers/given.ts';
import { WORKERS_MAX, WORKERS_MIN } from '../workers/limits.ts';
import { type Command, CommandError } from './command.ts';
import { type Flags, UsageError, type Values } from './flags.ts';
import { readConfiguration } from './identity.ts';
import { LIMIT_FLAGS, limitsFrom } from './limit-flags.ts';
import { HOST, LISTENING_FLAGS, listeningFrom, portFrom } from './listening-flags.ts';
import { tracesFrom } from './otlp.ts';
import { PAGE } from './page-directory.ts';
import { QUOTA_FLAGS, quotasFrom } from './quota-flags.ts';
import { untilStopped } from './signals.ts';

const SYS_SECONDS_MAX = 86_400;
const LOG_LEVEL = 'info';

const ACCESS: Flags = {
  identity: {
    value: 'FILE',
    help: 'Configuration of authentication: a chain of authenticators for tokens, API keys and users, at both doors (docs/identity.md). What begins with { is the JSON itself.',
  },
  users: {
    value: 'FILE',
    help: 'File with users, their passwords and their permissions; the broker reads it again when it changes. Without it every client on this machine may do everything, and clients on other machines cannot connect.',
  },
  tenants: {
    value: 'FILE',
    help: 'File with the register of tenants, which `apus tenant` and /api/v5/tenants change: their keys, quotas and states. Made when it is not there. With --cluster or --workers the engine keeps the register: it begins with this file, which gets a copy of each change.',
  },
  'allow-anonymous': { help: 'Lets every client connect without credentials, also from other machines.' },
  'trusted-proxy': {
    value: 'ADDRESS',
    multiple: true,
    help: 'Address of a proxy in front of the doors, as 192.0.2.1 or 10.0.0.0/8: the broker takes client addresses from its X-Forwarded-For header.',
  },
  'allow-origin': {
    value: 'ORIGIN',
    multiple: true,
    help: 'Origin of web pages that may connect without credentials, as https://app.example; pages of this machine always may.',
  },
};

const BEHAVIOUR: Flags = {
  data: {
    value: 'DIRECTORY',
    help: 'Keeps sessions, their queues and retained messages in this directory; they survive a crash. Without it they end with the process. With --workers it is the directory of the engine.',
  },
  cluster: {
    value: 'URL',
    help: 'Joins the processes that share this Valkey or Redis, as redis://:PASSWORD@HOST:6379: together they are one broker (docs/cluster.md). It keeps sessions, retained messages, streams and rooms. The password may stand in the variable APUS_ENGINE_PASSWORD.',
  },
  'cluster-stream-bytes-max': {
    value: 'BYTES',
    help: 'Streams of one tenant in the engine of --cluster or --workers. Beyond it: 0x97. 0: half of its maxmemory, or 1 GiB where it has none.',
    default: '0',
  },
  streams: {
    value: 'FILE',
    help: 'Topics whose messages are kept for clients that come later: a list of streams in JSON (docs/streams.md).',
  },
  topics: {
    value: 'FILE',
    help: 'Descriptions of topics for the developers of programs, with schemas that payloads are checked against where the file says so: JSON (docs/portal.md). Their page is at /portal/. `apus topics check FILE` checks it.',
  },
  bridges: {
    value: 'FILE',
    help: 'Bridges to other MQTT brokers and to Kafka: a list in JSON (docs/bridges.md). `apus bridge check FILE` checks it. Processes of a cluster all take the same file, and one runs it.',
  },
  rules: {
    value: 'FILE',
    help: 'Rules: topics whose messages go to webhooks, Kafka, AWS or other topics: a list in JSON (docs/bridges.md). `apus rule check FILE` checks it. Processes of a cluster all take the same file, and one runs it.',
  },
  overlapping: {
    value: 'one|each',
    help: 'Delivers a message that matches several subscriptions of a client once, or once for each.',
    default: 'one',
  },
  'response-information': {
    value: 'TEXT',
    help: 'Answer to clients that ask for Response Information; %c is the client identifier.',
  },
  counters: {
    help: 'Serves /counters to programs on this machine: the usage that AWS would bill for the gateway door, and the CPU time and memory of this process.',
  },
  otlp: {
    value: 'URL',
    help: 'Sends traces of messages whose publishers ask for it to a collector of OpenTelemetry, by OTLP over HTTP, as http://127.0.0.1:4318 (docs/observability.md). OTEL_EXPORTER_OTLP_HEADERS has headers for it.',
  },
  'api-key-file': {
    value: 'FILE',
    help: 'File with a key: programs that send it may use /api/v5 (clients, subscriptions, figures). Without it programs on this machine may use the API, unless clients need credentials or other machines can connect: then the API is closed.',
  },
  'api-viewer-key-file': {
    value: 'FILE',
    help: 'File with a second key, which goes with --api-key-file: programs that send it may look at everything in /api/v5, and change nothing.',
  },
  'sys-interval-seconds': {
    value: 'SECONDS',
    help: 'Interval of the figures under $SYS/brokers/…; 0 publishes none.',
    default: '60',
  },
  'sys-heartbeat-seconds': {
    value: 'SECONDS',
    help: 'Interval of uptime and time under $SYS/brokers/…; 0 publishes none.',
    default: '30',
  },
  log: {
    value: LOG_FORMATS.join('|'),
    help: 'How the log is written to standard error: one JSON object a line, or text for people. Without it text on a terminal, and JSON elsewhere.',
  },
  'log-level': {
    value: LOG_LEVELS.join('|'),
    help: 'The lowest level that is logged to standard error.',
    default: LOG_LEVEL,
  },
};

export const serve: Command = {
  name: 'serve',
  summary: 'Runs the broker.',
  usage: '[FLAGS]',
  description: '',
  flags: {
    Listening: LISTENING_FLAGS,
    Access: ACCESS,
    Behaviour: BEHAVIOUR,
    Limits: LIMIT_FLAGS,
    Quotas: QUOTA_FLAGS,
  },
  async run(values) {
    values.refusePositionals('serve');
    return values.isSet('workers') ? await serveByWorkers(values) : await serveAlone(values);
  },
};

async function serveAlone(values: Values): Promise<number> {
  const node = await start(values, optionsFrom(values));
  console.log(welcome(values, node));
  const failure = await Promise.race([node.failed, untilStopped(() => node.stop())]);
  if (failure === undefined) return 0;
  await node.stop();
  throw new CommandError(failure.message);
}

/** The module is loaded only if it is used. */
async function serveByWorkers(values: Values): Promise<number> {
  const count = values.count('workers', WORKERS_MAX, WORKERS_MIN) ?? WORKERS_MIN;
  const { runWorkers } = await import('../workers/run-workers.ts');
  return await runWorkers({
    count,
    host: values.text('host') ?? HOST,
    port: portFrom(values),
    engineUrl: engineFrom(values),
    dataDirectory: values.text('data'),
    shutdownTimeoutSeconds:
      limitsFrom(values).shutdownTimeoutSeconds ?? DEFAULT_NODE_LIMITS.shutdownTimeoutSeconds,
    logLevel: values.oneOf('log-level', LOG_LEVELS) ?? LOG_LEVEL,
    logSink: stderrSink(values.oneOf('log', LOG_FORMATS)),
    welcome: (listening, notes) => welcome(values, listening, notes),
    start: (given) =>
      start(values, workerOptionsFrom(values, count, given), {
        url: given.engineUrl ?? engineFrom(values),
        isFirst: given.isFirst,
      }),
  });
}

/** The engine that the command starts has the data directory, and as much memory as all workers together. */
function workerOptionsFrom(values: Values, count: number, { engineUrl, port }: Given): DoorsOptions {
  const options = optionsFrom(values);
  if (engineUrl === undefined) return { ...options, port, memoryShares: count };
  return { ...options, port, memoryShares: 2 * count, dataDirectory: undefined };
}

async function start(
  values: Values,
  options: DoorsOptions,
  engine: EngineChoice = { url: engineFrom(values) },
): Promise<RunningDoors> {
  tuneCollector();
  const node = await startDoors({
    ...options,
    topics: await topicsFrom(values),
    openBridges: await bridgesFrom(values),
    openCluster: await clusterFrom(engine, values.count('cluster-stream-bytes-max')),
  });
  readAgainWhenAsked(node);
  goOnAfterErrors(node);
  return node;
}

function optionsFrom(values: Values): DoorsOptions {
  const origins = values.all('allow-origin');
  return {
    ...limitsFrom(values),
    quotas: quotasFrom(values),
    ...accessFrom(values),
    ...listeningFrom(values),
    allowedOrigins: origins.length > 0 ? origins : undefined,
    trustedProxies: values.all('trusted-proxy'),
    dataDirectory: values.text('data'),
    tenants: tenantsFrom(values.text('tenants')),
    streams: streamsFrom(values.text('streams')),
    overlapping: values.oneOf('overlapping', ['one', 'each']),
    responseInformation: values.text('response-information'),
    counters: values.isSet('counters'),
    traces: tracesFrom(values.text('otlp')),
    apiKey: keyFrom(values.text('api-key-file')),
    apiViewerKey: keyFrom(values.text('api-viewer-key-file')),
    pageDirectory: PAGE,
    sysIntervalSeconds: values.count('sys-interval-seconds', SYS_SECONDS_MAX),
    sysHeartbeatSeconds: values.count('sys-heartbeat-seconds', SYS_SECONDS_MAX),
    logLevel: values.oneOf('log-level', LOG_LEVELS) ?? LOG_LEVEL,
    logSink: stderrSink(values.oneOf('log', LOG_FORMATS)),
  };
}

function accessFrom(values: Values): DoorsOptions {
  const [given, ...others] = ['identity', 'users', 'allow-anonymous'].filter((name) => values.isSet(name));
  if (others.length > 0) throw new UsageError(`--${given} and --${others[0]} exclude each other.`);
  return { allowAnonymous: values.isSet('allow-anonymous'), identity: identityFrom(values) };
}

/** `--users FILE` is short for a chain of one. */
function identityFrom(values: Values): IdentityConfiguration | undefined {
  const users = values.text('users');
  if (users !== undefined) return readIdentity({ authenticators: [{ users: { file: users } }] }, '--users');
  const given = values.text('identity');
  if (given === undefined) return undefined;
  return given.startsWith('{') ? parseIdentity(given, '--identity') : readConfiguration(given);
}

/** Ends on SIGHUP if that means that the terminal was closed, as a process does by default. */
function readAgainWhenAsked(node: RunningDoors): void {
  if (!process.stdin.isTTY) process.on('SIGHUP', () => void node.reread());
}

/** Without it an exception, or a rejection without a handler, would end the process and so all clients. [SEC-FAULT-1] */
function goOnAfterErrors(node: RunningDoors): void {
  process.on('uncaughtException', (error) => node.uncaught(error));
  // The reader of the log has gone.
  process.stderr.on('error', () => {});
}

function tenantsFrom(path: string | undefined): TenantsFile | undefined {
  try {
    return path === undefined ? undefined : new TenantsFile(path);
  } catch (error) {
    throw new UsageError(`--tenants: ${(error as Error).message}`);
  }
}

function keyFrom(path: string | undefined): string | undefined {
  if (path === undefined) return undefined;
  try {
    return readFileSync(path, 'utf8').trim();
  } catch (error) {
    throw new UsageError(`The file of the API's key cannot be read: ${(error as Error).message}`);
  }
}

function streamsFrom(path: string | undefined): readonly GivenStream[] | undefined {
  if (path === undefined) return undefined;
  try {
    const { streams } = JSON.parse(readFileSync(path, 'utf8')) as { readonly streams: unknown };
    return readStreams(streams, 'streams').all;
  } catch (error) {
    throw new UsageError(`--streams ${path}: ${(error as Error).message}`);
  }
}

const ENGINES = ['redis:', 'rediss:'];

/** For containers, which get secrets as variables: arguments show in the list of processes. */
const ENGINE_PASSWORD = 'APUS_ENGINE_PASSWORD';

interface EngineChoice {
  /** Undefined: there is none. */
  readonly url: string | undefined;
  readonly isFirst?: boolean | undefined;
}

/** The address of the shared engine. */
function engineFrom(values: Values): string | undefined {
  const url = values.text('cluster');
  if (url === undefined) return undefined;
  if (!URL.canParse(url) || !ENGINES.includes(new URL(url).protocol))
    throw new UsageError(`--cluster is an address as redis://HOST:6379 or rediss://HOST:6379, not "${url}".`);
  return withPassword(url, process.env[ENGINE_PASSWORD]);
}

/** A password in the address takes precedence over that of the environment. */
function withPassword(url: string, password: string | undefined): string {
  const address = new URL(url);
  if (password === undefined || password === '' || address.password !== '') return url;
  address.password = encodeURIComponent(password);
  return address.href;
}

/** The module is loaded only if it is used. */
async function clusterFrom(
  { url, isFirst }: EngineChoice,
  streamBytesMax: number | undefined,
): Promise<OpenCluster | undefined> {
  if (url === undefined) return undefined;
  const { openCluster } = await import('@apus/cluster');
  return openCluster({ url, isFirst, streamBytesMax });
}

/** The module is loaded only if it is used. */
async function topicsFrom(values: Values): Promise<NodeTopics | undefined> {
  const path = values.text('topics');
  if (path === undefined) return undefined;
  const { readTopicsFile } = await import('@apus/topics');
  try {
    return readTopicsFile(path);
  } catch (error) {
    throw new UsageError(`--topics ${path}: ${(error as Error).message}`);
  }
}

/** The module is loaded only if it is used: a broker without bridges and rules pays nothing for them. */
async function bridgesFrom(values: Values): Promise<OpenBridges | undefined> {
  const [bridges, rules] = [values.text('bridges'), values.text('rules')];
  if (bridges === undefined && rules === undefined) return undefined;
  const { openBridges, readBridgesFile, readRulesFile } = await import('@apus/bridges');
  return openBridges(
    bridges === undefined ? [] : readBridgesFile(bridges),
    rules === undefined ? [] : readRulesFile(rules),
  );
}

function welcome(
  values: Values,
  { urls, httpUrl, gateway }: Pick<Listening, 'urls' | 'httpUrl'> & Partial<Pick<RunningDoors, 'gateway'>>,
  notes: readonly string[] = [],
): string {
  const lines = urls.map((url) => `  MQTT     ${url}`);
  if (gateway !== undefined) lines.push(`  gateway  ${gateway.url} (with the Apus transport)`);
  lines.push(`  page     ${httpUrl}`);
  if (values.isSet('topics')) lines.push(`  topics   ${httpUrl}portal/`);
  return ['Apus is running:', ...lines, ...notes, 'Stop it with Ctrl+C.'].join('\n');
}
