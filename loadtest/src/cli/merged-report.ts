import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Ledger } from '../measure/index.ts';
import { billOfRun } from '../report/bill-of-run.ts';
import { outcomeOf } from '../report/outcome.ts';
import { type Report, reportOf } from '../report/report.ts';
import { reportText } from '../report/report-text.ts';
import { planOf } from '../scenario/plan.ts';
import { readScenario } from '../scenario/read-scenario.ts';
import { CommandError, UsageError } from './cli-error.ts';

/** Combines the ledgers of several parts of a run (`--ledgers`) into one report. */
export function mergedReport(folders: readonly string[], asJson: boolean): string {
  if (folders.length === 0) throw new UsageError('`report` takes the folders of ledgers.');
  const files = folders.flatMap(filesOf);
  const read = <T>(prefix: string) =>
    files.filter(({ name }) => name.startsWith(prefix)).map(({ path }) => readJson(path) as T);
  const ledgers = read<Ledger>('ledger-');
  const reports = read<Report>('report-');
  const [first] = reports;
  if (first === undefined || ledgers.length === 0)
    throw new CommandError(`There are no ledgers of a run in ${folders.join(', ')}.`);
  const parts = new Set(reports.map(({ part }) => part.number));
  const [scenarioFile] = read<unknown>('scenario');
  const scenario = readScenario(scenarioFile);
  const seconds = longest(reports);
  const plan = planOf(scenario, {
    scale: first.scale,
    seconds: seconds.publishing,
    part: { number: 1, of: 1 },
  });
  const outcome = outcomeOf(ledgers);
  const report = reportOf({
    plan,
    target: first.target,
    door: first.door,
    generator: first.generator,
    startedAt: new Date(first.startedAt),
    seconds,
    machine: first.machine,
    outcome,
    broker: undefined,
    bill: billOfRun({ plan, outcome, seconds }),
    wasStopped: reports.some(({ wasStopped }) => wasStopped),
    problems:
      parts.size === first.part.of
        ? []
        : [
            `Only ${parts.size} of ${first.part.of} parts are here: what the others have sent or received lacks.`,
          ],
  });
  return asJson ? JSON.stringify(report, null, 2) : reportText(report);
}

function filesOf(folder: string): readonly { name: string; path: string }[] {
  if (!existsSync(folder)) throw new CommandError(`There is no folder ${folder}.`);
  return readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .map((name) => ({ name, path: join(folder, name) }));
}

function readJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    throw new CommandError(`${path} cannot be read: ${(error as Error).message}.`);
  }
}

function longest(reports: readonly Report[]): Report['seconds'] {
  const most = (name: keyof Report['seconds']) => Math.max(...reports.map(({ seconds }) => seconds[name]));
  return { connecting: most('connecting'), publishing: most('publishing'), draining: most('draining') };
}
