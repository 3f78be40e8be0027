import { spawn } from 'node:child_process';
import { SettingsError } from './settings.ts';

/** Fetched by npm when a command runs: the project does not depend on it. */
export const WRANGLER = 'wrangler@4.164.0';

/** Wrangler's own. */
const NODE_VERSION_MIN = 22;

/** @param version of Node.js. @throws {SettingsError} if wrangler does not run with it */
export function requireNode(version: string): void {
  if (Number(version.split('.')[0]) >= NODE_VERSION_MIN) return;
  throw new SettingsError(
    `This command runs ${WRANGLER}, which needs Node.js ${NODE_VERSION_MIN} or later; this is ${version}.`,
  );
}

/**
 * Runs wrangler, shows what it says, and resolves with that.
 *
 * @param folder with `wrangler.json`
 * @throws {SettingsError} if it fails
 */
export async function wrangler(folder: string, ...args: readonly string[]): Promise<string> {
  // Under `npm run` and `npm exec` the environment has their own flags.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name)));
  const child = spawn('npx', ['--yes', WRANGLER, ...args], {
    cwd: folder,
    env,
    stdio: ['inherit', 'pipe', 'inherit'],
    shell: process.platform === 'win32',
  });
  let said = '';
  child.stdout.on('data', (data) => {
    said += String(data);
    process.stderr.write(data);
  });
  const code = await new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  if (code === 0) return said;
  throw new SettingsError(`wrangler ${args[0]} has failed: the lines above say why.`);
}
