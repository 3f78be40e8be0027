import { REGIONAL_SETTINGS } from '../lib/context.ts';
import { flagOf, Settings } from '../lib/settings.ts';
import { readContext } from './cdk-json.ts';
import { CommandError } from './command-error.ts';
import type { Flags } from './flags.ts';

/** The settings of the command line, then those of cdk.json, as the app itself reads them. */
export function settingsFrom(
  { settings }: Pick<Flags, 'settings'>,
  context: Readonly<Record<string, unknown>> = readContext(),
): Settings {
  return new Settings((name) => settings.get(name) ?? context[name]);
}

/**
 * CloudFormation would report it after minutes, and Lambda at the first handshake.
 * @throws {CommandError}
 */
export function requireSameRegion(settings: Settings, region: string): void {
  for (const name of REGIONAL_SETTINGS) {
    const [, , , own] = settings.text(name)?.split(':') ?? [];
    if (own === undefined || own === region) continue;
    throw new CommandError(
      `${flagOf(name)} is in ${own}, and the broker is deployed to ${region}: they have to be in one Region.`,
    );
  }
}
