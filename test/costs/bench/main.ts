import { parseArgs } from 'node:util';
import { measureCpu } from './cpu.ts';
import { startGatewayWorld } from './gateway-world.ts';
import { type Measurement, measureAll } from './measure.ts';
import { OPERATIONS } from './operations.ts';
import { writePrograms } from './programs.ts';
import { publishTo } from './publish-operations.ts';
import { cpuMsOf, type Row, rowOf } from './row.ts';
import { differences, readTable, tableOf, writeTable } from './table.ts';
import { Trace } from './trace.ts';
import { measureWaits } from './waits.ts';
import { exactlyOnce, measureWide } from './wide-fan-out.ts';
import type { Counted } from './world.ts';

const HELP = `npm run bench:cloud -- [--write] [--recipients NUMBER] [--no-cpu] [--no-long] | --programs | --trace NAME

Measures what every operation of the gateway door consumes, on emulators of every service, and compares it with the
table of loadtest/results/operations.md.

  --write              Puts what was measured in the place of the table.
  --trace NAME         Compares nothing, and says what each operation with NAME in its name reads, writes, sends and invokes.
  --programs           Measures nothing, and writes what \`apus cost compare\` says into docs/costs.md; --write does so too.
  --recipients NUMBER  Of the largest fan-out, which needs no sockets. Default: 100000. 0: none.
  --no-cpu             Leaves out the processor time, which takes minutes; the table keeps what it has.
  --no-long            Leaves out what has a thousand recipients and more; the table keeps what it has.
`;

const WIDE_RECIPIENTS = 100_000;

/**
 * @param page the page with the table
 * @param programsPage the page with the programs of `apus cost compare`
 * @param servicesProgram the program that the CPU measurement starts
 */
export async function main(
  argv: readonly string[],
  page: URL,
  programsPage: URL,
  servicesProgram: string,
): Promise<number> {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      write: { type: 'boolean', default: false },
      recipients: { type: 'string', default: String(WIDE_RECIPIENTS) },
      'no-cpu': { type: 'boolean', default: false },
      trace: { type: 'string' },
      'no-long': { type: 'boolean', default: false },
      programs: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    say(HELP);
    return 0;
  }
  if (values.programs) {
    writePrograms(programsPage);
    return 0;
  }
  if (values.trace !== undefined) return await traceOperations(values.trace);
  const recipients = Number(values.recipients);
  if (!Number.isInteger(recipients) || recipients < 0) {
    say(`--recipients takes a whole number, not "${values.recipients}".`);
    return 2;
  }
  const operations = values['no-long'] ? OPERATIONS.filter(({ isLong }) => isLong !== true) : OPERATIONS;
  const measurements = [...(await measureOverSockets(operations))];
  if (recipients > 0 && !values['no-long']) {
    const wide = await measureWide(recipients);
    const measured = [...wide, exactlyOnceOf(recipients, wide, measurements)];
    measurements.splice(placeOf(measurements), 0, ...measured);
  }
  // Processor time that was not measured keeps its figures.
  const cpu = values['no-cpu']
    ? new Map(readTable(page).map((row) => [row.name, cpuMsOf(row)]))
    : await measureCpu(servicesProgram, operations);
  const waits = await measureWaits(operations);
  const rows = measurements.map((each) => {
    const { name } = each.operation;
    return rowOf(each, { cpuMs: cpu.get(name), waitsMs: waits.get(name) });
  });
  if (values.write) writePrograms(programsPage);
  return report(values['no-long'] ? amongOthers(rows, readTable(page)) : rows, page, values.write);
}

/** The rows at their places in the table. A new row follows the row that was measured before it. */
function amongOthers(measured: readonly Row[], table: readonly Row[]): readonly Row[] {
  const rows = [...table];
  let place = -1;
  for (const row of measured) {
    const known = rows.findIndex(({ name }) => name === row.name);
    if (known < 0) rows.splice(place + 1, 0, row);
    else rows[known] = row;
    place = known < 0 ? place + 1 : known;
  }
  return rows;
}

function report(rows: readonly Row[], page: URL, isWriting: boolean): number {
  say(`${tableOf(rows)}\n`);
  if (isWriting) {
    writeTable(page, rows);
    say('The table of loadtest/results/operations.md is what was measured.\n');
    return 0;
  }
  const found = differences(rows, readTable(page));
  say(
    found.length === 0
      ? 'The table of loadtest/results/operations.md says the same.\n'
      : `${found.join('\n')}\n`,
  );
  return found.length === 0 ? 0 : 1;
}

async function measureOverSockets(operations: typeof OPERATIONS): Promise<readonly Measurement[]> {
  const world = await startGatewayWorld(1);
  try {
    return await measureAll(world, operations, ({ operation }) => say(`${operation.name}\n`));
  } finally {
    await world.stop();
  }
}

async function traceOperations(name: string): Promise<number> {
  const operations = OPERATIONS.filter((operation) => operation.name.includes(name));
  if (operations.length === 0) {
    say(`No operation has "${name}" in its name.\n`);
    return 2;
  }
  const trace = new Trace();
  const world = await startGatewayWorld(1, trace);
  try {
    const reset = () => {
      world.reset();
      trace.take();
    };
    await measureAll({ ...world, reset }, operations, ({ operation }) =>
      say(`${operation.name}\n${trace.take().join('\n')}\n\n`),
    );
  } finally {
    await world.stop();
  }
  return 0;
}

const FEW = 10;
const MANY = 1_000;

function exactlyOnceOf(
  recipients: number,
  wide: readonly Measurement[],
  measurements: readonly Measurement[],
): Measurement {
  const of = (count: number, qos: 1 | 2): Counted => {
    const { name } = publishTo(count, qos);
    const found = [...measurements, ...wide].find(({ operation }) => operation.name === name);
    if (found === undefined) throw new Error(`expected a measurement of "${name}"`);
    return found.counted;
  };
  const both = (count: number) => ({ recipients: count, qos1: of(count, 1), qos2: of(count, 2) });
  return exactlyOnce(recipients, of(recipients, 1), both(FEW), both(MANY));
}

/** After the last operation of publishing to many. */
function placeOf(measurements: readonly Measurement[]): number {
  const last = measurements.findLastIndex(({ operation }) =>
    /^PUBLISH QoS \d to [\d,]+$/.test(operation.name),
  );
  return last + 1;
}

function say(text: string): void {
  process.stdout.write(text);
}
