import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { STSClient } from '@aws-sdk/client-sts';
import { adoptedOf, hasStreamsTable, targetOf } from '../lib/context.ts';
import { SETTING_NAMES } from '../lib/settings.ts';
import { type Account, accountOf, regionOf } from './account.ts';
import { requireAdoptable, requireTablesToUse, tablesOf } from './adopted.ts';
import { cdk } from './cdk.ts';
import { checkSettings } from './check-settings.ts';
import { CommandError } from './command-error.ts';
import { DEPLOY_EXTRAS } from './deploy-flags.ts';
import { contextArguments, type Flags, helpOfFlags, parseFlags } from './flags.ts';
import { main } from './main.ts';
import { requireSameRegion, settingsFrom } from './read-settings.ts';
import { findStack, isUsable, repair, repairOf, requireOurs } from './stack-state.ts';
import { stageFile, withStage, writeStage } from './stage.ts';
import { type Outputs, summaryOf } from './summary.ts';
import { requireLayout } from './table-layout.ts';

const HELP = `npm run deploy -- [flags]

Deploys the broker to AWS, or brings a deployed one up to date, and says where it is. docs/deploy-settings.md
explains flags in full, with their costs.

${helpOfFlags(SETTING_NAMES, DEPLOY_EXTRAS)}

For example: npm run deploy -- --region eu-west-1 --alarm-email ops@example.com`;

/** The stack that the CDK's command line needs in an account and Region. */
const BOOTSTRAP_STACK = 'CDKToolkit';

await main(deploy);

async function deploy(args: readonly string[]): Promise<void> {
  const flags = withStage(parseFlags(args, SETTING_NAMES, DEPLOY_EXTRAS));
  if (flags.extras.has('help')) {
    console.log(HELP);
    return;
  }
  const settings = settingsFrom(flags);
  const { stackName, account: wantedAccount, region: wantedRegion } = targetOf(settings);
  await checkSettings(flags.settings);
  const given = wantedRegion === undefined ? {} : { region: wantedRegion };
  const sts = new STSClient(given);
  const region = await regionOf(() => sts.config.region());
  requireSameRegion(settings, region);
  const account = await accountOf(sts, region, wantedAccount);
  const client = new CloudFormationClient({ region });
  if (flags.extras.has('diff')) {
    await diff(client, flags, account, stackName);
    return;
  }
  await prepareStack(client, stackName);
  const adopted = adoptedOf(settings);
  await requireTablesToUse(client, stackName, adopted, hasStreamsTable(settings));
  const dynamoDb = new DynamoDBClient({ region });
  if (adopted !== undefined) {
    const encryptionKeyArn = settings.text('encryptionKeyArn');
    await requireAdoptable(dynamoDb, adopted, { region, encryptionKeyArn });
  }
  const stack = await findStack(client, stackName);
  const tables = Object.values(adopted ?? (stack === undefined ? {} : tablesOf(stack)));
  await requireLayout(
    dynamoDb,
    tables.filter((name) => name !== undefined),
  );
  await bootstrap(client, account);
  const outputs = await deployStack(flags, account, stackName);
  remember(flags, region);
  console.log(summaryOf(outputs, { ...account, stackName }));
}

/** For templates: a change set would need the right to change the stack. */
async function diff(
  client: CloudFormationClient,
  flags: Flags,
  { region }: Account,
  stackName: string,
): Promise<void> {
  const stack = await findStack(client, stackName);
  if (stack === undefined) console.error(`There is no stack "${stackName}" yet: all of it is new.`);
  else requireOurs(stack, stackName);
  await withFolder(async (folder) => {
    const options = ['--method', 'template', '--output', join(folder, 'cdk.out')];
    const code = await cdk(['diff', ...options, ...contextArguments(flags.settings)], environmentOf(region));
    if (code !== 0) throw new CommandError(`The CDK could not compare (exit code ${code}).`);
  });
}

/** The Region is listed even if it comes from the profile: the next deployment may use another profile. */
function remember({ texts, settings }: Flags, region: string): void {
  const stage = texts.get('stage');
  if (stage === undefined) return;
  const file = stageFile(stage);
  writeStage(file, new Map([...settings, ['region', region]]));
  console.error(`The flags are remembered in ${file}.`);
}

/** A second run repairs the stack that the first has left. */
async function prepareStack(client: CloudFormationClient, stackName: string): Promise<void> {
  const stack = await findStack(client, stackName);
  if (stack === undefined) return;
  const needed = repairOf(stack, stackName);
  // A stack that was never filled has no tags of its own yet.
  if (stack.StackStatus !== 'REVIEW_IN_PROGRESS') requireOurs(stack, stackName);
  if (needed === 'none') return;
  console.error(
    `An earlier run has left the stack "${stackName}" as ${stack.StackStatus}: cleaning up first …`,
  );
  await repair(client, stackName, needed);
}

async function bootstrap(client: CloudFormationClient, { accountId, region }: Account): Promise<void> {
  const stack = await findStack(client, BOOTSTRAP_STACK);
  // The CDK itself repairs a failed earlier bootstrap.
  if (stack !== undefined && isUsable(stack)) return;
  console.error(`Preparing ${region} of the account ${accountId} for the CDK (once) …`);
  const code = await cdk(['bootstrap', `aws://${accountId}/${region}`], environmentOf(region));
  if (code !== 0) {
    throw new CommandError(
      `The CDK could not prepare the account (exit code ${code}; the lines above say why). It needs the right to make roles and a bucket; somebody who has it can run: npx cdk bootstrap aws://${accountId}/${region}`,
    );
  }
}

async function deployStack(flags: Flags, { region }: Account, stackName: string): Promise<Outputs> {
  return await withFolder(async (folder) => {
    const file = join(folder, 'outputs.json');
    // Each deployment has its own assembly: two at the same time would overwrite each other's.
    const output = join(folder, 'cdk.out');
    const options = ['--require-approval', 'never', '--output', output, '--outputs-file', file];
    const code = await cdk(
      ['deploy', ...options, ...contextArguments(flags.settings)],
      environmentOf(region),
    );
    if (code !== 0) {
      throw new CommandError(
        `The deployment has failed (exit code ${code}); the lines above say why. Nothing that was deployed before is lost, and the same command tries again.`,
      );
    }
    const outputs = JSON.parse(await readFile(file, 'utf8')) as Record<string, Outputs>;
    return outputs[stackName] ?? {};
  });
}

async function withFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'apus-deploy-'));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function environmentOf(region: string): Readonly<Record<string, string>> {
  return { AWS_REGION: region, AWS_DEFAULT_REGION: region };
}
