import { QuotasError, readQuotas } from '../doctor/account-quotas.ts';
import { deploymentFlags } from '../doctor/deployment-flags.ts';
import { diagnose, type Load, type Reading, TIGHT_SHARE } from '../doctor/diagnosis.ts';
import { type Command, CommandError } from './command.ts';
import { type Flags, UsageError, type Values } from './flags.ts';

const LOAD = { connections: 1_000, messagesPerSecond: 100, deliveriesPerMessage: 1 } as const;

const ACCOUNT: Flags = {
  region: { value: 'REGION', help: 'Where the deployment is.', default: 'that of your AWS profile' },
};

const WORKLOAD: Flags = {
  connections: {
    value: 'COUNT',
    help: 'How many clients are connected at the same time.',
    default: String(LOAD.connections),
  },
  'messages-per-second': {
    value: 'COUNT',
    help: 'How many messages all clients publish in a second, each in a frame of its own.',
    default: String(LOAD.messagesPerSecond),
  },
  'deliveries-per-message': {
    value: 'COUNT',
    help: 'How many subscribers get each message.',
    default: String(LOAD.deliveriesPerMessage),
  },
  publishers: {
    value: 'COUNT',
    help: 'How many identities publish these messages: each has limits of its own.',
    default: 'a client each',
  },
};

export const doctor: Command = {
  name: 'doctor',
  summary: 'Reads the quotas of an AWS account, and names the one that a load reaches first.',
  usage: '[--connections COUNT] [--messages-per-second COUNT] [--deliveries-per-message COUNT]',
  description: [
    'Reads the quotas of an account in a Region with your AWS credentials, and changes nothing. The first line is the',
    'quota that the load reaches first. The exit code is 1 when the load does not fit. The last lines are the flags of a',
    'deployment that carries the load.',
  ].join('\n'),
  flags: { Account: ACCOUNT, Load: WORKLOAD },
  async run(values) {
    if (values.positionals.length > 0)
      throw new UsageError(`\`apus doctor\` takes only flags, not "${values.positionals[0]}".`);
    const load = loadFrom(values);
    const region = values.text('region');
    const { quotas, note } = await readOrFail(region);
    const readings = diagnose(quotas, load, region);
    const publishers = values.count('publishers') ?? Math.max(1, load.connections);
    if (publishers === 0) throw new UsageError('--publishers is 1 or more.');
    const notes = note === undefined ? [] : ['', note];
    console.log([report(readings, load), ...notes, '', ...deploymentOf(load, publishers)].join('\n'));
    return readings.some(({ share }) => share > 1) ? 1 : 0;
  },
};

function loadFrom(values: Values): Load {
  const load = {
    connections: values.count('connections') ?? LOAD.connections,
    messagesPerSecond: values.count('messages-per-second') ?? LOAD.messagesPerSecond,
    deliveriesPerMessage: values.count('deliveries-per-message') ?? LOAD.deliveriesPerMessage,
  };
  if (load.connections + load.messagesPerSecond > 0) return load;
  throw new UsageError('A load has connections or messages.');
}

async function readOrFail(region: string | undefined) {
  try {
    return await readQuotas(region);
  } catch (error) {
    if (error instanceof QuotasError) throw new CommandError(error.message, { cause: error });
    throw error;
  }
}

function report(readings: readonly Reading[], load: Load): string {
  const lines = readings.map(lineOf);
  const tight = readings.filter(({ share }) => share > TIGHT_SHARE);
  return [verdictOf(readings, load), '', ...lines, ...tight.flatMap(adviceOf)].join('\n');
}

function deploymentOf(load: Load, publishers: number): readonly string[] {
  const flags = deploymentFlags(load, publishers);
  if (flags.length === 0) return ['A deployment carries it with its defaults.'];
  return ['A deployment carries it, and half as much again, with', `  npm run deploy -- ${flags.join(' ')}`];
}

function verdictOf([first]: readonly Reading[], { messagesPerSecond }: Load): string {
  if (first === undefined) return 'No quota was read.';
  const { label, share } = first;
  const carries = Math.floor(messagesPerSecond / share).toLocaleString('en');
  if (share > 1) return `It does not fit: ${label} binds first, at about ${carries} messages a second.`;
  return `It fits. ${label} binds first, when the load has grown to about ${(1 / share).toFixed(1)} times.`;
}

function lineOf({ label, limit, needed, share }: Reading): string {
  const columns = [label.padEnd(38), `${count(needed)} of ${count(limit)}`.padEnd(18)];
  return `  ${columns.join('')}${Math.round(share * 100)} %`;
}

function adviceOf({ label, raise, quota }: Reading): readonly string[] {
  if (raise === undefined)
    return ['', `${label}: it grows with the requests a second, and cannot be asked for by itself.`];
  const more =
    quota === 'concurrentExecutions' ? ' A new account has 10, and is given more once it has been used.' : '';
  return ['', `${label}: ask for more, days before you need it.${more}`, `  ${raise}`];
}

function count(value: number): string {
  return value.toLocaleString('en');
}
