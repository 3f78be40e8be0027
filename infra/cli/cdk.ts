import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of cdk.json, as seen from `dist`. */
const INFRA = fileURLToPath(new URL('../', import.meta.url));
const CDK = join(dirname(createRequire(import.meta.url).resolve('aws-cdk/package.json')), 'bin', 'cdk');

/** The CDK's own notices and its version check come from the internet. */
const QUIET = {
  CDK_DISABLE_VERSION_CHECK: 'true',
  CDK_DISABLE_CLI_TELEMETRY: 'true',
  JSII_SILENCE_WARNING_UNTESTED_NODE_VERSION: 'true',
};

/** Runs the CDK's command line in `infra/`, and shows its output. Resolves with its exit code. */
export function cdk(
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [CDK, '--no-notices', ...args], {
      cwd: INFRA,
      stdio: 'inherit',
      env: { ...process.env, ...QUIET, ...environment },
    });
    child.once('error', reject);
    child.once('exit', (code, signal) => resolve(code ?? (signal === null ? 1 : 130)));
  });
}
