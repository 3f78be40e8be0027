import { parseArgs } from 'node:util';
import { CommandError } from '../cli/command-error.ts';
import { main } from '../cli/main.ts';
import { type StrictMinistack, startStrictMinistack } from './ministack.ts';

/** The default port of MiniStack and of other emulators. */
const PORT_DEFAULT = 4_566;
const PORT_MAX = 65_535;

await main(emulatedAws);

/** Starts the AWS of the end-to-end test, and keeps it until Ctrl+C, for deployments by hand. */
async function emulatedAws(args: readonly string[]): Promise<void> {
  const port = portOf(args);
  console.error('Starting an emulated AWS …');
  const aws = await startStrictMinistack(port);
  console.log(textOf(aws));
  await ended();
  await aws.stop();
}

function portOf(args: readonly string[]): number {
  const port = Number(valueOfPort(args) ?? PORT_DEFAULT);
  if (Number.isInteger(port) && port >= 1 && port <= PORT_MAX) return port;
  throw new CommandError(`--port is a whole number from 1 to ${PORT_MAX}.`);
}

function valueOfPort(args: readonly string[]): string | undefined {
  try {
    return parseArgs({ args: [...args], options: { port: { type: 'string' } } }).values.port;
  } catch (error) {
    throw new CommandError(`${(error as Error).message}: this command takes --port alone.`, { cause: error });
  }
}

function textOf({ endpoint, environment }: StrictMinistack): string {
  const variables = Object.entries(environment).map(([name, value]) => `${name}=${value}`);
  return [
    `An emulated AWS is running at ${endpoint}. In another terminal, here:`,
    '',
    `  export ${variables.join(' ')}`,
    '  npm run deploy',
    '',
    'Nothing leaves this machine, and nothing is kept. Stop it with Ctrl+C.',
  ].join('\n');
}

function ended(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => resolve());
  });
}
