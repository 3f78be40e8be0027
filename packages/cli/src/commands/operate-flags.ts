import { readFileSync } from 'node:fs';
import { BrokerApi } from '../operate/broker-api.ts';
import { HttpTransport } from '../operate/http-transport.ts';
import { OperateError } from '../operate/operate-error.ts';
import { Operator } from '../operate/operator.ts';
import { ApiRules, type RuleOperator } from '../operate/rule-operator.ts';
import { StackFunction } from '../operate/stack-function.ts';
import { StackRules } from '../operate/stack-rules.ts';
import { TenantsOperator } from '../operate/tenants-operator.ts';
import { CommandError } from './command.ts';
import { type Flags, UsageError, type Values } from './flags.ts';

const URL_DEFAULT = 'http://127.0.0.1:8083';

/** Flags that select a deployment. */
export const STACK_FLAGS: Flags = {
  stack: {
    value: 'NAME',
    help: 'Operates a deployment on AWS: the name of its stack. The command calls the operator function with your AWS credentials.',
  },
  function: {
    value: 'NAME',
    help: 'Operates a deployment on AWS: the name or the ARN of its operator function (the output OperatorName of the stack).',
  },
  region: { value: 'REGION', help: 'Where the deployment is.', default: 'that of your AWS profile' },
  tenant: { value: 'NAME', help: 'The tenant, where a broker has several.' },
};

/** Flags that select a node. */
export const NODE_FLAGS: Flags = {
  url: { value: 'URL', short: 'u', help: 'Operates a node: the address of its page.', default: URL_DEFAULT },
  'api-key-file': {
    value: 'FILE',
    help: 'The file with the key of the node’s API (`apus serve --api-key-file`). A node that needs no key on its own machine is asked without one.',
  },
};

/** Flags that select a broker. */
export const BROKER_FLAGS: Flags = { ...NODE_FLAGS, ...STACK_FLAGS };

/** The clients that a ban names. */
export const WHO_FLAGS: Flags = {
  'client-id': { value: 'ID', short: 'i', help: 'A client identifier.' },
  user: { value: 'NAME', help: 'A user name: all clients that have authenticated as this user.' },
  token: {
    value: 'JTI',
    help: 'One token, by its `jti`, or one API key, by its name. Other tokens of the same user stay valid.',
  },
  address: { value: 'IP', help: 'An IP address.' },
};

const KIND_OF_FLAG = {
  'client-id': 'clientid',
  user: 'username',
  token: 'token',
  address: 'peerhost',
} as const;

/** The flag of those above that was given. */
export function whoFrom(values: Values, command: string) {
  const names = Object.keys(KIND_OF_FLAG) as (keyof typeof KIND_OF_FLAG)[];
  const given = names.filter((name) => values.isSet(name));
  const [name] = given;
  const who = name && values.text(name);
  if (given.length !== 1 || name === undefined || who === undefined || values.positionals.length > 0)
    throw new UsageError(`\`apus ${command}\` takes one of --client-id, --user, --token and --address.`);
  return { as: KIND_OF_FLAG[name], who, flag: name };
}

/** @throws {UsageError} */
export function operatorFrom(values: Values): Operator {
  return new Operator(apiFrom(values));
}

/** @throws {UsageError} */
export function ruleOperatorFrom(values: Values): RuleOperator {
  const rules = deploymentFrom(values, 'RulesName');
  return rules === undefined ? new ApiRules(apiFrom(values)) : new StackRules(rules, values.text('tenant'));
}

/**
 * The operator of the register of tenants, for which no tenant is selected.
 * @throws {UsageError}
 */
export function tenantsOperatorFrom(values: Values): TenantsOperator {
  if (values.isSet('tenant')) throw new UsageError('`apus tenant` takes the name without --tenant.');
  return new TenantsOperator(apiFrom(values));
}

/** The API of a deployment, or of a node if the flags select no deployment. */
function apiFrom(values: Values): BrokerApi {
  return deploymentApiFrom(values) ?? new BrokerApi(nodeFrom(values), values.text('tenant'));
}

/** Undefined if the flags select no deployment. */
export function deploymentApiFrom(values: Values): BrokerApi | undefined {
  const operator = deploymentFrom(values);
  return operator && new BrokerApi(operator, values.text('tenant'));
}

/** Undefined if the flags select no deployment. @param output of the stack, with the name of the function */
function deploymentFrom(values: Values, output = 'OperatorName'): StackFunction | undefined {
  const [stack, name, url] = [values.text('stack'), values.text('function'), values.text('url')];
  if ([stack, name, url].filter((each) => each !== undefined).length > 1)
    throw new UsageError('--url, --stack and --function exclude each other.');
  const region = values.text('region');
  const selected = stack === undefined ? name : { stack, output };
  if (selected === undefined) {
    if (region === undefined) return undefined;
    throw new UsageError('--region goes with --stack or --function.');
  }
  if (values.isSet('api-key-file'))
    throw new UsageError('--api-key-file is for a node: your credentials of AWS open a deployment.');
  return new StackFunction({ function: selected, region });
}

/** A refusal of the broker becomes a sentence for the user. */
export async function operating<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof OperateError) throw new CommandError(error.message, { cause: error });
    throw error;
  }
}

function nodeFrom(values: Values): HttpTransport {
  const url = values.text('url') ?? URL_DEFAULT;
  const keyFile = values.text('api-key-file');
  // MQTT clients use the same address with `ws:`.
  const address = url.replace(/^ws/, 'http');
  if (!URL.canParse(address)) throw new UsageError(`--url takes a URL as ${URL_DEFAULT}, not "${url}".`);
  return new HttpTransport(address, keyFile === undefined ? undefined : keyFrom(keyFile));
}

function keyFrom(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch (error) {
    throw new UsageError(`The file of the API's key cannot be read: ${(error as Error).message}`);
  }
}
