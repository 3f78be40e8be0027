import { readContext } from './cli/cdk-json.ts';
import { main } from './cli/main.ts';
import { createApp } from './lib/create-app.ts';
import { emulatorEndpoint, pointAtEmulator } from './lib/emulated.ts';

await main(async () => {
  // The CDK reads the cdk.json of the folder in which it is called, which may be the repository's: this app has its own
  // below it.
  const { stack } = createApp({ context: readContext() });
  const endpoint = emulatorEndpoint(process.env);
  if (endpoint !== undefined) pointAtEmulator(stack, endpoint);
});
