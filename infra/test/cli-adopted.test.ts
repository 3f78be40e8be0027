import { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import { ResourceNotFoundException } from '@aws-sdk/client-dynamodb';
import { describe, expect, it } from 'vitest';
import { requireAdoptable, requireTablesToUse } from '../cli/adopted.ts';
import { checkSettings } from '../cli/check-settings.ts';
import { parseFlags } from '../cli/flags.ts';
import { goingOn } from '../cli/going-on.ts';
import { createApp } from '../lib/create-app.ts';
import { type Deployed, SETTING_NAMES, type SettingName, settingsIn } from '../lib/settings.ts';

const ADOPTED = { tableName: 'M', sessionsTableName: 'S' };
const KEYS = [
  { AttributeName: 'p', KeyType: 'HASH' },
  { AttributeName: 's', KeyType: 'RANGE' },
];

interface Sent {
  readonly constructor: { readonly name: string };
  readonly input: { readonly TableName: string; readonly ResourceArn: string };
}

/** DynamoDB with these tables, each with its tag. */
function dynamoDb(tables: Readonly<Record<string, string | undefined>>, keys = KEYS, keyArn?: string) {
  const send = async ({ constructor: { name }, input }: Sent) => {
    if (name === 'ListTagsOfResourceCommand') {
      const held = tables[input.ResourceArn];
      return { Tags: held === undefined ? [] : [{ Key: 'apus:table', Value: held }] };
    }
    if (!(input.TableName in tables)) throw new ResourceNotFoundException({ message: '', $metadata: {} });
    const SSEDescription = keyArn === undefined ? undefined : { SSEType: 'KMS', KMSMasterKeyArn: keyArn };
    return {
      Table: { KeySchema: keys, TableName: input.TableName, TableArn: input.TableName, SSEDescription },
    };
  };
  return { send } as never;
}

const adopt = (tables: Readonly<Record<string, string | undefined>>, keys = KEYS) =>
  requireAdoptable(dynamoDb(tables, keys), ADOPTED, { region: 'eu-west-1', encryptionKeyArn: undefined });

describe('a table that is to be adopted', () => {
  it('may be one that a deleted broker has left', async () => {
    await expect(adopt({ M: 'messages', S: 'sessions' })).resolves.toBeUndefined();
  });

  it('has to exist', async () => {
    await expect(adopt({ M: 'messages' })).rejects.toThrow(
      '--adopt-sessions-table: there is no table S in eu-west-1.',
    );
  });

  it('must not be the other of the two tables', async () => {
    await expect(adopt({ M: 'sessions', S: 'messages' })).rejects.toThrow(
      '--adopt-table: the table M holds sessions (tag apus:table), and messages are expected.',
    );
  });

  it('that was restored from a backup has no tag, and the error says how to add it', async () => {
    await expect(adopt({ M: undefined, S: 'sessions' })).rejects.toThrow(
      'aws dynamodb tag-resource --region eu-west-1 --resource-arn M --tags Key=apus:table,Value=messages',
    );
  });

  it('has to be encrypted with the key of the deployment, if it is encrypted with a key', async () => {
    const client = dynamoDb({ M: 'messages', S: 'sessions' }, KEYS, 'arn:key');
    const region = 'eu-west-1';
    const adoptWith = (encryptionKeyArn?: string) =>
      requireAdoptable(client, ADOPTED, { region, encryptionKeyArn });
    await expect(adoptWith('arn:key')).resolves.toBeUndefined();
    for (const other of [undefined, 'arn:other']) {
      await expect(adoptWith(other)).rejects.toThrow(
        '--adopt-table: the table M is encrypted with a key that the functions have to use as well: --encryption-key-arn arn:key',
      );
    }
  });

  it('has to have the keys of a broker', async () => {
    const keys = [{ AttributeName: 'id', KeyType: 'HASH' }];
    await expect(adopt({ M: 'messages', S: 'sessions' }, keys)).rejects.toThrow(
      "--adopt-table: the table M has the keys id HASH, and a broker's has p HASH, s RANGE.",
    );
  });
});

/** CloudFormation with these stacks, each of which uses some tables and has made some of them. */
function cloudFormation(
  stacks: Readonly<
    Record<string, { readonly uses: readonly [string, string, string?]; readonly made: readonly string[] }>
  >,
) {
  const client = new CloudFormationClient({ region: 'eu-west-1' });
  const described = (name: string) => ({
    StackName: name,
    Tags: [{ Key: 'apus:stack', Value: 'broker' }],
    Outputs: [
      { OutputKey: 'TableName', OutputValue: stacks[name]?.uses[0] },
      { OutputKey: 'SessionsTableName', OutputValue: stacks[name]?.uses[1] },
      { OutputKey: 'StreamsTableName', OutputValue: stacks[name]?.uses[2] },
    ],
  });
  client.send = (async (command: { constructor: { name: string }; input: { StackName?: string } }) => {
    const { StackName: name } = command.input;
    if (command.constructor.name === 'ListStackResourcesCommand') {
      const StackResourceSummaries = stacks[name ?? '']?.made.map((each) => ({
        LogicalResourceId: each,
        PhysicalResourceId: each,
        ResourceType: 'AWS::DynamoDB::Table',
      }));
      return { StackResourceSummaries };
    }
    if (name === undefined) return { Stacks: Object.keys(stacks).map(described) };
    if (!(name in stacks)) throw new Error(`Stack with id ${name} does not exist`);
    return { Stacks: [described(name)] };
  }) as never;
  return client;
}

describe('a deployment', () => {
  const owner = { uses: ['M', 'S'], made: ['M', 'S'] } as const;
  const adopter = { uses: ['M', 'S'], made: [] } as const;

  it('may adopt tables that no other broker uses', async () => {
    await expect(requireTablesToUse(cloudFormation({}), 'apus', ADOPTED)).resolves.toBeUndefined();
    await expect(
      requireTablesToUse(cloudFormation({ apus: adopter }), 'apus', ADOPTED),
    ).resolves.toBeUndefined();
    for (const other of [owner, adopter]) {
      await expect(requireTablesToUse(cloudFormation({ other }), 'apus', ADOPTED)).rejects.toThrow(
        'The table M is in use by the stack "other"',
      );
    }
  });

  it('that omits adopted tables is refused, and the error names the flags', async () => {
    await expect(requireTablesToUse(cloudFormation({ apus: adopter }), 'apus', undefined)).rejects.toThrow(
      'would begin with empty ones. Say --adopt-table M --adopt-sessions-table S',
    );
    await expect(
      requireTablesToUse(cloudFormation({ apus: owner }), 'apus', undefined),
    ).resolves.toBeUndefined();
  });

  it('that declares streams and omits their adopted table is refused', async () => {
    const all = { uses: ['M', 'S', 'H'], made: [] } as const;
    const forgets = (hasStreams: boolean) =>
      requireTablesToUse(cloudFormation({ apus: all }), 'apus', ADOPTED, hasStreams);
    await expect(forgets(true)).rejects.toThrow(
      'Say --adopt-table M --adopt-sessions-table S --adopt-streams-table H',
    );
    await expect(forgets(false)).resolves.toBeUndefined();
  });

  it('with its own table of streams is refused, too, when it omits the other tables', async () => {
    const beside = { uses: ['M', 'S', 'H'], made: ['H'] } as const;
    const client = () => cloudFormation({ apus: beside });
    await expect(requireTablesToUse(client(), 'apus', undefined, true)).rejects.toThrow(
      /Say --adopt-table M --adopt-sessions-table S$/,
    );
    await expect(requireTablesToUse(client(), 'apus', ADOPTED, true)).resolves.toBeUndefined();
    const history = { ...ADOPTED, streamsTableName: 'H' };
    await expect(requireTablesToUse(client(), 'apus', history, true)).rejects.toThrow(
      'The table H is the stack\'s own ("apus"), which uses it without being told: leave out --adopt-streams-table.',
    );
  });

  it('does not adopt its own tables: CloudFormation would remove them from the stack, and maybe delete them', async () => {
    await expect(requireTablesToUse(cloudFormation({ apus: owner }), 'apus', ADOPTED)).rejects.toThrow(
      'The table M is the stack\'s own ("apus")',
    );
  });
});

describe('the output after a stack is destroyed', () => {
  const Outputs = [
    { OutputKey: 'TableName', OutputValue: 'M' },
    { OutputKey: 'SessionsTableName', OutputValue: 'S' },
    { OutputKey: 'TokenSecretArn', OutputValue: 'arn:token' },
    { OutputKey: 'PublishKeysArn', OutputValue: 'arn:keys' },
    { OutputKey: 'EncryptionKeyArn', OutputValue: 'arn:key' },
  ];
  const stack = {
    StackName: 'apus',
    CreationTime: new Date(0),
    StackStatus: 'DELETE_COMPLETE',
    Outputs,
  } as const;

  const linesFor = (settings: Deployed, isThere: (id: string) => boolean = () => true) =>
    goingOn(stack, settings, isThere, 'eu-west-1');

  it('is the command that deploys with the remaining tables', () => {
    expect(linesFor({ httpPublish: 'keys' }).at(-1)).toBe(
      '  npm run deploy -- --name apus --region eu-west-1 --http-publish keys --adopt-table M --adopt-sessions-table S --token-secret-arn arn:token --publish-keys-secret-arn arn:keys --encryption-key-arn arn:key',
    );
    const left = ['M', 'S', 'arn:token'];
    expect(linesFor({}, (id) => left.includes(id)).at(-1)).toBe(
      '  npm run deploy -- --name apus --region eu-west-1 --adopt-table M --adopt-sessions-table S --token-secret-arn arn:token',
    );
  });

  it('has every flag of the deployment, quoted where a shell would change it', () => {
    const settings = { usage: 'true', httpApi: 'iam', tags: 'team=a b,x=$1', tokenPublish: "%u/it's/#" };
    expect(linesFor(settings).at(-1)).toContain(
      `--usage true --http-api iam --tags 'team=a b,x=$1' --token-publish '%u/it'\\''s/#' --adopt-table M`,
    );
  });

  it('says where the secret belongs in a file of --identity', () => {
    const lines = linesFor({ identity: 'who.json' });
    expect(lines[2]).toContain('--identity who.json --adopt-table M --adopt-sessions-table S --publish-keys');
    expect(lines[2]).not.toContain('--token-secret-arn');
    expect(lines.at(-1)).toBe('In who.json, put "secretArn": "arn:token" in the place of "generated".');
  });

  it('asks for the flags of a stack that does not name them', () => {
    expect(goingOn(stack, undefined, () => true, 'eu-west-1').at(-1)).toBe(
      'Add the other flags that it was deployed with.',
    );
  });

  it('is empty if the tables were deleted', () => {
    expect(linesFor({}, (id) => id.startsWith('arn'))).toEqual([]);
  });
});

describe('the settings that a stack was deployed with', () => {
  const arn = (service: string, name: string) => `arn:aws:${service}:eu-west-1:123456789012:${name}`;
  const Outputs = [
    { OutputKey: 'TableName', OutputValue: 'M' },
    { OutputKey: 'SessionsTableName', OutputValue: 'S' },
    { OutputKey: 'TokenSecretArn', OutputValue: arn('secretsmanager', 'secret:token-a1B2c3') },
  ];
  const stack = {
    StackName: 'mine',
    CreationTime: new Date(0),
    StackStatus: 'DELETE_COMPLETE',
    Outputs,
  } as const;

  /** The settings of the command that is printed after such a deployment is destroyed. */
  function comingBack(settings: Deployed): ReadonlyMap<SettingName, string> {
    const { app, stack: made } = createApp({ context: { ...settings, 'aws:cdk:bundling-stacks': [] } });
    const template = app.synth().getStackByName(made.stackName).template;
    const lines = goingOn(stack, settingsIn(template), () => true, 'eu-west-1');
    const [, ...args] = (lines[2] ?? '').split(' -- ').flatMap((part) => part.trim().split(' '));
    return parseFlags(args.slice(args.indexOf('--name')), SETTING_NAMES, {}).settings;
  }

  it.each<Deployed>([
    { usage: 'true', usageExport: 'csv', httpApi: 'iam', presence: 'true' },
    { authentication: 'generated-secret', rotateTokenSecretDays: '30', pointInTimeRecovery: 'true' },
    { deletionProtection: 'true', maxReadRequestUnits: '0', maxWriteRequestUnits: '100', retainData: 'true' },
    { streams: 'examples/chat/streams.json', topics: 'examples/portal/topics.json', tenantMetrics: '3' },
    {
      framesPerSecond: '50',
      alarmEmail: 'ops@example.com',
      budgetDollars: '10',
      allowedOrigins: 'https://a.example',
    },
  ])('%j are kept, and a deployment with the tables takes them', async (settings) => {
    const given = comingBack(settings);
    await expect(checkSettings(given)).resolves.toBeUndefined();
    const ofNewOnes = /^(authentication|rotate|point|deletion|max(Read|Write)R)/;
    const kept = Object.entries(settings).filter(([name]) => !ofNewOnes.test(name));
    expect(Object.fromEntries(given)).toMatchObject({ ...Object.fromEntries(kept), name: 'mine' });
  });
});
