import { expect, it } from 'vitest';
import { KNOWN_FLAGS } from './commands.ts';
import { FILES, textOf } from './repository.ts';

const SOURCE = /^(infra\/(cli|lib|functions)|(?:packages|extensions)\/[\w-]+\/src)\/.*\.ts$/;

/** Flags of other programs that our code starts, or tells a person to start; and of `npm run simulate`. */
const OF_OTHERS: ReadonlySet<string> = new Set([
  // aws
  ...['resource-arn', 'service-code', 'quota-code', 'desired-value'],
  // cdk
  ...['no-notices', 'method', 'require-approval', 'outputs-file', 'context'],
  // node, esbuild, pip, cfn-lint
  ...['input-type', 'eval', 'max-old-space-size', 'semi-space-growth-factor', 'no-parallel-scavenge'],
  ...['conditions', 'legal-comments', 'alias', 'quiet', 'disable-pip-version-check', 'ignore-checks'],
  ...['filters', 'first-wait-seconds', 'messages-once', 'version'],
]);

/** Flags in the messages, helps and comments of a file that no command has. */
function unknownFlagsIn(text: string): readonly string[] {
  const flags = [...text.matchAll(/(?<![\w-])--([a-z][a-z0-9-]+)/g)].map(([, flag = '']) => flag);
  return flags.filter((flag) => !KNOWN_FLAGS.has(flag) && !OF_OTHERS.has(flag));
}

it('the messages of commands name only flags that there are', () => {
  // One file has the flags of mosquitto_pub and mosquitto_sub, and what stands for each here.
  const sources = FILES.filter((path) => SOURCE.test(path) && !path.endsWith('/mosquitto-flags.ts'));
  const unknown = sources.flatMap((path) => unknownFlagsIn(textOf(path)).map((flag) => `${path}: --${flag}`));
  expect(unknown).toEqual([]);
});

it('a flag of another name is found', () => {
  expect(unknownFlagsIn('Deploy this version as a new stack (--stack-name).')).toEqual(['stack-name']);
});
