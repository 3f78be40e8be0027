import { readContext } from './cli/cdk-json.ts';
import { main } from './cli/main.ts';
import { createApp } from './lib/create-app.ts';
import { pointAtEmulator } from './lib/point-at-emulator.ts';

await main(async () => {
  // The CDK reads the cdk.json of the folder in which it is called, which may be the repository's: this app has its own
  // below it.
  const { app } = createApp({ context: readContext() });
  pointAtEmulator(app);
});
