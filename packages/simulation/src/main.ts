import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { DEFAULT_QUOTAS, QUOTA_KINDS, QUOTA_NAMES, type QuotaName, type Quotas } from './quotas.ts';
import { predictionText } from './report.ts';
import { TooLargeError } from './run-model.ts';
import { simulate } from './simulate.ts';
import { SimulationError, WORKLOAD_FIELDS, workloadFrom } from './workload.ts';

const USAGE = `npm run simulate -- [FILE] [FLAGS]

Predicts latency, throttling and cost of a workload at the gateway door, says which quota binds first, and what to
raise. FILE is JSON with the fields below in camel case, and "quotas" with theirs; flags win over it.

Example: npm run simulate -- packages/simulation/workloads/two-million.json
         npm run simulate -- --connections 1000 --messages-per-second 100
`;

/** Prints a prediction. Returns the exit code. */
export function main(argv: readonly string[]): number {
  try {
    const { values, positionals } = parseArgs({ args: [...argv], options: OPTIONS, allowPositionals: true });
    if (values.help === true) {
      say(`${USAGE}\n${helpOf()}`);
      return 0;
    }
    if (positionals.length > 1) throw new SimulationError('One file at a time');
    const { quotas: givenQuotas, ...fields } = fileOf(positionals[0]);
    const names = Object.keys(WORKLOAD_FIELDS);
    const workload = workloadFrom({ ...fields, ...flagsOf(values, names) });
    const quotas = quotasOf({ ...givenQuotas, ...flagsOf(values, QUOTA_NAMES) });
    const startedAt = performance.now();
    const prediction = simulate(workload, { quotas });
    if (values.json === true) say(`${JSON.stringify(summaryOf(prediction), null, 2)}\n`);
    else
      say(
        `${predictionText(prediction)}\n\nSimulated in ${((performance.now() - startedAt) / 1_000).toFixed(1)} s.\n`,
      );
    return 0;
  } catch (error) {
    if (!isOfTheCaller(error)) throw error;
    process.stderr.write(`${error.message}. \`npm run simulate -- --help\` explains.\n`);
    return 2;
  }
}

const OPTIONS = {
  help: { type: 'boolean' },
  json: { type: 'boolean' },
  ...Object.fromEntries(
    [...Object.keys(WORKLOAD_FIELDS), ...QUOTA_NAMES].map((name) => [
      flagOf(name),
      { type: 'string' } as const,
    ]),
  ),
} as const;

type Given = Readonly<Record<string, unknown>>;

function fileOf(path: string | undefined): Given & { readonly quotas?: Given } {
  if (path === undefined) return {};
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw new SimulationError(
      `The workload cannot be read: ${error instanceof Error ? error.message : error}`,
    );
  }
  try {
    return JSON.parse(text) as Given;
  } catch {
    throw new SimulationError(`${path} is not JSON`);
  }
}

function flagsOf(values: Given, names: readonly string[]): Record<string, number> {
  const given: Record<string, number> = {};
  for (const name of names) {
    const text = values[flagOf(name)];
    if (typeof text !== 'string') continue;
    const number = Number(text);
    if (text.trim() === '' || !Number.isFinite(number)) {
      throw new SimulationError(`--${flagOf(name)} takes a number, not "${text}"`);
    }
    given[name] = number;
  }
  return given;
}

function quotasOf(given: Given): Quotas {
  const quotas: Record<string, number> = { ...DEFAULT_QUOTAS };
  for (const [name, value] of Object.entries(given)) {
    if (!Object.hasOwn(QUOTA_KINDS, name)) {
      throw new SimulationError(`"${name}" is no quota. There are ${QUOTA_NAMES.join(', ')}`);
    }
    if (typeof value !== 'number' || !(value > 0)) {
      throw new SimulationError(`The quota "${name}" is a number above 0, not ${JSON.stringify(value)}`);
    }
    quotas[name] = value;
  }
  return quotas as unknown as Quotas;
}

/** `messagesPerSecond` is `--messages-per-second`. */
function flagOf(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

function helpOf(): string {
  const workload = Object.entries(WORKLOAD_FIELDS).map(([name, { help, preset }]) => {
    const fallback = preset === undefined ? '' : ` Default: ${preset}.`;
    return `  --${flagOf(name)} NUMBER  ${help}${fallback}`;
  });
  const quotas = QUOTA_NAMES.map((name: QuotaName) => {
    const { label, preset, source } = QUOTA_KINDS[name];
    return `  --${flagOf(name)} NUMBER  ${label} (${source}). Default: ${preset}.`;
  });
  return [
    'Workload:',
    ...workload,
    '',
    'Quotas:',
    ...quotas,
    '',
    '  --json  Prints what was found as JSON.',
    '',
  ].join('\n');
}

function summaryOf(prediction: ReturnType<typeof simulate>) {
  const { asIs, lifted, ...rest } = prediction;
  const run = ({ tally, ...others }: typeof asIs) => {
    const { deliveryMs, acknowledgeMs, ...counts } = tally;
    const latency = (histogram: typeof deliveryMs) => ({
      count: histogram.count,
      mean: histogram.mean,
      p50: histogram.quantile(0.5),
      p95: histogram.quantile(0.95),
      p99: histogram.quantile(0.99),
      p999: histogram.quantile(0.999),
      max: histogram.max,
    });
    return { ...others, counts, deliveryMs: latency(deliveryMs), acknowledgeMs: latency(acknowledgeMs) };
  };
  return { ...rest, asIs: run(asIs), lifted: run(lifted) };
}

/** Errors that the caller can mend, told in a sentence. */
function isOfTheCaller(error: unknown): error is Error {
  if (error instanceof SimulationError || error instanceof TooLargeError) return true;
  return error instanceof TypeError && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS');
}

function say(text: string): void {
  process.stdout.write(text);
}
