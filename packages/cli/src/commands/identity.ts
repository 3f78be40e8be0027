import { readFileSync } from 'node:fs';
import { reasonOf } from '@apus/broker';
import { type IdentityConfiguration, parseIdentity, type TenantStore } from '@apus/identity';
import { openChain, systemScheduler } from '@apus/node';
import { readSecret } from '../aws/secret.ts';
import { type Command, CommandError } from './command.ts';
import { UsageError } from './flags.ts';

/** The check is about the file, and not about the tenants of a broker. */
const NO_TENANTS: TenantStore = {
  get: () => undefined,
  add: () => false,
  replace: () => false,
  remove: () => false,
  list: () => ({ tenants: [], next: undefined }),
};

const NO_LOG = { debug() {}, info() {}, warn() {}, error() {} };

export const identity: Command = {
  name: 'identity',
  summary: 'Checks a configuration of authentication.',
  usage: 'check FILE',
  description:
    'Checks a file for `apus serve --identity`, reads the files that it names, and fetches its keys once.',
  flags: {},
  async run({ positionals }) {
    const [verb, path, ...others] = positionals;
    if (verb !== 'check' || path === undefined || others.length > 0)
      throw new UsageError('It is `apus identity check FILE`.');
    const configuration = readConfiguration(path);
    const problems = await report(configuration);
    if (problems > 0) throw new CommandError(`${path}: ${problems} cannot be used now.`);
    console.log(`${path} is good.`);
    return 0;
  },
};

/** @throws {CommandError} if the file cannot be read, or {ConfigurationError} if it is wrong */
export function readConfiguration(path: string): IdentityConfiguration {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw new CommandError(`The configuration cannot be read: ${(error as Error).message}`);
  }
  return parseIdentity(text, path);
}

/**
 * Prints a line for each authenticator, in the order in which they are asked. Returns how many cannot read their keys.
 */
async function report(configuration: IdentityConfiguration): Promise<number> {
  const { chain } = openChain(
    configuration,
    { clock: systemScheduler, readSecret, tenants: NO_TENANTS },
    NO_LOG,
  );
  let problems = 0;
  for (const [source, error] of await chain.probe()) {
    if (error !== undefined) problems += 1;
    console.log(error === undefined ? `${source}: ready` : `${source}: ${reasonOf(error)}`);
  }
  return problems;
}
