import { fileURLToPath } from 'node:url';
import { ArtilleryError } from '../artillery/artillery-error.ts';
import { exportScenario } from '../artillery/export-scenario.ts';
import { LedgerError } from '../report/outcome.ts';
import { ScenarioError } from '../scenario/fields.ts';
import { findScenario, scenariosOf } from '../scenario/find-scenario.ts';
import { Arguments } from './arguments.ts';
import { CommandError, UsageError } from './cli-error.ts';
import { helpText, listText } from './help.ts';
import { mergedReport } from './merged-report.ts';
import { runScenario } from './run-scenario.ts';
import { settingsOf } from './settings.ts';

const EXIT_FAILURE = 1;
const EXIT_USAGE = 2;

/** This file is built into `dist`, beside the scenarios. */
const LOAD_TEST_FOLDER = fileURLToPath(new URL('..', import.meta.url));
const SCENARIOS = fileURLToPath(new URL('../scenarios', import.meta.url));
const WORKER_PROCESS = fileURLToPath(new URL('worker-process.mjs', import.meta.url));

async function main(given: readonly string[]): Promise<number> {
  const args = new Arguments(given);
  const [name, ...more] = args.positionals;
  if (args.isSet('help') || name === undefined) return say(helpText(scenariosOf(SCENARIOS)));
  if (name === 'list') return say(listText(scenariosOf(SCENARIOS)));
  if (name === 'report') return say(mergedReport(more, args.isSet('json')));
  if (name === 'export') return say(exportScenario(more, SCENARIOS, args.text('target')));
  if (more.length > 0) throw new UsageError(`One scenario at a time, not "${more[0]}" too.`);
  const settings = await settingsOf(findScenario(name, SCENARIOS), args);
  return await runScenario(settings, args, {
    workerProcess: WORKER_PROCESS,
    loadTestFolder: LOAD_TEST_FOLDER,
  });
}

function say(text: string): number {
  console.log(text);
  return 0;
}

function explain(error: unknown): number {
  if (error instanceof UsageError || error instanceof ScenarioError) {
    console.error(`loadtest: ${withStop(error.message)} See \`npm run loadtest -- --help\`.`);
    return EXIT_USAGE;
  }
  if (error instanceof CommandError || error instanceof LedgerError || error instanceof ArtilleryError) {
    console.error(`loadtest: ${withStop(error.message)}`);
    return EXIT_FAILURE;
  }
  // A bug: the report needs the whole error.
  console.error(error);
  return EXIT_FAILURE;
}

function withStop(sentence: string): string {
  return /[.!?]$/.test(sentence) ? sentence : `${sentence}.`;
}

const code = await main(process.argv.slice(2)).catch(explain);
process.exit(code);
