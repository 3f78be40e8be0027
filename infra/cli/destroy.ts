import {
  CloudFormationClient,
  DeleteStackCommand,
  waitUntilStackDeleteComplete,
} from '@aws-sdk/client-cloudformation';
import { STSClient } from '@aws-sdk/client-sts';
import { targetOf } from '../lib/context.ts';
import { type SettingName, settingsIn } from '../lib/settings.ts';
import { accountOf, regionOf } from './account.ts';
import { helpOfFlags, parseFlags } from './flags.ts';
import { goingOn } from './going-on.ts';
import { main } from './main.ts';
import { settingsFrom } from './read-settings.ts';
import { deleteData, type Retained, requireDeletable, retainedBy, templateOf } from './retained.ts';
import { deletionFailed, findStack, requireOurs, resourcesOf } from './stack-state.ts';
import { withStage } from './stage.ts';

const NAMES: readonly SettingName[] = ['name', 'account', 'region'];
const EXTRAS = {
  stage: { value: 'STAGE', help: 'The name, account and Region that apus.STAGE.json remembers.' },
  'delete-data': {
    help: 'Deletes the table and the secrets as well, for good: sessions, messages, every token.',
  },
  help: { help: 'Shows this text.' },
};

const HELP = `npm run destroy -- [flags]

Takes a deployed broker away. The table and the secrets stay unless you say otherwise.

${helpOfFlags(NAMES, EXTRAS)}`;

/** Event source mappings and a domain take minutes. */
const WAIT_SECONDS_MAX = 30 * 60;

await main(destroy);

async function destroy(args: readonly string[]): Promise<void> {
  const flags = withStage(parseFlags(args, NAMES, EXTRAS), NAMES);
  if (flags.extras.has('help')) {
    console.log(HELP);
    return;
  }
  const { stackName, account, region: wanted } = targetOf(settingsFrom(flags));
  const sts = new STSClient(wanted === undefined ? {} : { region: wanted });
  const region = await regionOf(() => sts.config.region());
  const { accountId } = await accountOf(sts, region, account);
  const client = new CloudFormationClient({ region });
  const stack = await findStack(client, stackName);
  if (stack === undefined) {
    console.log(`There is no stack "${stackName}" in ${region} of the account ${accountId}.`);
    return;
  }
  requireOurs(stack, stackName);
  const resources = await resourcesOf(client, stackName);
  const template = await templateOf(client, stackName);
  const retained = retainedBy(template, resources);
  if (flags.extras.has('delete-data')) await requireDeletable(retained, region);
  console.error(`Deleting the stack "${stackName}"; this takes some minutes …`);
  await deleteStack(client, stackName);
  const left = flags.extras.has('delete-data') ? await deleteData(retained, region) : retained;
  const isThere = (id: string) =>
    left.some(({ physicalId }) => physicalId === id) ||
    !resources.some(({ physicalId }) => physicalId === id);
  console.log(
    [summaryOf(stackName, left), ...goingOn(stack, settingsIn(template), isThere, region)].join('\n'),
  );
}

async function deleteStack(client: CloudFormationClient, stackName: string): Promise<void> {
  await client.send(new DeleteStackCommand({ StackName: stackName }));
  try {
    await waitUntilStackDeleteComplete({ client, maxWaitTime: WAIT_SECONDS_MAX }, { StackName: stackName });
  } catch (error) {
    throw await deletionFailed(client, stackName, error);
  }
}

function summaryOf(stackName: string, left: readonly Retained[]): string {
  if (left.length === 0) return `The stack "${stackName}" is gone, and nothing is left of it.`;
  const lines = left.map(({ type, physicalId }) => `  ${type} ${physicalId}`);
  return [`The stack "${stackName}" is gone. Kept, as you asked when you deployed it:`, ...lines].join('\n');
}
