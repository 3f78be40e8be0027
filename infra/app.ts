import { createApp } from './lib/create-app.ts';
import { emulatorEndpoint, pointAtEmulator } from './lib/emulated.ts';

const { stack } = createApp();
const endpoint = emulatorEndpoint(process.env);
if (endpoint !== undefined) pointAtEmulator(stack, endpoint);
