import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createApp } from '../lib/create-app.ts';
import type { SettingName } from '../lib/settings.ts';
import { readContext } from './cdk-json.ts';

/**
 * Synthesizes the app once without bundling functions, before any request to AWS: an invalid value is reported at once,
 * and not after minutes of preparing an account.
 *
 * @throws {SettingError}
 * @throws {PropsError}
 */
export async function checkSettings(settings: ReadonlyMap<SettingName, string>): Promise<void> {
  const outdir = await mkdtemp(join(tmpdir(), 'apus-check-'));
  try {
    const context = { ...readContext(), ...Object.fromEntries(settings), 'aws:cdk:bundling-stacks': [] };
    createApp({ outdir, context });
  } finally {
    await rm(outdir, { recursive: true, force: true });
  }
}
