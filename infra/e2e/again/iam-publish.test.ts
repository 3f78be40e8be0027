import { randomBytes } from 'node:crypto';
import { type AwsCredentials, createPublisher, PublishRefused } from '@apus/publish';
import { CloudFormationClient, DescribeStackResourcesCommand } from '@aws-sdk/client-cloudformation';
import {
  CreateAccessKeyCommand,
  CreateUserCommand,
  DeleteAccessKeyCommand,
  DeleteUserCommand,
  DeleteUserPolicyCommand,
  IAMClient,
  PutUserPolicyCommand,
} from '@aws-sdk/client-iam';
import { GetFunctionCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { connectClient, unique } from '../support/client.ts';
import { deployed } from '../support/deployed.ts';

const iam = new IAMClient();
const REGION = 'us-east-1';

/** The function of the publish URL, as `grantPublish` names it in a policy. */
async function publishFunctionArn(): Promise<string> {
  const { StackResources = [] } = await new CloudFormationClient().send(
    new DescribeStackResourcesCommand({ StackName: deployed.stackName }),
  );
  const { PhysicalResourceId } =
    StackResources.find(
      ({ ResourceType, LogicalResourceId = '' }) =>
        ResourceType === 'AWS::Lambda::Function' && LogicalResourceId.startsWith('BrokerPublish'),
    ) ?? {};
  const { Configuration } = await new LambdaClient().send(
    new GetFunctionCommand({ FunctionName: PhysicalResourceId }),
  );
  return Configuration?.FunctionArn ?? '';
}

/** An IAM user with a key, and with the policy in docs/deploy-settings.md, or with none. */
async function createUser(functionArn?: string): Promise<{ name: string; credentials: AwsCredentials }> {
  const name = unique('backend');
  await iam.send(new CreateUserCommand({ UserName: name }));
  if (functionArn !== undefined) {
    const Statement = [
      {
        Effect: 'Allow',
        Action: 'lambda:InvokeFunctionUrl',
        Resource: functionArn,
        Condition: { StringEquals: { 'lambda:FunctionUrlAuthType': 'AWS_IAM' } },
      },
      {
        Effect: 'Allow',
        Action: 'lambda:InvokeFunction',
        Resource: functionArn,
        Condition: { Bool: { 'lambda:InvokedViaFunctionUrl': 'true' } },
      },
    ];
    const PolicyDocument = JSON.stringify({ Version: '2012-10-17', Statement });
    await iam.send(new PutUserPolicyCommand({ UserName: name, PolicyName: 'publish', PolicyDocument }));
  }
  const { AccessKey } = await iam.send(new CreateAccessKeyCommand({ UserName: name }));
  const { AccessKeyId: accessKeyId = '', SecretAccessKey: secretAccessKey = '' } = AccessKey ?? {};
  return { name, credentials: { accessKeyId, secretAccessKey } };
}

let backend: AwsCredentials;
let stranger: AwsCredentials;
const users: { name: string; credentials: AwsCredentials }[] = [];

beforeAll(async () => {
  users.push(await createUser(await publishFunctionArn()), await createUser());
  [backend, stranger] = users.map(({ credentials }) => credentials) as [AwsCredentials, AwsCredentials];
});

afterAll(async () => {
  for (const { name: UserName, credentials } of users) {
    await iam.send(new DeleteAccessKeyCommand({ UserName, AccessKeyId: credentials.accessKeyId }));
    await iam.send(new DeleteUserPolicyCommand({ UserName, PolicyName: 'publish' })).catch(() => {});
    await iam.send(new DeleteUserCommand({ UserName }));
  }
});

const publisherOf = (credentials: AwsCredentials, region = REGION) =>
  createPublisher({ url: deployed.publishUrl, aws: { credentials, region } });

/** The error of one publish; the test fails if there is none. */
async function refusalOf(credentials: AwsCredentials, region?: string): Promise<unknown> {
  return await publisherOf(credentials, region)
    .publish('a', 'x')
    .then(
      () => expect.fail('it was published'),
      (error: unknown) => error,
    );
}

it('messages that a backend signs with its credentials reach clients, one or many', async () => {
  const topic = unique('signed');
  const client = await connectClient();
  await client.mqtt.subscribeAsync(`${topic}/+`, { qos: 1 });
  const publisher = publisherOf(backend);
  expect(await publisher.publish(`${topic}/1`, 'one', { qos: 1 })).toMatchObject({ hasSubscribers: true });
  const many = ['two', 'drei €'].map((payload) => ({ topic: `${topic}/2`, payload, qos: 1 as const }));
  expect(await publisher.publishAll(many)).toHaveLength(2);
  expect(await client.texts(3)).toEqual(['one', 'two', 'drei €']);
});

it.each([
  ['the secret of another key', () => [{ ...backend, secretAccessKey: randomBytes(30).toString('base64') }]],
  ['a key that AWS does not know', () => [{ ...backend, accessKeyId: 'AKIAIOSFODNN7EXAMPLE' }]],
  ['another Region', () => [backend, 'eu-west-1']],
  ['credentials that were not granted it', () => [stranger]],
] satisfies [string, () => [AwsCredentials, string?]][])(
  'a request signed with %s is refused',
  async (_, given) => {
    const error = await refusalOf(...(given() as [AwsCredentials, string?]));
    expect(error).toBeInstanceOf(PublishRefused);
    expect(error).toMatchObject({ status: 403 });
  },
);

it('a request without a signature, or with a body that was not signed, is refused', async () => {
  const url = new URL('api/v5/publish', deployed.publishUrl);
  const send = (headers: Record<string, string>) =>
    fetch(url, { method: 'POST', headers, body: '{"topic":"a","payload":"x"}' });
  expect((await send({ 'content-type': 'application/json' })).status).toBe(403);
  const signed = await signedHeaders();
  expect((await send(signed)).status).toBe(403);
});

/** The headers with which a publisher sends another message. */
async function signedHeaders(): Promise<Record<string, string>> {
  let headers: Record<string, string> = {};
  const publisher = createPublisher({
    url: deployed.publishUrl,
    aws: { credentials: backend, region: REGION },
    fetch: async (_url, init) => {
      headers = init?.headers as Record<string, string>;
      return Response.json({ id: '1' });
    },
  });
  await publisher.publish('a', 'another');
  return headers;
}
