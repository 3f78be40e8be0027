import { CommandError } from '../cli/command-error.ts';
import { main } from '../cli/main.ts';
import { describeDeployment } from './describe-deployment.ts';
import { startStrictMinistack } from './ministack.ts';
import { leaveHalfFinished, requireRefusals } from './mistakes.ts';
import { type Program, runProgram } from './run-program.ts';
import { requireLeft } from './what-is-left.ts';

const STACK_NAME = 'apus-e2e';
/** Times are the least that there is, so that a test does not wait longer; and backends publish as well. */
const FLAGS = ['--connect-timeout-seconds', '5', '--http-publish', 'keys'];
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

await main(endToEnd);

/**
 * Deploys the broker as its owner would, uses it as its clients would, destroys it, and checks the resources that are
 * left.
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
    await step('Testing', {
      title: 'A test',
      command: 'npx',
      args: ['vitest', 'run', '--config', 'e2e/vitest.config.ts', ...args],
      environment: await describeDeployment(STACK_NAME),
      isLoud: true,
    });
    await step('Destroying', command('The removal', 'destroy'));
    await requireLeft({ tables: 2, secrets: 2 });
    await step('Destroying what is not there', command('The second removal', 'destroy'));
  } finally {
    for (const signal of SIGNALS) process.off(signal, stop);
    await ministack.stop();
  }
  console.log('End to end: deployed, used, destroyed; the table and the secrets are kept, as by default.');
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
