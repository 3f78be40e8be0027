// `npm run test:crash -w @apus/store-disk`: the crash tests with a hundred kills, in any shell.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const root = new URL('../../../../', import.meta.url);
const vitest = fileURLToPath(new URL('node_modules/vitest/vitest.mjs', root));
const { status } = spawnSync(process.execPath, [vitest, 'run', 'packages/store-disk/test/crash/'], {
  cwd: root,
  env: { APUS_CRASH_KILLS: '100', ...process.env },
  stdio: 'inherit',
});
process.exitCode = status ?? 1;
