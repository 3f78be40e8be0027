import { parseQuotas } from '@apus/broker';
import { TENANT_STATES, type TenantEntry } from '@apus/identity';
import type { TenantsOperator } from '../operate/tenants-operator.ts';
import { type Command, CommandError } from './command.ts';
import { type Flags, UsageError, type Values } from './flags.ts';
import { BROKER_FLAGS, operating, tenantsOperatorFrom } from './operate-flags.ts';
import { printLine } from './print.ts';
import { KEY_FLAGS, keysFrom } from './tenant-keys.ts';

const PLAN: Flags = {
  quota: {
    value: 'NAME=COUNT',
    multiple: true,
    help: 'A quota of the tenant that differs from those of every tenant: connectionsMax=100. 0 stands for any number. All that are given take the place of those before.',
  },
  'no-quotas': { help: 'Takes the quotas of the tenant away: it has those of every tenant.' },
};

const STATE: Flags = {
  state: {
    value: TENANT_STATES.join('|'),
    help: 'The broker refuses the clients of a suspended tenant, and ends those that are connected.',
  },
  reason: { value: 'TEXT', help: 'Why it is suspended, for people. The clients are not told.' },
};

const PROVIDER: Flags = {
  provider: {
    value: 'JSON',
    help: 'An identity provider of the tenant: {"jwksUrl": "https://…", "issuer": "…", "audience": "…"}; `null` takes it away.',
  },
  'default-rules': {
    value: 'JSON',
    help: 'What its tokens without rules may do: {"publish": ["%u/#"], "subscribe": ["#"]}.',
  },
};

const SHAPING = { ...PLAN, ...STATE, ...KEY_FLAGS, ...PROVIDER };

const VERBS: Readonly<
  Record<string, (values: Values, tenants: TenantsOperator, name: string) => Promise<void>>
> = {
  async create(values, tenants, name) {
    if (values.isSet('drop-key')) throw new UsageError('--drop-key is for `apus tenant change`.');
    const created = await tenants.create({ name, ...changeFrom(values, undefined) });
    printLine(`The tenant "${name}" is there. ${summaryOf(created)}`);
  },
  async list(_values, tenants) {
    for await (const each of tenants.list()) printLine(`${each.name}  ${summaryOf(each)}`);
  },
  async show(_values, tenants, name) {
    console.log(JSON.stringify(await found(tenants, name), undefined, 2));
  },
  async change(values, tenants, name) {
    const change = changeFrom(values, await found(tenants, name));
    if (Object.keys(change).length === 0) throw new UsageError('Nothing is to be changed: see the flags.');
    const changed = await tenants.change(name, change);
    if (changed === undefined) throw unknown(name);
    printLine(`The tenant "${name}" has been changed. ${summaryOf(changed)}`);
    if (changed.expelled !== undefined) printLine(`Clients that were ended: ${changed.expelled}.`);
    if (changed.is_complete === false)
      printLine('Some may be left: the same command looks again, and the sweep within ten minutes.');
  },
  async remove(_values, tenants, name) {
    if (!(await tenants.remove(name))) throw unknown(name);
    console.log(
      `The tenant "${name}" is gone, with its sessions, retained messages, users and bans. The history of its streams ends by itself.`,
    );
  },
};

export const tenant: Command = {
  name: 'tenant',
  summary: 'Creates, changes and removes tenants.',
  usage:
    '(create | change) NAME [FLAGS] [--url URL | --stack NAME]\n       apus tenant (show | remove) NAME [--url URL | --stack NAME]\n       apus tenant list [--url URL | --stack NAME]',
  description: [
    'A tenant has names, topics, sessions and retained messages of its own. A token names it in the claim `tenant`.',
    'It may have signing keys of its own, of which the broker keeps the public ones alone, and quotas.',
    '',
    'Examples: apus tenant create acme --new-key acme.pem --quota connectionsMax=100 --quota publishesPerSecondMax=50',
    "          apus token --key-file acme.pem --tenant acme --sub ann --publish '%u/#'",
    '          apus tenant change acme --state suspended --reason unpaid --stack apus',
    '          apus tenant remove acme --stack apus',
  ].join('\n'),
  flags: { Quotas: PLAN, State: STATE, Keys: KEY_FLAGS, Identity: PROVIDER, Broker: BROKER_FLAGS },
  async run(values) {
    const [verb = '', name, ...others] = values.positionals;
    const act = Object.hasOwn(VERBS, verb) ? VERBS[verb] : undefined;
    if (act === undefined || others.length > 0 || (name !== undefined) !== (verb !== 'list'))
      throw new UsageError(
        'It is `apus tenant create NAME`, `change NAME`, `show NAME`, `remove NAME` or `apus tenant list`.',
      );
    if (verb !== 'create' && verb !== 'change')
      values.refuse(SHAPING, `is for \`create\` and \`change\`, not for \`apus tenant ${verb}\`.`);
    const tenants = tenantsOperatorFrom(values);
    await operating(() => act(values, tenants, name ?? ''));
    return 0;
  },
};

/** The fields that the flags set. */
function changeFrom(values: Values, before: TenantEntry | undefined): object {
  const reason = values.text('reason');
  const state = values.oneOf('state', TENANT_STATES);
  return {
    ...planFrom(values),
    ...(state !== undefined && { state }),
    ...(reason !== undefined && { reason }),
    // An active tenant has no reason for a suspension.
    ...(state === 'active' && before?.reason !== undefined && { reason: null }),
    ...keysFrom(values, before),
    ...jsonFrom(values, 'provider', 'provider'),
    ...jsonFrom(values, 'default-rules', 'defaultRules'),
  };
}

function planFrom(values: Values): { readonly plan?: object | null } {
  const given = values.all('quota').map((text) => /^(\w+)=(\d+)$/.exec(text) ?? badQuota(text));
  if (values.isSet('no-quotas')) {
    if (given.length > 0) throw new UsageError('--quota and --no-quotas exclude each other.');
    return { plan: null };
  }
  if (given.length === 0) return {};
  const plan = parseQuotas(Object.fromEntries(given.map(([, name = '', count]) => [name, Number(count)])));
  if (typeof plan === 'string') throw new UsageError(`--quota: ${plan}`);
  return { plan };
}

function badQuota(text: string): never {
  throw new UsageError(`--quota takes a name and a number as connectionsMax=100, not "${text}".`);
}

function jsonFrom(values: Values, flag: string, field: string): object {
  const text = values.text(flag);
  if (text === undefined) return {};
  try {
    return { [field]: JSON.parse(text) as unknown };
  } catch (error) {
    throw new UsageError(`--${flag} takes JSON: ${(error as Error).message}.`);
  }
}

async function found(tenants: TenantsOperator, name: string): Promise<TenantEntry> {
  const tenant = await tenants.get(name);
  if (tenant === undefined) throw unknown(name);
  return tenant;
}

function unknown(name: string): CommandError {
  return new CommandError(`There is no tenant "${name}".`);
}

function summaryOf({ state, reason, plan = {}, keys = [], provider }: TenantEntry): string {
  const quotas = Object.entries(plan).map(([name, count]) => `${name}=${count}`);
  const kids = keys.map(({ kid }) => String(kid));
  const parts = [
    reason === undefined ? state : `${state} (${reason})`,
    quotas.length > 0 && `quotas ${quotas.join(' ')}`,
    kids.length > 0 && `keys ${kids.join(' ')}`,
    provider !== undefined && `provider ${provider.issuer}`,
  ];
  return parts.filter((part) => part !== false).join('; ');
}
