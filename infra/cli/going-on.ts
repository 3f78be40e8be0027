import type { Stack } from '@aws-sdk/client-cloudformation';
import { OUTPUTS } from '../lib/apus-stack.ts';
import { flagOf, type SettingName } from '../lib/settings.ts';

/** The flags that adopt resources of a deleted stack, by the output that names each. */
const ADOPTING: readonly (readonly [string, SettingName])[] = [
  [OUTPUTS.tableName, 'adoptTable'],
  [OUTPUTS.sessionsTableName, 'adoptSessionsTable'],
  [OUTPUTS.streamsTableName, 'adoptStreamsTable'],
  [OUTPUTS.tokenSecretArn, 'tokenSecretArn'],
  [OUTPUTS.publishKeysArn, 'publishKeysSecretArn'],
  [OUTPUTS.encryptionKeyArn, 'encryptionKeyArn'],
];

/**
 * The flags for a new deployment that adopts the resources of a deleted stack: those that it had created and kept, and
 * those that it had adopted or was given. Empty if its tables are gone.
 */
export function goingOn(
  { Outputs = [], StackName = '' }: Stack,
  isThere: (physicalId: string) => boolean,
  region: string,
): readonly string[] {
  const flags = ADOPTING.flatMap(([output, setting]) => {
    const value = Outputs.find(({ OutputKey }) => OutputKey === output)?.OutputValue;
    return value !== undefined && isThere(value) ? [`${flagOf(setting)} ${value}`] : [];
  });
  if (!flags.some((flag) => flag.startsWith('--adopt-table '))) return [];
  const keys = flags.some((flag) => flag.startsWith('--publish-keys')) ? ['--http-publish keys'] : [];
  const hasStreamsTable = flags.some((flag) => flag.startsWith('--adopt-streams-table'));
  const streams = hasStreamsTable ? ['--streams FILE'] : [];
  const name = `--name ${StackName} --region ${region}`;
  const command = ['npm run deploy --', name, ...keys, ...streams, ...flags];
  return [
    'A new deployment goes on with the sessions and messages (docs/deploy.md, "Coming back"):',
    '',
    `  ${command.join(' ')}`,
    ...(hasStreamsTable
      ? ['', 'If it had rooms: with --presence. If it had rooms alone: without --streams FILE.']
      : []),
  ];
}
