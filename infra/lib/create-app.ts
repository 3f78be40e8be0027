import { App, type AppProps, Tags } from 'aws-cdk-lib/core';
import { ApusStack } from './apus-stack.ts';
import { propsOf, settingsOf, tagsOf, targetOf } from './context.ts';
import { SETTINGS_METADATA } from './settings.ts';

/** The app: one stack with one broker, configured by the context (`-c name=value`, or cdk.json). */
export function createApp(props: AppProps = {}): { readonly app: App; readonly stack: ApusStack } {
  const app = new App(props);
  const settings = settingsOf(app);
  const { stackName, account, region } = targetOf(settings);
  const env = { ...(account !== undefined && { account }), ...(region !== undefined && { region }) };
  const broker = (stack: ApusStack) => propsOf(stack, settings);
  const tags = tagsOf(settings);
  for (const [key, value] of Object.entries(tags)) Tags.of(app).add(key, value);
  const stack = new ApusStack(app, 'Apus', { stackName, env, tags, broker });
  // `destroy` prints them, for a deployment that goes on with the data.
  stack.templateOptions.metadata = { [SETTINGS_METADATA]: settings.given() };
  return { app, stack };
}
