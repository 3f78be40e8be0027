import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ArtilleryError } from './artillery-error.ts';

/** The newest version that runs on Node.js 20. */
export const ARTILLERY_VERSION = '2.0.21';

/** The last lines of what npm says, when it fails. */
const LINES_MAX = 12;

export function artilleryFolder(loadTestFolder: string): string {
  return join(loadTestFolder, '.artillery');
}

export function isArtilleryInstalled(folder: string): boolean {
  return existsSync(join(folder, `installed-${ARTILLERY_VERSION}`));
}

/** The path of the program, once it is installed. */
export function artilleryProgram(folder: string): string {
  return join(folder, 'node_modules', 'artillery', 'bin', 'run');
}

/**
 * Installs Artillery, when a load test is first asked for: some 600 MB that `npm start` and `npm test` do not need.
 *
 * @throws {ArtilleryError} with what npm said
 */
export async function installArtillery(folder: string, say: (line: string) => void): Promise<void> {
  if (isArtilleryInstalled(folder)) return;
  say(`Installing Artillery ${ARTILLERY_VERSION} into ${folder} (once, about 600 MB) …`);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify({ private: true }, null, 2)}\n`);
  await npmInstall(folder);
  quietTelemetry(folder);
  writeFileSync(join(folder, `installed-${ARTILLERY_VERSION}`), '');
}

/**
 * Artillery 2.0.21 tells PostHog that it ran even when told not to (ARTILLERY_DISABLE_TELEMETRY only shortens what it
 * says), and waits about 12 s for it without internet. It goes on without the module.
 */
function quietTelemetry(folder: string): void {
  rmSync(join(folder, 'node_modules', 'posthog-node'), { recursive: true, force: true });
}

function npmInstall(folder: string): Promise<void> {
  // None of its packages has to be compiled, and no browser is needed.
  const flags = ['--no-audit', '--no-fund', '--ignore-scripts', '--no-package-lock'];
  const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
  const child = spawn(npm, ['install', ...flags, `artillery@${ARTILLERY_VERSION}`], {
    cwd: folder,
    env: { ...process.env, PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD: '1' },
    shell: process.platform === 'win32',
  });
  let said = '';
  const hear = (text: string) => {
    said += text;
  };
  child.stdout.setEncoding('utf8').on('data', hear);
  child.stderr.setEncoding('utf8').on('data', hear);
  return new Promise((resolve, reject) => {
    child.on('error', (error) => reject(cannotInstall(error.message)));
    child.on('exit', (code) => (code === 0 ? resolve() : reject(cannotInstall(said))));
  });
}

function cannotInstall(said: string): ArtilleryError {
  const lines = said.trim().split('\n').slice(-LINES_MAX).join('\n');
  return new ArtilleryError(
    `Artillery could not be installed; --generator fast needs nothing of it. npm said:\n${lines}`,
  );
}
