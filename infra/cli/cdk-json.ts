import { readFileSync } from 'node:fs';

/** Seen from `dist` and from here alike. */
const CDK_JSON = new URL('../cdk.json', import.meta.url);

/** The context of the app, as the CDK's command line would hand it over: feature flags, above all. */
export function readContext(): Readonly<Record<string, unknown>> {
  const { context } = JSON.parse(readFileSync(CDK_JSON, 'utf8')) as { context: Record<string, unknown> };
  return context;
}
