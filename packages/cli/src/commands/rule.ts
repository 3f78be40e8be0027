import type { RuleConfiguration } from '@apus/bridges';
import type { RuleOperator } from '../operate/rule-operator.ts';
import { type Command, CommandError } from './command.ts';
import { type Flag, type Flags, UsageError, type Values } from './flags.ts';
import { NODE_FLAGS, operating, ruleOperatorFrom, STACK_FLAGS } from './operate-flags.ts';
import { printLine } from './print.ts';

type Action = (values: Values, args: readonly string[]) => Promise<void>;

const ACTIONS: Readonly<Record<string, { readonly args: readonly [number, number]; readonly run: Action }>> =
  {
    check: { args: [1, 1], run: check },
    list: { args: [0, 0], run: (values) => printed(values, (operator) => operator.rules()) },
    dead: { args: [1, 2], run: dead },
    send: { args: [1, 2], run: send },
    discard: { args: [1, 2], run: discard },
  };

const RULES_FUNCTION_FLAG: Flag = {
  value: 'NAME',
  help: 'Operates a deployment on AWS: the name or the ARN of its function of rules (the output RulesName of the stack).',
};

const BROKER: Flags = { ...NODE_FLAGS, ...STACK_FLAGS, function: RULES_FUNCTION_FLAG };

export const rule: Command = {
  name: 'rule',
  summary: 'Checks a file of rules, and looks after the messages that rules have given up.',
  usage: 'check FILE | list | dead NAME [ID] | send NAME [ID] | discard NAME [ID]',
  description: [
    'check reads a file as `apus serve --rules FILE` does, and says what it declares, or what is wrong and where.',
    'list shows the rules of a node or a deployment, dead the dead letters of a rule, or one with its payload. send tries one again, or',
    'all of them up to the first that fails; discard deletes one, or all. Each prints a line of JSON for each entry.',
  ].join('\n'),
  flags: { Broker: BROKER },
  async run(values) {
    const [name = '', ...args] = values.positionals;
    const action = Object.hasOwn(ACTIONS, name) ? ACTIONS[name] : undefined;
    const [least, most] = action?.args ?? [0, 0];
    if (action === undefined || args.length < least || args.length > most)
      throw new UsageError(
        '`apus rule` takes check FILE, list, dead NAME [ID], send NAME [ID] or discard NAME [ID].',
      );
    await action.run(values, args);
    return 0;
  },
};

async function check(values: Values, [path = '']: readonly string[]): Promise<void> {
  values.refuse(BROKER, 'is not for `apus rule check`, which reads a file alone.');
  const { readRulesFile } = await import('@apus/bridges');
  for (const each of readRulesFile(path)) printLine(lineOf(each));
}

function lineOf({ name, filter, when, to }: RuleConfiguration): string {
  return [name, filter, ...(when === undefined ? [] : [`when ${when.text}`]), `→ ${to.kind}`].join('  ');
}

async function printed(
  values: Values,
  entries: (operator: RuleOperator) => AsyncIterable<object>,
): Promise<void> {
  const operator = ruleOperatorFrom(values);
  await operating(async () => {
    for await (const entry of entries(operator)) printLine(JSON.stringify(entry));
  });
}

async function dead(values: Values, [name = '', id]: readonly string[]): Promise<void> {
  await printed(values, (operator) => operator.deadLetters(name, id));
}

async function send(values: Values, [name = '', id]: readonly string[]): Promise<void> {
  const operator = ruleOperatorFrom(values);
  const { sent, error } = await operating(() => operator.send(name, id));
  printLine(`Sent: ${sent}.`);
  if (error !== undefined) throw new CommandError(`One was not sent, and is still there: ${error}`);
}

async function discard(values: Values, [name = '', id]: readonly string[]): Promise<void> {
  const operator = ruleOperatorFrom(values);
  await operating(() => operator.discard(name, id));
}
