import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Ledger } from '../measure/index.ts';
import type { RunSeconds } from '../report/bill-of-run.ts';
import { outcomeOf } from '../report/outcome.ts';
import type { Plan } from '../scenario/plan.ts';
import { ArtilleryError } from './artillery-error.ts';
import { artilleryFolder, artilleryProgram, installArtillery } from './install.ts';
import { artilleryScript, type ScriptOptions } from './script.ts';

/** How long the engine may take to disconnect its clients and to write its ledger, and Artillery to end after that. */
const STOP_MS = 8_000;
const LOOK_MS = 50;

/** The engine looks for this file in the folder of its ledgers. */
const STOP_FILE = 'stop';

export interface ArtilleryRunOptions {
  /** Where the engine and Artillery are. */
  readonly folder: string;
  readonly script: Omit<ScriptOptions, 'ledgers'>;
  readonly stop: AbortSignal;
  readonly say: (line: string) => void;
}

export interface ArtilleryRun {
  readonly ledgers: readonly Ledger[];
  readonly seconds: RunSeconds;
  readonly wasStopped: boolean;
  readonly problems: readonly string[];
}

/**
 * Runs a scenario with Artillery, whose own report goes to standard error. The counts come from the engine's ledgers,
 * so that both generators have one report.
 *
 * @throws {ArtilleryError} when it cannot be installed, or ends without having run
 */
export async function runArtillery({
  folder,
  script,
  stop,
  say,
}: ArtilleryRunOptions): Promise<ArtilleryRun> {
  const installed = artilleryFolder(folder);
  await installArtillery(installed, say);
  const work = mkdtempSync(join(tmpdir(), 'apus-loadtest-'));
  try {
    const path = join(work, 'script.json');
    const ledgers = join(work, 'ledgers');
    writeFileSync(path, JSON.stringify(artilleryScript({ ...script, ledgers }), null, 2));
    const code = await finished(start(artilleryProgram(installed), path, folder), ledgers, stop);
    const kept = readLedgers(ledgers);
    if (kept.length === 0)
      throw new ArtilleryError(
        `Artillery has ended with code ${code} and without a client; what it said is above.`,
      );
    return {
      ledgers: kept,
      seconds: secondsOf(kept, script.plan),
      wasStopped: stop.aborted,
      problems: code === 0 || stop.aborted ? [] : [`Artillery ended with code ${code}.`],
    };
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

function start(program: string, script: string, folder: string): ChildProcess {
  return spawn(process.execPath, [program, 'run', script], {
    // Artillery's report is for people; standard output is for the report of the load test.
    stdio: ['ignore', 2, 2],
    // In its own process group: Ctrl+C reaches this process, which passes it on once.
    detached: process.platform !== 'win32',
    env: {
      ...process.env,
      ARTILLERY_DISABLE_TELEMETRY: 'true',
      // Artillery looks for `artillery-engine-mqtt` like for any package: here in the folder that contains the engine.
      NODE_PATH: [folder, process.env.NODE_PATH]
        .filter(Boolean)
        .join(process.platform === 'win32' ? ';' : ':'),
    },
  });
}

function finished(child: ChildProcess, ledgers: string, stop: AbortSignal): Promise<number | null> {
  const end = (): void => void endEarly(child, ledgers);
  if (stop.aborted) end();
  stop.addEventListener('abort', end, { once: true });
  return new Promise((resolve, reject) => {
    child.on('error', (error) => reject(new ArtilleryError(`Artillery could not be run: ${error.message}`)));
    child.on('exit', (code) => {
      stop.removeEventListener('abort', end);
      resolve(code);
    });
  });
}

/** Artillery ends its workers without notice: so the engine is asked first. */
async function endEarly(child: ChildProcess, ledgers: string): Promise<void> {
  mkdirSync(ledgers, { recursive: true });
  writeFileSync(join(ledgers, STOP_FILE), '');
  const untilMs = performance.now() + STOP_MS;
  while (readLedgers(ledgers).length === 0 && child.exitCode === null && performance.now() < untilMs)
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  child.kill('SIGINT');
  setTimeout(() => child.kill('SIGKILL'), STOP_MS).unref();
}

function readLedgers(folder: string): readonly Ledger[] {
  try {
    return readdirSync(folder)
      .filter((name) => name.endsWith('.json'))
      .map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as Ledger);
  } catch {
    // No worker has written one.
    return [];
  }
}

function secondsOf(ledgers: readonly Ledger[], plan: Plan): RunSeconds {
  const { connectingSeconds, sendingSeconds, receivingSeconds } = outcomeOf(ledgers);
  return {
    connecting: connectingSeconds,
    // Clients that only wait stay connected as long as others publish.
    publishing: plan.publishesPerSecond === 0 ? plan.size.seconds : sendingSeconds,
    draining: Math.max(0, receivingSeconds - sendingSeconds),
  };
}
