import { createHash, randomInt } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { runArtillery } from '../artillery/run-artillery.ts';
import { type FastRun, NoClientConnected, runFast } from '../generator/run-fast.ts';
import { forkedWorker } from '../generator/worker-handles.ts';
import type { Ledger } from '../measure/index.ts';
import { billOfRun, type CountedRun, type RunSeconds } from '../report/bill-of-run.ts';
import { machineInfo } from '../report/machine.ts';
import { outcomeOf } from '../report/outcome.ts';
import { type BrokerUse, type Report, reportOf } from '../report/report.ts';
import { reportText } from '../report/report-text.ts';
import type { Arguments } from './arguments.ts';
import { CommandError } from './cli-error.ts';
import { CounterLog } from './counter-log.ts';
import { findCounters } from './counters.ts';
import { beginText, ProgressLine } from './progress-line.ts';
import type { RunSettings } from './settings.ts';
import { stopSignal } from './stop-signal.ts';

/** Where the built programs are. */
export interface Programs {
  readonly workerProcess: string;
  readonly loadTestFolder: string;
}

/** The result of any generator. */
interface Generated {
  readonly ledgers: readonly Ledger[];
  readonly seconds: RunSeconds;
  readonly wasStopped: boolean;
  readonly problems: readonly string[];
}

/** Runs a scenario, and prints and stores its report. Returns the exit code. */
export async function runScenario(
  settings: RunSettings,
  args: Arguments,
  programs: Programs,
): Promise<number> {
  const counters = await findCounters(settings.target, args.text('counters'));
  const log = new CounterLog(counters);
  console.error(beginText(settings, counters !== undefined));
  const stop = stopSignal();
  const startedAt = new Date();
  await log.note('before');
  const runTag = runTagOf(settings);
  const generated =
    settings.generator === 'fast'
      ? await runWithFast(settings, programs, runTag, log, stop)
      : await runWithArtillery(settings, programs, runTag, stop);
  await log.noteAfter();
  const report = reportFor(settings, generated, log, startedAt);
  keep(report, settings, generated.ledgers, args);
  console.log(args.isSet('json') ? JSON.stringify(report, null, 2) : reportText(report));
  return args.isSet('strict') && !isPerfect(report) ? 1 : 0;
}

/** Random, except for the parts of one run: they share the moment at which they begin. */
function runTagOf({ plan, scenario, startAtMs }: RunSettings): number {
  if (plan.size.part.of === 1) return randomInt(0x10000);
  return createHash('sha256').update(`${scenario.name} ${startAtMs}`).digest().readUInt16BE();
}

async function runWithFast(
  settings: RunSettings,
  programs: Programs,
  runTag: number,
  log: CounterLog,
  stop: AbortSignal,
): Promise<Generated> {
  const { scenario, plan, target, processes, clock, credentials, startAtMs } = settings;
  const line = new ProgressLine();
  try {
    const run: FastRun = await runFast({
      assignment: {
        scenario,
        size: plan.size,
        urls: [target.url],
        door: target.door,
        workers: processes,
        firstWorker: (plan.size.part.number - 1) * processes,
        runTag,
        clock,
        credentials,
      },
      startWorker: () => forkedWorker(programs.workerProcess),
      onProgress: (phase, total) => line.show(phase, total),
      atMoment: (moment) => log.note(moment),
      stop,
      startAtMs,
    });
    return run;
  } catch (error) {
    if (error instanceof NoClientConnected)
      throw new CommandError(`Not one client could connect: ${error.message}.`);
    throw error;
  } finally {
    line.end();
  }
}

async function runWithArtillery(
  settings: RunSettings,
  programs: Programs,
  runTag: number,
  stop: AbortSignal,
): Promise<Generated> {
  const { scenario, plan, target, credentials } = settings;
  if (plan.size.part.of > 1)
    throw new CommandError('Parts of a scenario are run by the fast generator: --generator fast.');
  const { url, door } = target;
  return await runArtillery({
    folder: programs.loadTestFolder,
    script: { scenario, plan, url, door, credentials, runTag },
    stop,
    say: (line) => console.error(line),
  });
}

function reportFor(settings: RunSettings, generated: Generated, log: CounterLog, startedAt: Date): Report {
  const { plan, target, generator } = settings;
  const { seconds, wasStopped } = generated;
  const outcome = outcomeOf(generated.ledgers, wasStopped);
  const frames = sumFrames(generated.ledgers);
  const counted: CountedRun | undefined = target.door === 'gateway' ? log.counted : undefined;
  const broker: BrokerUse | undefined = log.brokerUse;
  return reportOf({
    plan,
    target: target.url,
    door: target.door,
    generator,
    startedAt,
    seconds,
    machine: machineInfo(),
    outcome,
    broker,
    bill: billOfRun({ plan, outcome, seconds, frames, counted }),
    wasStopped,
    problems: [
      ...(settings.reason === undefined ? [] : [`Not at full size: ${settings.reason}.`]),
      ...generated.problems,
    ],
  });
}

function sumFrames(ledgers: readonly Ledger[]) {
  const all = ledgers.flatMap(({ frames }) => (frames === undefined ? [] : [frames]));
  if (all.length === 0) return undefined;
  return all.reduce((sum, each) => ({
    framesSent: sum.framesSent + each.framesSent,
    framesReceived: sum.framesReceived + each.framesReceived,
    bytesSent: sum.bytesSent + each.bytesSent,
    bytesReceived: sum.bytesReceived + each.bytesReceived,
    messagesBilled: sum.messagesBilled + each.messagesBilled,
  }));
}

/** The report as JSON, and the ledgers of this part, if they are requested. */
function keep(report: Report, { scenario }: RunSettings, ledgers: readonly Ledger[], args: Arguments): void {
  const output = args.text('output');
  if (output !== undefined) writeJson(output, report);
  const folder = args.text('ledgers');
  if (folder === undefined) return;
  ledgers.forEach((ledger, index) => {
    writeJson(join(folder, `ledger-${report.part.number}-${index}.json`), ledger);
  });
  writeJson(join(folder, `report-${report.part.number}.json`), report);
  writeJson(join(folder, 'scenario.json'), scenario);
}

function writeJson(path: string, value: unknown): void {
  try {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, `${JSON.stringify(value, null, 2)}\n`);
  } catch (error) {
    throw new CommandError(`${path} cannot be written: ${(error as Error).message}.`);
  }
}

function isPerfect({ outcome, goals, wasStopped }: Report): boolean {
  const { lost, outOfOrder, unexpected } = outcome.deliveries;
  return !wasStopped && lost + outOfOrder + unexpected === 0 && goals.every(({ isMet }) => isMet);
}
