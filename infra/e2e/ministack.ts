import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Ministack, startMinistack } from '../../test/support/ministack.ts';

/** Seen from `dist` and from here alike. */
const LAUNCHER = fileURLToPath(new URL('../e2e/ministack-launch.py', import.meta.url));

/** A third-party emulator of AWS, with AWS's own APIs. */
export interface StrictMinistack extends Ministack {
  /** Environment of programs that use it as AWS. */
  readonly environment: Readonly<Record<string, string>>;
}

/** Its root user: with `AUTH` this user may do everything, and a function only what its role allows. */
const CREDENTIALS = { AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test' };
const REGION = 'us-east-1';

/** @param port @default any that is free */
export async function startStrictMinistack(port?: number): Promise<StrictMinistack> {
  // Code and logs of the functions are in this folder, which is deleted with it.
  const folder = await mkdtemp(join(tmpdir(), 'apus-ministack-'));
  // Its function runner is a CommonJS script, which a package.json in a parent folder would turn into a module.
  await writeFile(join(folder, 'package.json'), '{ "type": "commonjs" }');
  const removeFolder = () => rm(folder, { recursive: true, force: true });
  const { endpoint, stop } = await startMinistack({
    launch: [LAUNCHER],
    ...(port !== undefined && { port }),
    hasFunctions: true,
    environment: {
      ...CREDENTIALS,
      TMPDIR: folder,
      MINISTACK_HOST: '127.0.0.1',
      LOG_LEVEL: process.env.APUS_E2E_LOG_LEVEL ?? 'CRITICAL',
      AUTH: 'true',
      PYTHONDONTWRITEBYTECODE: '1',
    },
  }).catch(async (error: unknown) => {
    await removeFolder();
    throw error;
  });
  return {
    endpoint,
    environment: {
      ...{ ...CREDENTIALS, AWS_ENDPOINT_URL: endpoint, AWS_REGION: REGION },
      // The first version of AWS's CLI supports no other.
      AWS_DEFAULT_REGION: REGION,
    },
    stop: async () => {
      await stop();
      await removeFolder();
    },
  };
}
