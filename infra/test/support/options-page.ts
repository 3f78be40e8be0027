import { FUNCTION_OPTIONS, variableOf } from '@apus/aws/function-options';
import { flagOf, SETTING_NAMES, type Setting, settingOf, valuesOf } from '../../lib/settings.ts';

const HEAD = `<!-- Made from infra/lib/options.ts by npx vitest run infra/test/options.test.ts -u -->

# The options of a deployment

This page is for somebody who deploys Apus to AWS and looks for one flag of \`npm run deploy\`, or the prop of \`ApusBroker\` for it. [docs/deploy.md](../deploy.md) says how a deployment goes.

| flag | prop | range | default | effect | variable of the functions |
|---|---|---|---|---|---|
`;

/** docs/generated/options.md: a line for each flag. */
export function optionsPage(): string {
  return `${HEAD}${SETTING_NAMES.map((name) => lineOf(name, settingOf(name))).join('\n')}\n`;
}

function lineOf(name: string, setting: Setting): string {
  const { prop, range, preset, help } = setting;
  const cells = [
    code(`${flagOf(name)} ${valuesOf(setting)}`.trim()),
    prop === undefined ? '' : code(prop),
    range === undefined ? '' : rangeText(range),
    preset ?? '',
    help,
    prop !== undefined && prop in FUNCTION_OPTIONS ? code(variableOf(prop)) : '',
  ];
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}

function code(text: string): string {
  return `\`${text}\``;
}

function rangeText([least, most]: readonly [number, number]): string {
  const end = most === Number.MAX_SAFE_INTEGER ? 'up' : `to ${most.toLocaleString('en')}`;
  return `${least.toLocaleString('en')} ${end}`;
}
