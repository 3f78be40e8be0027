import { OUTPUTS } from '../lib/apus-stack.ts';

export type Outputs = Readonly<Record<string, string>>;

export interface Deployed {
  readonly stackName: string;
  readonly accountId: string;
  readonly region: string;
}

/** What to do with a broker that was just deployed. */
export function summaryOf(outputs: Outputs, { stackName, accountId, region }: Deployed): string {
  const url = outputs[OUTPUTS.url] ?? '';
  const lines = [
    '',
    `The broker is up: stack ${stackName}, account ${accountId}, ${region}.`,
    '',
    `  ${url}`,
    '',
    ...tokenLines(outputs[OUTPUTS.tokenSecretArn]),
    ...publishLines(outputs[OUTPUTS.httpPublishUrl]),
    ...domainLines(outputs[OUTPUTS.domainTarget]),
    'docs/deploy.md goes on from here: a first message, costs, quotas. `npm run destroy` takes it away again.',
  ];
  return lines.join('\n');
}

function tokenLines(secretArn: string | undefined): readonly string[] {
  if (secretArn === undefined) return [];
  return [
    'A client needs a token, in the query as ?token=…; this makes one that may do everything for an hour:',
    '',
    `  apus token --secret-id ${secretArn} --sub me --publish '#' --subscribe '#' --expires 1h`,
    '',
  ];
}

function publishLines(url: string | undefined): readonly string[] {
  return url === undefined ? [] : [`Backends publish at ${url}api/v5/publish`, ''];
}

function domainLines(target: string | undefined): readonly string[] {
  return target === undefined ? [] : [`Your domain name has to point at ${target}`, ''];
}
