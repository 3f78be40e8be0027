import { CommandError } from '../cli/command-error.ts';
import { main } from '../cli/main.ts';
import { deployCluster } from './cluster.ts';
import { describeDeployment } from './describe-deployment.ts';
import { startStrictMinistack } from './ministack.ts';
import { leaveHalfFinished, requireRefusals } from './mistakes.ts';
import { INFRA, type Program, runProgram } from './run-program.ts';
import { API_KEY_SHA256 } from './support/api.ts';
import { requireLeft } from './what-is-left.ts';

const STACK_NAME = 'apus-e2e';
/** Times are the shortest allowed, so that tests need not wait; and backends publish as well. */
// MiniStack drops messages that were posted right before a connection is deleted: `apus probe --only cut` reports it.
const FLAGS = [
  ...['--connect-timeout-seconds', '5', '--http-publish', 'keys', '--cut-after-ms', '500'],
  ...['--rules', `${INFRA}e2e/rules.json`],
  ...['--topics', `${INFRA}e2e/topics.json`],
  ...['--usage', '--usage-export', 'csv'],
  ...['--http-api-key-sha256', API_KEY_SHA256],
];
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

await main(endToEnd);

/**
 * Deploys the broker as its owner would, uses it as its clients would, destroys it, and checks the remaining resources.
 * Then a second deployment adopts them.
 */
async function endToEnd(args: readonly string[]): Promise<void> {
  const ministack = await startStrictMinistack();
  const stop = async (signal: NodeJS.Signals) => {
    await ministack.stop();
    process.kill(process.pid, signal);
  };
  for (const signal of SIGNALS) process.once(signal, stop);
  try {
    Object.assign(process.env, ministack.environment);
    await timed('Making mistakes', () =>
      requireRefusals((...flags) => command('The deployment', 'deploy', ...flags)),
    );
    await leaveHalfFinished(STACK_NAME);
    const said = await step('Deploying', command('The deployment', 'deploy', ...FLAGS));
    if (!said.includes('An earlier run has left the stack'))
      throw new CommandError(`The deployment has not cleaned up what was left:\n${said}`);
    await step('Testing', await tests(args.length > 0 ? args : ['e2e/tests/']));
    const left = await step('Destroying', command('The removal', 'destroy'));
    await requireLeft({ tables: 2, secrets: 2 });
    await timed('Creating and deleting a cluster', deployCluster);
    await requireLeft({ tables: 2, secrets: 2 });
    await step('Destroying what is not there', command('The second removal', 'destroy'));
    // Without --rollback-on-alarm: its alarms add up two metrics, which MiniStack's CloudFormation does not support.
    const again = [...adoptingFlags(left), '--http-publish', 'iam'];
    await step('Coming back', command('The deployment with the tables that were left', 'deploy', ...again));
    await step('Testing what was left', await tests(['e2e/again/']));
    await step('Destroying again', command('The last removal', 'destroy'));
    await requireLeft({ tables: 2, secrets: 2 });
  } finally {
    for (const signal of SIGNALS) process.off(signal, stop);
    await ministack.stop();
  }
  console.log(
    'End to end: deployed, used, destroyed, deployed again with what was left, and destroyed; the table and the secrets are kept, as by default.',
  );
}

/** The flags that `destroy` prints, for what is adopted; this deployment has no keys of backends. */
function adoptingFlags(said: string): readonly string[] {
  const [, ...flags] =
    /(--adopt-table \S+) (--adopt-sessions-table \S+) (--token-secret-arn \S+)/.exec(said) ?? [];
  if (flags.length === 0) throw new CommandError(`The removal does not say how to come back:\n${said}`);
  return flags.flatMap((flag) => flag.split(' '));
}

/** The tests whose paths contain one of these. */
async function tests(paths: readonly string[]): Promise<Program> {
  return {
    title: 'A test',
    command: 'npx',
    args: ['vitest', 'run', '--config', 'e2e/vitest.config.ts', ...paths],
    environment: await describeDeployment(STACK_NAME),
    isLoud: true,
  };
}

function command(title: string, name: 'deploy' | 'destroy', ...flags: readonly string[]): Program {
  return { title, command: 'node', args: ['run.mjs', `cli/${name}.ts`, '--name', STACK_NAME, ...flags] };
}

function step(title: string, program: Program): Promise<string> {
  return timed(title, () => runProgram(program));
}

async function timed<T>(title: string, work: () => Promise<T>): Promise<T> {
  console.log(`${title} …`);
  const startedAtMs = Date.now();
  const result = await work();
  console.log(`${title}: ${((Date.now() - startedAtMs) / 1_000).toFixed(1)} s`);
  return result;
}
