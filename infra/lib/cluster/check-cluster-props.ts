import { ConfigurationError, createChain, GuessLimiter, KnownTenants, readIdentity } from '@apus/identity';
import { Token } from 'aws-cdk-lib/core';
import type { IConstruct } from 'constructs';
import { checkSecrets, resolved } from '../check-identity.ts';
import { checkRange, PropsError } from '../props-error.ts';
import type { ApusClusterProps, ManagedEngineProps, OwnEngineProps } from './cluster-props.ts';
import { DURABLE_NODE_TYPE, ENGINE_NODE_TYPE, TASKS_LEAST, TASKS_MAX, TASKS_MOST } from './limits.ts';

const NO_LOG = { debug() {}, info() {}, warn() {}, error() {} };
const CLOCK = { now: () => Date.now() };
const CIDR = /^\d{1,3}(\.\d{1,3}){3}\/([0-9]|[12][0-9]|3[0-2])$/;
const HOST_NAME = /^(?=.{1,253}$)([a-z0-9-]+\.)+[a-z]{2,}$/;
const MEMORY_STEP = 1_024;
/** Flags that the construct sets, or that a process of a cluster refuses. */
const FLAGS_TAKEN = [
  ...['--cluster', '--host', '--port', '--identity', '--users', '--allow-anonymous', '--workers', '--data'],
  ...['--connections-max', '--server-keep-alive-seconds-max', '--shutdown-timeout-seconds', '--no-gateway'],
];

/** @throws {PropsError} with a sentence for the owner */
export function checkClusterProps(scope: IConstruct, props: ApusClusterProps): void {
  checkTasks(scope, props);
  const { engine = {}, domain, allowedCidrs = [], alarms } = props;
  if ('url' in engine) checkOwnEngine(scope, engine);
  else checkManagedEngine(scope, engine);
  if (!Token.isUnresolved(domain.domainName) && !HOST_NAME.test(domain.domainName))
    throw new PropsError(
      scope,
      `domain.domainName is a host name as mqtt.example.com, not "${domain.domainName}".`,
    );
  const wrong = allowedCidrs.find((each) => !Token.isUnresolved(each) && !CIDR.test(each));
  if (wrong !== undefined)
    throw new PropsError(scope, `allowedCidrs has networks as 203.0.113.0/24, not "${wrong}".`);
  const email = alarms === false ? undefined : alarms?.email;
  if (email !== undefined && !Token.isUnresolved(email) && !/^\S+@\S+$/.test(email))
    throw new PropsError(scope, `alarms.email is a mail address, not "${email}".`);
  checkIdentity(scope, props);
}

function checkTasks(scope: IConstruct, { tasks = {} }: ApusClusterProps): void {
  const { least = TASKS_LEAST, most = TASKS_MOST, memoryMegabytes = 2 * MEMORY_STEP } = tasks;
  checkRange(scope, 'tasks.least', least, {
    least: 2,
    most: TASKS_MAX,
    hint: 'With one alone nothing is there when it dies.',
  });
  checkRange(scope, 'tasks.most', most, { least, most: TASKS_MAX });
  checkRange(scope, 'tasks.memoryMegabytes', memoryMegabytes, { least: 2_048, most: 8_192 });
  if (!Token.isUnresolved(memoryMegabytes) && memoryMegabytes % MEMORY_STEP !== 0)
    throw new PropsError(scope, `tasks.memoryMegabytes comes in steps of 1,024, not ${memoryMegabytes}.`);
  checkRange(scope, 'tasks.connectionsMax', tasks.connectionsMax, { least: 100, most: 60_000 });
  checkRange(scope, 'tasks.cpuPercent', tasks.cpuPercent, { least: 10, most: 90 });
  const taken = tasks.flags?.find((flag) => FLAGS_TAKEN.includes(flag.split('=')[0] ?? ''));
  if (taken !== undefined)
    throw new PropsError(
      scope,
      `tasks.flags has ${taken}, which the construct sets or a process of a cluster does not take.`,
    );
}

function checkManagedEngine(scope: IConstruct, engine: ManagedEngineProps): void {
  checkRange(scope, 'engine.replicas', engine.replicas, { least: 1, most: 5 });
  checkRange(scope, 'engine.snapshotDays', engine.snapshotDays, { least: 0, most: 35 });
  const { nodeType = ENGINE_NODE_TYPE, durability = 'sync' } = engine;
  if (durability === 'disabled' || Token.isUnresolved(nodeType) || DURABLE_NODE_TYPE.test(nodeType)) return;
  throw new PropsError(
    scope,
    `engine.nodeType is one of the families R6g, R7g, M6g, M7g and C7gn, as ${ENGINE_NODE_TYPE}, not "${nodeType}": others cannot write durably (durability: 'disabled' takes them).`,
  );
}

function checkOwnEngine(scope: IConstruct, { url }: OwnEngineProps): void {
  if (Token.isUnresolved(url)) return;
  const address = URL.canParse(url) ? new URL(url) : undefined;
  if (address === undefined || !['redis:', 'rediss:'].includes(address.protocol) || address.hostname === '')
    throw new PropsError(scope, `engine.url is an address as rediss://HOST:6379, not "${url}".`);
  if (address.password !== '')
    throw new PropsError(
      scope,
      'engine.url has a password in it, which everybody would see who may look at the task: put it into Secrets Manager, and the secret into engine.passwordSecret.',
    );
}

/** Reads the configuration as the processes will. */
function checkIdentity(scope: IConstruct, { identity }: ApusClusterProps): void {
  if (identity === undefined) return;
  try {
    const parsed = readIdentity(resolved(identity), 'identity');
    const readFile = (path: string): never => {
      throw new ConfigurationError(`${path}: there are no files in a task.`);
    };
    createChain(parsed, {
      clock: CLOCK,
      log: NO_LOG,
      limiter: new GuessLimiter(CLOCK),
      readFile,
      readSecret: async () => '',
      usersFile: readFile,
      tenants: new KnownTenants({ read: () => undefined, clock: CLOCK, log: NO_LOG }),
    });
  } catch (error) {
    if (error instanceof ConfigurationError) throw new PropsError(scope, error.message);
    throw error;
  }
  checkSecrets(scope, identity.authenticators ?? []);
}
