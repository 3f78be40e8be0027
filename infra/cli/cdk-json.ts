import { readFileSync } from 'node:fs';

/** The path works from `dist` and from here. */
const CDK_JSON = new URL('../cdk.json', import.meta.url);

/** The context of the app as the CDK's command line would pass it: mainly feature flags. */
export function readContext(): Readonly<Record<string, unknown>> {
  const { context } = JSON.parse(readFileSync(CDK_JSON, 'utf8')) as { context: Record<string, unknown> };
  return context;
}
