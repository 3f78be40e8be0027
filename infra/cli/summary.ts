import { OUTPUTS } from '../lib/apus-stack.ts';

export type Outputs = Readonly<Record<string, string>>;

export interface Deployed {
  readonly stackName: string;
  readonly accountId: string;
  readonly region: string;
}

/** The next steps for a broker that was just deployed. */
export function summaryOf(outputs: Outputs, { stackName, accountId, region }: Deployed): string {
  const url = outputs[OUTPUTS.url] ?? '';
  const lines = [
    '',
    `The broker is up: stack ${stackName}, account ${accountId}, ${region}.`,
    '',
    `  ${url}`,
    '',
    ...tokenLines(outputs[OUTPUTS.tokenSecretArn], region),
    ...apiLines(outputs[OUTPUTS.httpApiUrl]),
    ...publishLines(outputs[OUTPUTS.httpPublishUrl], outputs[OUTPUTS.publishKeysArn]),
    ...domainLines(outputs[OUTPUTS.domainTarget]),
    'docs/deploy.md goes on from here: a first message. docs/deploy-operations.md: costs, quotas. `npm run destroy` takes it away.',
  ];
  return lines.join('\n');
}

function tokenLines(secretArn: string | undefined, region: string): readonly string[] {
  if (secretArn === undefined) return [];
  return [
    'A client needs a token, in the query as ?token=…; this makes one that may do everything for an hour:',
    '',
    `  npx apus token --secret-id ${secretArn} --region ${region} --sub me --publish '#' --subscribe '#' --expires 1h`,
    '',
  ];
}

function publishLines(url: string | undefined, keysArn: string | undefined): readonly string[] {
  if (url === undefined) return [];
  const how =
    keysArn === undefined
      ? 'with requests that are signed for AWS'
      : `with the key in the secret ${keysArn} (Authorization: Bearer …)`;
  return [`Backends publish at ${url}api/v5/publish, ${how}.`, ''];
}

function apiLines(url: string | undefined): readonly string[] {
  return url === undefined
    ? []
    : [`Operators find the HTTP API at ${url}api/v5/clients: docs/generated/api.md.`, ''];
}

function domainLines(target: string | undefined): readonly string[] {
  return target === undefined ? [] : [`Your domain name has to point at ${target}`, ''];
}
