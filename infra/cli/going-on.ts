import type { Stack } from '@aws-sdk/client-cloudformation';
import { OUTPUTS } from '../lib/apus-stack.ts';
import { type Deployed, flagOf, type SettingName } from '../lib/settings.ts';

/** The flags that adopt resources of a deleted stack, by the output that names each. */
const ADOPTING: readonly (readonly [string, SettingName])[] = [
  [OUTPUTS.tableName, 'adoptTable'],
  [OUTPUTS.sessionsTableName, 'adoptSessionsTable'],
  [OUTPUTS.streamsTableName, 'adoptStreamsTable'],
  [OUTPUTS.tokenSecretArn, 'tokenSecretArn'],
  [OUTPUTS.publishKeysArn, 'publishKeysSecretArn'],
  [OUTPUTS.encryptionKeyArn, 'encryptionKeyArn'],
];

/** Settings of what a deployment makes: it refuses them beside what it adopts. */
const OF_NEW_TABLES: readonly SettingName[] = [
  'pointInTimeRecovery',
  'deletionProtection',
  'maxReadRequestUnits',
  'maxWriteRequestUnits',
];
const OF_NEW_SECRETS: readonly SettingName[] = ['authentication', 'rotateTokenSecretDays'];

/**
 * The command of a new deployment that adopts the resources of a deleted stack: those that it had created and kept, and
 * those that it had adopted or was given. Its other flags are those of the deleted one. Empty if its tables are gone.
 *
 * @param deployed undefined: the stack does not name its settings
 */
export function goingOn(
  { Outputs = [], StackName = '' }: Stack,
  deployed: Deployed | undefined,
  isThere: (physicalId: string) => boolean,
  region: string,
): readonly string[] {
  const adopted = new Map<SettingName, string>();
  for (const [output, setting] of ADOPTING) {
    const value = Outputs.find(({ OutputKey }) => OutputKey === output)?.OutputValue;
    if (value !== undefined && isThere(value)) adopted.set(setting, value);
  }
  if (!adopted.has('adoptTable')) return [];
  const secretArn = adopted.get('tokenSecretArn');
  const identity = deployed?.identity;
  // The file says all of who may connect, and is refused beside the flag.
  if (identity !== undefined) adopted.delete('tokenSecretArn');
  const replaced: ReadonlySet<string> = new Set([
    ...['name', 'region'],
    ...ADOPTING.map(([, setting]) => setting),
    ...OF_NEW_TABLES,
    ...(secretArn === undefined ? [] : OF_NEW_SECRETS),
  ]);
  const kept = Object.entries(deployed ?? {}).filter(([setting]) => !replaced.has(setting));
  const settings = [['name', StackName], ['region', region], ...kept, ...adopted] as const;
  const flags = settings.map(([setting, value]) => `${flagOf(setting)} ${quoted(value)}`);
  const inFile = `In ${identity}, put "secretArn": "${secretArn}" in the place of "generated".`;
  return [
    'A new deployment goes on with the sessions and messages (docs/deploy-operations.md, "Coming back"):',
    '',
    `  npm run deploy -- ${flags.join(' ')}`,
    ...(identity !== undefined && secretArn !== undefined ? ['', inFile] : []),
    ...(deployed === undefined ? ['', 'Add the other flags that it was deployed with.'] : []),
  ];
}

/** As a shell takes it. */
function quoted(value: string): string {
  return /^[\w@%+=:,./-]+$/.test(value) ? value : `'${value.replaceAll("'", "'\\''")}'`;
}
