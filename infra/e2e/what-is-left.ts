import { ApiGatewayV2Client, GetApisCommand } from '@aws-sdk/client-apigatewayv2';
import { CloudWatchClient, DescribeAlarmsCommand, ListDashboardsCommand } from '@aws-sdk/client-cloudwatch';
import { CloudWatchLogsClient, DescribeLogGroupsCommand } from '@aws-sdk/client-cloudwatch-logs';
import { DynamoDBClient, ListTablesCommand } from '@aws-sdk/client-dynamodb';
import { IAMClient, ListRolesCommand } from '@aws-sdk/client-iam';
import { LambdaClient, ListEventSourceMappingsCommand, ListFunctionsCommand } from '@aws-sdk/client-lambda';
import { ListSecretsCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { ListTopicsCommand, SNSClient } from '@aws-sdk/client-sns';
import { ListQueuesCommand, SQSClient } from '@aws-sdk/client-sqs';
import { CommandError } from '../cli/command-error.ts';

/** Everything in the account that belongs to brokers, by kind; the CDK's bootstrap does not. */
async function inventory(): Promise<Readonly<Record<string, readonly unknown[]>>> {
  const lambda = new LambdaClient();
  const cloudWatch = new CloudWatchClient();
  const { Roles = [] } = await new IAMClient().send(new ListRolesCommand());
  return {
    functions: (await lambda.send(new ListFunctionsCommand())).Functions ?? [],
    mappings: (await lambda.send(new ListEventSourceMappingsCommand())).EventSourceMappings ?? [],
    queues: (await new SQSClient().send(new ListQueuesCommand())).QueueUrls ?? [],
    topics: (await new SNSClient().send(new ListTopicsCommand())).Topics ?? [],
    apis: (await new ApiGatewayV2Client().send(new GetApisCommand())).Items ?? [],
    alarms: (await cloudWatch.send(new DescribeAlarmsCommand())).MetricAlarms ?? [],
    dashboards: (await cloudWatch.send(new ListDashboardsCommand())).DashboardEntries ?? [],
    logs: (await new CloudWatchLogsClient().send(new DescribeLogGroupsCommand())).logGroups ?? [],
    roles: Roles.filter(({ RoleName = '' }) => !RoleName.startsWith('cdk-')),
    tables: (await new DynamoDBClient().send(new ListTablesCommand())).TableNames ?? [],
    secrets: (await new SecretsManagerClient().send(new ListSecretsCommand())).SecretList ?? [],
  };
}

/** How many of each kind there are. */
async function counts(): Promise<Readonly<Record<string, number>>> {
  const found = Object.entries(await inventory()).filter(([, each]) => each.length > 0);
  return Object.fromEntries(found.map(([kind, each]) => [kind, each.length]));
}

/** @throws {CommandError} unless exactly these resources are left, such as `{ tables: 1 }` */
export async function requireLeft(expected: Readonly<Record<string, number>>): Promise<void> {
  const found = await counts();
  if (JSON.stringify(found) === JSON.stringify(expected)) return;
  throw new CommandError(
    `Expected to be left: ${JSON.stringify(expected)}. Found: ${JSON.stringify(found)}.`,
  );
}
