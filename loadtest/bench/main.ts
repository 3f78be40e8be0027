import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CommandError, UsageError } from '../src/cli/cli-error.ts';
import { stopSignal } from '../src/cli/stop-signal.ts';
import { machineInfo } from '../src/report/machine.ts';
import { CannotInstall } from './brokers/broker.ts';
import { casesOver } from './cases.ts';
import { reportText, writeReport } from './document.ts';
import { type BenchOptions, HELP, optionsFrom } from './options.ts';
import { Results } from './results.ts';
import { type Contender, playRound } from './rounds.ts';
import { type Certificate, makeCertificate } from './wires.ts';

/** The folder of this built file: `loadtest/dist`. */
const HERE = fileURLToPath(new URL('.', import.meta.url));
const ROOT = join(HERE, '..', '..');
const CACHE = join(ROOT, 'loadtest', '.bench');

try {
  const options = optionsFrom(process.argv.slice(2), availableParallelism());
  if (options === undefined) console.log(HELP);
  else await bench(options);
} catch (error) {
  if (error instanceof UsageError) fail(`${error.message} See \`npm run bench -- --help\`.`, 2);
  else if (error instanceof CommandError) fail(error.message, 1);
  else throw error;
}

async function bench(options: BenchOptions): Promise<void> {
  if (process.platform !== 'linux')
    throw new CommandError('The benchmark reads what a broker uses from /proc, which only Linux has.');
  const stop = stopSignal();
  const contenders = await prepareAll(options, stop);
  if (contenders.length === 0) throw new CommandError('No broker could be installed.');
  const certificate = options.wires.includes('tls') ? certificateOfRun() : undefined;
  const cases = casesOver(options.cases, options.wires);
  const results = new Results();
  const startedAt = new Date();
  const fromMs = performance.now();
  const machine = machineInfo();
  let rounds = 0;
  let lastMs = 0;
  while (rounds < options.rounds && !stop.aborted && isTimeFor(lastMs, fromMs, options)) {
    const roundMs = performance.now();
    say(`Round ${rounds + 1} of ${options.rounds}`);
    await playRound(rounds, {
      ...options,
      contenders,
      cases,
      certificate,
      openFilesMax: machine.openFilesMax,
      workerProcess: join(HERE, 'worker-process.mjs'),
      untilMs: fromMs + options.minutesMax * 60_000,
      results,
      stop,
      say,
    });
    lastMs = performance.now() - roundMs;
    rounds += 1;
  }
  const minutes = (performance.now() - fromMs) / 60_000;
  const facts = {
    options,
    cases,
    contenders,
    results,
    machine,
    startedAt,
    rounds,
    minutes,
    args: process.argv.slice(2),
  };
  console.log(reportText(facts));
  if (options.section !== undefined)
    say(
      `Written into ${writeReport(join(ROOT, 'loadtest', 'results', 'benchmarks.md'), options.section, facts)}.`,
    );
  if (options.json !== undefined) writeFileSync(options.json, `${JSON.stringify(results, null, 2)}\n`);
}

function certificateOfRun(): Certificate {
  const folder = mkdtempSync(join(tmpdir(), 'apus-bench-tls-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  return makeCertificate(folder);
}

/** The next round is expected to take as long as the last one. */
function isTimeFor(lastMs: number, fromMs: number, { minutesMax }: BenchOptions): boolean {
  return performance.now() - fromMs + lastMs <= minutesMax * 60_000;
}

async function prepareAll(
  { brokers, programs }: BenchOptions,
  stop: AbortSignal,
): Promise<readonly Contender[]> {
  const contenders: Contender[] = [];
  for (const kind of brokers) {
    if (stop.aborted) return [];
    const folder = join(CACHE, kind.name);
    mkdirSync(folder, { recursive: true });
    try {
      const program = programs[kind.name];
      const place = { folder, root: ROOT, program: program && resolve(program), say, stop };
      const prepared = await kind.prepare(place);
      say(`${kind.title} ${prepared.version}${program === undefined ? '' : `, ${program}`}`);
      if (prepared.remark !== undefined) say(prepared.remark);
      contenders.push({ kind, prepared });
    } catch (error) {
      if (!(error instanceof CannotInstall)) throw error;
      say(`Without ${kind.title}: ${error.message}`);
    }
  }
  return contenders;
}

function say(line: string): void {
  console.error(line);
}

function fail(sentence: string, code: number): void {
  console.error(`bench: ${sentence}`);
  process.exitCode = code;
}
