import { BackupPlan, BackupResource, type BackupSelection, BackupVault } from 'aws-cdk-lib/aws-backup';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { type IKey, Key } from 'aws-cdk-lib/aws-kms';
import { Annotations, ArnFormat, RemovalPolicy, Stack } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import { acknowledge } from './acknowledge.ts';
import type { ApusBrokerProps } from './props.ts';
import type { StateTables } from './table.ts';

/** The section of docs/deploy-settings.md on the key policy. */
const KEY_POLICY_GUIDE = 'docs/deploy-settings.md#compliance';

/**
 * Adds the props of `compliance`: a key, which the functions' logs and the topics use as well, and point-in-time
 * recovery. Without `compliance` it returns the props unchanged.
 */
export function withCompliance(
  scope: Construct,
  props: ApusBrokerProps,
  removalPolicy: RemovalPolicy,
): ApusBrokerProps {
  if (props.compliance !== true) return props;
  const encryptionKey = props.encryptionKey ?? createKey(scope, removalPolicy);
  allowServices(scope, encryptionKey);
  // Adopted tables stay unchanged; a table for streams may be created beside them.
  return { ...props, encryptionKey, table: { ...props.table, pointInTimeRecovery: true } };
}

/** The key for alarms and logs: with `compliance` the broker's own key, otherwise (undefined) one of AWS. */
export function serviceKeyOf({ compliance, encryptionKey }: ApusBrokerProps): IKey | undefined {
  return compliance === true ? encryptionKey : undefined;
}

/** The key is kept as long as the encrypted data: without it the tables cannot be read. */
function createKey(scope: Construct, removalPolicy: RemovalPolicy): Key {
  return new Key(scope, 'Key', {
    description: 'Apus: tables, queues, secrets, logs and alarms',
    enableKeyRotation: true,
    removalPolicy,
  });
}

/** Services use the key for logs and topics in their own name: no IAM policy can grant it to them. */
function allowServices(scope: Construct, key: IKey): void {
  const stack = Stack.of(scope);
  const logGroups = { service: 'logs', resource: 'log-group', resourceName: '*' };
  const logs = new PolicyStatement({
    principals: [new ServicePrincipal(`logs.${stack.region}.amazonaws.com`)],
    actions: ['kms:Encrypt*', 'kms:Decrypt*', 'kms:ReEncrypt*', 'kms:GenerateDataKey*', 'kms:Describe*'],
    resources: ['*'],
    conditions: {
      ArnLike: {
        'kms:EncryptionContext:aws:logs:arn': stack.formatArn({
          ...logGroups,
          arnFormat: ArnFormat.COLON_RESOURCE_NAME,
        }),
      },
    },
  });
  // Without a condition: CloudWatch passes neither its alarm nor the account to KMS. The topics accept only this
  // account.
  const alarms = new PolicyStatement({
    principals: [new ServicePrincipal('cloudwatch.amazonaws.com')],
    actions: ['kms:Decrypt', 'kms:GenerateDataKey*'],
    resources: ['*'],
  });
  const isAdded = [logs, alarms].map((each) => key.addToResourcePolicy(each, true).statementAdded);
  if (isAdded.every(Boolean)) return;
  Annotations.of(scope).addWarningV2(
    'apus:key-policy',
    `The policy of the encryption key is kept elsewhere. Unless it lets CloudWatch and its logs use the key (${KEY_POLICY_GUIDE}), this deployment fails, or its alarms send no notification.`,
  );
}

/** Backups of the tables: each day's is kept for 35 days. Adopted tables are not included. */
export function createBackups(scope: Construct, { made }: StateTables, key: IKey | undefined): void {
  if (made.length === 0) return;
  const plan = BackupPlan.daily35DayRetention(scope, 'Backup', createVault(scope, key));
  const resources = made.map((table) => BackupResource.fromDynamoDbTable(table));
  acknowledgeRole(plan.addSelection('Tables', { resources }));
}

/** Kept when the stack is deleted: AWS deletes no vault that contains a backup. */
function createVault(scope: Construct, encryptionKey: IKey | undefined): BackupVault {
  return new BackupVault(scope, 'BackupVault', {
    removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
    ...(encryptionKey !== undefined && { encryptionKey }),
  });
}

function acknowledgeRole(selection: BackupSelection): void {
  acknowledge(
    selection,
    'AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AWSBackupServiceRolePolicyForBackup]',
    'The policy that AWS has made for AWS Backup, in a role that nothing else may assume.',
  );
}
